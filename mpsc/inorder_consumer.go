package mpsc

import (
	"math/bits"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// Advance takes the published prefix as the Inbox last saw it, up to the
// first cell that is not published or failed. It returns the number of cells
// taken, the value of the last of them, and whether a failed cell is what
// stopped it. Consumer only. Its cost grows with the segments passed, not
// with what waits behind the head.
func (q *InOrder[T, O]) Advance() (last T, n int, failed bool) {
	for {
		s := q.head
		if s == nil {
			break
		}
		end, stopped := s.prefix(q.pos)
		if end > q.pos {
			c := &s.cells[end-1]
			atomics.Read(&c.value)
			last = c.value
			if q.clear {
				q.zero(s, q.pos, end)
			}
			n += end - q.pos
			q.pos = end
		}
		failed = stopped
		if !q.leave(s) {
			break
		}
		if q.folds != nil {
			last, n = q.passRun(last, n)
		}
	}
	if n > 0 {
		q.taken.Add(uint64(n))
	}
	return last, n, failed
}

// Take is Advance with a look at each value: it calls f for each cell taken,
// in order, and returns their number. If f panics, the cell it was called
// for is taken and the rest stays. f must not call Take, Advance or the
// Inbox; it may reserve (if it runs on the producer) and release. A queue that
// Fold has shortened has no values left to look at: Take panics.
func (q *InOrder[T, O]) Take(f func(T)) (n int) {
	if f == nil {
		panic("mpsc: InOrder.Take needs a function, got nil")
	}
	if q.folds != nil && q.folds.cells > 0 {
		panic("mpsc: InOrder.Take after Fold; use Advance")
	}
	defer func() { q.taken.Add(uint64(n)) }()
	for s := q.head; s != nil; s = q.head {
		end, _ := s.prefix(q.pos)
		for q.pos < end {
			c := &s.cells[q.pos]
			atomics.Read(&c.value)
			v := c.value
			if q.clear {
				q.zero(s, q.pos, q.pos+1)
			}
			q.pos++
			n++
			f(v)
		}
		if !q.leave(s) {
			break
		}
	}
	return n
}

// Head returns the first cell that was not taken, if the consumer has seen it
// reserved: its sequence number, its value and whether it was published as
// failed. Consumer only.
func (q *InOrder[T, O]) Head() (seq uint64, v T, failed, ok bool) {
	s, pos := q.head, q.pos
	if s != nil && pos == len(s.cells) {
		s, pos = s.next.Load(), 0
	}
	if s == nil || !s.live || pos >= s.known {
		return 0, v, false, false
	}
	atomics.Read(&s.cells[pos].value)
	return s.base + uint64(pos), s.cells[pos].value, s.failed>>uint(pos)&1 != 0, true
}

// prefix returns the end of the run of published, not failed cells of s that
// starts at pos, and whether a failed cell ends it.
func (s *Segment[T, O]) prefix(pos int) (end int, failed bool) {
	good := s.seen &^ s.failed
	end = min(pos+bits.TrailingZeros64(^(good>>uint(pos))), len(s.cells))
	return end, end < len(s.cells) && s.failed>>uint(end)&1 != 0
}

// leave moves the head past s if all of s is taken and the consumer knows
// the segment behind it.
func (q *InOrder[T, O]) leave(s *Segment[T, O]) bool {
	if q.pos < len(s.cells) || s == q.last {
		return false
	}
	q.head = s.next.Load()
	q.pos = 0
	if q.front == s {
		q.front = nil
	}
	q.recycle(s)
	return true
}

// recycle hands a passed segment back to the producer, or drops it. Its link
// is cleared, so that an old Reservation does not keep the chain alive.
func (q *InOrder[T, O]) recycle(s *Segment[T, O]) {
	s.live = false
	s.next.Store(nil)
	if q.mode == retired || len(s.cells) < fullSegment || q.spare.Load() >= maxSpare {
		return
	}
	q.spare.Add(1)
	for {
		top := q.returned.Load()
		s.next.Store(top)
		if q.returned.CompareAndSwap(top, s) { // s is the producer's from here on
			return
		}
	}
}

// zero drops what the values of the taken cells [from, to) of s refer to.
func (q *InOrder[T, O]) zero(s *Segment[T, O], from, to int) {
	var none T
	for i := from; i < to; i++ {
		atomics.Write(&s.cells[i].value)
		s.cells[i].value = none
	}
}

// zeroSeen is zero for all cells of s that were seen published.
func (q *InOrder[T, O]) zeroSeen(s *Segment[T, O]) {
	for seen := s.seen; seen != 0; seen &= seen - 1 {
		i := bits.TrailingZeros64(seen)
		q.zero(s, i, i+1)
	}
}

// Discard ends taking: from now on what is published is dropped, in any
// order, and only reported by the Inbox. Reservations go on working. Cells
// that were published and not taken are dropped at once. Consumer only.
//
// With reuse the producer goes on reserving and segments are used again; else
// they are left to the collector as their reservations are resolved.
func (q *InOrder[T, O]) Discard(reuse bool) {
	q.mode = retired
	if reuse {
		q.mode = discard
	}
	for s := q.head; s != nil; {
		if q.clear {
			q.zeroSeen(s)
		}
		if s == q.last {
			break
		}
		next := s.next.Load()
		q.unchain(s)
		s = next
	}
	q.head, q.front, q.folds = nil, nil, nil
	if !reuse {
		q.returned.Swap(nil) // an old Reservation must not keep them alive
	}
}

// unchain takes a segment that has a known successor out of the chain of a
// discarding queue: nothing needs the chain any more, and it would keep
// memory alive.
func (q *InOrder[T, O]) unchain(s *Segment[T, O]) {
	if s.complete() {
		q.drop(s)
	} else {
		s.next.Store(nil)
	}
}

// drop recycles a segment whose cells are published and were not taken.
func (q *InOrder[T, O]) drop(s *Segment[T, O]) {
	if q.clear {
		q.zero(s, 0, len(s.cells))
	}
	q.recycle(s)
}

// link makes the segments that the producer has added behind the last known
// one known to the consumer and reports what is new in them.
func (q *InOrder[T, O]) link(visit func(q *InOrder[T, O], reserved, published int)) {
	for {
		s, base := q.following()
		if s == nil {
			return
		}
		prev := q.last
		q.adopt(s, base)
		if prev != nil && q.mode != takeInOrder {
			q.unchain(prev)
		}
		if reserved, published := s.scan(); reserved+published > 0 {
			q.open += reserved - published
			visit(q, reserved, published)
		}
	}
}

// following returns the segment behind the last known one and the sequence
// number it starts at; nil if there is none, or if the last known one is not
// seen full, which it must be before its successor is looked at.
func (q *InOrder[T, O]) following() (s *Segment[T, O], base uint64) {
	if q.last == nil {
		return q.first.Load(), 0
	}
	if !q.last.full() {
		return nil, 0
	}
	return q.last.next.Load(), q.last.base + uint64(len(q.last.cells))
}

// adopt starts the consumer's view of s, the segment behind the last one.
func (q *InOrder[T, O]) adopt(s *Segment[T, O], base uint64) {
	s.base, s.seen, s.failed, s.known, s.live = base, 0, 0, 0, true
	q.last = s
	if q.head == nil && q.mode == takeInOrder {
		q.head = s
	}
}
