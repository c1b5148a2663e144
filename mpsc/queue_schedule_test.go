package mpsc_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/mpsc"
)

// These tests force orders of events that a scheduler hardly ever makes, by
// acting from within callbacks and through stalled producers.

// collect drains q up to twenty times and returns what came.
func collect(q *mpsc.Queue[int]) (got []int) {
	for range 20 {
		q.Drain(func(v int) { got = append(got, v) })
	}
	return got
}

// A goroutine's late element is published and its next one pushed while the
// consumer is at work on what lies between: the next one must wait its turn.
func TestAnElementBehindALateOneOfItsProducerWaits(t *testing.T) {
	for _, size := range []int{1, 2, 64} {
		q := mpsc.New[int](mpsc.WithSegmentSize(size))
		late := mpsc.StallPush(q)
		q.Push(1)
		if v, ok := q.TryPop(); v != 1 || !ok {
			t.Fatalf("TryPop beside a stalled producer: %d, %v", v, ok)
		}
		// The late cell is a gap now.
		q.Push(2)
		q.Push(3)
		var got []int
		q.Drain(func(v int) {
			got = append(got, v)
			if v == 2 {
				late(10)
				q.Push(11)
			}
		})
		got = append(got, collect(q)...)
		if i, j := slices.Index(got, 10), slices.Index(got, 11); i < 0 || j < i || len(got) != 4 {
			t.Errorf("segment size %d: popped %v, want 10 before 11 among four", size, got)
		}
	}
}

// The same, with the late element published while the consumer tries other
// gaps again: it has passed the late one's cell, and must not look for new
// elements from there on.
func TestTheEndIsReadBeforeGapsAreTriedAgain(t *testing.T) {
	for _, size := range []int{1, 2, 64} {
		q := mpsc.New[int](mpsc.WithSegmentSize(size))
		late, second, third := mpsc.StallPush(q), mpsc.StallPush(q), mpsc.StallPush(q)
		q.Push(1)
		q.TryPop()
		// Three gaps: late, second, third.
		third(3)
		var got []int
		q.Drain(func(v int) {
			got = append(got, v)
			if v == 3 {
				second(2)
				late(10)
				q.Push(11)
			}
		})
		got = append(got, collect(q)...)
		if i, j := slices.Index(got, 10), slices.Index(got, 11); i < 0 || j < i || len(got) != 4 {
			t.Errorf("segment size %d: popped %v, want 10 before 11 among four", size, got)
		}
	}
}

// What a callback pushes is not of what was published before the call, however
// much there was, wherever it is pushed to, and whether there are gaps.
func TestDrainLeavesWhatItsCallbackPushes(t *testing.T) {
	for _, size := range []int{1, 2, 64} {
		for _, n := range []int{1, 2, 10, 63, 64, 65, 200} {
			for _, gap := range []bool{false, true} {
				q := mpsc.New[int](mpsc.WithSegmentSize(size))
				first, second := q.Producer(), q.Producer()
				publish := func(int) {}
				want := 3 * n
				if gap {
					publish = mpsc.StallPush(q)
				}
				for i := range n {
					q.Push(i)
					first.Push(i)
					second.Push(i)
				}
				if gap {
					q.TryPop() // passes the gap
					want--
				}
				again := func(v int) {
					q.Push(v)
					first.Push(v)
					second.Push(v)
				}
				if got := q.Drain(again); got != want {
					t.Errorf("segments of %d, %d elements, gap %v: Drain took %d, want the %d from before it", size, n, gap, got, want)
				}
				publish(-1)
				if first := q.Drain(func(int) {}); first < 3*want {
					t.Errorf("segments of %d, %d elements, gap %v: the next took %d, want %d at least", size, n, gap, first, 3*want)
				}
				first.Close()
				second.Close()
			}
		}
	}
}

// probe is a context whose Err has a side effect: Wait asks for it after it
// has looked and before it parks.
type probe struct {
	context.Context
	act func()
}

func (p probe) Err() error {
	p.act()
	return p.Context.Err()
}

func TestWaitLooksAgainBeforeItParks(t *testing.T) {
	for name, act := range map[string]func(q *mpsc.Queue[int], p *mpsc.Producer[int]){
		"Push":      func(q *mpsc.Queue[int], _ *mpsc.Producer[int]) { q.Push(1) },
		"lane Push": func(_ *mpsc.Queue[int], p *mpsc.Producer[int]) { p.Push(1) },
		"Close":     func(q *mpsc.Queue[int], _ *mpsc.Producer[int]) { q.Close() },
	} {
		q := mpsc.New[int]()
		p := q.Producer()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		acted := false
		err := q.Wait(probe{ctx, func() {
			if !acted {
				acted = true
				act(q, p)
			}
		}})
		if ctx.Err() != nil {
			t.Errorf("%s between look and park did not keep Wait from sleeping", name)
		}
		cancel()
		if name == "Close" && !errors.Is(err, mpsc.ErrClosed) || name != "Close" && err != nil {
			t.Errorf("%s between look and park: Wait returned %v", name, err)
		}
		p.Close()
	}
}

// A producer stalls after it linked a segment, before the tail points to it:
// others go on, the consumer passes both, and nothing is lost.
func TestAProducerStalledWhileAppendingDelaysNobody(t *testing.T) {
	for _, pop := range []bool{true, false} {
		q := mpsc.New[int](mpsc.WithSegmentSize(2), mpsc.WithMaxFree(3))
		q.Push(0)
		q.Push(1)
		resume, appended := mpsc.StallAppend(q)
		if !appended {
			t.Fatal("the tail was not full")
		}
		if n := q.Len(); n != 2 {
			t.Errorf("Len is %d while a segment is appended, want 2", n)
		}
		var got []int
		take := func() { q.Drain(func(v int) { got = append(got, v) }) }
		if pop {
			take() // the head comes to the end of its segment
			take()
			if _, ok := q.TryPop(); ok {
				t.Error("popped an element of a segment nobody pushed to")
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for v := 2; v < 50; v++ {
				q.Push(v)
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("a producer waits for the one that stalls while it appends")
		}
		take()
		resume()
		for v := 50; v < 60; v++ {
			q.Push(v)
		}
		take()
		for i, v := range got {
			if i != v {
				t.Fatalf("popped %v", got)
			}
		}
		if len(got) != 60 || q.Len() != 0 {
			t.Errorf("popped %d elements, Len %d, want 60 and 0", len(got), q.Len())
		}
	}
}

func TestCloseBesideAProducerStalledWhileAppending(t *testing.T) {
	q := mpsc.New[int](mpsc.WithSegmentSize(1))
	q.Push(0)
	resume, _ := mpsc.StallAppend(q)
	q.Close()
	resume()
	if q.Push(1) || q.Len() != 1 {
		t.Errorf("a closed queue accepted a push; Len %d", q.Len())
	}
	if got := collect(q); !slices.Equal(got, []int{0}) {
		t.Errorf("popped %v, want [0]", got)
	}
	if err := q.Wait(context.Background()); !errors.Is(err, mpsc.ErrClosed) {
		t.Errorf("Wait: %v, want ErrClosed", err)
	}
}

// A producer that was delayed since it loaded the tail claims nothing in a
// segment that is full, kept, prepared or sealed, and a proper cell in one
// that is in use again.
func TestStrayClaims(t *testing.T) {
	q := mpsc.New[int](mpsc.WithSegmentSize(1), mpsc.WithMaxFree(2))
	stray := mpsc.StrayClaim(q)
	q.Push(0)
	if stray() {
		t.Error("a claim on a full segment succeeded")
	}
	q.Push(1)
	q.Drain(func(int) {})
	q.TryPop()
	if shared, _ := mpsc.KeptSegments(q); shared == 0 || stray() {
		t.Errorf("a claim on a kept segment succeeded, or none of %d is kept", shared)
	}
	if !mpsc.PrepareKept(q) || stray() {
		t.Error("a claim on a prepared segment succeeded, or there was none")
	}
	// What the stray claims added does not count.
	q.Push(2)
	if n := q.Len(); n != 1 {
		t.Errorf("Len is %d, want 1", n)
	}
	if got := collect(q); !slices.Equal(got, []int{2}) {
		t.Errorf("popped %v, want [2]", got)
	}
	sealed := mpsc.StrayClaim(q)
	q.Close()
	for range 2 {
		if sealed() || q.Len() != 0 {
			t.Errorf("a claim on a closed queue succeeded; Len %d", q.Len())
		}
	}
}
