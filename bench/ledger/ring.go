package ledger

import (
	"math"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/core/timing"
)

// ring is the ledger without its lock.
type ring struct {
	slots   []timing.Record
	next    uint64
	process *timing.ProcessIdentity
}

func newRing(capacity int) ring {
	size := 1
	for size < capacity {
		size *= 2
	}
	return ring{slots: make([]timing.Record, size), next: 1}
}

// result says what became of an observation.
type result uint8

const (
	accepted result = iota
	refused
	full
)

func (r *ring) record(o *timing.Observation) result {
	if r.process == nil {
		first := o.Process
		r.process = &first
	} else if *r.process != o.Process {
		return refused
	}
	if r.next == math.MaxUint64 {
		return full
	}
	slot := &r.slots[r.next&uint64(len(r.slots)-1)]
	slot.Sequence = r.next
	slot.Observation = *o
	r.next++
	return accepted
}

// page fills s with the records after a cursor, into the room that
// s.Records has.
func (r *ring) page(s *timing.Snapshot, after uint64) error {
	if after >= r.next {
		return &timing.CursorAheadError{AfterSequence: after, NextSequence: r.next}
	}
	retained := min(r.next-1, uint64(len(r.slots)))
	oldest := r.next - retained
	if after+1 < oldest {
		return &timing.CursorOverwrittenError{AfterSequence: after, OldestRetained: oldest}
	}
	n := min(uint64(cap(s.Records)), r.next-1-after)
	for seq := after + 1; seq <= after+n; seq++ {
		s.Records = append(s.Records, r.slots[seq&uint64(len(r.slots)-1)])
	}
	s.Process = r.process
	s.Capacity = len(r.slots)
	s.NextSequence = r.next
	s.OverwrittenCount = oldest - 1
	s.HasMore = after+n < r.next-1
	if retained > 0 {
		s.OldestRetained = oldest
	}
	return nil
}

// counters are what both ledgers keep outside the lock.
type counters struct {
	losses    atomic.Uint64
	exhausted atomic.Bool
}

// refuse counts the loss of a refused observation and returns false.
func (c *counters) refuse(why result) bool {
	if why == full {
		c.exhausted.Store(true)
	}
	c.NoteLoss()
	return false
}

// NoteLoss counts one observation that left no record.
func (c *counters) NoteLoss() {
	for {
		n := c.losses.Load()
		if n == math.MaxUint64 {
			c.exhausted.Store(true)
			return
		}
		if c.losses.CompareAndSwap(n, n+1) {
			return
		}
	}
}

// start begins a snapshot: what needs no lock.
func (c *counters) start(limit int) (timing.Snapshot, error) {
	if limit < 1 || limit > timing.MaxPageRecords {
		return timing.Snapshot{}, &timing.InvalidLimitError{Limit: limit}
	}
	return timing.Snapshot{Records: make([]timing.Record, 0, limit)}, nil
}

// end completes a snapshot.
func (c *counters) end(s *timing.Snapshot) {
	s.RecordingLossCount = c.losses.Load()
	s.MetadataExhausted = c.exhausted.Load()
}
