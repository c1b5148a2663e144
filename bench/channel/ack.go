package channel

import (
	"sync/atomic"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

const (
	// saturated is what a batch with more than maxHolders holders is set to.
	// No number of releases brings it down to zero: such a batch leaks.
	saturated  = int64(1) << 61
	maxHolders = int64(1) << 40
	// resolved is what the last release sets. Every later release is below
	// zero by far, however many come at once.
	resolved = -int64(1) << 61
)

// batch is the shared state of all handles of one issued batch.
type batch struct {
	// holders counts the holders while it is positive. The last release
	// moves it from 1 (or 0) to resolved, which is final. Written by every
	// holder.
	holders atomic.Int64
	// failed goes from false to true once. Written by any holder before its
	// release, read by the release that resolves.
	failed atomic.Bool

	admission uint32
	c         *Checkpointer
	id        checkpoint.BatchID
	last      int64
}

// Ack is one holder's handle of a batch. The zero Ack does nothing.
type Ack struct{ b *batch }

// ID returns the batch's name.
func (a Ack) ID() checkpoint.BatchID {
	if a.b == nil {
		return checkpoint.BatchID{}
	}
	return a.b.id
}

// LastOffset returns the highest offset in the batch.
func (a Ack) LastOffset() int64 {
	if a.b == nil {
		return 0
	}
	return a.b.last
}

// Retain adds a holder.
func (a Ack) Retain() Ack {
	if a.b != nil && a.b.holders.Add(1) <= 0 {
		a.b.holders.Add(-1) // resolved already: nothing to hold
	}
	return a
}

// RetainN adds n holders.
func (a Ack) RetainN(n int) {
	if a.b == nil || n <= 0 {
		return
	}
	for {
		h := a.b.holders.Load()
		if h <= 0 || h > maxHolders {
			return
		}
		next := saturated
		if int64(n) <= maxHolders-h {
			next = h + int64(n)
		}
		if a.b.holders.CompareAndSwap(h, next) {
			return
		}
	}
}

// Fail marks the batch as failed. It does not release.
func (a Ack) Fail() {
	if a.b != nil && !a.b.failed.Load() {
		a.b.failed.Store(true)
	}
}

// Release ends one hold. The last one sends the resolution, which blocks
// while the channel is full.
func (a Ack) Release() {
	b := a.b
	if b == nil {
		return
	}
	// A sole holder needs one read-modify-write; others count down first.
	if b.holders.Load() != 1 || !b.holders.CompareAndSwap(1, resolved) {
		h := b.holders.Add(-1)
		if h < 0 {
			b.holders.Add(1)
			b.c.duplicates.Add(1)
			b.c.notify()
			return
		}
		if h > 0 || !b.holders.CompareAndSwap(0, resolved) {
			return
		}
	}
	kind := delivered
	if b.failed.Load() {
		kind = failed
	}
	b.c.resolve(resolution{
		partition: b.id.Partition,
		admission: b.admission,
		seq:       b.id.Seq,
		kind:      kind,
	})
}

// Done fails the batch when err is not nil, then releases.
func (a Ack) Done(err error) {
	if err != nil {
		a.Fail()
	}
	a.Release()
}
