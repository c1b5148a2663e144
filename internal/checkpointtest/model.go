package checkpointtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Model is the reference checkpointer. It is slow and obvious on purpose: one
// mutex around everything, slices that are walked from the start, no reuse.
// It keeps the whole contract but for its cost and memory sentences.
type Model struct {
	mu    sync.Mutex
	limit int
	now   func() time.Time

	begun bool
	epoch uint32
	// lanes holds the admitted partitions.
	lanes map[checkpoint.PartitionID]*modelLane
	// news is what no drain has seen yet, in the order it happened.
	news []modelNews
	// arrived is closed and replaced whenever news grows.
	arrived chan struct{}
	waiting bool
}

// modelLane is one admission of one partition.
type modelLane struct {
	partition checkpoint.PartitionID
	owner     *ModelIssuer
	nextSeq   uint64
	issued    bool
	last      int64
	// batches are those the watermark has not passed, oldest first.
	batches  []*modelBatch
	mark     int64 // 0: no batch passed yet
	reported int64
	stall    *checkpoint.Stall
}

type modelBatch struct {
	model *Model
	lane  *modelLane // nil: untracked
	id    checkpoint.BatchID
	last  int64

	holders  int
	failed   bool
	resolved bool // the last holder released

	registered bool // a drain applied the registration
	settled    bool // a drain applied the resolution
}

type modelNews struct {
	kind  newsKind
	batch *modelBatch
}

type newsKind int

const (
	newsRegistration newsKind = iota
	newsResolution
	newsDuplicate
)

// NewModel returns a model without an epoch.
func NewModel(cfg Config) *Model {
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	return &Model{
		limit:   cfg.PendingLimit,
		now:     now,
		lanes:   map[checkpoint.PartitionID]*modelLane{},
		arrived: make(chan struct{}),
	}
}

func (m *Model) add(k newsKind, b *modelBatch) {
	m.news = append(m.news, modelNews{k, b})
	close(m.arrived)
	m.arrived = make(chan struct{})
}

// current says whether b belongs to an admission that still holds.
func (m *Model) current(b *modelBatch) bool {
	return b.lane != nil && m.lanes[b.id.Partition] == b.lane
}

// BeginEpoch admits exactly the given partitions, all of them afresh.
func (m *Model) BeginEpoch(epoch uint32, partitions ...checkpoint.PartitionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun && epoch <= m.epoch {
		return fmt.Errorf("model: epoch %d after %d: %w", epoch, m.epoch, checkpoint.ErrEpochNotIncreasing)
	}
	m.begun, m.epoch = true, epoch
	m.lanes = map[checkpoint.PartitionID]*modelLane{}
	for _, p := range partitions {
		m.lanes[p] = &modelLane{partition: p}
	}
	return nil
}

// ExtendEpoch admits more partitions, all of them or none.
func (m *Model) ExtendEpoch(partitions ...checkpoint.PartitionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		return fmt.Errorf("model: extend by %v: %w", partitions, checkpoint.ErrNoEpoch)
	}
	for _, p := range partitions {
		if m.lanes[p] != nil {
			return fmt.Errorf("model: partition %d in epoch %d: %w", p, m.epoch, checkpoint.ErrPartitionAdmitted)
		}
	}
	for _, p := range partitions {
		m.lanes[p] = &modelLane{partition: p}
	}
	return nil
}

// Revoke ends the admission of each given partition.
func (m *Model) Revoke(partitions ...checkpoint.PartitionID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range partitions {
		delete(m.lanes, p)
	}
}

// Drain applies the news in the order it happened.
func (m *Model) Drain() checkpoint.DrainStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	var st checkpoint.DrainStats
	for _, n := range m.news {
		switch {
		case n.kind == newsDuplicate:
			st.Duplicates++
		case !m.current(n.batch):
			st.StaleEpoch++
		case n.kind == newsRegistration:
			n.batch.registered = true
		case !n.batch.registered:
			st.Unknown++
		default:
			n.batch.settled = true
			st.Applied++
		}
	}
	m.news = nil
	return st
}

// TakeWatermarks moves every lane over its delivered prefix.
func (m *Model) TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.sortedLanes() {
		for len(l.batches) > 0 && l.batches[0].settled && !l.batches[0].failed {
			l.mark = l.batches[0].last + 1
			l.batches = l.batches[1:]
		}
		if l.stall == nil && len(l.batches) > 0 && l.batches[0].settled {
			head := l.batches[0]
			l.stall = &checkpoint.Stall{Partition: l.partition, Batch: head.id, LastOffset: head.last, Since: m.now()}
		}
		if l.mark > l.reported {
			l.reported = l.mark
			dst = append(dst, checkpoint.Watermark{Partition: l.partition, Offset: l.mark})
		}
	}
	return dst
}

func (m *Model) sortedLanes() []*modelLane {
	lanes := make([]*modelLane, 0, len(m.lanes))
	for _, l := range m.lanes {
		lanes = append(lanes, l)
	}
	slices.SortFunc(lanes, func(a, b *modelLane) int { return cmp.Compare(a.partition, b.partition) })
	return lanes
}

// Pending counts what was issued and not passed, drained or not.
func (m *Model) Pending(p checkpoint.PartitionID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.lanes[p]; l != nil {
		return len(l.batches)
	}
	return 0
}

// drainedPending is the least that Pending may say: batches whose
// registration a drain has applied.
func (m *Model) drainedPending(p checkpoint.PartitionID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	if l := m.lanes[p]; l != nil {
		for _, b := range l.batches {
			if b.registered {
				n++
			}
		}
	}
	return n
}

// MaxPending is the largest Pending of all partitions.
func (m *Model) MaxPending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := 0
	for _, l := range m.lanes {
		most = max(most, len(l.batches))
	}
	return most
}

// Stalled lists the partitions whose head is failed, as of the last take.
func (m *Model) Stalled(dst []checkpoint.Stall) []checkpoint.Stall {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.sortedLanes() {
		if l.stall != nil {
			dst = append(dst, *l.stall)
		}
	}
	return dst
}

// Wait blocks until there is news.
func (m *Model) Wait(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting {
		return fmt.Errorf("model: %w", checkpoint.ErrWaiting)
	}
	m.waiting = true
	defer func() { m.waiting = false }()
	for len(m.news) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		arrived := m.arrived
		m.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
		}
		m.mu.Lock()
	}
	return nil
}

// Issuer returns a new issuer.
func (m *Model) Issuer() *ModelIssuer { return &ModelIssuer{m: m} }

// ModelIssuer is known by its address: a lane is owned by one.
type ModelIssuer struct{ m *Model }

// Clone returns another issuer.
func (i *ModelIssuer) Clone() *ModelIssuer { return i.m.Issuer() }

// Issue checks in the contract's order and then registers one batch.
func (i *ModelIssuer) Issue(p checkpoint.PartitionID, last int64) (ModelAck, error) {
	m := i.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if last < 0 || last == math.MaxInt64 {
		return ModelAck{}, fmt.Errorf("model: p%d@e%d offset %d: %w", p, m.epoch, last, checkpoint.ErrOffsetRange)
	}
	b := &modelBatch{
		model: m, last: last, holders: 1,
		id: checkpoint.BatchID{Partition: p, Epoch: m.epoch},
	}
	if l := m.lanes[p]; l != nil {
		if l.owner != nil && l.owner != i {
			return ModelAck{}, fmt.Errorf("model: p%d@e%d offset %d: %w", p, m.epoch, last, checkpoint.ErrPartitionOwned)
		}
		if l.issued && last < l.last {
			return ModelAck{}, fmt.Errorf("model: p%d@e%d offset %d after %d: %w", p, m.epoch, last, l.last, checkpoint.ErrOffsetRegressed)
		}
		if m.limit > 0 && len(l.batches) >= m.limit {
			return ModelAck{}, checkpoint.ErrPendingLimit
		}
		l.owner, l.issued, l.last = i, true, last
		b.lane, b.id.Seq = l, l.nextSeq
		l.nextSeq++
		l.batches = append(l.batches, b)
	}
	m.add(newsRegistration, b)
	return ModelAck{b}, nil
}

// ModelAck is a handle of the model.
type ModelAck struct{ b *modelBatch }

// ID is the batch's name.
func (a ModelAck) ID() checkpoint.BatchID {
	if a.b == nil {
		return checkpoint.BatchID{}
	}
	return a.b.id
}

// LastOffset is the batch's highest offset.
func (a ModelAck) LastOffset() int64 {
	if a.b == nil {
		return 0
	}
	return a.b.last
}

// tracked says whether the batch was issued for an admitted partition.
func (a ModelAck) tracked() bool { return a.b != nil && a.b.lane != nil }

// resolved says whether the last holder has released.
func (a ModelAck) resolved() bool {
	a.b.model.mu.Lock()
	defer a.b.model.mu.Unlock()
	return a.b.resolved
}

// Retain adds one holder.
func (a ModelAck) Retain() ModelAck {
	a.RetainN(1)
	return a
}

// modelMaxHolders is what a batch can count; at least 2^22 is asked for.
const modelMaxHolders = 1 << 22

// RetainN adds n holders. Too many stay for ever.
func (a ModelAck) RetainN(n int) {
	if a.b == nil || n <= 0 {
		return
	}
	a.b.model.mu.Lock()
	defer a.b.model.mu.Unlock()
	if a.b.resolved {
		return
	}
	if a.b.holders > modelMaxHolders-min(n, modelMaxHolders) {
		a.b.holders = math.MaxInt
		return
	}
	a.b.holders += n
}

// Fail marks an unresolved batch.
func (a ModelAck) Fail() {
	if a.b == nil {
		return
	}
	a.b.model.mu.Lock()
	defer a.b.model.mu.Unlock()
	if !a.b.resolved {
		a.b.failed = true
	}
}

// Release drops one holder; the last one resolves.
func (a ModelAck) Release() {
	if a.b == nil {
		return
	}
	m := a.b.model
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case a.b.resolved:
		m.add(newsDuplicate, a.b)
	case a.b.holders == math.MaxInt:
		// Saturated: it never resolves.
	default:
		a.b.holders--
		if a.b.holders == 0 {
			a.b.resolved = true
			m.add(newsResolution, a.b)
		}
	}
}

// Done fails on an error, then releases.
func (a ModelAck) Done(err error) {
	if err != nil {
		a.Fail()
	}
	a.Release()
}
