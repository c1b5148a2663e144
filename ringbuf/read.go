package ringbuf

import "github.com/tidemark-go/tidemark/internal/atomics"

// pinTries bounds how often a reader tries to pin one record. Every failed try
// met another operation on the same position.
const pinTries = 1000

// pinResult says what a reader found at the position of a record.
type pinResult uint8

const (
	pinned      pinResult = iota // the record is there and held
	pending                      // the record is accepted and not published yet
	overwritten                  // a later record has taken the position
	busy                         // too many readers
)

// ReadAfter copies the records that follow cursor into dst, oldest first and
// without gaps, and returns how many: the record in dst[i] has the sequence
// number cursor+1+i. A record that is still being written ends the page, even
// if later ones are there; fewer records than dst holds therefore do not mean
// that there are no more (compare with Next).
//
// It returns a *CursorAheadError if cursor is not below Next, a
// *CursorOverwrittenError if the record after cursor was overwritten, and
// ErrBusy if that record could not be pinned in a bounded number of tries;
// n is 0 then. What a call returns was one sample: no record of it was
// overwritten when the call looked at Next. It allocates nothing but errors
// and keeps nothing of dst.
func (r *Ring[T]) ReadAfter(cursor uint64, dst []T) (n int, err error) {
	for {
		next := r.next.Load()
		if cursor >= next {
			return 0, &CursorAheadError{AfterSequence: cursor, NextSequence: next}
		}
		if oldest := r.oldest(next); cursor+1 < oldest {
			return 0, &CursorOverwrittenError{AfterSequence: cursor, OldestRetained: oldest}
		}
		want := min(uint64(len(dst)), next-1-cursor)
		n, end := r.page(cursor+1, dst[:want])
		switch {
		case n > 0 || end == pinned || end == pending:
			return n, nil
		case end == busy:
			return 0, ErrBusy
		}
		// The record was overwritten since. The one that did it has its number
		// from next, so the next round ends above.
	}
}

// page copies records from seq on until dst is full or one cannot be had, and
// says why it ended; pinned means that dst is full.
func (r *Ring[T]) page(seq uint64, dst []T) (n int, end pinResult) {
	for n < len(dst) {
		p := r.at(seq)
		w, result := r.pin(p, seq)
		if result != pinned {
			return n, result
		}
		ok := r.buffer(r.layout.buffer(w)).copyTo(seq, &dst[n])
		r.unpin(p, w)
		if !ok {
			return n, overwritten
		}
		n++
		seq++
	}
	return n, pinned
}

// pin makes the calling reader a holder of the record and returns the word it
// left.
func (r *Ring[T]) pin(p *slot[T], seq uint64) (uint64, pinResult) {
	for range pinTries {
		w := p.word.Load()
		if result := r.readable(w, seq); result != pinned {
			return 0, result
		}
		if p.word.CompareAndSwap(w, w+readerOne) { // nobody writes the buffer from here
			return w + readerOne, pinned
		}
	}
	return 0, busy
}

// readable says whether the record may be pinned at a position with word w.
func (r *Ring[T]) readable(w, seq uint64) pinResult {
	switch d := r.ahead(w, seq); {
	case d > 0:
		return overwritten
	case d < 0 || w&writingBit != 0:
		return pending
	case w&readerMask == readerMask:
		return busy
	}
	return pinned
}

// copyTo copies the record from a pinned buffer. It reports false if it is
// another one: laps came round since the reader looked at next.
func (b *buffer[T]) copyTo(seq uint64, dst *T) bool {
	atomics.Read(&b.cell)
	if b.cell.seq != seq {
		return false
	}
	*dst = b.cell.value
	return true
}

// unpin ends what pin began; w is the word that pin left. While the reader
// holds the buffer no other position gets it, so it is still at this one if
// lap and buffer are the same, and an orphan if not.
func (r *Ring[T]) unpin(p *slot[T], w uint64) {
	if p.word.CompareAndSwap(w, w-readerOne) { // the buffer may be written again
		return
	}
	for {
		now := p.word.Load()
		if (now^w)&^(readerMask|writingBit) != 0 {
			r.letGo(r.layout.buffer(w), -1)
			return
		}
		if p.word.CompareAndSwap(now, now-readerOne) {
			return
		}
	}
}
