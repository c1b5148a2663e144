package checkpoint

import (
	"cmp"
	"slices"
)

// TakeWatermarks appends to dst the partitions whose watermark moved since
// the last call, sorted by partition, as of the last Drain. Under one
// admission the offsets of a partition strictly increase; nothing is appended
// when nothing moved. The one exception is a watermark that was given back with
// Reject: it is taken once more.
//
// A failed batch at the head stalls its partition until it is revoked or a
// new epoch begins, or SkipFailed lets the batch pass: everything before it is
// still reported, nothing after it is. Pending batches that the watermark passed are gone from Pending
// when TakeWatermarks returns, and the pending limit opens.
//
// Its cost grows with the partitions in which batches were resolved and with
// the batches passed. It allocates nothing if dst has room and nothing
// stalls.
func (c *Checkpointer) TakeWatermarks(dst []Watermark) []Watermark {
	c.lock()
	defer c.mu.Unlock()
	start := len(dst)
	var stalled []Stall
	for _, l := range c.touched {
		l.touched = false
		last, n, failed := l.q.Advance()
		if n > 0 && last+1 > l.watermark {
			l.watermark = last + 1
			l.rejected = false
			dst = append(dst, l.mark())
		} else if l.rejected {
			l.rejected = false
			dst = append(dst, l.mark())
		}
		if failed && !l.stalled {
			stalled = append(stalled, c.stallOf(l)) // reads the clock, which may be the caller's and panic
			l.stalled = true
		}
		if l.held != nil { // else nothing has ever waited here
			l.q.Fold(c.foldFrom, sameOffset)
		}
	}
	clear(c.touched)
	c.touched = c.touched[:0]
	c.sorting = sortByPartition(dst[start:], c.sorting)
	if stalled != nil {
		c.addStalls(stalled)
	}
	return dst
}

func (c *Checkpointer) stallOf(l *lane) Stall {
	seq, lastOffset, _, _ := l.q.Head()
	since := c.now()
	l.stamp(seq, since)
	return Stall{Partition: l.partition, Batch: l.id(seq), LastOffset: lastOffset, Since: since}
}

func sameOffset(a, b int64) bool { return a == b }

func (c *Checkpointer) addStalls(more []Stall) {
	var all []Stall
	if old := c.stalls.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, more...)
	slices.SortFunc(all, func(a, b Stall) int { return cmp.Compare(a.Partition, b.Partition) })
	c.stalls.Store(&all)
}

// Stalled appends to dst the partitions that are held back by a failed batch,
// sorted by partition, each from the TakeWatermarks that first reached the
// batch until the partition is revoked or a new epoch begins, or SkipFailed
// lets the batch pass. Any goroutine may call it at any time; it takes no lock.
func (c *Checkpointer) Stalled(dst []Stall) []Stall {
	if all := c.stalls.Load(); all != nil {
		dst = append(dst, *all...)
	}
	return dst
}

// Pending returns how many batches of p were issued under its current
// admission and not yet passed by the watermark, as of the last
// TakeWatermarks; 0 if p is not admitted. It counts a batch from its Issue
// on, and never too few; beside a TakeWatermarks it may still count what that
// passes, but never more than the pending limit. Any goroutine may call it at
// any time; it takes no lock and costs producers nothing.
func (c *Checkpointer) Pending(p PartitionID) int {
	if l := c.shardOf(p).find(p); l != nil {
		return l.pending()
	}
	return 0
}

// MaxPending returns the largest Pending of all admitted partitions. Its cost
// grows with their number.
func (c *Checkpointer) MaxPending() int {
	most := 0
	for i := range c.shards {
		for _, l := range c.shards[i].table.Load().lanes {
			most = max(most, l.pending())
		}
	}
	return most
}
