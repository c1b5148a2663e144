package checkpoint

import (
	"context"

	"github.com/tidemark-go/tidemark/mpsc"
)

func newInbox(c *Checkpointer) *inbox { return mpsc.NewInbox[int64, lane](c.wake) }

// Drain applies every registration and resolution that happened before the
// call. It must be called for watermarks to move; TakeWatermarks reports the
// state as of the last Drain.
//
// Its cost grows with what changed since the last two drains, not with the
// number of admitted partitions nor with the resolved batches that wait
// behind a head. It allocates nothing in steady state. It waits for no
// producer.
func (c *Checkpointer) Drain() DrainStats {
	c.lock()
	defer c.mu.Unlock()
	var stats DrainStats
	if c.duplicates.Load() != 0 {
		stats.Duplicates = int(c.duplicates.Swap(0))
	}
	for i := range c.shards {
		c.shards[i].inbox.Collect(func(q *queue, registered, resolved int) {
			l := q.Owner()
			if !l.tracked {
				stats.StaleEpoch += registered + resolved
				return
			}
			stats.Applied += resolved
			if resolved > 0 && !l.touched {
				c.touch(l)
			}
		})
	}
	return stats
}

// Wait parks the caller until a Drain would find something (a registration,
// a resolution or a late release) or ctx is done. It returns nil while there
// is something, also when ctx is done already, else the context's error. One
// goroutine may wait at a time; a second one gets ErrWaiting at once.
//
// A waiter uses no CPU and costs producers one load, and a wake-up when
// something comes.
func (c *Checkpointer) Wait(ctx context.Context) error {
	c.mustBeMade()
	if ctx == nil {
		panic("checkpoint: Checkpointer.Wait needs a context, got nil")
	}
	if c.waiting.Swap(true) {
		return ErrWaiting
	}
	defer c.waiting.Store(false)
	for {
		if c.news() {
			return nil
		}
		// Something that comes after the look finds waiting set and leaves a
		// wake-up, which Park then finds.
		if err := c.parker.Park(ctx); err != nil {
			if c.news() {
				return nil
			}
			return err
		}
	}
}

// news reports whether a Drain would find something. When it reports false,
// whatever comes next calls wake.
func (c *Checkpointer) news() bool {
	c.lock()
	defer c.mu.Unlock()
	if c.duplicates.Load() != 0 {
		return true
	}
	for i := range c.shards {
		if c.shards[i].inbox.News() {
			return true
		}
	}
	return false
}

// wake wakes the goroutine in Wait, if there is one.
func (c *Checkpointer) wake() {
	if c.waiting.Load() {
		c.parker.Unpark()
	}
}

// duplicate counts n late releases.
func (c *Checkpointer) duplicate(n int) {
	c.duplicates.Add(uint64(n))
	c.wake()
}
