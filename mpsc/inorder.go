package mpsc

import (
	"math"
	"reflect"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/pad"
	"github.com/tidemark-go/tidemark/internal/pointers"
)

// A cell's word is stamp(40) | holders(23) | failed(1).
//
//	reserve    old stamp, anything      →  seq+1, 1 hold, 0      producer, store
//	retain     seq+1, h>0 holds, f      →  seq+1, h+n holds, f   holder, CAS
//	fail       seq+1, h>0 holds, 0      →  seq+1, h holds, 1     holder, CAS
//	release    seq+1, h>1 holds, f      →  seq+1, h-1 holds, f   holder, CAS
//	publish    seq+1, 1 hold, f         →  seq+1, 0 holds, f     last holder, CAS
//
// The stamp is the sequence number plus one, so that zeroed memory is never
// taken for a published cell 0. A cell is reused only after the consumer has
// passed it, under a higher stamp, so a handle of an earlier use finds
// another stamp, its CAS cannot succeed, and it knows that it is late.
const (
	failedBit   = 1
	holdOne     = 1 << 1
	holdShift   = 1
	maxHolds    = 1<<23 - 1 // as a count this means "saturated"
	holdMask    = maxHolds << holdShift
	stampShift  = 24
	maxReserved = 1 << 40 // sequence numbers of one queue are 0 … 2^40-1

	// fullSegment is the number of cells of all but the first segments of a
	// queue: one bit each in the consumer's seen word.
	fullSegment = 64
	// maxSpare segments are kept for reuse by one queue: enough for 13000
	// outstanding reservations to come and go without an allocation, and less
	// than 256 KiB for an 8-byte T, with what an Inbox keeps.
	maxSpare = 208
)

// InOrder is a queue whose cells one goroutine, the producer, reserves in
// order, any goroutine publishes in any order, and one consumer takes in the
// order of reservation: registration and acknowledgement in one structure.
// A reservation can be held by several goroutines; the cell is published by
// the last of them that releases it, as failed if one of them said so.
//
// Its consumer does not poll it. Queues report to an Inbox, which visits
// those that have news; Take and Advance then take what that visit saw.
// T is the type of the value that a cell carries, O that of the thing the
// queue belongs to, which Reservation.Owner leads back to.
//
// Init makes a queue ready for use; a queue must not be copied after that.
//
// Progress: Reserve is wait-free except for the Inbox's push, which is
// lock-free and happens at most once per segment and visit, and for an
// allocation when no passed segment is at hand. Retain, Fail and Release
// retry their CAS only when another holder of the same cell went through.
// A stalled holder delays its own cell and those after it, nothing else.
//
// Memory: cells come in segments of 16, 16, 32, 64, 64, … cells. A passed
// segment is used again by the same queue, up to 208 of them are kept.
//
// Happens before: what the producer did before Reserve and each holder before
// its Release happens before the Take or Advance that passes the cell.
type InOrder[T, O any] struct {
	owner *O
	inbox *Inbox[T, O]

	// Producer only.
	cur  *Segment[T, O] // the segment that reservations go to
	seq  uint64         // the next sequence number
	end  uint64         // the first sequence number beyond cur
	free *Segment[T, O] // segments fetched from returned, linked by next

	_ pad.Line

	// first is the first segment. The producer stores it once; the consumer
	// loads it until it has it.
	first atomics.Pointer[Segment[T, O]]
	// tail is the segment that reservations go to. The producer stores it;
	// Outstanding loads it on any goroutine.
	tail atomics.Pointer[Segment[T, O]]
	// returned is a stack of passed segments, linked by next. The consumer
	// pushes by CAS, the producer takes all by swapping nil in: no ABA. Discard
	// swaps nil in as well, beside the producer.
	returned atomics.Pointer[Segment[T, O]]
	// spare counts the segments in returned and free. The consumer adds, the
	// producer subtracts.
	spare atomics.Int32
	// taken is the number of cells that were taken. The consumer stores it;
	// Outstanding loads it on any goroutine. It only grows.
	taken atomics.Uint64

	// Consumer only.
	head  *Segment[T, O] // where Take stands; nil before the first segment
	last  *Segment[T, O] // the last segment the consumer knows
	pos   int            // cells of head that were taken
	mode  consumeMode
	clear bool // T holds pointers: cells are zeroed when they are taken
	open  int  // cells seen reserved and not published
	// front is where Front last stood; nil means at head.
	front *Segment[T, O]
	folds *folds[T] // what Fold took out of the chain; nil if nothing
}

// consumeMode says what the consumer does with published cells.
type consumeMode uint8

const (
	takeInOrder consumeMode = iota // Take and Advance pass them in order
	discard                        // they are dropped in any order, segments are used again
	retired                        // they are dropped, segments are left to the collector
)

// Init makes q ready for use: it reports to inbox and belongs to owner.
func (q *InOrder[T, O]) Init(inbox *Inbox[T, O], owner *O) {
	if inbox == nil {
		panic("mpsc: InOrder.Init needs an Inbox; make one with NewInbox")
	}
	q.owner = owner
	q.inbox = inbox
	q.clear = pointers.In(reflect.TypeFor[T]())
}

// Owner returns what Init was given.
func (q *InOrder[T, O]) Owner() *O { return q.owner }

// Next returns the sequence number that the next Reserve will use, which is
// also the number of reservations so far. Producer only.
func (q *InOrder[T, O]) Next() uint64 { return q.seq }

// Reserve reserves the next cell for v with one hold. It reports false, and
// has done nothing, when the queue has used up its 2^40 sequence numbers.
// Producer only. It never blocks.
func (q *InOrder[T, O]) Reserve(v T) (r Reservation[T, O], ok bool) {
	seq := q.seq
	if seq == q.end && !q.grow() {
		return r, false
	}
	s := q.cur
	c := &s.cells[seq&s.mask]
	atomics.Write(&c.value)
	c.value = v
	c.word.Store((seq+1)<<stampShift | holdOne) // the cell is registered
	q.seq = seq + 1
	s.notice()
	return Reservation[T, O]{s, seq}, true
}

// grow gives the producer a segment with room for sequence number q.seq.
func (q *InOrder[T, O]) grow() bool {
	if q.seq >= maxReserved {
		return false
	}
	s := q.reuse()
	if s == nil {
		s = q.newSegment()
	}
	s.start.Store(q.seq)
	if q.cur == nil {
		q.first.Store(s)
	} else {
		q.cur.next.Store(s)
	}
	q.tail.Store(s)
	q.cur = s
	q.end = q.seq + uint64(len(s.cells))
	return true
}

// newSegment allocates the segment for sequence numbers from q.seq on. The
// sizes 16, 16, 32, 64, … keep seq & mask the index of a cell: each segment
// starts at a multiple of its size.
func (q *InOrder[T, O]) newSegment() *Segment[T, O] {
	size := uint64(fullSegment)
	if q.seq < fullSegment {
		size = max(16, q.seq)
	}
	s := allocSegment[T, O](int(size))
	s.queue = q
	s.mask = size - 1
	s.ready.Bind(s)
	if q.seq+size >= maxReserved {
		// The stamp of the last sequence number wraps to that of zeroed
		// memory. Give the cells one that is long past instead.
		for i := range s.cells {
			s.cells[i].word.Store(1 << stampShift)
		}
	}
	return s
}

// reuse returns a passed segment, nil if there is none.
func (q *InOrder[T, O]) reuse() *Segment[T, O] {
	s := q.free
	if s == nil {
		if q.returned.Load() == nil {
			return nil
		}
		if s = q.returned.Swap(nil); s == nil {
			return nil // a Discard was faster
		}
	}
	q.free = s.next.Load()
	s.next.Store(nil)
	q.spare.Sub(1)
	return s
}

// Forget drops the segments that the producer keeps for reuse: it will not
// reserve any more. Producer only.
func (q *InOrder[T, O]) Forget() { q.free = nil }

// outstandingTries bounds how often Outstanding looks again because cells were
// taken meanwhile.
const outstandingTries = 4

// Outstanding returns how many cells are reserved and not taken. Any
// goroutine may call it, at any time. It never counts too few. While Take
// or Advance runs it may still count what they take; it counts what was
// reserved and taken while it looked only if that happened four times in a row.
func (q *InOrder[T, O]) Outstanding() int {
	least := uint64(math.MaxUint64)
	for range outstandingTries {
		taken := q.taken.Load() // before the reservations, which only grow
		least = min(least, q.reserved()-taken)
		if q.taken.Load() == taken {
			break
		}
	}
	return int(least)
}

// Taken returns how many cells were taken. Any goroutine may call it.
func (q *InOrder[T, O]) Taken() uint64 { return q.taken.Load() }

// reserved counts the reservations on any goroutine: nothing publishes that
// number, but the cells of the tail segment are stamped in order, so a binary
// search finds it.
func (q *InOrder[T, O]) reserved() uint64 {
	for {
		s := q.tail.Load()
		if s == nil {
			return 0
		}
		start := s.start.Load()
		lo, hi := 0, len(s.cells)
		for lo < hi {
			mid := int(uint(lo+hi) / 2)
			if s.cells[mid].word.Load()>>stampShift == stampOf(start+uint64(mid)) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		// The segment may have been passed and used again meanwhile; then it
		// was no longer the tail, or it starts elsewhere.
		if q.tail.Load() == s && s.start.Load() == start {
			return start + uint64(lo)
		}
	}
}

// stampOf returns the stamp of a cell that holds sequence number seq.
func stampOf(seq uint64) uint64 { return (seq + 1) << stampShift >> stampShift }
