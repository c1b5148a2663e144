package checkpoint

import (
	"errors"
	"strconv"
	"time"
)

// PartitionID names one partition of the source. The engine chooses the
// numbers; an adapter whose source has names interns them.
type PartitionID uint32

// BatchID names one batch: the Seq-th one (from 0, without holes) that was
// issued for Partition under one admission in Epoch. A partition that is
// revoked and admitted again within an epoch starts at Seq 0 again, so IDs
// name batches for people and logs; handles are told apart by more.
type BatchID struct {
	Partition PartitionID
	Epoch     uint32
	Seq       uint64
}

// String returns the form p3@e1#42: partition 3, epoch 1, batch 42.
func (id BatchID) String() string {
	b := make([]byte, 0, 40)
	b = append(b, 'p')
	b = strconv.AppendUint(b, uint64(id.Partition), 10)
	b = append(b, "@e"...)
	b = strconv.AppendUint(b, uint64(id.Epoch), 10)
	b = append(b, '#')
	b = strconv.AppendUint(b, id.Seq, 10)
	return string(b)
}

// DrainStats says what one Drain applied. Every registration and every
// resolution is counted exactly once over all drains, in exactly one field.
type DrainStats struct {
	// Applied counts batches that went from pending to delivered or failed.
	Applied int
	// StaleEpoch counts registrations and resolutions of an epoch that is
	// not current or of a partition that is not admitted: normal after a
	// rebalance.
	StaleEpoch int
	// Duplicates counts releases of batches that were already resolved:
	// a caller released a handle more often than it held it.
	Duplicates int
	// Unknown counts resolutions without a registration. It is 0 by
	// construction; anything else is a bug of this package.
	Unknown int
}

// Watermark says that everything of Partition below Offset is delivered:
// Offset is what the source may commit.
//
// It remembers the admission it was taken under, which Confirm and Reject look
// at, so one that is made by hand means nothing to them, and two of different
// admissions are not equal even if their fields are.
type Watermark struct {
	Partition PartitionID // what it is about
	// admission is the low half of the admission's number, never 0: it fits
	// in what would be padding.
	admission uint32
	Offset    int64 // the offset to commit: the first one not delivered
}

// String returns the form {3 100}: partition 3, offset 100.
func (w Watermark) String() string {
	b := make([]byte, 0, 40)
	b = append(b, '{')
	b = strconv.AppendUint(b, uint64(w.Partition), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, w.Offset, 10)
	b = append(b, '}')
	return string(b)
}

// Stall describes a partition that is held back by a failed batch.
type Stall struct {
	// Partition is held back.
	Partition PartitionID
	// Batch is the failed batch at the head, LastOffset its highest offset.
	Batch      BatchID
	LastOffset int64
	// Since is when TakeWatermarks first reached the failed batch.
	Since time.Time
}

// Errors of this package; match them with errors.Is. Except for
// ErrPendingLimit, which is returned as it is, they come wrapped in a text
// that names the partition, the epoch and the offsets.
var (
	// ErrEpochNotIncreasing: BeginEpoch got an epoch that is not above the current one.
	ErrEpochNotIncreasing = errors.New("checkpoint: epoch does not increase")
	// ErrNoEpoch: ExtendEpoch was called before the first BeginEpoch.
	ErrNoEpoch = errors.New("checkpoint: no epoch has begun")
	// ErrPartitionAdmitted: ExtendEpoch got a partition that is admitted now.
	ErrPartitionAdmitted = errors.New("checkpoint: partition is already admitted")
	// ErrPartitionOwned: another issuer already issued for this partition under this admission.
	ErrPartitionOwned = errors.New("checkpoint: partition is owned by another issuer")
	// ErrOffsetRange: the last offset is negative or MaxInt64.
	ErrOffsetRange = errors.New("checkpoint: offset out of range")
	// ErrOffsetRegressed: the last offset is below the previous one of this admission.
	ErrOffsetRegressed = errors.New("checkpoint: offset regressed")
	// ErrPendingLimit: the partition has as many pending batches as
	// WithPendingLimit allows. Take watermarks, then issue again.
	ErrPendingLimit = errors.New("checkpoint: pending limit reached")
	// ErrSequenceExhausted: the admission has issued 2^40 batches, the
	// most one can. Revoke the partition and extend the epoch by it.
	ErrSequenceExhausted = errors.New("checkpoint: batch sequence exhausted")
	// ErrNotFailedHead: SkipFailed got a batch that is not the failed head of its partition.
	ErrNotFailedHead = errors.New("checkpoint: not the failed head")
	// ErrWaiting: another goroutine is in Wait already.
	ErrWaiting = errors.New("checkpoint: another goroutine is waiting")
)
