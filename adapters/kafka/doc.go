// Package kafka reads Kafka topics at least once through a consumer group: a
// Source hands records out in batches, the pipeline acknowledges them in any
// order and from any goroutine, and the Source commits, for each partition,
// the offset below which everything is delivered.
//
// # Delivery
//
// A commit covers a batch only when every holder of its Ack released it as
// delivered, and every earlier batch of the partition is covered. A crash, a
// rebalance or a closed Source can therefore repeat records, never skip them.
// A batch that failed stalls its partition: it and what follows stay
// uncommitted, and are delivered again to the next owner, unless SkipFailed lets
// it pass.
//
// # Rebalances
//
// When partitions are taken away, the Source stops handing out their batches,
// waits up to RevokeTimeout for those that were handed out, commits, and only
// then lets go. It does not wait when nothing is outstanding. Partitions that
// stay keep their batches in flight. Partitions that were lost, because the
// group went on without this member, are let go without a commit: also when it
// learns so only as it joins again, under another name.
// Acknowledgements that arrive too late change nothing. The log says how many
// batches were left behind and how.
//
// # Commits
//
// Commits are made on an interval, on revoke and on Close; one that failed is
// sent again. They never go backwards while a partition is owned, except
// after a data loss upstream, which is reported. They carry the leader epoch
// of the last record covered. Holes in the offsets are normal: compaction and
// transactions leave them, and on a transactional topic the commit still
// reaches the end of the log.
//
// # Restarts behind a stuck batch
//
// A batch that is slow or failed holds back the commit of everything delivered
// behind it. With Config.DeliveredBytes a commit carries these offsets as its
// metadata, also when nothing else has changed. Whoever reads the partition next
// and has DeliveredBytes set issues them again without handing them out:
// Stats.Restored counts them. Other consumers go on from the same commits,
// and read everything above; what a commit of theirs carries is ignored. So is
// what was delivered of a log that was truncated, rewritten or recreated since.
// Offsets that have no room are delivered again.
//
// # When a partition does not move
//
// Heads names the batch that holds a partition back, and since when. Snapshot,
// PartitionName and PartitionLabels are what core/live and the collector of
// adapters/prometheus ask for:
//
//	live.Handler(live.Config{Snapshot: source.Snapshot, Name: source.PartitionName, Ledger: ledger})
//	tidemarkprom.NewCheckpoints(tidemarkprom.Checkpoints{Snapshot: source.Snapshot,
//		Labels: []string{"topic", "partition"}, Values: source.PartitionLabels})
//
// # Barriers
//
// Every commit is a checkpoint barrier. With Config.Barriers each leaves one
// record in a timing.Ledger and one sample in each histogram, and is listed by
// Ledger.OpenGuards as long as it lasts. What they say:
//
//   - A commit of the interval is a barrier if there is something to commit,
//     and nothing otherwise. A revoke and Close are one each, if batches are
//     handed out or something is to commit. Attempts count barriers in the
//     order in which they began, from 1; a commit sent again by a revoke or
//     Close is the same attempt, and one sent again by the interval another.
//   - LocalBarrier is from the start until the offsets to commit are fixed.
//     For the interval this is the pause of the intake: nothing is issued and
//     no batch handed out while acknowledgements are drained and offsets
//     gathered. The client fetches on, and the pause does not depend on the
//     broker. For a revoke and Close, which take the queued batches back
//     first, it is the wait for batches that are handed out, and for a commit
//     under way.
//   - AlignedResume is from there until the broker's answer is applied. Nothing
//     of this member waits for it but the next commit. If the group is
//     rebalancing, the client waits for that first.
//   - PipelineStall is the whole barrier: both, and the calls of OnCommit. It
//     is how long the commit position stood still, not how long the intake did.
//   - DurableTailHandoff is false if nothing was left to commit: the batches
//     that a revoke waited for failed or are still held, or a commit of the
//     interval covered them.
//   - DeadlineExhausted says that the barrier took longer than it may: the time
//     that one commit gets for the interval, RevokeTimeout for a revoke, up to
//     the deadline of its context for Close.
//   - Role is leader for the member that the group's coordinator chose to
//     balance the group. A KIP848 group has none: all are followers.
//   - AssignmentVersion counts the changes of what is owned. AssignmentDigest is
//     the SHA-256 of one line a partition, "topic/number", in order of topic
//     and number, each with a line feed.
//
// So a long LocalBarrier of a revoke is a slow or lost holder of a batch, a long
// AlignedResume is the broker or a rebalance, and a long rest is OnCommit. A
// commit that failed has a record like any other; Stats.CommitFailures counts
// it.
//
// # Data loss upstream
//
// A log that was truncated, or a topic that was deleted and created again, is
// reported to OnDataLoss and read afresh: from the commit or from where the
// log changed, whichever is lower, or from the start of the new topic.
package kafka
