package checkpoint

import "github.com/tidemark-go/tidemark/mpsc"

// Ack is a hold on a batch. It is a value of at most 24 bytes: copies name the
// same hold. Issue returns it with one hold; Retain takes more, for fan-out by
// record or by sink. The Release of the last hold resolves the batch, exactly
// once: as failed if any holder called Fail before its own release, else as
// delivered.
//
// Any goroutine may use an Ack, at any time, also after the batch is resolved,
// its partition revoked or the Checkpointer unreachable. No method blocks or
// allocates. A method retries only when another holder of the same batch went
// through in between.
//
// Misuse never touches another batch: on a resolved batch Release is counted
// in DrainStats.Duplicates and changes nothing else; Retain and Fail do
// nothing. The zero Ack is inert.
//
// A batch can have 2^23-2 holds. Beyond that they saturate and the batch
// never resolves: it holds its partition back, it loses nothing.
type Ack struct {
	cell   mpsc.Reservation[int64, lane]
	offset int64
}

// ID returns the name of the batch. It stays right as long as the handle
// lives. The Seq of an untracked batch means nothing.
func (a Ack) ID() BatchID {
	if a.cell.IsZero() {
		return BatchID{}
	}
	return a.cell.Owner().id(a.cell.Seq())
}

// LastOffset returns the highest offset of the batch, as given to Issue. It
// stays right as long as the handle lives.
func (a Ack) LastOffset() int64 { return a.offset }

// Tracked reports whether the partition was admitted when the batch was
// issued, and for IssueAfter not later than the fence. An untracked batch
// moves nothing and holds nothing back.
func (a Ack) Tracked() bool { return !a.cell.IsZero() && a.cell.Owner().admission != 0 }

// Retain takes one more hold on the batch and returns a.
func (a Ack) Retain() Ack {
	a.RetainN(1)
	return a
}

// RetainN takes n more holds on the batch; n <= 0 does nothing.
func (a Ack) RetainN(n int) {
	if !a.cell.IsZero() {
		a.cell.Retain(n)
	}
}

// Fail makes the batch a failed one, for good. It does not release.
func (a Ack) Fail() {
	if !a.cell.IsZero() {
		a.cell.Fail()
	}
}

// Release gives up one hold; the last one resolves the batch.
func (a Ack) Release() {
	if !a.cell.IsZero() && !a.cell.Release() {
		a.cell.Owner().late(1, a.cell.WatchedSeq())
	}
}

// Done is Release, after Fail when err is not nil: what the callback of a
// sink wants.
func (a Ack) Done(err error) {
	if err == nil {
		a.Release()
	} else {
		a.releaseN(1, true)
	}
}

// releaseN gives up n holds at once, failing the batch first if failed is set.
func (a Ack) releaseN(n int, failed bool) {
	if a.cell.IsZero() {
		return
	}
	if late := n - a.cell.ReleaseN(n, failed); late > 0 {
		a.cell.Owner().late(late, a.cell.WatchedSeq())
	}
}

// late counts n releases that were too many. With leak reports seq is that of
// the batch. It is kept out of what a release costs.
//
//go:noinline
func (l *lane) late(n int, seq uint64) {
	l.cp.duplicate(n)
	if l.cp.leaks != nil {
		l.cp.leaks.overReleased(leakKey{l, seq}, n)
	}
}
