package channel

import (
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Issuer creates acknowledgement handles. It is not for concurrent use.
type Issuer struct {
	c     *Checkpointer
	epoch uint32
	// lanes holds what this issuer owns under the epoch it last saw.
	lanes map[checkpoint.PartitionID]*lane
}

// lane is the owner's side of an admission.
type lane struct {
	t      *tracker
	issued uint64
	last   int64
}

// Clone returns an issuer for another goroutine and other partitions.
func (i *Issuer) Clone() *Issuer { return i.c.Issuer() }

// Issue registers the next batch of p and returns its handle, with one
// holder. It blocks while the registration channel is full.
func (i *Issuer) Issue(p checkpoint.PartitionID, lastOffset int64) (Ack, error) {
	if lastOffset < 0 || lastOffset == math.MaxInt64 {
		return Ack{}, fmt.Errorf("%w: partition %d epoch %d: got %d, want 0 to %d",
			checkpoint.ErrOffsetRange, p, i.c.epoch.Load(), lastOffset, int64(math.MaxInt64-1))
	}
	if e := i.c.epoch.Load(); e != i.epoch {
		i.epoch = e
		clear(i.lanes)
	}
	l := i.lanes[p]
	if l == nil || l.t.revoked.Load() {
		var err error
		if l, err = i.adopt(p, lastOffset); err != nil {
			return Ack{}, err
		}
		if l == nil {
			return i.send(0, checkpoint.BatchID{Partition: p, Epoch: i.epoch}, lastOffset), nil
		}
	}
	if lastOffset < l.last {
		return Ack{}, fmt.Errorf("%w: partition %d epoch %d: got %d, want at least %d",
			checkpoint.ErrOffsetRegressed, p, i.epoch, lastOffset, l.last)
	}
	if i.c.limit > 0 && l.issued-l.t.passed.Load() >= i.c.limit {
		return Ack{}, checkpoint.ErrPendingLimit
	}
	id := checkpoint.BatchID{Partition: p, Epoch: i.epoch, Seq: l.issued}
	l.issued++
	l.last = lastOffset
	return i.send(l.t.admission, id, lastOffset), nil
}

// send registers the batch before its handle exists: the second pass of Drain
// relies on it.
func (i *Issuer) send(admission uint32, id checkpoint.BatchID, last int64) Ack {
	i.c.registrations <- registration{
		partition: id.Partition,
		admission: admission,
		last:      last,
	}
	i.c.notify()
	b := &batch{admission: admission, c: i.c, id: id, last: last}
	b.holders.Store(1)
	return Ack{b}
}

// adopt claims p's current admission. It returns nil when p is not admitted.
func (i *Issuer) adopt(p checkpoint.PartitionID, lastOffset int64) (*lane, error) {
	i.c.admissions.RLock()
	epoch, t := i.c.epoch.Load(), i.c.trackers[p]
	i.c.admissions.RUnlock()
	if epoch != i.epoch {
		i.epoch = epoch
		clear(i.lanes)
	}
	delete(i.lanes, p)
	if t == nil {
		return nil, nil
	}
	if !t.owner.CompareAndSwap(nil, i) {
		return nil, fmt.Errorf("%w: partition %d epoch %d, for offset %d",
			checkpoint.ErrPartitionOwned, p, epoch, lastOffset)
	}
	l := &lane{t: t}
	i.lanes[p] = l
	return l, nil
}
