// Package mutexqueue is the second baseline of the queue benchmarks: a slice
// under a mutex, which the consumer swaps for an empty one.
//
// It is what many programs do instead of a channel, and on few cores it is
// the honest rival: a push is an append under an uncontended lock, and the
// consumer pays for one lock per swap, not per element.
package mutexqueue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrClosed is what Wait returns when the queue is closed and empty.
var ErrClosed = errors.New("mutexqueue: closed")

// maxKept is the capacity, in elements, of the largest slice that is kept for
// reuse after a burst.
const maxKept = 16384

// Queue is an unbounded queue of many producers and one consumer.
type Queue[T any] struct {
	mu      sync.Mutex
	in      []T // appended by producers under mu
	closed  bool
	waiting bool
	wake    chan struct{}

	out  []T // the consumer's side
	next int // index of the next element of out
	// left is what out still holds. Written by the consumer at the end of a
	// call, read by Len.
	left atomic.Int64
}

// New returns an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{wake: make(chan struct{}, 1)} }

// Push appends v. It returns false after Close.
func (q *Queue[T]) Push(v T) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.in = append(q.in, v)
	wake := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if wake {
		q.unpark()
	}
	return true
}

// PushBatch appends all of vs or, after Close, none.
func (q *Queue[T]) PushBatch(vs []T) int {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return 0
	}
	q.in = append(q.in, vs...)
	wake := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if wake {
		q.unpark()
	}
	return len(vs)
}

func (q *Queue[T]) unpark() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// swap makes what was pushed the consumer's, when it has nothing left. It
// reports whether the consumer has something.
func (q *Queue[T]) swap() bool {
	if q.next < len(q.out) {
		return true
	}
	spare := q.out[:0]
	if cap(spare) > maxKept {
		spare = nil
	}
	q.next = 0
	q.mu.Lock()
	q.out, q.in = q.in, spare
	q.left.Store(int64(len(q.out)))
	q.mu.Unlock()
	return len(q.out) > 0
}

// take returns the next element of out and clears its slot.
func (q *Queue[T]) take() T {
	var zero T
	v := q.out[q.next]
	q.out[q.next] = zero
	q.next++
	return v
}

// settle tells Len what a consumer call has taken. It is deferred, because a
// callback may panic.
func (q *Queue[T]) settle() { q.left.Store(int64(len(q.out) - q.next)) }

// TryPop returns the oldest element, if there is one.
func (q *Queue[T]) TryPop() (v T, ok bool) {
	if !q.swap() {
		return v, false
	}
	v = q.take()
	q.settle()
	return v, true
}

// Drain calls f with every element that was pushed before the call: what is
// left of an earlier swap, then one swap.
func (q *Queue[T]) Drain(f func(T)) int {
	defer q.settle()
	n := q.rest(f)
	if q.swap() {
		n += q.rest(f)
	}
	return n
}

func (q *Queue[T]) rest(f func(T)) int {
	n := 0
	for q.next < len(q.out) {
		f(q.take())
		n++
	}
	return n
}

// DrainTo moves up to len(dst) elements to dst.
func (q *Queue[T]) DrainTo(dst []T) int {
	defer q.settle()
	n := 0
	for n < len(dst) && q.swap() {
		k := copy(dst[n:], q.out[q.next:])
		clear(q.out[q.next : q.next+k])
		q.next += k
		n += k
	}
	return n
}

// Wait parks the consumer until there is an element, the queue is closed and
// empty, or ctx is done.
func (q *Queue[T]) Wait(ctx context.Context) error {
	if q.next < len(q.out) {
		return nil
	}
	for {
		q.mu.Lock()
		some, closed := len(q.in) > 0, q.closed
		q.waiting = !some && !closed
		q.mu.Unlock()
		if some {
			return nil
		}
		if closed {
			return ErrClosed
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			q.mu.Lock()
			q.waiting = false
			some := len(q.in) > 0
			q.mu.Unlock()
			if some {
				return nil
			}
			return ctx.Err()
		}
	}
}

// Len returns the number of elements; a running Drain counts at its end.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.in) + int(q.left.Load())
}

// Close makes later pushes return false.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.unpark()
}
