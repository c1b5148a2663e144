package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Head describes what holds a partition back: its first batch that is not
// delivered.
type Head struct {
	// Partition is held back.
	Partition PartitionID
	// Batch is the one that holds it back, LastOffset its highest offset.
	Batch      BatchID
	LastOffset int64
	// Failed tells a batch that failed from one that nobody has resolved.
	Failed bool
	// Since is when a drain first saw it there.
	Since time.Time
	// Behind is how many batches wait behind it, delivered or not.
	Behind int
}

// holdUp names the batch in front of a lane and since when it is that.
type holdUp struct {
	seq   uint64
	since time.Time
}

// stamp notes that seq is in front since now, unless that is known.
func (l *lane) stamp(seq uint64, now time.Time) {
	switch {
	case l.held == nil:
		l.held = &holdUp{seq, now}
	case l.held.seq != seq:
		*l.held = holdUp{seq, now}
	}
}

func (l *lane) stamped(seq uint64) bool { return l.held != nil && l.held.seq == seq }

// watch has the drain that runs look at what holds l back, when it is through.
//
//go:noinline
func (c *Checkpointer) watch(l *lane) {
	if !l.watched {
		l.watched = true
		c.watched = append(c.watched, l)
	}
}

// stampWatched notes since when the lanes in which a drain saw something
// unresolved are held back. It asks the clock once, if any of them has
// another batch in front than before.
func (c *Checkpointer) stampWatched() {
	var now time.Time
	asked := false
	for _, l := range c.watched {
		l.watched = false
		if l.q.Open() == 0 {
			continue // resolved by what the drain saw later
		}
		if seq, _, _, ok := l.q.Front(); ok && !l.stamped(seq) {
			if !asked {
				now, asked = c.now(), true
			}
			l.stamp(seq, now)
		}
	}
	clear(c.watched)
	c.watched = c.watched[:0]
}

// head returns what holds l back, as of the last drain. One that no drain has
// stamped, because the lane had nothing unresolved besides, is stamped now.
func (c *Checkpointer) head(l *lane) (h Head, ok bool) {
	seq, lastOffset, failed, ok := l.q.Front()
	if !ok {
		return Head{}, false
	}
	if !l.stamped(seq) {
		l.stamp(seq, c.now())
	}
	return Head{
		Partition: l.partition, Batch: l.id(seq), LastOffset: lastOffset, Failed: failed,
		Since: l.held.since, Behind: int(l.q.Seen() - seq - 1),
	}, true
}

// Heads appends to dst what holds back the n partitions that are held back
// longest, the longest first, as of the last Drain; none if n < 1. Batches that
// are delivered and wait for TakeWatermarks hold nothing back. A partition is
// held back since the drain that first saw its head there; a failed head in a
// partition that has nothing unresolved, since the first TakeWatermarks or
// Heads after that drain.
//
// Its cost grows with the number of admitted partitions. Like all control
// methods it may be called from any goroutine.
func (c *Checkpointer) Heads(dst []Head, n int) []Head {
	c.lock()
	defer c.mu.Unlock()
	return c.heads(dst, n)
}

func (c *Checkpointer) heads(dst []Head, n int) []Head {
	if n < 1 {
		return dst
	}
	start := len(dst)
	keep := func() {
		slices.SortFunc(dst[start:], longestFirst)
		dst = dst[:start+min(n, len(dst)-start)]
	}
	for i := range c.shards {
		for _, l := range c.shards[i].table.Load().lanes {
			if h, ok := c.head(l); ok {
				dst = append(dst, h)
			}
			if (len(dst)-start-64)/2 >= n { // n may be the largest int
				keep()
			}
		}
	}
	keep()
	return dst
}

func longestFirst(a, b Head) int {
	if d := a.Since.Compare(b.Since); d != 0 {
		return d
	}
	return cmp.Compare(a.Partition, b.Partition)
}

// SkipFailed lets a failed batch pass as if it had been delivered, so that the
// next TakeWatermarks goes on behind it: for a batch that was dealt with by
// other means, or that is given up. The batch must be exactly the failed head
// of p under its current admission, as of the last Drain, as Heads and Stalled
// report it; else the error is ErrNotFailedHead, in a text that says what the
// head is. What is skipped is lost to the sink unless somebody has seen to it:
// Skipped counts it.
//
// The name of a batch repeats when its partition returns within an epoch: act
// on what was read under the current admission.
func (c *Checkpointer) SkipFailed(p PartitionID, batch BatchID) error {
	c.lock()
	defer c.mu.Unlock()
	l := c.shardOf(p).find(p)
	if l == nil {
		return fmt.Errorf("%w: %v of partition %d, which is not admitted", ErrNotFailedHead, batch, p)
	}
	seq, lastOffset, failed, ok := l.q.Front()
	if !ok {
		return fmt.Errorf("%w: %v of partition %d, which nothing holds back", ErrNotFailedHead, batch, p)
	}
	if batch != l.id(seq) || !failed {
		state := "pending"
		if failed {
			state = "failed"
		}
		return fmt.Errorf("%w: %v of partition %d, whose head is %v with last offset %d, %s",
			ErrNotFailedHead, batch, p, l.id(seq), lastOffset, state)
	}
	l.q.Pardon()
	l.skipped++
	c.skipped++
	if l.stalled {
		l.stalled = false
		c.removeStall(p)
	}
	c.touch(l)
	if seq, _, _, ok := l.q.Front(); ok {
		l.stamp(seq, c.now())
	}
	return nil
}

func (c *Checkpointer) removeStall(p PartitionID) {
	kept := slices.DeleteFunc(c.Stalled(nil), func(s Stall) bool { return s.Partition == p })
	c.stalls.Store(&kept)
}

// Skipped returns how many failed batches SkipFailed has let pass, of all
// partitions and admissions.
func (c *Checkpointer) Skipped() int {
	c.lock()
	defer c.mu.Unlock()
	return c.skipped
}
