package mpsc

// Reservation is a hold on a reserved cell of an InOrder queue. It is a
// value: copies name the same hold. Any goroutine may use it. Its methods
// never block and never allocate; the zero Reservation must not be used
// except with IsZero and comparison.
//
// A cell starts with one hold. Whoever takes more with Retain must see to as
// many more Releases. The Release of the last hold publishes the cell. A
// Release, Retain or Fail that comes after that changes nothing, also when
// the cell is long used for another reservation.
type Reservation[T, O any] struct {
	segment *Segment[T, O]
	seq     uint64
}

// IsZero reports whether r is the zero Reservation.
func (r Reservation[T, O]) IsZero() bool { return r.segment == nil }

// Seq returns the sequence number of the cell: 0, 1, 2, … in its queue.
func (r Reservation[T, O]) Seq() uint64 { return r.seq }

// Owner returns what the queue belongs to. It stays valid as long as the
// Reservation does.
func (r Reservation[T, O]) Owner() *O { return r.segment.queue.owner }

// Release gives up one hold. It reports false if there was none: the cell is
// published already.
func (r Reservation[T, O]) Release() bool {
	s := r.segment
	w := (r.seq+1)<<stampShift | holdOne
	if s.cells[r.seq&s.mask].word.CompareAndSwap(w, w-holdOne) {
		s.notice() // the only hold, not failed: the cell is published
		return true
	}
	return r.ReleaseN(1, false) == 1
}

// ReleaseN gives up n holds at once, after failing the cell if failed is
// set, and returns how many of them there were: fewer than n means that the
// rest had been given up before. A cell whose holds are saturated keeps them.
func (r Reservation[T, O]) ReleaseN(n int, failed bool) int {
	c := &r.segment.cells[r.seq&r.segment.mask]
	for n > 0 {
		w := c.word.Load()
		if w>>stampShift != stampOf(r.seq) {
			return 0
		}
		holds := w & holdMask >> holdShift
		if holds == 0 {
			return 0
		}
		released := min(uint64(n), holds)
		next := w
		if holds != maxHolds {
			next -= released << holdShift
		} else {
			released = uint64(n)
		}
		if failed {
			next |= failedBit
		}
		if c.word.CompareAndSwap(w, next) {
			if next&holdMask == 0 {
				r.segment.notice() // the last hold: the cell is published
			}
			return int(released)
		}
	}
	return 0
}

// Retain adds n holds, or saturates: a cell with 2^23-1 holds or more keeps
// them for ever and is never published. n ≤ 0 and a published cell: nothing.
func (r Reservation[T, O]) Retain(n int) {
	c := &r.segment.cells[r.seq&r.segment.mask]
	for n > 0 {
		w := c.word.Load()
		holds := w & holdMask >> holdShift
		if w>>stampShift != stampOf(r.seq) || holds == 0 {
			return
		}
		holds = min(holds+uint64(n), maxHolds)
		if c.word.CompareAndSwap(w, w&^uint64(holdMask)|holds<<holdShift) {
			return
		}
	}
}

// Fail marks the cell as failed, for good. It does not release. On a
// published cell it does nothing.
func (r Reservation[T, O]) Fail() {
	c := &r.segment.cells[r.seq&r.segment.mask]
	for {
		w := c.word.Load()
		if w>>stampShift != stampOf(r.seq) || w&holdMask == 0 || w&failedBit != 0 {
			return
		}
		if c.word.CompareAndSwap(w, w|failedBit) {
			return
		}
	}
}
