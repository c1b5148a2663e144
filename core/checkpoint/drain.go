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
	stats, _ := c.collect()
	stats.add(c.carried)
	c.carried, c.carries = DrainStats{}, false
	return stats
}

// carry drains on behalf of another control method: the next Drain returns
// what was counted, and Wait returns for it.
func (c *Checkpointer) carry() {
	stats, news := c.collect()
	c.carried.add(stats)
	c.carries = c.carries || news
}

// collect is a drain. It also reports whether it saw anything.
func (c *Checkpointer) collect() (stats DrainStats, news bool) {
	if c.duplicates.Load() != 0 {
		stats.Duplicates = int(c.duplicates.Swap(0))
		news = true
	}
	for i := range c.shards {
		c.shards[i].inbox.Collect(func(q *queue, registered, resolved int) {
			news = true
			l := q.Owner()
			if !l.tracked {
				stats.StaleEpoch += registered + resolved
				return
			}
			stats.Applied += resolved
			if resolved > 0 {
				c.touch(l)
			}
			if q.Open() != 0 {
				c.watch(l)
			}
		})
	}
	if len(c.watched) > 0 {
		c.stampWatched()
	}
	c.totals.add(stats)
	return stats, news
}

func (s *DrainStats) add(o DrainStats) {
	s.Applied += o.Applied
	s.StaleEpoch += o.StaleEpoch
	s.Duplicates += o.Duplicates
	s.Unknown += o.Unknown
}
