package channel

import "github.com/tidemark-go/tidemark/core/checkpoint"

// Drain applies what was sent before the call.
//
// It receives as many messages as it finds at its start, so that it ends
// although producers keep sending. A resolution whose registration was not
// received yet waits for a second pass over the registrations: its
// registration was sent earlier, so it is in the channel by then.
func (c *Checkpointer) Drain() checkpoint.DrainStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	var stats checkpoint.DrainStats
	if c.duplicates.Load() > 0 {
		stats.Duplicates = int(c.duplicates.Swap(0))
	}
	for _, r := range c.earlyReg {
		c.register(r, &stats)
	}
	c.earlyReg = c.earlyReg[:0]
	c.drainRegistrations(&stats)

	for _, r := range c.early {
		c.apply(r, &stats, false)
	}
	c.early = c.early[:0]
	for range len(c.resolutions) {
		c.apply(<-c.resolutions, &stats, false)
	}

	if len(c.deferred) > 0 {
		c.drainRegistrations(&stats)
		for _, r := range c.deferred {
			c.apply(r, &stats, true)
		}
		c.deferred = c.deferred[:0]
	}
	return stats
}

func (c *Checkpointer) drainRegistrations(stats *checkpoint.DrainStats) {
	for range len(c.registrations) {
		c.register(<-c.registrations, stats)
	}
}

func (c *Checkpointer) register(r registration, stats *checkpoint.DrainStats) {
	t := c.trackers[r.partition]
	if t == nil || t.admission != r.admission {
		stats.StaleEpoch++
		return
	}
	t.register(r.last)
}

// apply counts one resolution. In the last pass a resolution without a
// registration is a bug, before that it is kept for the last pass.
func (c *Checkpointer) apply(r resolution, stats *checkpoint.DrainStats, lastPass bool) {
	t := c.trackers[r.partition]
	if t == nil || t.admission != r.admission {
		stats.StaleEpoch++
		return
	}
	if r.seq >= t.next {
		if lastPass {
			stats.Unknown++
		} else {
			c.deferred = append(c.deferred, r)
		}
		return
	}
	t.at(r.seq).status = r.kind
	stats.Applied++
	if !t.touched {
		t.touched = true
		c.touched = append(c.touched, t)
	}
}

// look reports whether a drain would find something. It receives to find out,
// under the mutex, so that no Drain misses what it holds. A receive, unlike
// len, is ordered after the announcement that Wait made.
func (c *Checkpointer) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.earlyReg)+len(c.early) > 0 || c.duplicates.Load() > 0 {
		return true
	}
	select {
	case r := <-c.registrations:
		c.earlyReg = append(c.earlyReg, r)
		return true
	case r := <-c.resolutions:
		c.early = append(c.early, r)
		return true
	default:
		return false
	}
}
