package checkpoint

import (
	"cmp"
	"log/slog"
	"slices"
	"time"
)

// Snapshot is the state of a Checkpointer for people and for metrics, as JSON
// or as the attribute of a log record. Batches are given by their names.
type Snapshot struct {
	// Time is when it was taken, by the clock of WithClock.
	Time time.Time `json:"time"`
	// Epoch is the current one; Begun is false before the first one.
	Epoch uint32 `json:"epoch"`
	Begun bool   `json:"begun"`
	// Admitted is the number of admitted partitions, HeldBack that of those
	// with a head, Stalled that of those held back by a failed batch. They
	// count all, also those that Partitions has no room for.
	Admitted int `json:"admitted"`
	HeldBack int `json:"heldBack"`
	Stalled  int `json:"stalled"`
	// Pending is the number of pending batches of all admitted partitions,
	// MaxPending the largest of one.
	Pending    int `json:"pending"`
	MaxPending int `json:"maxPending"`
	// Drained sums up what drains have counted since New.
	Drained DrainTotals `json:"drained"`
	// Skipped is the number of failed batches that SkipFailed let pass, of
	// all partitions and admissions.
	Skipped int `json:"skipped"`
	// Leaks counts what WithLeakReport reports.
	Leaks LeakTotals `json:"leaks"`
	// Partitions has those that are held back first, the longest first, and
	// then the others by number. Truncated says that there are more.
	Partitions []PartitionSnapshot `json:"partitions"`
	Truncated  bool                `json:"truncated"`
}

// PartitionSnapshot is the state of one partition under its current admission.
type PartitionSnapshot struct {
	Partition PartitionID `json:"partition"` // its number
	// Watermark is the last one taken, Committed the highest one confirmed;
	// 0 is none.
	Watermark int64 `json:"watermark"`
	Committed int64 `json:"committed"`
	// Pending is the number of pending batches; Unresolved is that of the
	// batches among them that no holder has resolved, as of the last drain.
	Pending    int `json:"pending"`
	Unresolved int `json:"unresolved"`
	// Skipped is the number of failed batches that SkipFailed let pass.
	Skipped int `json:"skipped"`
	// Head is what holds the partition back, nil if nothing does.
	Head *HeadSnapshot `json:"head,omitempty"`
}

// HeadSnapshot is a Head in a Snapshot.
type HeadSnapshot struct {
	Batch      string    `json:"batch"`      // its name, like p3@e1#42
	Seq        uint64    `json:"seq"`        // its number under the admission
	LastOffset int64     `json:"lastOffset"` // its highest offset
	Failed     bool      `json:"failed"`     // failed, or else pending
	Since      time.Time `json:"since"`      // when a drain first saw it there
	Behind     int       `json:"behind"`     // batches that wait behind it
}

// DrainTotals sums up DrainStats.
type DrainTotals struct {
	Applied    uint64 `json:"applied"`    // of DrainStats.Applied
	StaleEpoch uint64 `json:"staleEpoch"` // of DrainStats.StaleEpoch
	Duplicates uint64 `json:"duplicates"` // of DrainStats.Duplicates
	Unknown    uint64 `json:"unknown"`    // of DrainStats.Unknown
}

// LeakTotals counts leaks by their kind.
type LeakTotals struct {
	Unreachable  uint64 `json:"unreachable"`  // batches whose handles were lost
	OverReleased uint64 `json:"overReleased"` // releases beyond what was held
}

// Snapshot returns the state as of the last Drain, with at most n partitions:
// those that are held back longest, then others in the order of their numbers.
// n < 1 leaves out the partitions and keeps the sums. It drains nothing.
//
// Its cost grows with the number of admitted partitions. Like all control
// methods it may be called from any goroutine.
func (c *Checkpointer) Snapshot(n int) Snapshot {
	c.lock()
	defer c.mu.Unlock()
	a := c.assignment.Load()
	s := Snapshot{
		Time: c.now(), Epoch: a.epoch, Begun: a.begun,
		Drained: c.totals, Skipped: c.skipped,
		Partitions: []PartitionSnapshot{},
	}
	if c.leaks != nil {
		s.Leaks = LeakTotals{Unreachable: c.leaks.unreachable.Load(), OverReleased: c.leaks.over.Load()}
	}
	var free []*lane
	for i := range c.shards {
		for _, l := range c.shards[i].table.Load().lanes {
			s.Admitted++
			if _, _, _, held := l.q.Front(); held {
				s.HeldBack++
			} else {
				free = append(free, l)
			}
			if l.stalled {
				s.Stalled++
			}
		}
	}
	for _, h := range c.heads(nil, n) {
		p := c.shardOf(h.Partition).find(h.Partition).snapshot()
		p.Head = &HeadSnapshot{
			Batch: h.Batch.String(), Seq: h.Batch.Seq, LastOffset: h.LastOffset,
			Failed: h.Failed, Since: h.Since, Behind: h.Behind,
		}
		s.Partitions = append(s.Partitions, p)
	}
	if room := n - len(s.Partitions); room > 0 {
		slices.SortFunc(free, func(a, b *lane) int { return cmp.Compare(a.partition, b.partition) })
		for _, l := range free[:min(room, len(free))] {
			s.Partitions = append(s.Partitions, l.snapshot())
		}
	}
	s.Truncated = len(s.Partitions) < s.Admitted
	c.sumPending(&s)
	return s
}

// sumPending sums up the pending batches. Issuers go on meanwhile, so it looks
// only at partitions that are not listed: the others add what they say.
func (c *Checkpointer) sumPending(s *Snapshot) {
	add := func(pending int) {
		s.Pending += pending
		s.MaxPending = max(s.MaxPending, pending)
	}
	listed := make(map[PartitionID]bool, len(s.Partitions))
	for i := range s.Partitions {
		listed[s.Partitions[i].Partition] = true
		add(s.Partitions[i].Pending)
	}
	for i := range c.shards {
		for _, l := range c.shards[i].table.Load().lanes {
			if !listed[l.partition] {
				add(l.pending())
			}
		}
	}
}

func (l *lane) snapshot() PartitionSnapshot {
	return PartitionSnapshot{
		Partition: l.partition, Watermark: l.watermark, Committed: l.committed,
		Pending: l.pending(), Unresolved: l.q.Open(), Skipped: l.skipped,
	}
}

// LogValue makes a Snapshot a group of a log record: the sums, and the
// partition that is held back longest.
func (s Snapshot) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.Uint64("epoch", uint64(s.Epoch)),
		slog.Int("admitted", s.Admitted),
		slog.Int("heldBack", s.HeldBack),
		slog.Int("stalled", s.Stalled),
		slog.Int("pending", s.Pending),
		slog.Int("maxPending", s.MaxPending),
		slog.Uint64("applied", s.Drained.Applied),
		slog.Uint64("staleEpoch", s.Drained.StaleEpoch),
		slog.Uint64("duplicates", s.Drained.Duplicates),
		slog.Uint64("unknown", s.Drained.Unknown),
		slog.Int("skipped", s.Skipped),
		slog.Uint64("unreachable", s.Leaks.Unreachable),
		slog.Uint64("overReleased", s.Leaks.OverReleased),
	}
	if len(s.Partitions) > 0 && s.Partitions[0].Head != nil {
		h := s.Partitions[0].Head
		attrs = append(attrs, slog.Group("head",
			slog.String("batch", h.Batch),
			slog.Int64("lastOffset", h.LastOffset),
			slog.Bool("failed", h.Failed),
			slog.Duration("age", s.Time.Sub(h.Since)),
			slog.Int("behind", h.Behind)))
	}
	return slog.GroupValue(attrs...)
}
