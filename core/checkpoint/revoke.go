package checkpoint

import "slices"

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
