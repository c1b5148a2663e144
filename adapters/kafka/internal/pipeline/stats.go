package pipeline

import "sync/atomic"

// Stats counts what a pipeline did. Counts only grow; anyone may read them at
// any time. The polling goroutine writes Fetched, the workers Refused, the
// writing one the rest, all but Syncs and Overtaken after the lines are on disk.
type Stats struct {
	// Fetched counts lines handed to the workers, Batches those on disk.
	Fetched, Batches atomic.Int64
	// Events counts lines that parsed, the next four the dead letters.
	Events, Empty, Oversized, Unparsable, Foreign atomic.Int64
	// Refused counts lines of batches that Config.Refuse did not want.
	Refused atomic.Int64
	// Overtaken counts batches that were done after a later one of their
	// partition.
	Overtaken atomic.Int64
	// Syncs counts groups that were written and synced.
	Syncs atomic.Int64
	// Bytes counts the output.
	Bytes atomic.Int64
}

// Dead is the sum of the dead letters.
func (s *Stats) Dead() int64 {
	return s.Empty.Load() + s.Oversized.Load() + s.Unparsable.Load() + s.Foreign.Load()
}

func (s *Stats) durable(c *chunk) {
	s.Batches.Add(1)
	s.Bytes.Add(int64(len(c.events) + len(c.dead)))
	s.Events.Add(c.counts.events)
	s.Empty.Add(c.counts.empty)
	s.Oversized.Add(c.counts.oversized)
	s.Unparsable.Add(c.counts.unparsable)
	s.Foreign.Add(c.counts.foreign)
}
