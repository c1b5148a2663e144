package mpsc_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/mpsc"
)

// A lane's producer that stands between its write and its publication delays
// its own lane alone, for as long as it likes.
func TestAStalledLaneDelaysItselfAlone(t *testing.T) {
	for _, size := range []int{1, 2, 64} {
		for before := range 5 { // elements of the lane before the one that stalls
			q := mpsc.New[int](mpsc.WithSegmentSize(size))
			stalled, other := q.Producer(), q.Producer()
			for v := range before {
				stalled.Push(v)
			}
			publish := mpsc.StallLane(stalled, before)
			next, got := before, []int(nil)
			for v := range 100 {
				q.Push(1000 + v)
				other.Push(2000 + v)
				if n := q.Len(); n < 2 {
					t.Fatalf("size %d: Len is %d beside a stalled lane", size, n)
				}
				q.Drain(func(v int) { got = append(got, v) })
			}
			if len(got) != before+200 || q.Len() != 0 {
				t.Fatalf("size %d: popped %d elements beside a stalled lane, want %d; Len %d", size, len(got), before+200, q.Len())
			}
			if !publish() {
				t.Fatalf("size %d: an open lane refused what stalled", size)
			}
			stalled.Push(before + 1)
			q.Drain(func(v int) {
				if v != next {
					t.Errorf("size %d: popped %d, want %d", size, v, next)
				}
				next++
			})
			if next != before+2 {
				t.Errorf("size %d: popped up to %d of the stalled lane, want %d", size, next, before+2)
			}
			stalled.Close()
			other.Close()
		}
	}
}

// A Close that comes while a lane's producer stands before its publication
// refuses the element: it is not delivered, not kept alive, and Wait does not
// wait for it.
func TestCloseBesideAStalledLaneRefusesItsElement(t *testing.T) {
	for name, end := range map[string]func(*mpsc.Queue[*message], *mpsc.Producer[*message]){
		"queue": func(q *mpsc.Queue[*message], _ *mpsc.Producer[*message]) { q.Close() },
		"lane":  func(_ *mpsc.Queue[*message], p *mpsc.Producer[*message]) { p.Close() },
	} {
		q := mpsc.New[*message](mpsc.WithSegmentSize(2))
		p := q.Producer()
		p.Push(&message{1})
		freed := make(chan struct{})
		publish := func() func() bool {
			v := &message{2}
			runtime.AddCleanup(v, func(c chan struct{}) { close(c) }, freed)
			return mpsc.StallLane(p, v)
		}()
		end(q, p)
		if name == "queue" {
			q.Drain(func(*message) {})
			if err := q.Wait(context.Background()); !errors.Is(err, mpsc.ErrClosed) {
				t.Errorf("Wait on a closed queue beside a stalled lane: %v, want ErrClosed", err)
			}
		}
		if publish() || p.Push(&message{3}) {
			t.Errorf("%s closed: the lane accepted an element", name)
		}
		publish = nil
		q.Drain(func(m *message) {
			if m[0] != 1 {
				t.Errorf("%s closed: popped %v, which was refused", name, *m)
			}
		})
		for collected, deadline := false, time.Now().Add(10*time.Second); !collected; {
			runtime.GC()
			select {
			case <-freed:
				collected = true
			case <-time.After(time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatalf("%s closed: the refused element is kept alive", name)
				}
			}
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(q)
	}
}

// Close of a lane comes from another goroutine while its producer pushes:
// what was accepted is delivered, in order, and nothing after the first refusal.
func TestCloseOfALaneAgainstItsPushes(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 100
	}
	for _, batch := range []int{0, 1, 5} { // 0: single pushes
		for round := range rounds {
			q := mpsc.New[int](mpsc.WithSegmentSize(1 + round%3))
			p := q.Producer()
			accepted := 0
			var wg sync.WaitGroup
			wg.Go(func() {
				for accepted < 500 {
					n := 1
					if batch == 0 {
						if !p.Push(accepted) {
							n = 0
						}
					} else {
						vs := make([]int, batch)
						for i := range vs {
							vs[i] = accepted + i
						}
						if n = p.PushBatch(vs); n != 0 && n != batch {
							t.Errorf("PushBatch accepted %d of %d", n, batch)
						}
					}
					if n == 0 {
						if p.Push(-1) || p.PushBatch([]int{-2}) != 0 {
							t.Error("a closed lane accepted a push after it refused one")
						}
						return
					}
					accepted += n
				}
			})
			wg.Go(func() {
				for range round {
					runtime.Gosched()
				}
				p.Close()
			})
			var got []int
			take := func() { q.Drain(func(v int) { got = append(got, v) }) }
			for range round % 7 {
				take()
				runtime.Gosched()
			}
			wg.Wait()
			take()
			if len(got) != accepted || !slices.IsSorted(got) || accepted > 0 && (got[0] != 0 || got[accepted-1] != accepted-1) {
				t.Fatalf("batches of %d: %d accepted, popped %v", batch, accepted, got)
			}
			if n := mpsc.LaneCount(q); n != 0 {
				t.Fatalf("%d lanes are listed after the only one was closed and emptied", n)
			}
		}
	}
}

// Segments of lanes come back at once when the queue keeps one or two, and
// another lane is the next to use them.
func TestImmediateReuseOfLaneSegments(t *testing.T) {
	const producers = 4
	each := 5000
	if testing.Short() {
		each = 1000
	}
	for _, size := range []int{1, 2, 3} {
		for _, free := range []int{1, 2, 4} {
			q := mpsc.New[uint64](mpsc.WithSegmentSize(size), mpsc.WithMaxFree(free), mpsc.WithNearWrap())
			var wg sync.WaitGroup
			for i := range producers {
				p := q.Producer()
				wg.Go(func() {
					defer p.Close()
					for seq := range each {
						p.Push(uint64(i)<<32 | uint64(seq))
						for q.Len() > 6 {
							runtime.Gosched()
						}
					}
				})
			}
			var next [producers]uint64
			deadline := time.Now().Add(30 * time.Second)
			for got := 0; got < producers*each; {
				v, ok := q.TryPop()
				if !ok {
					if time.Now().After(deadline) {
						t.Fatalf("size %d, %d free: got %d of %d elements", size, free, got, producers*each)
					}
					runtime.Gosched()
					continue
				}
				if i, seq := v>>32, v&(1<<32-1); seq != next[i] {
					t.Fatalf("size %d, %d free: producer %d: popped %d, want %d", size, free, i, seq, next[i])
				} else {
					next[i]++
				}
				got++
			}
			wg.Wait()
		}
	}
}
