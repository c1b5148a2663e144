package queues

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/internal/pad"
)

// Ring is a bounded queue. Its cells carry the position they wait for: {pos}
// is free for the push with that position, {pos+1} holds its element, and the
// pop makes it {pos+capacity}.
type Ring[T any] struct {
	cells []ringCell[T]
	_     pad.Line
	// claim is the next position to push. Written by producers, by CAS.
	claim atomic.Uint64
	_     pad.Line
	head  uint64 // consumer only: the next position to pop
}

type ringCell[T any] struct {
	turn atomic.Uint64
	v    T
}

// NewRing returns a ring of the given capacity, a power of two.
func NewRing[T any](capacity int) *Ring[T] {
	if capacity < 2 || capacity&(capacity-1) != 0 {
		panic(fmt.Sprintf("queues: NewRing(%d): want a power of two of at least 2", capacity))
	}
	r := &Ring[T]{cells: make([]ringCell[T], capacity)}
	for i := range r.cells {
		r.cells[i].turn.Store(uint64(i))
	}
	return r
}

// TryPush appends v, or returns false when the ring is full.
func (r *Ring[T]) TryPush(v T) bool {
	for {
		pos := r.claim.Load()
		c := &r.cells[pos&uint64(len(r.cells)-1)]
		switch d := int64(c.turn.Load() - pos); {
		case d < 0:
			return false
		case d == 0 && r.claim.CompareAndSwap(pos, pos+1):
			c.v = v
			c.turn.Store(pos + 1)
			return true
		}
	}
}

// Push appends v; it yields while the ring is full.
func (r *Ring[T]) Push(v T) bool {
	for !r.TryPush(v) {
		runtime.Gosched()
	}
	return true
}

// TryPop returns the oldest element. It finds nothing behind a push that has
// claimed and not yet published.
func (r *Ring[T]) TryPop() (v T, ok bool) {
	pos := r.head
	c := &r.cells[pos&uint64(len(r.cells)-1)]
	if c.turn.Load() != pos+1 {
		return v, false
	}
	var zero T
	v, c.v = c.v, zero
	c.turn.Store(pos + uint64(len(r.cells)))
	r.head++
	return v, true
}

// Drain calls f with what was pushed before the call.
func (r *Ring[T]) Drain(f func(T)) int {
	return drain(int(r.claim.Load()-r.head), r.TryPop, f)
}

// drain pops up to n elements.
func drain[T any](n int, pop func() (T, bool), f func(T)) int {
	for i := range n {
		v, ok := pop()
		if !ok {
			return i
		}
		f(v)
	}
	return n
}
