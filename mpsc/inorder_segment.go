package mpsc

import (
	"math/bits"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// cell is one place of an InOrder queue.
type cell[T any] struct {
	// word: see the table above failedBit. The producer stores it, holders
	// CAS it, the consumer and Outstanding load it.
	word atomics.Uint64
	// value is plain. The producer writes it before it stores word; the
	// consumer reads (and zeroes) it after it loaded word; the producer gets
	// the cell back with its segment.
	value T
}

// Segment is a run of cells of an InOrder queue. It is exported because it is
// what an Inbox collects; it has no exported methods.
//
// Its first cache line is read by the producer and the holders with every
// operation; what the consumer writes lies behind it.
type Segment[T, O any] struct {
	queue *InOrder[T, O]
	cells []cell[T]
	mask  uint64 // len(cells) - 1
	// ready is marked when a cell of the segment was reserved or published.
	ready Ready[Segment[T, O]]

	// next is the segment behind this one in the queue, stored once by the
	// producer and cleared by the consumer when it passes the segment; or, for
	// a passed segment, the next one of the returned stack.
	next atomics.Pointer[Segment[T, O]]
	// start is the sequence number of the first cell. The producer stores it
	// before it makes the segment the tail; Outstanding loads it.
	start atomics.Uint64

	// The consumer's own view, written by it alone when it comes to know the
	// segment as part of the queue: a holder that was delayed between its CAS
	// and its mark may bring a segment here that is passed and used again.
	base   uint64 // sequence number of the first cell
	seen   uint64 // bit i: cell i was seen published
	failed uint64 // bit i: cell i was seen published as failed
	known  int    // cells seen reserved
	live   bool   // the segment is part of the queue, base and the rest hold
}

// The segment sizes with their cells in one allocation. On 64-bit platforms the
// allocator puts a word of its own before an object of more than 512 bytes
// with pointers, so the cells of the two larger ones start on a cache line
// and, for an 8-byte T, the objects fill their size classes.
type (
	segment16[T, O any] struct {
		Segment[T, O]
		array [16]cell[T]
	}
	segment32[T, O any] struct {
		Segment[T, O]
		array [32]cell[T]
	}
	segment64[T, O any] struct {
		Segment[T, O]
		array [fullSegment]cell[T]
	}
)

func allocSegment[T, O any](size int) *Segment[T, O] {
	switch size {
	case 16:
		s := new(segment16[T, O])
		s.cells = s.array[:]
		return &s.Segment
	case 32:
		s := new(segment32[T, O])
		s.cells = s.array[:]
		return &s.Segment
	default:
		s := new(segment64[T, O])
		s.cells = s.array[:]
		return &s.Segment
	}
}

// notice tells the consumer that the segment has news. The caller has changed
// a cell before it; the consumer clears the mark before it looks at the
// cells. In the one order of these operations either the caller does not find
// the segment in the set and sees to it, or the consumer's look comes after the
// change.
func (s *Segment[T, O]) notice() {
	if !s.ready.isIn() {
		s.queue.inbox.push(&s.ready)
	}
}

// full reports whether every cell was seen reserved.
func (s *Segment[T, O]) full() bool { return s.known == len(s.cells) }

// complete reports whether every cell was seen published.
func (s *Segment[T, O]) complete() bool {
	return bits.OnesCount64(s.seen) == len(s.cells)
}

// scan brings the consumer's view of a live segment up to date and returns
// what is new in it.
func (s *Segment[T, O]) scan() (reserved, published int) {
	open := ^s.seen & (1<<uint(len(s.cells)) - 1)
	for open != 0 {
		i := bits.TrailingZeros64(open)
		open &= open - 1
		w := s.cells[i].word.Load()
		if i >= s.known {
			if w>>stampShift != stampOf(s.base+uint64(i)) {
				break // not reserved yet, nor is any cell behind it
			}
			s.known = i + 1
			reserved++
		}
		if w&holdMask == 0 {
			s.seen |= 1 << uint(i)
			s.failed |= w & failedBit << uint(i)
			published++
		}
	}
	return reserved, published
}

// peek reports whether scan would find something.
func (s *Segment[T, O]) peek() bool {
	open := ^s.seen & (1<<uint(len(s.cells)) - 1)
	for open != 0 {
		i := bits.TrailingZeros64(open)
		open &= open - 1
		w := s.cells[i].word.Load()
		if i >= s.known {
			return w>>stampShift == stampOf(s.base+uint64(i))
		}
		if w&holdMask == 0 {
			return true
		}
	}
	return false
}
