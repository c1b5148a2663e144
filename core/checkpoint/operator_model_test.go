package checkpoint_test

import (
	"cmp"
	"slices"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// opModel is what an operator must see, kept in the simplest way: every batch
// for ever, every answer by a walk from the start.
type opModel struct {
	k          *manualClock
	lanes      map[checkpoint.PartitionID]*opLane
	epoch      uint32
	admissions int
	news       []func(st *checkpoint.DrainStats)
	carried    checkpoint.DrainStats
	skipped    int
}

type opLane struct {
	p         checkpoint.PartitionID
	epoch     uint32
	admission int
	batches   []*opBatch
	seen      int // batches whose registration a drain has applied
	taken     int
	watermark int64
	committed int64
	again     bool
	stall     *checkpoint.Stall
	head      *opBatch // stamped at since
	since     int64
}

type opBatch struct {
	lane   *opLane // nil: untracked
	id     checkpoint.BatchID
	last   int64
	holds  int
	failed bool
	// settled: a drain has applied the resolution.
	settled bool
}

func (b *opBatch) good() bool { return b.settled && !b.failed }

func (m *opModel) admit(ps ...checkpoint.PartitionID) {
	m.admissions++
	for _, p := range ps {
		m.lanes[p] = &opLane{p: p, epoch: m.epoch, admission: m.admissions}
	}
}

func (m *opModel) sorted() []*opLane {
	var lanes []*opLane
	for _, l := range m.lanes {
		lanes = append(lanes, l)
	}
	slices.SortFunc(lanes, func(a, b *opLane) int { return cmp.Compare(a.p, b.p) })
	return lanes
}

// front is the first batch that a drain has seen and that is not delivered.
func (l *opLane) front() *opBatch {
	for _, b := range l.batches[:l.seen] {
		if !b.good() {
			return b
		}
	}
	return nil
}

// counts are those of the batches above the watermark, as drained.
func (l *opLane) counts() (delivered, pending, failed int) {
	for _, b := range l.batches[l.taken:l.seen] {
		switch {
		case !b.settled:
			pending++
		case b.failed:
			failed++
		default:
			delivered++
		}
	}
	return delivered, pending, failed
}

func (m *opModel) issue(p checkpoint.PartitionID, last int64, fence int) *opBatch {
	b := &opBatch{last: last, holds: 1}
	if l := m.lanes[p]; l != nil && l.admission <= fence {
		b.lane = l
		b.id = checkpoint.BatchID{Partition: p, Epoch: l.epoch, Seq: uint64(len(l.batches))}
		l.batches = append(l.batches, b)
	}
	m.news = append(m.news, func(st *checkpoint.DrainStats) {
		if m.current(b) {
			b.lane.seen++
		} else {
			st.StaleEpoch++
		}
	})
	return b
}

func (m *opModel) current(b *opBatch) bool { return b.lane != nil && m.lanes[b.lane.p] == b.lane }

func (m *opModel) release(b *opBatch) {
	if b.holds == 0 {
		m.news = append(m.news, func(st *checkpoint.DrainStats) { st.Duplicates++ })
		return
	}
	if b.holds--; b.holds > 0 {
		return
	}
	m.news = append(m.news, func(st *checkpoint.DrainStats) {
		if m.current(b) {
			b.settled = true
			st.Applied++
		} else {
			st.StaleEpoch++
		}
	})
}

// collect applies the news and stamps heads of lanes with something open.
func (m *opModel) collect() (st checkpoint.DrainStats) {
	for _, f := range m.news {
		f(&st)
	}
	m.news = nil
	for _, l := range m.lanes {
		if _, pending, _ := l.counts(); pending > 0 {
			m.stamp(l)
		}
	}
	return st
}

func add(a, b checkpoint.DrainStats) checkpoint.DrainStats {
	return checkpoint.DrainStats{
		Applied: a.Applied + b.Applied, StaleEpoch: a.StaleEpoch + b.StaleEpoch,
		Duplicates: a.Duplicates + b.Duplicates, Unknown: a.Unknown + b.Unknown,
	}
}

func (m *opModel) drain() checkpoint.DrainStats {
	st := add(m.carried, m.collect())
	m.carried = checkpoint.DrainStats{}
	return st
}

func (m *opModel) stamp(l *opLane) {
	if f := l.front(); f != nil && l.head != f {
		l.head, l.since = f, m.k.at
	}
}

func (l *opLane) advance() (moved bool) {
	for l.taken < l.seen && l.batches[l.taken].good() {
		mark := l.batches[l.taken].last + 1
		moved = moved || mark > l.watermark
		l.watermark = mark
		l.taken++
	}
	return moved
}

// take returns partition, offset pairs.
func (m *opModel) take() (out []int64) {
	for _, l := range m.sorted() {
		if l.advance() || l.again {
			out = append(out, int64(l.p), l.watermark)
		}
		l.again = false
		if f := l.front(); l.stall == nil && f != nil && f.settled && f == l.batches[l.taken] {
			l.stall = &checkpoint.Stall{Partition: l.p, Batch: f.id, LastOffset: f.last}
			m.stamp(l)
		}
	}
	return out
}

// of returns the lane that a watermark was taken from.
func (m *opModel) of(p checkpoint.PartitionID, offset int64, admission int) *opLane {
	if l := m.lanes[p]; l != nil && l.admission == admission && offset <= l.watermark {
		return l
	}
	return nil
}

func (m *opModel) confirm(p checkpoint.PartitionID, offset int64, admission int) int {
	l := m.of(p, offset, admission)
	if l == nil {
		return 0
	}
	l.committed = max(l.committed, offset)
	l.again = l.again && l.committed < l.watermark
	return 1
}

func (m *opModel) reject(p checkpoint.PartitionID, offset int64, admission int) int {
	l := m.of(p, offset, admission)
	if l == nil {
		return 0
	}
	l.again = l.again || offset == l.watermark && offset > l.committed
	return 1
}

func (m *opModel) revokeAndTake(ps []checkpoint.PartitionID) (out []checkpoint.Revocation) {
	m.carried = add(m.carried, m.collect())
	for _, l := range m.sorted() {
		if slices.Contains(ps, l.p) {
			l.advance()
			v := checkpoint.Revocation{Partition: l.p, Watermark: upTo(l.p, l.watermark), Committed: l.committed}
			v.Delivered, v.Pending, v.Failed = l.counts()
			out = append(out, v)
			delete(m.lanes, l.p)
		}
	}
	return out
}

// skip reports whether the batch is the failed head.
func (m *opModel) skip(p checkpoint.PartitionID, id checkpoint.BatchID) bool {
	l := m.lanes[p]
	if l == nil {
		return false
	}
	f := l.front()
	if f == nil || f.id != id || !f.settled {
		return false
	}
	f.failed = false
	l.stall = nil
	m.skipped++
	m.stamp(l)
	return true
}

func (m *opModel) heads() (out []checkpoint.Head) {
	for _, l := range m.lanes {
		m.stamp(l)
		if f := l.front(); f != nil {
			out = append(out, checkpoint.Head{
				Partition: l.p, Batch: f.id, LastOffset: f.last, Failed: f.settled,
				Since: timeAt(l.since), Behind: l.seen - int(f.id.Seq) - 1,
			})
		}
	}
	slices.SortFunc(out, func(a, b checkpoint.Head) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

func (m *opModel) stalled() (out []checkpoint.Stall) {
	for _, l := range m.sorted() {
		if l.stall != nil {
			out = append(out, *l.stall)
		}
	}
	return out
}

// ranges are those of naiveRanges over what a drain has seen.
func (l *opLane) ranges(start int64) []int64 {
	var offsets []int64
	var delivered []bool
	for _, b := range l.batches[:l.seen] {
		offsets = append(offsets, b.last)
		delivered = append(delivered, b.good())
	}
	return naiveRanges(offsets, delivered, start)
}
