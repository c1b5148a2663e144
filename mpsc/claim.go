package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// The claim word of a segment of the shared chain. A push takes the next cell
// by adding 1 to it:
//
//	open    base(38) | 0 | 0 | count(24)   count cells are claimed; a claim
//	                                       that finds count >= size came late
//	shut    base(38) | 0 | 1 | late(24)    not a claim yet: linked or about to
//	                                       be, but not opened
//	sealed  count(38)| 1 | 0 | late(24)    closed for ever with count claims
//
// Transitions: the goroutine that prepares a segment nobody can reach through
// the queue stores shut; any goroutine opens a shut segment that is the tail
// (CAS shut → open, once per use of the segment); Close seals the tail while
// it has room (CAS open → sealed). Every word survives stray additions: a
// producer that was delayed since it loaded the tail may add to a segment that
// is full, kept for reuse, shut or sealed, and learns from the sum that it
// holds nothing. If the segment is open again by then, its claim is as good
// as any.
//
// base is the index of the segment's first element, modulo 2^38: it makes the
// word enough for Len, which must not trust any other field of a segment that
// may be reused under it. Each goroutine adds at most one late claim per use,
// so 24 bits cannot overflow.
const (
	claimCountMask = 1<<24 - 1
	claimShut      = 1 << 24
	claimSealed    = 1 << 25
	// claimIndexMask covers the count and both flags, so that one comparison
	// with the size tells a cell from everything else.
	claimIndexMask = 1<<26 - 1
	claimBaseShift = 26
	// indexMask is the modulus of element indices. Fewer than 2^37 elements
	// with a size fit into memory, so the difference of two indices is
	// unambiguous.
	indexMask = 1<<38 - 1
)

// queueSegment is a run of cells of the shared chain.
//
// The header and its cells are used again together. Two things keep a reuse
// from being mistaken for the use before it: a claim is made and checked by
// one addition, so it is a claim of whatever use the segment is in; and next
// changes only within a chain section (see Queue.sections), which no reuse
// cuts through.
type queueSegment[T any] struct {
	// claim: see the table above. Added to by producers; loaded by producers,
	// the consumer and Len.
	claim atomics.Uint64
	_     [56]byte // claims of one segment must not slow down readers of the rest

	// next is nil, then the segment behind this one (CAS by a producer or
	// Close, within a section), then the segment itself once the consumer has
	// passed it. The consumer stores nil before it keeps it for reuse.
	next atomics.Pointer[queueSegment[T]]

	cells []queueCell[T] // fixed
	// gen is the stamp that means "published" in this use. Plain: the consumer
	// changes it when every cell of the segment was consumed and no section
	// holds it; a producer reads it between its claim and its publication.
	gen uint32
	// base is the index of the first element. Plain: written before the
	// segment is linked, read by Len if the segment is sealed, which is for ever.
	base uint64

	// The consumer's own: cells noted as unpublished, and whether the head has
	// moved on, so that the last of them retires the segment.
	gaps   int
	passed bool
}

// queueCell is one place of the shared chain.
type queueCell[T any] struct {
	// v is plain. The producer that claimed the cell writes it before it
	// stores stamp; the consumer reads and zeroes it after it loaded stamp.
	v T
	// stamp is the segment's gen once the cell is published. Stored by the
	// producer that claimed the cell, loaded by the consumer.
	stamp atomics.Uint32
}

func newQueueSegment[T any](size int, gen uint32) *queueSegment[T] {
	return &queueSegment[T]{cells: make([]queueCell[T], size), gen: gen}
}

// claimed returns the number of claimed cells that the claim word w tells.
func (s *queueSegment[T]) claimed(w uint64) int {
	switch {
	case w&claimSealed != 0:
		return int(w >> claimBaseShift)
	case w&claimShut != 0:
		return 0
	}
	return min(int(w&claimCountMask), len(s.cells))
}

// end returns the index behind the last claimed element, modulo 2^38.
func (s *queueSegment[T]) end() uint64 {
	w := s.claim.Load()
	base := w >> claimBaseShift
	if w&claimSealed != 0 {
		atomics.Read(&s.base)
		base = s.base
	}
	return base + uint64(s.claimed(w))
}

// shut prepares a segment that is not part of the chain to follow one whose
// elements end at base.
func (s *queueSegment[T]) shut(base uint64) {
	base &= indexMask
	atomics.Write(&s.base)
	s.base = base
	s.claim.Store(base<<claimBaseShift | claimShut)
}

// claim takes the next cell of the shared chain. It returns nil if the queue
// is closed. The claimed cell is the caller's until it publishes it.
func (q *Queue[T]) claim() (*queueSegment[T], uint64) {
	if q == nil {
		panicZeroQueue("Push")
	}
	s := q.tail.Load()
	if s == nil {
		panicZeroQueue("Push")
	}
	if q.closed.Load() {
		return nil, 0
	}
	if i := (s.claim.Add(1) - 1) & claimIndexMask; i < uint64(len(s.cells)) {
		return s, i
	}
	return q.claimSlow()
}

// publish hands a claimed cell with its value to the consumer.
func (q *Queue[T]) publish(s *queueSegment[T], i uint64, v T) {
	c := &s.cells[i]
	atomics.Write(&c.v)
	c.v = v
	atomics.Read(&s.gen)
	c.stamp.Store(s.gen) // the cell is the consumer's from here on
	q.wake()
}

// claimSlow is claim for a tail without room. It appends a segment, or helps
// whoever is about to.
func (q *Queue[T]) claimSlow() (s *queueSegment[T], i uint64) {
	q.sections.Add(1)
	for {
		t := q.tail.Load()
		w := t.claim.Load()
		if w&claimSealed != 0 {
			s = nil
			break
		}
		if !q.settle(t, w) {
			continue
		}
		if t.claimed(w) == len(t.cells) {
			q.extend(t, w)
			continue
		}
		if i = (t.claim.Add(1) - 1) & claimIndexMask; i < uint64(len(t.cells)) {
			s = t
			break
		}
	}
	q.sections.Add(-1)
	return s, i
}

// settle brings the end of the chain into a state where a claim or a seal can
// be tried: the tail t, whose claim word was w, is the last segment or full,
// and open. It returns false if the caller has to look again. Within a section.
func (q *Queue[T]) settle(t *queueSegment[T], w uint64) bool {
	if w&claimShut != 0 {
		t.claim.CompareAndSwap(w, w&^claimIndexMask)
		return false
	}
	switch next := t.next.Load(); next {
	case nil:
		return true
	case t: // passed: the tail has moved
	default:
		q.tail.CompareAndSwap(t, next)
	}
	return false
}

// extend appends a segment behind t, which is full and whose claim word was
// w. If another goroutine was faster, its segment stands. Within a section.
//
// The segment is linked, then made the tail, then opened, each by whoever
// comes first: so cells are claimed in no segment behind the tail.
func (q *Queue[T]) extend(t *queueSegment[T], w uint64) {
	// Producers that reach the end together meet at the pool as well. One of
	// them is about to append: what the others would allocate is of no use.
	s, met := q.pool.takeShared()
	for tries := 1; s == nil; tries++ {
		if t.next.Load() != nil {
			return
		}
		if !met || tries >= q.pool.tries {
			s = newQueueSegment[T](q.segmentSize, q.firstGen)
			break
		}
		s, met = q.pool.takeShared()
	}
	s.shut(w>>claimBaseShift + uint64(len(t.cells)))
	if t.next.CompareAndSwap(nil, s) {
		q.tail.CompareAndSwap(t, s)
		return
	}
	q.pool.putShared(s)
}

// seal closes the shared chain: it ends in a sealed segment afterwards, so no
// claim succeeds any more. Any goroutine may call it, also several at once.
func (q *Queue[T]) seal() {
	q.sections.Add(1)
	for {
		t := q.tail.Load()
		w := t.claim.Load()
		if w&claimSealed != 0 {
			break
		}
		if !q.settle(t, w) {
			continue
		}
		if n := t.claimed(w); n < len(t.cells) {
			t.claim.CompareAndSwap(w, uint64(n)<<claimBaseShift|claimSealed)
			continue
		}
		// The tail is full: what follows it decides between a push and us.
		end := &queueSegment[T]{base: (w>>claimBaseShift + uint64(len(t.cells))) & indexMask}
		end.claim.Store(claimSealed)
		if t.next.CompareAndSwap(nil, end) {
			q.tail.CompareAndSwap(t, end)
		}
	}
	q.sections.Add(-1)
}
