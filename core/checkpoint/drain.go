package checkpoint

import "github.com/tidemark-go/tidemark/mpsc"

func newInbox(c *Checkpointer) *inbox { return mpsc.NewInbox[int64, lane](c.wake) }

// Drain applies every registration and resolution that happened before the
// call. It must be called for watermarks to move; TakeWatermarks reports the
// state as of the last Drain.
//
// Its cost grows with what changed since the last two drains, not with the
// number of admitted partitions nor with the resolved batches that wait
// behind a head. It allocates nothing in steady state. It waits for no
// producer.
//
// It reads the clock once if another batch than before holds a partition back
// that has something unresolved, for Heads.
func (c *Checkpointer) Drain() DrainStats {
	c.lock()
	defer c.mu.Unlock()
	c.collect()
	c.unreported = false
	was := c.reported
	c.reported = c.totals
	return DrainStats{
		Applied:    int(c.totals.Applied - was.Applied),
		StaleEpoch: int(c.totals.StaleEpoch - was.StaleEpoch),
		Duplicates: int(c.totals.Duplicates - was.Duplicates),
		Unknown:    int(c.totals.Unknown - was.Unknown),
	}
}

// collect is a drain, on behalf of whatever control method. What it counts is
// returned by the next Drain, and Wait returns for it.
func (c *Checkpointer) collect() {
	if c.duplicates.Load() != 0 {
		c.totals.Duplicates += c.duplicates.Swap(0)
		c.unreported = true
	}
	for i := range c.shards {
		c.shards[i].inbox.Collect(c.see)
	}
	if len(c.watched) > 0 {
		c.stampWatched()
	}
}

// seen takes over what a drain finds in a queue.
func (c *Checkpointer) seen(q *queue, registered, resolved int) {
	c.unreported = true
	l := q.Owner()
	if !l.tracked {
		c.totals.StaleEpoch += uint64(registered + resolved)
		return
	}
	c.totals.Applied += uint64(resolved)
	if resolved > 0 {
		c.touch(l)
	}
	if q.Open() != 0 {
		c.watch(l)
	}
}
