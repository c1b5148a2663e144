package kafka

import (
	"cmp"
	"slices"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Stats is a snapshot of a Source. Counts are totals since Open.
type Stats struct {
	// Drain sums what the checkpointer's drains applied.
	Drain checkpoint.DrainStats
	// Records and Batches count what was issued; Records without control
	// records.
	Records, Batches uint64
	// Restored counts records that were read and not handed out, because the
	// commit that was started from says that they are delivered.
	Restored uint64
	// Dropped counts batches that were issued and never handed out, because
	// their partition was revoked, lost or reset, or the Source closed. They
	// stay uncommitted.
	Dropped uint64
	// Commits counts partition offsets the broker accepted, CommitFailures
	// those it did not. A failed one is sent again with the next commit.
	Commits, CommitFailures uint64
	// Rebalances counts group callbacks that changed what is owned: Assigned,
	// Revoked and Lost count their partitions.
	Rebalances, Assigned, Revoked, Lost uint64
	// Skipped counts failed batches that SkipFailed let pass.
	Skipped uint64
	// Pauses counts how often a partition's fetching paused at PendingLimit.
	Pauses uint64
	// DataLosses counts reports to OnDataLoss.
	DataLosses uint64
	// FetchErrors counts errors the client reported while polling, those
	// that pass by themselves included.
	FetchErrors uint64
	// Partitions are the partitions owned now, by topic and partition.
	Partitions []PartitionStats
}

// PartitionStats is the state of one owned partition.
type PartitionStats struct {
	// Topic and Partition name it.
	Topic     string
	Partition int32
	// Ownership counts how often this Source took the partition, or read it
	// afresh after a loss of data.
	Ownership uint64
	// Committed is the group's commit as far as this member knows it, -1 if
	// there is none.
	Committed int64
	// Acked is the offset the next commit will carry: everything below is
	// acknowledged. -1 before the first acknowledgement.
	Acked int64
	// Position is the offset after the last one issued, -1 before the first.
	Position int64
	// Pending counts issued batches that Acked does not cover.
	Pending int
	// Held counts records that were polled and wait, because Pending is at
	// its limit. They are of one poll, so at most PollRecords.
	Held int
	// Paused says that fetching waits for Pending to fall.
	Paused bool
	// Stalled is the failed batch that holds the partition back, or nil. What
	// follows it is delivered again after the partition moved or the Source
	// was opened again.
	Stalled *checkpoint.Stall
}

// Stats returns a snapshot. It does not look for new acknowledgements.
func (s *Source) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	stalls := s.cp.Stalled(nil)
	for _, p := range s.parts.byID {
		if !p.admitted {
			continue
		}
		ps := PartitionStats{
			Topic: p.topic, Partition: p.num, Ownership: p.gen,
			Committed: p.committed, Acked: p.acked, Position: p.issued,
			Pending: s.cp.Pending(p.id), Held: len(p.stash), Paused: p.paused,
		}
		for i := range stalls {
			if stalls[i].Partition == p.id {
				ps.Stalled = &stalls[i]
			}
		}
		st.Partitions = append(st.Partitions, ps)
	}
	slices.SortFunc(st.Partitions, func(a, b PartitionStats) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return st
}
