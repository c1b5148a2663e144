package queues

import (
	"sync/atomic"

	"github.com/tidemark-go/tidemark/internal/pad"
)

const ticketCells = 256

// Ticket is an unbounded chain of segments; a push claims its cell by
// fetch-add. Passed segments are left to the garbage collector.
type Ticket[T any] struct {
	// tail is the segment to push to. Written by producers, by CAS.
	tail atomic.Pointer[ticketSegment[T]]
	_    pad.Line
	head *ticketSegment[T] // consumer only
	next int               // consumer only: the cell of head to pop
}

type ticketSegment[T any] struct {
	base uint64 // position of the first cell
	// claim counts claimed cells and failed claims beyond the last cell.
	claim atomic.Uint64
	// next goes from nil to the following segment once.
	next  atomic.Pointer[ticketSegment[T]]
	cells [ticketCells]ticketCell[T]
}

type ticketCell[T any] struct {
	// published goes from false to true once, after v is written.
	published atomic.Bool
	v         T
}

// NewTicket returns an empty queue.
func NewTicket[T any]() *Ticket[T] {
	q := &Ticket[T]{head: new(ticketSegment[T])}
	q.tail.Store(q.head)
	return q
}

// Push appends v.
func (q *Ticket[T]) Push(v T) bool {
	for {
		s := q.tail.Load()
		if i := s.claim.Add(1) - 1; i < ticketCells {
			c := &s.cells[i]
			c.v = v
			c.published.Store(true)
			return true
		}
		if s.next.Load() == nil {
			s.next.CompareAndSwap(nil, &ticketSegment[T]{base: s.base + ticketCells})
		}
		q.tail.CompareAndSwap(s, s.next.Load())
	}
}

// TryPop returns the oldest element. It finds nothing behind a push that has
// claimed and not yet published.
func (q *Ticket[T]) TryPop() (v T, ok bool) {
	if q.next == ticketCells {
		n := q.head.next.Load()
		if n == nil {
			return v, false
		}
		q.head, q.next = n, 0
	}
	c := &q.head.cells[q.next]
	if !c.published.Load() {
		return v, false
	}
	var zero T
	v, c.v = c.v, zero
	q.next++
	return v, true
}

// Drain calls f with what was pushed before the call.
func (q *Ticket[T]) Drain(f func(T)) int {
	s := q.tail.Load()
	end := s.base + min(s.claim.Load(), ticketCells)
	return drain(int(end-q.head.base)-q.next, q.TryPop, f)
}
