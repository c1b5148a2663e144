// Package checkpoint tells a pipeline which source offsets are safe to commit.
//
// A pipeline polls batches from a partitioned, replayable source and hands
// their records to many goroutines, which finish in any order. A Checkpointer
// knows per partition up to which offset everything is delivered, so that a
// restart from the committed offset skips nothing (at-least-once). One rule
// holds under any interleaving and any misuse of the handles, as long as the
// source keeps its side (below): a watermark never passes a batch that is
// unresolved or failed, and never moves for a partition or an epoch that is
// not current.
//
// # Data path
//
//	issue    an Issuer registers a batch and returns an Ack with one hold
//	release  the last holder of the Ack resolves the batch, delivered or failed
//	drain    the consumer sees what was registered and resolved since
//	take     the consumer gets the watermarks that moved
//	commit   the caller commits them to the source
//
// Issuing and releasing touch one word of a cell that belongs to the batch:
// the partition's lane is a queue whose cells the issuer reserves in order and
// the releasers publish in any order (mpsc.InOrder). There is no channel, no
// lock and, in steady state, no allocation on the way.
//
// # Vocabulary
//
// An epoch is one assignment of partitions to this process. A partition is
// admitted by BeginEpoch or ExtendEpoch and stays admitted until a Revoke of
// it or the next BeginEpoch. Owner, sequence numbers, offset order, pending
// batches and watermark belong to one admission, not to the partition: a
// partition that returns is tracked afresh, and handles of its earlier
// admission cannot touch the new one. A batch of a partition that is not
// admitted is untracked: its Ack works, it moves nothing and is counted in
// DrainStats.StaleEpoch.
//
// A watermark is the last offset of the contiguous delivered prefix plus one:
// what a source means by "committed". A pending batch is one that was issued
// under the current admission and that the watermark has not passed.
//
// # What the source must keep
//
//  1. BeginEpoch or ExtendEpoch returns before anything is polled from the
//     partitions it admits, and each admission is read from its committed
//     offset on.
//  2. A batch polled before a BeginEpoch, or before a Revoke of its partition,
//     is issued before that call or thrown away.
//  3. A watermark that was taken is committed before the next Revoke or
//     BeginEpoch of its partition, or dropped.
//  4. The last offset of a batch is the highest position that lies wholly in
//     it. Rows of a transaction that share one position repeat the position
//     before it until the last row; an empty batch repeats the last position.
//  5. When the position of a partition jumps back (data lost upstream, a topic
//     created anew), Revoke and ExtendEpoch come before the next Issue.
//
// # When a commit can fail
//
// TakeWatermarks hands a watermark out once. A loop whose commits can fail
// tells their fate: Confirm what was committed, Reject what was not, and the
// next take offers it again or a higher one instead. Answers that arrive after
// a rebalance are told from current ones and ignored.
//
// # When partitions go
//
// Revoke ends an admission at once. RevokeAndTake drains first and returns the
// last watermark of each partition, to be committed before somebody else reads
// it; WaitIdle before that gives batches on their way a chance, and returns at
// once if there are none. A batch that was polled before its partition went and
// came back is kept out by IssueAfter with a Fence that was taken before the
// poll: rule 2 above, held by construction.
//
// # When a partition does not move
//
// Heads tells which batch holds a partition back and since when, Snapshot
// everything else. SkipFailed lets a failed head pass. WithLeakReport finds the
// place that issued a batch which nobody can resolve any more.
// DeliveredRanges tells what is delivered behind the head, for a restart that
// is to skip it; what waits there takes next to no memory.
//
// # Concurrency
//
// An Issuer belongs to one goroutine at a time; a partition is issued by one
// Issuer per admission. Acks may be used by any goroutine. The control
// methods (all of the Checkpointer but Issuer, Pending, MaxPending and Stalled)
// may be called from several goroutines and are serialised by a mutex that no
// producer ever takes. Pending, MaxPending and Stalled take no lock at all.
//
// Happens before: everything a goroutine did before it released a hold happens
// before the TakeWatermarks that reports the batch as passed returns.
package checkpoint
