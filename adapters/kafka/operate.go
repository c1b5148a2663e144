package kafka

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Head is what holds a partition back: its first batch that is not delivered.
type Head struct {
	// Topic and Partition name the partition.
	Topic     string
	Partition int32
	// Batch is the one that holds it back, LastOffset its highest offset.
	Batch      checkpoint.BatchID
	LastOffset int64
	// Failed tells a batch that failed from one that nobody has resolved.
	Failed bool
	// Since is when it was first seen there.
	Since time.Time
	// Behind is how many batches wait behind it, delivered or not.
	Behind int
}

// Heads appends to dst what holds back the n partitions that are held back
// longest, the longest first. Like Stats it does not look for new
// acknowledgements: what it tells is as of the last commit interval or later.
func (s *Source) Heads(dst []Head, n int) []Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.cp.Heads(nil, n) {
		p := s.parts.byID[h.Partition]
		dst = append(dst, Head{p.topic, p.num, h.Batch, h.LastOffset, h.Failed, h.Since, h.Behind})
	}
	return dst
}

// SkipFailed lets a failed batch pass as if it had been delivered, so that the
// next commit goes on behind it: for a batch that was dealt with by other means,
// or that is given up. The batch must be exactly the failed head of a partition
// that this member owns, as Heads and Stats report it; else the error wraps
// checkpoint.ErrNotFailedHead. What is skipped is lost to the sink unless
// somebody has seen to it: Stats.Skipped counts it, and the log names it.
func (s *Source) SkipFailed(topic string, partition int32, batch checkpoint.BatchID) error {
	s.mu.Lock()
	p := s.parts.lookup(topic, partition)
	if p == nil || !p.admitted {
		s.mu.Unlock()
		return fmt.Errorf("kafka: skipping batch %v of %s[%d], which this member does not own: %w", batch, topic, partition, checkpoint.ErrNotFailedHead)
	}
	if err := s.cp.SkipFailed(p.id, batch); err != nil {
		s.mu.Unlock()
		return fmt.Errorf("kafka: skipping batch %v of %s[%d]: %w", batch, topic, partition, err)
	}
	p.stalled = false
	s.stats.Skipped++
	s.advance()
	s.noteStalls() // the next batch that failed, which this one hid
	s.mu.Unlock()
	s.log.Warn("failed batch skipped; it counts as delivered", "topic", topic, "partition", partition, "batch", batch.String())
	s.logStalls()
	return nil
}

// Snapshot returns the state of the checkpointer with at most n partitions, for
// core/live, for the Prometheus collector and for log records. Committed is the
// group's commit also where this member has not made it. PartitionName and
// PartitionLabels tell the partitions' names. It is as of the last commit
// interval or later.
func (s *Source) Snapshot(n int) checkpoint.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := s.cp.Snapshot(n)
	for i := range snap.Partitions {
		sp := &snap.Partitions[i]
		sp.Committed = max(sp.Committed, s.parts.byID[sp.Partition].committed)
	}
	return snap
}

// PartitionName returns the name of a partition in a Snapshot, such as
// orders/3. It knows every partition that this member has ever owned.
func (s *Source) PartitionName(id checkpoint.PartitionID) string {
	if p := s.partitionOf(id); p != nil {
		return p.topic + "/" + strconv.Itoa(int(p.num))
	}
	return strconv.FormatUint(uint64(id), 10)
}

// PartitionLabels returns topic and number of a partition in a Snapshot, nil if
// this member has never owned it.
func (s *Source) PartitionLabels(id checkpoint.PartitionID) []string {
	if p := s.partitionOf(id); p != nil {
		return []string{p.topic, strconv.Itoa(int(p.num))}
	}
	return nil
}

// partitionOf returns the partition with an ID, whose name never changes, or
// nil.
func (s *Source) partitionOf(id checkpoint.PartitionID) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if uint64(id) >= uint64(len(s.parts.byID)) {
		return nil
	}
	return s.parts.byID[id]
}
