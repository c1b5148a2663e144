package checkpoint_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func timeAt(sec int64) time.Time { return time.Unix(sec, 0) }

// opHistory drives a checkpointer and the model with the same operations.
type opHistory struct {
	t   *testing.T
	rng *rand.Rand
	*rig
	m      *opModel
	next   [opPartitions]int64
	acks   []opAck
	fences []opFence
	marks  []opMark
}

const opPartitions = 5

type opAck struct {
	sut checkpoint.Ack
	ref *opBatch
}

type opFence struct {
	sut checkpoint.Fence
	ref int
}

type opMark struct {
	sut       checkpoint.Watermark
	admission int
}

// TestOperatorsViewAgainstAModel runs random operations of a source whose
// commits fail, whose partitions come and go while batches are on their way,
// and of an operator who looks and skips.
func TestOperatorsViewAgainstAModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("CHECKPOINT_SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("CHECKPOINT_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	histories := 150
	if testing.Short() {
		histories = 40
	}
	for range histories {
		k := &manualClock{at: 1}
		h := &opHistory{t: t, rng: rng, m: &opModel{k: k, lanes: map[checkpoint.PartitionID]*opLane{}, epoch: 1}}
		h.rig = newRigWith(t, []checkpoint.Option{checkpoint.WithClock(k.now), checkpoint.WithShards(1 << rng.IntN(3))}, 0, 1, 2)
		checkpoint.SetFoldFrom(h.Checkpointer, rng.IntN(130))
		h.m.admit(0, 1, 2)
		calm := 1 + rng.IntN(20)
		for range 600 {
			k.at++
			if rng.IntN(20*calm) == 0 {
				h.rebalance()
			} else {
				h.step(rng.IntN(calm) == 0)
			}
			h.compare()
		}
	}
}

func (h *opHistory) pick() checkpoint.PartitionID {
	return checkpoint.PartitionID(h.rng.IntN(opPartitions))
}

func (h *opHistory) step(rare bool) {
	switch h.rng.IntN(12) {
	case 0, 1:
		h.issue()
	case 2, 3, 4:
		h.release(rare)
	case 5, 6:
		h.drained(h.m.drain())
	case 7, 8:
		h.take()
	case 9:
		h.settle()
	case 10:
		h.skip()
	case 11:
		if f := h.i.Fence(); len(h.fences) == 0 || rare {
			h.fences = append(h.fences, opFence{f, h.m.admissions})
		}
		h.revealRanges()
	}
}

func (h *opHistory) issue() {
	p := h.pick()
	for range h.rng.IntN(100) {
		h.next[p] += h.rng.Int64N(3)
		fence, ref := h.i.Fence(), h.m.admissions
		if len(h.fences) > 0 && h.rng.IntN(4) == 0 {
			old := h.fences[h.rng.IntN(len(h.fences))]
			fence, ref = old.sut, old.ref
		}
		a := opAck{ref: h.m.issue(p, h.next[p], ref)}
		a.sut = h.issueAfter(fence, p, h.next[p], a.ref.lane != nil)
		if a.ref.lane != nil && a.sut.ID() != a.ref.id {
			h.t.Fatalf("issued %v, want %v", a.sut.ID(), a.ref.id)
		}
		h.acks = append(h.acks, a)
	}
}

func (h *opHistory) release(rare bool) {
	if len(h.acks) == 0 {
		return
	}
	for range h.rng.IntN(80) {
		k := h.rng.IntN(len(h.acks))
		a := h.acks[k]
		switch h.rng.IntN(40) {
		case 0:
			if rare {
				a.sut.Fail()
				a.ref.failed = a.ref.failed || a.ref.holds > 0
			}
		case 1:
			if a.sut.Retain(); a.ref.holds > 0 {
				a.ref.holds++
			}
		default:
			a.sut.Release()
			h.m.release(a.ref)
		}
	}
	if len(h.acks) > 2000 {
		h.acks = slices.Delete(h.acks, 0, 1000)
	}
}

func (h *opHistory) take() {
	for _, w := range h.taken(h.m.take()...) {
		h.marks = append(h.marks, opMark{w, h.m.lanes[w.Partition].admission})
	}
}

// settle confirms or rejects some of the watermarks that were taken, in any
// order and some of them again.
func (h *opHistory) settle() {
	for range h.rng.IntN(6) {
		if len(h.marks) == 0 {
			return
		}
		k := len(h.marks) - 1 - h.rng.IntN(min(len(h.marks), 8))
		w := h.marks[k]
		call, want := h.confirm, h.m.confirm
		if h.rng.IntN(2) == 0 {
			call, want = h.reject, h.m.reject
		}
		call([]checkpoint.Watermark{w.sut}, want(w.sut.Partition, w.sut.Offset, w.admission))
	}
}

func (h *opHistory) skip() {
	p := h.pick()
	var id checkpoint.BatchID
	if heads := h.Heads(nil, opPartitions); len(heads) > 0 {
		h.m.heads()
		head := heads[h.rng.IntN(len(heads))]
		p, id = head.Partition, head.Batch
	}
	if h.rng.IntN(5) == 0 {
		id.Seq++
	}
	want := h.m.skip(p, id)
	if err := h.SkipFailed(p, id); (err == nil) != want || err != nil && !errors.Is(err, checkpoint.ErrNotFailedHead) {
		h.t.Fatalf("SkipFailed(%d, %v) = %v, want %v", p, id, err, want)
	}
}

func (h *opHistory) revealRanges() {
	for p, l := range h.m.lanes {
		if len(l.batches) == 0 || !h.StartAt(p, l.batches[0].last) {
			continue
		}
		h.ranges(p, l.ranges(l.batches[0].last)...)
	}
}

func (h *opHistory) rebalance() {
	p, q := h.pick(), h.pick()
	switch h.rng.IntN(5) {
	case 0:
		h.m.epoch++
		h.m.lanes = map[checkpoint.PartitionID]*opLane{}
		h.m.admit(p, q)
		if err := h.BeginEpoch(h.m.epoch, p, q); err != nil {
			h.t.Fatal(err)
		}
	case 1:
		delete(h.m.lanes, p)
		h.Revoke(p)
	case 2:
		h.revoked(h.RevokeAndTake(p, q, p), h.m.revokeAndTake([]checkpoint.PartitionID{p, q})...)
	default:
		if h.m.lanes[p] == nil {
			h.m.admit(p)
			if err := h.ExtendEpoch(p); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

func (h *opHistory) compare() {
	for p := range checkpoint.PartitionID(opPartitions) {
		pending, committed := 0, int64(0)
		if l := h.m.lanes[p]; l != nil {
			pending, committed = len(l.batches)-l.taken, l.committed
		}
		if got := h.Pending(p); got != pending {
			h.t.Fatalf("Pending(%d) = %d, want %d", p, got, pending)
		}
		h.committed(p, committed)
	}
	if h.rng.IntN(3) == 0 {
		h.heads(opPartitions, h.m.heads()...)
	}
	got, want := h.Stalled(nil), h.m.stalled()
	if !slices.EqualFunc(got, want, func(a, b checkpoint.Stall) bool { return a.Batch == b.Batch && a.LastOffset == b.LastOffset }) {
		h.t.Fatalf("Stalled() = %v, want %v", got, want)
	}
	if h.Skipped() != h.m.skipped {
		h.t.Fatalf("Skipped() = %d, want %d", h.Skipped(), h.m.skipped)
	}
}
