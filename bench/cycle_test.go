package bench_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

// BenchmarkCheckpointCycle is the life cycle on one goroutine: a tick issues,
// releases, drains and takes.
func BenchmarkCheckpointCycle(b *testing.B) {
	for _, tick := range []int{256, 16} {
		for _, order := range []string{"scrambled", "inorder"} {
			dims := fmt.Sprintf("partitions=4/tick=%d/order=%s", tick, order)
			eachSubject(b, false, dims, func(b *testing.B, create func() subject) {
				ticks(b, begun(b, create, upTo(0, 4)), upTo(0, 4), tick, order == "scrambled")
			})
		}
	}
}

// BenchmarkCheckpointPartitions has one batch for each partition in a tick.
func BenchmarkCheckpointPartitions(b *testing.B) {
	for _, n := range []int{16, 256, 4096} {
		dims := fmt.Sprintf("partitions=%d/tick=%d/order=scrambled", n, n)
		eachSubject(b, false, dims, func(b *testing.B, create func() subject) {
			ticks(b, begun(b, create, upTo(0, n)), upTo(0, n), n, true)
		})
	}
}

// ticks runs whole life cycles of size batches.
func ticks(b *testing.B, s subject, partitions []partition, size int, scrambled bool) {
	w := s.worker(partitions)
	h, o := w.hold(size), newOrders(size, scrambled)
	once := func() {
		w.issue(h, size)
		h.release(o.next())
		h.clear()
		applied, passed := s.drain(), s.take()
		if applied != size || passed != size {
			b.Fatalf("a tick of %d batches applied %d and passed %d", size, applied, passed)
		}
	}
	for range 1 + 2048/size { // past the first, small segments
		once()
	}
	var c rows.Timer
	c.Begin()
	n := 0
	for b.Loop() {
		once()
		n += size
	}
	c.End()
	c.Report(b, n, "batch", "batches")
}

const (
	liveTotal  = 1 << 19 // batches of one run, of all issuers
	liveWindow = 256     // batches an issuer holds before it releases them
	livePace   = 200 * time.Microsecond
)

// BenchmarkCheckpointLive has issuers that issue and release windows of
// batches, of 4 partitions each, and a drainer that drains and takes at a
// pace, or as often as it can.
func BenchmarkCheckpointLive(b *testing.B) {
	for _, drain := range []string{"tick", "spin"} {
		for _, issuers := range []int{1, 2, 4, 8} {
			dims := fmt.Sprintf("issuers=%d/drain=%s", issuers, drain)
			eachSubject(b, false, dims, func(b *testing.B, create func() subject) {
				live(b, create, issuers, drain == "spin", issueAndRelease)
			})
		}
	}
}

// BenchmarkCheckpointCores has four issuers on some of the processors.
func BenchmarkCheckpointCores(b *testing.B) {
	for _, n := range rows.Procs() {
		dims := fmt.Sprintf("issuers=4/drain=tick/procs=%d", n)
		eachSubject(b, true, dims, func(b *testing.B, create func() subject) {
			rows.On(n, func() { live(b, create, 4, false, issueAndRelease) })
		})
	}
}

// BenchmarkCheckpointCross has each issuer hand its windows to a goroutine
// that releases them.
func BenchmarkCheckpointCross(b *testing.B) {
	for _, issuers := range []int{1, 2, 4} {
		dims := fmt.Sprintf("issuers=%d/drain=tick", issuers)
		eachSubject(b, false, dims, func(b *testing.B, create func() subject) {
			live(b, create, issuers, false, issueForAnother)
		})
	}
}

// live runs the whole total again and again on one subject, the first time
// without counting.
func live(b *testing.B, create func() subject, issuers int, spin bool, work func(w worker, n int)) {
	s := begun(b, create, upTo(0, 4*issuers))
	workers := make([]worker, issuers)
	for i := range workers {
		workers[i] = s.worker(upTo(4*i, 4))
	}
	once := func() (drains int) {
		var wg sync.WaitGroup
		for _, w := range workers {
			wg.Go(func() { work(w, liveTotal/issuers) })
		}
		drains = drainAll(s, liveTotal, spin)
		wg.Wait()
		return drains
	}
	once()
	var c rows.Timer
	runs, drains := 0, 0
	c.Begin()
	for b.Loop() {
		drains += once()
		runs++
	}
	c.End()
	c.Report(b, runs*liveTotal, "batch", "batches")
	b.ReportMetric(float64(runs*liveTotal)/float64(drains), "batches/drain")
}

// issueAndRelease keeps one window at a time.
func issueAndRelease(w worker, n int) {
	h, o := w.hold(liveWindow), newOrders(liveWindow, true)
	for ; n > 0; n -= liveWindow {
		w.issue(h, liveWindow)
		h.release(o.next())
		h.clear()
	}
}

// issueForAnother has some windows on their way to the releasing goroutine
// and back.
func issueForAnother(w worker, n int) {
	const windows = 8
	full, empty := make(chan held, windows), make(chan held, windows)
	for range windows {
		empty <- w.hold(liveWindow)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		o := newOrders(liveWindow, true)
		for h := range full {
			h.release(o.next())
			h.clear()
			empty <- h
		}
	})
	for ; n > 0; n -= liveWindow {
		h := <-empty
		w.issue(h, liveWindow)
		full <- h
	}
	close(full)
	wg.Wait()
}
