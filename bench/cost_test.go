package bench_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

// drainAll drains and takes until total batches have passed, and returns how
// many drains it took.
func drainAll(s subject, total int, spin bool) (drains int) {
	var ticker *time.Ticker
	if !spin {
		ticker = time.NewTicker(livePace)
		defer ticker.Stop()
	}
	for passed := 0; passed < total; drains++ {
		if !spin {
			<-ticker.C
		}
		applied := s.drain()
		passed += s.take()
		if spin && applied == 0 {
			runtime.Gosched()
		}
	}
	return drains
}

// BenchmarkCheckpointFanout has several holders for each batch, as one for
// each record or sink.
func BenchmarkCheckpointFanout(b *testing.B) {
	for _, holders := range []int{1, 8, 64} {
		dims := fmt.Sprintf("holders=%d", holders)
		eachSubject(b, false, dims, func(b *testing.B, create func() subject) { fanout(b, create, holders) })
	}
}

func fanout(b *testing.B, create func() subject, holders int) {
	const size = 64
	s := begun(b, create, upTo(0, 4))
	w := s.worker(upTo(0, 4))
	h, o := w.hold(size), newOrders(size, true)
	var c rows.Timer
	c.Begin()
	n := 0
	for b.Loop() {
		w.issue(h, size)
		h.retain(holders - 1)
		for range holders {
			h.release(o.next())
		}
		h.clear()
		if s.drain() != size || s.take() != size {
			b.Fatal("a tick lost batches")
		}
		n += size
	}
	c.End()
	c.Report(b, n, "batch", "batches")
}

// BenchmarkCheckpointStuckHead drains and takes a partition whose oldest
// batch is not released, with resolved ones waiting behind it. Only the
// drains and takes count.
func BenchmarkCheckpointStuckHead(b *testing.B) {
	for _, behind := range []int{0, 100_000, 250_000} {
		dims := fmt.Sprintf("behind=%d", behind)
		for _, im := range unlimited {
			rows.Run(b, fmt.Sprintf("impl=%s/%s", im.name, dims), func(b *testing.B) { stuckHead(b, im.create(), behind) })
		}
	}
}

func stuckHead(b *testing.B, s subject, behind int) {
	const drains, size, fill = 1000, 16, 1000
	var c rows.Timer
	n := 0
	if err := s.begin(1, upTo(0, 1)); err != nil {
		b.Fatal(err)
	}
	w := s.worker(upTo(0, 1))
	head, h := w.hold(1), w.hold(fill)
	for b.Loop() {
		w.issue(head, 1)
		if behind == 0 {
			head.release([]int32{0})
		}
		all := newOrders(fill, false).next()
		for range behind / fill {
			w.issue(h, fill)
			h.release(all)
			h.clear()
			s.drain()
		}
		s.take()
		o := newOrders(size, true)
		for range drains {
			w.issue(h, size)
			h.release(o.next())
			h.clear()
			start := time.Now()
			s.drain()
			s.take()
			c.Total += time.Since(start)
			n++
		}
		if behind > 0 {
			head.release([]int32{0})
		}
		head.clear()
		s.drain()
		if want := 1 + behind + drains*size; behind > 0 && s.take() != want {
			b.Fatalf("the released head did not pass %d batches", want)
		}
	}
	c.Report(b, n, "tick", "")
}

// BenchmarkCheckpointSparse has news for few of the assigned partitions.
func BenchmarkCheckpointSparse(b *testing.B) {
	const touched = 10
	for _, assigned := range []int{10, 10_000} {
		dims := fmt.Sprintf("assigned=%d/touched=%d", assigned, touched)
		eachSubject(b, true, dims, func(b *testing.B, create func() subject) {
			s := begun(b, create, upTo(0, assigned))
			var some []partition
			for i := range touched {
				some = append(some, partition(i*assigned/touched))
			}
			ticks(b, s, some, touched, true)
		})
	}
}

// BenchmarkCheckpointRebalance begins an epoch of many partitions, or has one
// of them leave and return.
func BenchmarkCheckpointRebalance(b *testing.B) {
	const n = 10_000
	eachSubject(b, true, "partitions=10000/change=all", func(b *testing.B, create func() subject) {
		s := begun(b, create, upTo(0, n))
		all := upTo(0, n)
		epoch := uint32(1)
		var c rows.Timer
		c.Begin()
		for b.Loop() {
			epoch++
			if err := s.begin(epoch, all); err != nil {
				b.Fatal(err)
			}
		}
		c.End()
		c.Report(b, int(epoch-1), "rebalance", "")
	})
	eachSubject(b, true, "partitions=10000/change=one", func(b *testing.B, create func() subject) {
		s := begun(b, create, upTo(0, n)).(rebalancer)
		var c rows.Timer
		c.Begin()
		k := 0
		for b.Loop() {
			if err := s.readmit(partition(k * 7 % n)); err != nil {
				b.Fatal(err)
			}
			k++
		}
		c.End()
		c.Report(b, k, "rebalance", "")
	})
}
