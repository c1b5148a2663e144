package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tidemark-go/tidemark/bench/channel"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// heap returns the bytes in use after the garbage is gone.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held on to
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// unlimited are the two whole implementations without a pending limit; the
// channels hold what a fill of the benchmark sends between two drains.
var unlimited = []struct {
	name   string
	create func() subject
}{
	{"tidemark", func() subject { return &tidemarkSubject{cp: checkpoint.New()} }},
	{"channel", func() subject { return &channelSubject{cp: channel.New(channel.WithBuffer(pendingLimit))} }},
}

// BenchmarkCheckpointMemory tells what an assigned partition costs, before
// its first batch (state=new) and after some have passed (state=used), and
// what a pending batch costs, without the caller's own handle.
func BenchmarkCheckpointMemory(b *testing.B) {
	for _, state := range []string{"new", "used"} {
		for _, im := range unlimited {
			rows.Run(b, fmt.Sprintf("impl=%s/state=%s", im.name, state), func(b *testing.B) {
				partitionMemory(b, im.create, state == "used")
			})
		}
	}
	for _, im := range unlimited {
		rows.Run(b, fmt.Sprintf("impl=%s/state=pending", im.name), func(b *testing.B) { batchMemory(b, im.create) })
	}
}

func partitionMemory(b *testing.B, create func() subject, used bool) {
	const n = 10_000
	var bytes float64
	all := upTo(0, n)
	runs := 0
	for b.Loop() {
		s := create()
		before := heap()
		if err := s.begin(1, all); err != nil {
			b.Fatal(err)
		}
		if used {
			passSome(b, s, all)
		}
		bytes += float64(heap() - before)
		runtime.KeepAlive(s)
		runs++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(bytes/float64(runs)/n, "B/partition")
}

// passSome issues and passes three batches of each partition, and drops the
// worker.
func passSome(b *testing.B, s subject, all []partition) {
	w := s.worker(all)
	h := w.hold(len(all))
	order := newOrders(len(all), false).next()
	for range 3 {
		w.issue(h, len(all))
		h.release(order)
		h.clear()
		s.drain()
		if s.take() != len(all) {
			b.Fatal("batches did not pass")
		}
	}
}

func batchMemory(b *testing.B, create func() subject) {
	const n, step = 256_000, 1000
	var bytes float64
	runs := 0
	for b.Loop() {
		s := create()
		if err := s.begin(1, upTo(0, 4)); err != nil {
			b.Fatal(err)
		}
		w := s.worker(upTo(0, 4))
		h := w.hold(n)
		before := heap()
		for range n / step {
			w.issue(h, step)
			s.drain()
		}
		bytes += float64(heap() - before)
		runtime.KeepAlive(s)
		runtime.KeepAlive(h)
		runs++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(bytes/float64(runs)/n, "B/batch")
}
