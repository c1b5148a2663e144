package mpsc_test

import (
	"context"
	"testing"

	"github.com/tidemark-go/tidemark/mpsc"
)

// A callback that does not return leaves the lane where it was: what it took
// is taken, and nothing that was not pushed appears.
func TestACallbackThatPanicsLeavesTheLaneInOrder(t *testing.T) {
	for _, taken := range []int{1, 2, 3} {
		q := mpsc.New[int]()
		p := q.Producer()
		for v := range 3 {
			p.Push(v + 1)
		}
		n := 0
		func() {
			defer func() { _ = recover() }()
			q.Drain(func(int) {
				if n++; n == taken {
					panic("the last one")
				}
			})
		}()
		p.Push(4)
		for want := taken + 1; want <= 4; want++ {
			if v, ok := q.TryPop(); !ok || v != want {
				t.Fatalf("after a panic at element %d: TryPop = %d, %v, want %d", taken, v, ok, want)
			}
		}
		if v, ok := q.TryPop(); ok {
			t.Fatalf("after a panic at element %d: popped %d, which nobody pushed", taken, v)
		}
		if n := q.Drain(func(int) {}); n != 0 {
			t.Fatalf("Drain took %d from an empty queue", n)
		}
		p.Close()
	}
}

// lateContext is done after f ran.
type lateContext struct {
	context.Context
	f func()
}

func (c lateContext) Err() error {
	c.f()
	return context.Canceled
}

// What is published before the context is done is found, however close.
func TestWaitFindsWhatCameBeforeItsContextWasDone(t *testing.T) {
	q := mpsc.New[int]()
	if err := q.Wait(lateContext{context.Background(), func() { q.Push(1) }}); err != nil {
		t.Errorf("Wait = %v with %d elements in the queue", err, q.Len())
	}
	q = mpsc.New[int]()
	if err := q.Wait(lateContext{context.Background(), q.Close}); err != mpsc.ErrClosed {
		t.Errorf("Wait = %v on a queue closed before the context was done, want ErrClosed", err)
	}
}
