package checkpoint

import (
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/mpsc"
)

// Issuer registers batches. It belongs to one pipeline goroutine at a time;
// Clone makes one for another goroutine and other partitions. The first Issue
// of a partition makes the issuer its owner for the admission.
type Issuer struct {
	cp   *Checkpointer
	seen *assignment // the assignment that hot is right for
	// hot is a direct-mapped cache of lanes that this issuer owns, see slot.
	// Its length is a power of two.
	hot       []*lane
	conflicts int // lanes that displaced another one since hot grew
	// untracked holds a lane for each partition that was issued while it was
	// not admitted, in the epoch seen.
	untracked map[PartitionID]*lane
	label     string // for leak reports
}

const (
	minHot       = 8
	maxHot       = 1 << 16
	maxUntracked = 1024
)

// Issuer returns a new issuer. It may be called from any goroutine.
func (c *Checkpointer) Issuer() *Issuer {
	c.mustBeMade()
	return &Issuer{cp: c, hot: make([]*lane, minHot)}
}

// Clone returns an issuer of the same Checkpointer for another goroutine. It
// owns nothing that i owns.
func (i *Issuer) Clone() *Issuer { return i.cp.Issuer() }

// Issue registers a batch of partition p whose highest offset is lastOffset
// and returns its Ack with one hold. The registration is visible to the
// Checkpointer before the Ack exists.
//
// lastOffset is 0 … MaxInt64-1 and not below the previous one of p under this
// admission; equal offsets and gaps are legal. Errors, in the order they are
// looked for: ErrOffsetRange, ErrPartitionOwned, ErrOffsetRegressed,
// ErrPendingLimit (itself, unwrapped), ErrSequenceExhausted. After an error
// nothing was registered, owned or used up.
//
// A partition that is not admitted is no error, because an issuer cannot know
// of a revocation a moment ago: the batch is untracked.
//
// Issue never blocks and never waits for the consumer. It allocates nothing
// in steady state with up to 8192 pending batches a partition.
func (i *Issuer) Issue(p PartitionID, lastOffset int64) (Ack, error) {
	if i.cp.assignment.Load() == i.seen {
		l := i.hot[i.slot(p)]
		if l != nil && l.partition == p && lastOffset >= l.lastOffset &&
			lastOffset < math.MaxInt64 && l.q.Next() < l.room {
			if cell, ok := l.q.Reserve(lastOffset); ok {
				l.lastOffset = lastOffset
				return Ack{cell, lastOffset}, nil
			}
		}
	}
	return i.issueSlow(p, lastOffset, everything)
}

// issueSlow is IssueAfter for a lane that is not hot, and for errors.
func (i *Issuer) issueSlow(p PartitionID, lastOffset int64, f Fence) (Ack, error) {
	if a := i.cp.assignment.Load(); a != i.seen {
		i.refresh(a)
	}
	if lastOffset < 0 || lastOffset == math.MaxInt64 {
		return Ack{}, fmt.Errorf("%w: last offset %d of partition %d in epoch %d, legal are 0 to %d",
			ErrOffsetRange, lastOffset, p, i.seen.epoch, int64(math.MaxInt64-1))
	}
	l := i.cp.shardOf(p).find(p)
	if l == nil || l.admission > f.admissions {
		return i.issueUntracked(p, lastOffset)
	}
	if l.owner.Load() != i && !l.owner.CompareAndSwap(nil, i) {
		return Ack{}, fmt.Errorf("%w: partition %d in epoch %d, last offset %d; one issuer issues a partition until it is revoked or a new epoch begins",
			ErrPartitionOwned, p, l.epoch, lastOffset)
	}
	i.remember(l)
	if lastOffset < l.lastOffset {
		return Ack{}, fmt.Errorf("%w: partition %d in epoch %d, last offset %d after %d; revoke the partition and extend the epoch by it if the source jumped back",
			ErrOffsetRegressed, p, l.epoch, lastOffset, l.lastOffset)
	}
	if !l.hasRoom() {
		return Ack{}, ErrPendingLimit
	}
	cell, ok := l.q.Reserve(lastOffset)
	if !ok {
		return Ack{}, fmt.Errorf("%w: partition %d in epoch %d, last offset %d; revoke the partition and extend the epoch by it",
			ErrSequenceExhausted, p, l.epoch, lastOffset)
	}
	l.lastOffset = lastOffset
	return i.ack(cell, lastOffset), nil
}

// ack returns the handle of a batch that was registered, with leak reports
// one that is told from others and missed.
func (i *Issuer) ack(cell mpsc.Reservation[int64, lane], lastOffset int64) Ack {
	if w := i.cp.leaks; w != nil {
		cell = w.watch(cell, lastOffset, i.label)
	}
	return Ack{cell, lastOffset}
}

// SetLabel sets a text that a Leak of a batch issued from now on carries, for
// what the issue site does not tell: a topic, a query, a request. It means
// nothing without WithLeakReport.
func (i *Issuer) SetLabel(label string) { i.label = label }

// issueUntracked registers a batch of a partition that is not admitted.
func (i *Issuer) issueUntracked(p PartitionID, lastOffset int64) (Ack, error) {
	l := i.untracked[p]
	if l == nil {
		if i.untracked == nil || len(i.untracked) >= maxUntracked {
			i.untracked = make(map[PartitionID]*lane)
		}
		l = newUntracked(i.cp, p, i.seen)
		i.untracked[p] = l
	}
	cell, ok := l.q.Reserve(lastOffset)
	if !ok {
		delete(i.untracked, p)
		return i.issueUntracked(p, lastOffset)
	}
	return i.ack(cell, lastOffset), nil
}

// refresh makes the issuer right for assignment a: it forgets lanes whose
// admission has ended.
func (i *Issuer) refresh(a *assignment) {
	if i.seen == nil || i.seen.epoch != a.epoch {
		i.untracked = nil
	}
	for n, l := range i.hot {
		if l != nil && l.retired.Load() {
			l.q.Forget()
			i.hot[n] = nil
		}
	}
	i.seen = a
}

// remember puts a lane that this issuer owns into the hot cache. The cache
// grows while lanes displace each other. With leak reports it stays empty: each
// batch takes the slow way, and without them nobody pays for a look.
func (i *Issuer) remember(l *lane) {
	if i.cp.leaks != nil {
		return
	}
	at := &i.hot[i.slot(l.partition)]
	if *at == l {
		return
	}
	if *at != nil {
		if i.conflicts++; i.conflicts > len(i.hot)/2 && len(i.hot) < maxHot {
			i.growHot()
			at = &i.hot[i.slot(l.partition)]
		}
	}
	*at = l
}

// slot returns where the lane of p is cached. Partitions that are numbered
// without gaps, or that carry something in their higher bytes, do not meet.
func (i *Issuer) slot(p PartitionID) int {
	return int(p^p>>8^p>>16) & (len(i.hot) - 1)
}

func (i *Issuer) growHot() {
	old := i.hot
	i.hot = make([]*lane, 2*len(old))
	i.conflicts = 0
	for _, l := range old {
		if l != nil {
			i.hot[i.slot(l.partition)] = l
		}
	}
}
