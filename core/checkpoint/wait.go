package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

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
	if c.inWait.Swap(true) {
		return ErrWaiting
	}
	defer c.inWait.Store(false)
	c.waiting.Add(1)
	defer c.waiting.Sub(1)
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
	return c.unreported || c.duplicates.Load() != 0 || c.inboxNews()
}

func (c *Checkpointer) inboxNews() bool {
	for i := range c.shards {
		if c.shards[i].inbox.News() {
			return true
		}
	}
	return false
}

// wake wakes the goroutines in Wait and WaitIdle, if there are any.
func (c *Checkpointer) wake() {
	if c.waiting.Load() != 0 {
		c.wakeAll()
	}
}

// wakeAll is kept out of what producers run when nobody waits.
//
//go:noinline
func (c *Checkpointer) wakeAll() {
	c.parker.Unpark()
	if idlers := c.idlers.Load(); idlers != nil {
		for _, p := range *idlers {
			p.Unpark()
		}
	}
}

// duplicate counts n late releases.
func (c *Checkpointer) duplicate(n int) {
	c.duplicates.Add(uint64(n))
	c.wake()
}

// WaitIdle parks the caller until every batch that was issued under the
// current admission of the partitions is resolved, delivered or failed, or ctx
// is done. It returns nil at once if that is so already, also when ctx is
// done, and else with the last release. No partitions: all that are admitted
// now. Partitions that are not admitted, or are revoked meanwhile, do not
// count. On a context that is done the error wraps the context's and names a
// partition that is not idle.
//
// It is for the moment before a RevokeAndTake or the end of a process: whoever
// issues has stopped, or it may never end. It drains by itself; what it counts
// is returned by the next Drain. Any number of goroutines may be in WaitIdle,
// beside one in Wait and others that drain. A waiter costs what one in Wait
// costs.
func (c *Checkpointer) WaitIdle(ctx context.Context, partitions ...PartitionID) error {
	c.mustBeMade()
	if ctx == nil {
		panic("checkpoint: Checkpointer.WaitIdle needs a context, got nil")
	}
	w := idleWait{c: c}
	if w.begin(partitions) {
		return nil
	}
	defer w.end()
	rounds := 0
	for {
		idle, news := w.look()
		if idle {
			return nil
		}
		err := ctx.Err()
		switch {
		case err != nil:
		case news:
			// With traffic of partitions that do not count there always is.
			if rounds++; rounds > idleRounds {
				time.Sleep(idlePace)
			}
		default:
			rounds = 0
			// As in Wait: what comes after the look leaves a wake-up.
			err = w.parker.Park(ctx)
		}
		if err != nil {
			if idle, _ := w.look(); idle {
				return nil
			}
			l := w.lanes[w.at]
			return fmt.Errorf("checkpoint: partition %d in epoch %d is not idle: %w", l.partition, l.epoch, err)
		}
	}
}

// While there always is something new, WaitIdle drains idleRounds times at once
// and then every idlePace.
const (
	idleRounds = 8
	idlePace   = 200 * time.Microsecond
)

// idleWait is one call of WaitIdle.
type idleWait struct {
	c      *Checkpointer
	parker atomics.Parker
	lanes  []*lane
	at     int // the lane that was not idle the last time
}

// begin finds the lanes and announces the wait, unless it is over.
func (w *idleWait) begin(partitions []PartitionID) (idle bool) {
	c := w.c
	c.lock()
	defer c.mu.Unlock()
	c.collect()
	if len(partitions) == 0 {
		for i := range c.shards {
			w.lanes = append(w.lanes, c.shards[i].table.Load().lanes...)
		}
	}
	for _, p := range partitions {
		if l := c.shardOf(p).find(p); l != nil {
			w.lanes = append(w.lanes, l)
		}
	}
	if w.isIdle() {
		return true
	}
	w.parker = atomics.NewParker()
	c.setIdlers(append(slices.Clone(c.idlerList()), &w.parker))
	c.waiting.Add(1)
	return false
}

func (w *idleWait) end() {
	c := w.c
	c.lock()
	defer c.mu.Unlock()
	c.waiting.Sub(1)
	c.setIdlers(slices.DeleteFunc(slices.Clone(c.idlerList()), func(p *atomics.Parker) bool { return p == &w.parker }))
}

// look drains and reports whether the wait is over. If it reports neither that
// nor news, whatever comes next leaves a wake-up.
func (w *idleWait) look() (idle, news bool) {
	w.c.lock()
	defer w.c.mu.Unlock()
	w.c.collect()
	if w.isIdle() {
		return true, false
	}
	return false, w.c.inboxNews()
}

// isIdle reports whether nothing is unresolved, as far as drained. It starts
// with the lane that was busy the last time, which mostly is still so.
func (w *idleWait) isIdle() bool {
	for k := range w.lanes {
		at := (w.at + k) % len(w.lanes)
		if l := w.lanes[at]; l.tracked && l.q.Open() != 0 {
			w.at = at
			return false
		}
	}
	return true
}

func (c *Checkpointer) idlerList() []*atomics.Parker {
	if list := c.idlers.Load(); list != nil {
		return *list
	}
	return nil
}

func (c *Checkpointer) setIdlers(list []*atomics.Parker) {
	if len(list) == 0 {
		c.idlers.Store(nil)
		return
	}
	c.idlers.Store(&list)
}
