package mpsc_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-go/tidemark/internal/longtest"
	"github.com/tidemark-go/tidemark/mpsc"
)

const (
	longProducers = 4
	longUsual     = 40_000
	// longBacklog keeps producers from running far ahead: what is beyond the
	// segments that are kept would be garbage, which has tests of its own.
	longBacklog = 4096
	// longSlack is what a queue may keep for reuse; how much of it is in use
	// after a stage is a matter of luck.
	longSlack = 256 << 10
)

// TestLongQueuesStayFlat moves elements from several producers to the consumer
// under every setting, checks that each comes once and in the order of its
// producer, and that no stage leaves memory behind.
func TestLongQueuesStayFlat(t *testing.T) {
	for _, c := range []struct {
		name string
		// open returns one producer's push and how it ends.
		open func(q *mpsc.Queue[uint64], i int) (push func(uint64) bool, end func())
	}{
		{"shared pushes", func(q *mpsc.Queue[uint64], _ int) (func(uint64) bool, func()) { return q.Push, func() {} }},
		{"lanes", func(q *mpsc.Queue[uint64], _ int) (func(uint64) bool, func()) {
			p := q.Producer()
			return p.Push, p.Close
		}},
		{"lanes beside shared pushes", func(q *mpsc.Queue[uint64], i int) (func(uint64) bool, func()) {
			if i%2 == 0 {
				return q.Push, func() {}
			}
			p := q.Producer()
			return p.Push, p.Close
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			longtest.Settings(t, func(t *testing.T) {
				q := mpsc.New[uint64]()
				longtest.Flat(t, longUsual, longSlack, q, func(n int) { longStage(t, q, c.open, n/longProducers) })
				if n := q.Len(); n != 0 {
					t.Errorf("Len is %d at the end", n)
				}
			})
		})
	}
}

// longStage pushes each elements from every producer and takes them.
func longStage(t *testing.T, q *mpsc.Queue[uint64], open func(*mpsc.Queue[uint64], int) (func(uint64) bool, func()), each int) {
	var wg sync.WaitGroup
	for i := range longProducers {
		push, end := open(q, i)
		wg.Go(func() {
			defer end()
			for seq := range each {
				if !push(uint64(i)<<32 | uint64(seq)) {
					t.Error("an open queue refused a push")
					return
				}
				for seq%64 == 0 && q.Len() > longBacklog {
					runtime.Gosched()
				}
			}
		})
	}
	var next [longProducers]uint64
	for got := 0; got < longProducers*each; {
		n := q.Drain(func(v uint64) {
			if i := v >> 32; i >= longProducers || v&(1<<32-1) != next[i] {
				t.Errorf("popped %#x, want element %d of its producer", v, next[i%longProducers])
			} else {
				next[i]++
			}
		})
		if got += n; n == 0 {
			runtime.Gosched()
		}
		if t.Failed() {
			break
		}
	}
	wg.Wait()
	q.Drain(func(uint64) {}) // takes closed lanes off the list
}

// TestLongInOrderStaysFlat reserves on one goroutine and publishes on others,
// out of order.
func TestLongInOrderStaysFlat(t *testing.T) {
	longtest.Settings(t, func(t *testing.T) {
		in := mpsc.NewInbox[uint64, int](nil)
		q := new(mpsc.InOrder[uint64, int])
		q.Init(in, nil)
		longtest.Flat(t, longUsual, longSlack, q, func(n int) { longInOrderStage(t, in, q, n) })
		if n := q.Outstanding(); n != 0 {
			t.Errorf("%d cells are outstanding at the end", n)
		}
	})
}

type hold = mpsc.Reservation[uint64, int]

func longInOrderStage(t *testing.T, in *mpsc.Inbox[uint64, int], q *mpsc.InOrder[uint64, int], n int) {
	const holders, run = 3, 250
	work, empty := make(chan []hold, 2*holders), make(chan []hold, 2*holders)
	for range cap(empty) {
		empty <- make([]hold, 0, run)
	}
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			for hs := range work {
				for i := range hs {
					if !hs[i*7%len(hs)].Release() {
						t.Error("the only hold of a cell was gone")
					}
				}
				empty <- hs[:0]
			}
		})
	}
	first := q.Next()
	wg.Go(func() {
		defer close(work)
		hs := <-empty
		for range n {
			r, ok := q.Reserve(q.Next())
			if !ok {
				t.Error("Reserve was refused")
				return
			}
			// Seven and the length have no common divisor, so that every hold
			// is released once.
			if hs = append(hs, r); len(hs) == run {
				work <- hs
				hs = <-empty
			}
		}
		for len(hs) > 0 { // the rest one by one
			work <- append(<-empty, hs[0])
			hs = hs[1:]
		}
	})
	for want := first; want < first+uint64(n) && !t.Failed(); {
		in.Collect(func(*mpsc.InOrder[uint64, int], int, int) {})
		if q.Take(func(v uint64) {
			if v != want {
				t.Errorf("took %d, want %d", v, want)
			}
			want++
		}) == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
	// Segments that were marked while the last Collect ran are in the inbox,
	// taken as they are. The next one lets go of them.
	in.Collect(func(*mpsc.InOrder[uint64, int], int, int) { t.Error("something was reported twice") })
}

// TestLongReadySetStaysFlat marks a few things from several goroutines for as
// long; none of what they left may be missing.
func TestLongReadySetStaysFlat(t *testing.T) {
	type counter struct {
		ready mpsc.Ready[counter]
		news  [longProducers]atomic.Int64
	}
	longtest.Settings(t, func(t *testing.T) {
		s := new(mpsc.ReadySet[counter])
		things := make([]*counter, 5)
		for i := range things {
			things[i] = new(counter)
			things[i].ready.Bind(things[i])
		}
		longtest.Flat(t, longUsual, longSlack, s, func(n int) {
			var wg sync.WaitGroup
			for i := range longProducers {
				wg.Go(func() {
					for k := range n / longProducers {
						x := things[(k+i)%len(things)]
						x.news[i].Add(1)
						s.Mark(&x.ready)
					}
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			collected := 0
			collect := func() {
				s.Drain(func(x *counter) {
					for i := range x.news {
						collected += int(x.news[i].Swap(0))
					}
				})
			}
			for running := true; running; collect() {
				select {
				case <-done:
					running = false
				default:
					runtime.Gosched()
				}
			}
			if want := n / longProducers * longProducers; collected != want {
				t.Errorf("collected %d of %d", collected, want)
			}
		})
	})
}
