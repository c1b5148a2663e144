package checkpoint

import (
	"cmp"
	"slices"
)

// Revocation is what is known of a partition at the end of its admission.
type Revocation struct {
	// Partition was revoked.
	Partition PartitionID
	// Watermark is the last one, taken before or not; Offset is 0 if there is
	// none. It may be committed until the partition is admitted again, here
	// or elsewhere. Confirm ignores it: its admission has ended.
	Watermark Watermark
	// Committed is the highest offset that was confirmed, 0 for none.
	Committed int64
	// Delivered, Pending and Failed count the batches above Watermark, which
	// whoever reads the partition next will read again.
	Delivered, Pending, Failed int
}

// RevokeAndTake is Revoke, after a last drain and a last take of the
// partitions: it returns, sorted by partition, what may still be committed of
// each and what is left behind. It waits for nothing; WaitIdle before it does
// that. Partitions that are not admitted are left out.
//
// What its drain counts is returned by the next Drain, and Wait returns for it.
func (c *Checkpointer) RevokeAndTake(partitions ...PartitionID) []Revocation {
	c.lock()
	defer c.mu.Unlock()
	c.collect()
	var gone []Revocation
	for _, ps := range c.group(partitions) {
		for _, p := range ps {
			if l := c.shardOf(p).find(p); l != nil {
				gone = append(gone, l.lastTake())
			}
		}
	}
	slices.SortFunc(gone, func(a, b Revocation) int { return cmp.Compare(a.Partition, b.Partition) })
	c.revoke(partitions)
	return gone
}

// lastTake takes what can be taken and counts what is left.
func (l *lane) lastTake() Revocation {
	if last, n, _ := l.q.Advance(); n > 0 {
		l.watermark = last + 1
	}
	r := Revocation{Partition: l.partition, Watermark: l.mark(), Committed: l.committed}
	r.Pending, r.Delivered, r.Failed = l.q.Waiting()
	return r
}

// Revoke drops partitions in the middle of an epoch. Their stall, pending
// batches and watermark are gone at once; what their handles do later is
// stale, also after the partition has returned. Partitions that are not
// admitted are ignored. It never waits for a holder.
//
// RevokeAndTake does the same and returns what may still be committed.
func (c *Checkpointer) Revoke(partitions ...PartitionID) {
	c.lock()
	defer c.mu.Unlock()
	c.revoke(partitions)
}

// revoke ends the admission of partitions.
func (c *Checkpointer) revoke(partitions []PartitionID) {
	changed := false
	for i, ps := range c.group(partitions) {
		s := &c.shards[i]
		gone := 0
		for _, p := range ps {
			if l := s.find(p); l != nil {
				c.retire(l)
				gone++
			}
		}
		if gone == 0 {
			continue
		}
		changed = true
		old := s.table.Load().lanes
		lanes := make([]*lane, 0, len(old)-gone)
		for _, l := range old {
			if l.tracked {
				lanes = append(lanes, l)
			}
		}
		s.table.Store(newTable(lanes))
	}
	if changed {
		c.forgetRetired()
		a := *c.assignment.Load()
		c.assignment.Store(&a)
		c.wake() // whoever waits for an admission that has ended
	}
}

// retire ends the admission of a lane.
func (c *Checkpointer) retire(l *lane) {
	l.tracked = false
	l.retired.Store(true)
	l.q.Discard(false)
}

// forgetRetired drops what the control side keeps of retired lanes.
func (c *Checkpointer) forgetRetired() {
	c.touched = slices.DeleteFunc(c.touched, func(l *lane) bool { return !l.tracked })
	if old := c.stalls.Load(); old != nil {
		var kept []Stall
		for _, s := range *old {
			if l := c.shardOf(s.Partition).find(s.Partition); l != nil && l.tracked {
				kept = append(kept, s)
			}
		}
		c.stalls.Store(&kept)
	}
}
