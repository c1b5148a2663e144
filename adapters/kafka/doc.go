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
// uncommitted, and are delivered again to the next owner.
//
// # Rebalances
//
// When partitions are taken away, the Source stops handing out their batches,
// waits up to RevokeTimeout for those that were handed out, commits, and only
// then lets go. It does not wait when nothing is outstanding. Partitions that
// stay keep their batches in flight. Partitions that were lost, because the
// group went on without this member, are let go without a commit.
// Acknowledgements that arrive too late change nothing.
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
// # Data loss upstream
//
// A log that was truncated, or a topic that was deleted and created again, is
// reported to OnDataLoss and read afresh: from the commit or from where the
// log changed, whichever is lower, or from the start of the new topic.
package kafka
