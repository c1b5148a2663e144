package channel

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// status is the state of one tracked batch.
type status uint8

const (
	pending status = iota
	delivered
	failed
)

// maxIdleEntries is how many entries a tracker keeps allocated when it holds
// few: 8192 entries of 16 bytes.
const maxIdleEntries = 8192

type entry struct {
	last   int64
	status status
}

// tracker follows one partition under one admission. Only Drain,
// TakeWatermarks and the probes touch it, under the checkpointer's mutex,
// except for the fields that say otherwise.
type tracker struct {
	partition checkpoint.PartitionID
	epoch     uint32
	admission uint32 // never 0

	// owner goes from nil to the first issuer that issued. Written and read
	// by issuers.
	owner atomic.Pointer[Issuer]
	// revoked goes from false to true once, when the admission ends.
	// Written by the control methods, read by the owner before each issue.
	revoked atomic.Bool
	// passed counts the batches the watermark has passed. Written by
	// TakeWatermarks, read by the owner when there is a pending limit.
	passed atomic.Uint64

	// entries is a ring of a power-of-two length; the batch with sequence s
	// is in entries[s&(len-1)] while head <= s < next.
	entries    []entry
	head, next uint64

	watermark int64
	touched   bool // it is in the checkpointer's list of touched trackers
	stalled   bool
	since     time.Time
}

func (t *tracker) pending() int { return int(t.next - t.head) }

func (t *tracker) at(seq uint64) *entry { return &t.entries[seq&uint64(len(t.entries)-1)] }

// register appends the batch with sequence t.next.
func (t *tracker) register(last int64) {
	if t.pending() == len(t.entries) {
		t.resize(max(16, 2*len(t.entries)))
	}
	*t.at(t.next) = entry{last: last}
	t.next++
}

func (t *tracker) resize(n int) {
	old := t.entries
	t.entries = make([]entry, n)
	for s := t.head; s < t.next; s++ {
		*t.at(s) = old[s&uint64(len(old)-1)]
	}
}

// advance moves the head past the delivered prefix and reports whether the
// watermark moved.
func (t *tracker) advance(now func() time.Time) bool {
	before := t.watermark
	for ; t.head < t.next; t.head++ {
		e := t.at(t.head)
		if e.status == failed && !t.stalled {
			t.stalled, t.since = true, now()
		}
		if e.status != delivered {
			break
		}
		t.watermark = e.last + 1
	}
	t.passed.Store(t.head)
	if len(t.entries) > maxIdleEntries && t.pending() <= len(t.entries)/8 {
		t.resize(len(t.entries) / 4)
	}
	return t.watermark != before
}

// stall describes the failed batch at the head.
func (t *tracker) stall() checkpoint.Stall {
	return checkpoint.Stall{
		Partition:  t.partition,
		Batch:      checkpoint.BatchID{Partition: t.partition, Epoch: t.epoch, Seq: t.head},
		LastOffset: t.at(t.head).last,
		Since:      t.since,
	}
}
