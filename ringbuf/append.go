package ringbuf

import (
	"math"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// endZone is where sequence numbers are close to the largest one: no more
// goroutines than lie between can be about to add one to next.
const endZone = math.MaxUint64 - 1<<32

// Append copies *v into the ring and returns its sequence number. It reports
// false, and has done nothing, only when the numbers are used up: the last
// one is 2^64-2. It never waits and, in the ordinary way, allocates nothing
// (see the package comment). If others append a whole lap while it is
// stalled, the record counts as appended and overwritten. It panics if v is
// nil.
func (r *Ring[T]) Append(v *T) (seq uint64, ok bool) {
	if v == nil {
		panic("ringbuf: Append needs a record, got nil") // before it takes a number
	}
	if !r.nearEnd.Load() {
		seq = r.next.Add(1) - 1 // the record is accepted
		if seq >= endZone {
			r.nearEnd.Store(true)
		}
	} else if seq, ok = r.takeNumber(); !ok {
		return 0, false
	}
	p := r.at(seq)
	claimed, ok := r.claimUsual(p, seq)
	if !ok {
		claimed, ok = r.claim(p, seq)
		if !ok {
			return seq, true // lapped
		}
	}
	r.buffer(r.layout.buffer(claimed)).fill(seq, v)
	if !p.word.CompareAndSwap(claimed, claimed-writingBit) { // readers may have the record from here
		r.letGo(r.layout.buffer(claimed), -1) // a later lap did not wait
	}
	return seq, true
}

// takeNumber takes the next sequence number by CAS. It never takes the
// largest one, so next cannot wrap.
func (r *Ring[T]) takeNumber() (seq uint64, ok bool) {
	for {
		seq = r.next.Load()
		if seq == math.MaxUint64 {
			return 0, false
		}
		if r.next.CompareAndSwap(seq, seq+1) { // the record is accepted
			return seq, true
		}
	}
}

// claimUsual claims the position in the usual case: the record of the lap
// before is there, in the buffer that is expected, and nobody holds it. The
// word is guessed, because a load before the CAS would fetch the cache line
// from another core twice: once to read and once to write.
func (r *Ring[T]) claimUsual(p *slot[T], seq uint64) (claimed uint64, ok bool) {
	w := r.lap(seq) - r.lapOne | uint64(r.expected[r.index(seq)].Load())*bufferOne
	claimed = w + r.lapOne + writingBit
	return claimed, p.word.CompareAndSwap(w, claimed) // the buffer is ours from here
}

// claim claims the position in every case. It returns false if it is lapped.
func (r *Ring[T]) claim(p *slot[T], seq uint64) (claimed uint64, ok bool) {
	spare := noBuffer
	for {
		w := p.word.Load()
		claimed, result := r.tryClaim(p, seq, w, &spare)
		switch result {
		case claimDone:
			r.settle(w, spare)
			r.expected[r.index(seq)].Store(r.layout.buffer(claimed))
			return claimed, true
		case claimLapped:
			return 0, false
		}
	}
}

// claimResult says what came of a try to claim a position.
type claimResult uint8

const (
	claimAgain  claimResult = iota // look at the word again
	claimDone                      // the buffer in claimed belongs to the caller
	claimLapped                    // the record is accepted and overwritten
)

// tryClaim tries to claim a position whose word was w. Where the buffer that
// is there is held, the first try takes a spare.
func (r *Ring[T]) tryClaim(p *slot[T], seq, w uint64, spare *uint32) (claimed uint64, result claimResult) {
	// Unless w is of the lap before, a later record may have come. It took its
	// number before we looked at w, so next tells, and is not misled by a lap
	// that came round.
	if r.lap(seq)-w&^(r.lapOne-1) != r.lapOne && r.next.Load()-seq > r.mask+1 {
		r.giveBack(*spare)
		return 0, claimLapped
	}
	if holders(w) > 0 && *spare == noBuffer {
		*spare = r.takeSpare()
		return 0, claimAgain // that took its time
	}
	claimed = r.claimOf(w, seq, *spare)
	if !p.word.CompareAndSwap(w, claimed) { // the buffer in claimed is ours from here
		return 0, claimAgain
	}
	return claimed, claimDone
}

// claimOf returns the word of a claim on a position with word w: with the
// buffer that is there, or with the spare if somebody holds it.
func (r *Ring[T]) claimOf(w, seq uint64, spare uint32) uint64 {
	buffer := w & r.bufferMask
	if holders(w) > 0 {
		buffer = uint64(spare) * bufferOne
	}
	return r.lap(seq) | buffer | writingBit
}

// settle follows a claim that replaced the word w. The old buffer, if
// somebody holds it, is an orphan now; a spare that was not needed goes back.
func (r *Ring[T]) settle(w uint64, spare uint32) {
	if n := holders(w); n > 0 {
		r.letGo(r.layout.buffer(w), n)
	} else {
		r.giveBack(spare)
	}
}

// letGo adds n to the holders of an orphan. At zero nobody holds it and all
// have been counted: it is a spare.
func (r *Ring[T]) letGo(id uint32, n int32) {
	if r.buffer(id).holds.Add(n) == 0 {
		r.giveBack(id)
	}
}

// fill copies the record into a buffer that a claim owns.
func (b *buffer[T]) fill(seq uint64, v *T) {
	atomics.Write(&b.cell)
	b.cell.seq = seq
	b.cell.value = *v
}
