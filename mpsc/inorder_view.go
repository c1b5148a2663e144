package mpsc

import (
	"math/bits"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// CellState is what a consumer saw of a cell.
type CellState uint8

const (
	// CellOpen: reserved, not published.
	CellOpen CellState = iota
	// CellGood: published, not failed.
	CellGood
	// CellFailed: published as failed.
	CellFailed
)

// Stretch is a number of neighbouring cells in one state.
type Stretch[T any] struct {
	State CellState // of all of them
	Seq   uint64    // sequence number of the first cell
	Cells int       // how many there are; more than one only for folded cells
	// First and Last are the values of the first and the last cell, Turn is
	// that of the first cell whose value differs from First, or First if none
	// does.
	First, Turn, Last T
}

// Seen returns how many cells the Inbox has seen reserved. Consumer only.
func (q *InOrder[T, O]) Seen() uint64 {
	if q.last == nil {
		return 0
	}
	return q.last.base + uint64(q.last.known)
}

// Open returns how many cells were seen reserved and not published. Consumer
// only; not after Discard.
func (q *InOrder[T, O]) Open() int { return q.open }

// published returns how many cells were seen published, in any order.
func (q *InOrder[T, O]) published() uint64 { return q.Seen() - uint64(q.open) }

// Front returns the first cell that was seen reserved and is not published, or
// was published as failed: what holds the queue back. Unlike Head it looks past
// cells that could be taken. Consumer only. Over many calls its cost grows with
// the segments published, not with what waits.
func (q *InOrder[T, O]) Front() (seq uint64, v T, failed, ok bool) {
	s, i := q.findFront()
	if s == nil {
		return 0, v, false, false
	}
	atomics.Read(&s.cells[i].value)
	return s.base + uint64(i), s.cells[i].value, s.failed>>uint(i)&1 != 0, true
}

// Pardon makes the failed cell at the Front one that was published in good
// order, and reports false if the Front is no failed cell. Consumer only.
func (q *InOrder[T, O]) Pardon() bool {
	s, i := q.findFront()
	if s == nil || s.failed>>uint(i)&1 == 0 {
		return false
	}
	s.failed &^= 1 << uint(i)
	return true
}

func (q *InOrder[T, O]) findFront() (s *Segment[T, O], i int) {
	if s = q.front; s == nil {
		s = q.head
	}
	for s != nil {
		q.front = s
		if i, _ = s.prefix(0); i < s.known {
			return s, i
		}
		if s == q.last {
			break
		}
		s = s.next.Load()
	}
	return nil, 0
}

// Waiting counts the cells that were seen reserved and are not taken, by
// their state. Consumer only; not after Discard. Its cost grows with the
// segments that wait.
func (q *InOrder[T, O]) Waiting() (open, good, failed int) {
	open = q.Open()
	for s := q.head; s != nil; s = s.next.Load() {
		failed += bits.OnesCount64(s.failed)
		if s == q.last {
			break
		}
	}
	return open, int(q.published()-q.taken.Load()) - failed, failed
}

// Walk calls f for the cells that were seen reserved and are not taken, in
// order, until f returns false. Consumer only. f must not call the queue.
func (q *InOrder[T, O]) Walk(f func(Stretch[T]) bool) {
	var runs []Stretch[T]
	if q.folds != nil {
		runs = q.folds.runs
	}
	pos := q.pos
	for s := q.head; s != nil; s = s.next.Load() {
		if len(runs) > 0 && runs[0].Seq < s.base {
			if !f(runs[0]) {
				return
			}
			runs = runs[1:]
		}
		for ; pos < s.known; pos++ {
			if !f(s.stretch(pos)) {
				return
			}
		}
		if s == q.last {
			return
		}
		pos = 0
	}
}

func (s *Segment[T, O]) stretch(i int) Stretch[T] {
	atomics.Read(&s.cells[i].value)
	v := s.cells[i].value
	state := CellOpen
	switch {
	case s.failed>>uint(i)&1 != 0:
		state = CellFailed
	case s.seen>>uint(i)&1 != 0:
		state = CellGood
	}
	return Stretch[T]{state, s.base + uint64(i), 1, v, v, v}
}
