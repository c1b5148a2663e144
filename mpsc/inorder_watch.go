package mpsc

import "runtime"

// Holds returns how many holds are left on the cell; 0 if it is published. A
// saturated cell says 2^23-1. Any goroutine may call it; the answer may be old
// when it arrives.
func (r Reservation[T, O]) Holds() int {
	w := r.segment.cells[r.seq&r.segment.mask].word.Load()
	if w>>stampShift != stampOf(r.seq) {
		return 0
	}
	return int(w & holdMask >> holdShift)
}

// Watched returns r behind an object of its own, and has the runtime call lost
// with r some time after the last copy of what is returned has become
// unreachable, published or not. lost runs as a cleanup of the runtime (see
// runtime.AddCleanup) and must not refer to what Watched returns. The two name
// the same cell but are not equal.
//
// The object stands in for the segment: it shares the cells of r's own, and its
// mark is never set, so that every notice goes to push, which passes it on.
func (r Reservation[T, O]) Watched(lost func(Reservation[T, O])) Reservation[T, O] {
	s := &Segment[T, O]{queue: r.segment.queue, cells: r.segment.cells, mask: r.segment.mask}
	s.ready.Bind(r.segment)
	s.start.Store(r.seq)
	runtime.AddCleanup(s, lost, r)
	return Reservation[T, O]{s, r.seq}
}

// WatchedSeq is Seq for what Watched has returned. It looks at the object alone,
// so a caller that needs it seldom has less to keep.
func (r Reservation[T, O]) WatchedSeq() uint64 { return r.segment.start.Load() }
