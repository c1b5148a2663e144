package mpsc

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// viewModel is what the consumer must see of a queue, kept in the simplest way.
type viewModel struct {
	values []int
	states []CellState // as of the last collect
	now    []CellState
	taken  int
}

func (m *viewModel) front() int {
	for i := m.taken; i < len(m.states); i++ {
		if m.states[i] != CellGood {
			return i
		}
	}
	return -1
}

// advance passes the prefix and returns the last value, the number and
// whether a failed cell stopped it.
func (m *viewModel) advance() (last, n int, failed bool) {
	for m.taken < len(m.states) && m.states[m.taken] == CellGood {
		last = m.values[m.taken]
		m.taken++
		n++
	}
	return last, n, m.taken < len(m.states) && m.states[m.taken] == CellFailed
}

func (m *viewModel) counts() (c [3]int) {
	for _, s := range m.states[m.taken:] {
		c[s]++
	}
	return c
}

// viewRig drives a queue that folds from the first segment on.
type viewRig struct {
	*rig
	t     testing.TB
	m     viewModel
	least int
	open  []Reservation[int, rig]
}

func (r *viewRig) reserve(v int) {
	r.open = append(r.open, r.rig.reserve(r.t, v))
	r.m.values = append(r.m.values, v)
	r.m.now = append(r.m.now, CellOpen)
}

func (r *viewRig) publish(k int, failed bool) {
	h := r.open[k]
	r.open[k] = r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.m.now[h.Seq()] = CellGood
	if failed {
		h.Fail()
		r.m.now[h.Seq()] = CellFailed
	}
	if !h.Release() {
		r.t.Fatalf("Release of cell %d refused", h.Seq())
	}
}

func (r *viewRig) collect() {
	r.rig.collect()
	r.m.states = append(r.m.states[:0], r.m.now...)
}

func (r *viewRig) pardon() {
	i := r.m.front()
	want := i >= 0 && r.m.states[i] == CellFailed
	if got := r.q.Pardon(); got != want {
		r.t.Fatalf("Pardon of cell %d is %v, want %v", i, got, want)
	}
	if want {
		r.m.states[i], r.m.now[i] = CellGood, CellGood
	}
}

func (r *viewRig) advance() {
	last, n, failed := r.q.Advance()
	if l, m, f := r.m.advance(); last != l || n != m || failed != f {
		r.t.Fatalf("Advance = %d, %d, %v, want %d, %d, %v", last, n, failed, l, m, f)
	}
	r.fold()
}

func (r *viewRig) fold() { r.q.Fold(r.least, func(a, b int) bool { return a == b }) }

func (r *viewRig) compare() {
	t, m := r.t, &r.m
	seq, v, failed, ok := r.q.Front()
	if i := m.front(); ok != (i >= 0) || ok && (int(seq) != i || v != m.values[i] || failed != (m.states[i] == CellFailed)) {
		t.Fatalf("Front = %d, %d, %v, %v, want cell %d", seq, v, failed, ok, i)
	}
	open, good, bad := r.q.Waiting()
	if c := m.counts(); open != c[CellOpen] || good != c[CellGood] || bad != c[CellFailed] || r.q.Open() != open {
		t.Fatalf("Waiting = %d, %d, %d, want %v", open, good, bad, c)
	}
	if got, want := r.q.Outstanding(), len(m.values)-m.taken; got != want || int(r.q.Seen()) != len(m.states) {
		t.Fatalf("Outstanding = %d, want %d; Seen = %d, want %d", got, want, r.q.Seen(), len(m.states))
	}
	i := m.taken
	r.q.Walk(func(s Stretch[int]) bool {
		cells := m.values[i : i+s.Cells]
		turn := max(0, slices.IndexFunc(cells, func(v int) bool { return v != cells[0] }))
		if int(s.Seq) != i || s.First != cells[0] || s.Last != cells[len(cells)-1] || s.Turn != cells[turn] {
			t.Fatalf("Walk at cell %d: %+v of %v", i, s, cells)
		}
		for _, state := range m.states[i : i+s.Cells] {
			if state != s.State {
				t.Fatalf("Walk: %+v holds a cell in state %d", s, state)
			}
		}
		i += s.Cells
		return true
	})
	if i != len(m.states) {
		t.Fatalf("Walk ended at cell %d of %d", i, len(m.states))
	}
}

// Random operations on a queue that folds, against a slice. Histories with a
// stuck head fold, those without pass everything.
func TestFoldedQueueAgainstAModel(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	folded := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 9))
		r := &viewRig{rig: newRig(), t: t, least: []int{0, 1, 64, 200}[rng.IntN(4)]}
		stuck, failures, equal := rng.IntN(3), rng.IntN(4), 1+rng.IntN(200)
		for step := range 3000 {
			switch op := rng.IntN(20); {
			case op < 3:
				for range rng.IntN(150) {
					r.reserve(len(r.m.values) / equal)
				}
			case op < 12 && len(r.open) > 0:
				for range rng.IntN(60) {
					// A stuck history leaves the oldest ones open.
					if least := stuck * 3; len(r.open) > least {
						r.publish(least+rng.IntN(len(r.open)-least), rng.IntN(2000) < failures)
					}
				}
			case op == 12 && len(r.open) > 0 && rng.IntN(20) == 0:
				r.publish(0, false)
			case op < 15:
				r.collect()
			case op == 15 && rng.IntN(10) == 0:
				r.pardon()
			case op < 18:
				r.advance()
			case op == 18:
				r.compare()
				for len(r.open) > 0 && rng.IntN(4) != 0 {
					r.publish(0, false)
				}
				r.collect()
				r.fold()
				r.compare()
			case step%10 == 0:
				r.compare()
			}
			if f := r.q.folds; f != nil && f.cells > 0 {
				folded++
			}
		}
		r.collect()
		r.compare()
		for len(r.open) > 0 {
			r.publish(len(r.open)-1, false)
		}
		for r.collect(); r.q.Outstanding() > 0; r.pardon() {
			r.advance()
			r.compare()
		}
		if f := r.q.folds; f != nil && (len(f.runs) > 0 || f.cells > 0) {
			t.Fatalf("%d runs are left of an empty queue", len(f.runs))
		}
	}
	if folded < 1000 {
		t.Fatalf("only %d steps met a folded queue", folded)
	}
}

// What waits behind the head is walked again only when as much was published
// since as a walk costs, also if nothing can be folded.
func TestFoldingCostsNoMoreThanWhatWasPublished(t *testing.T) {
	r := &viewRig{rig: newRig(), t: t, least: 64}
	for i := range 64 * 2000 {
		r.reserve(i)
	}
	r.collect()
	walks := 0
	for k := len(r.open) - 1; k > 0; k-- {
		if r.open[k].Seq()%64 == 5 {
			continue // one cell of each segment stays open
		}
		r.open[k].Release()
		if k%64 != 7 {
			continue
		}
		r.rig.collect()
		r.q.Advance()
		before := r.q.folds
		again := uint64(0)
		if before != nil {
			again = before.again
		}
		r.q.Fold(r.least, func(a, b int) bool { return a == b })
		if f := r.q.folds; f != nil && f.again != again {
			walks++
		}
	}
	if walks == 0 || walks > 10 {
		t.Errorf("%d walks over 2000 segments that cannot be folded", walks)
	}
}

func TestFoldedSegmentsAreUsedAgain(t *testing.T) {
	r := &viewRig{rig: newRig(), t: t, least: 64}
	r.reserve(0) // stays open
	for i := range 1000 {
		for range 64 {
			r.rig.reserve(t, i).Release()
		}
		r.rig.collect()
		r.q.Advance()
		r.q.Fold(r.least, func(a, b int) bool { return a == b })
	}
	segments := map[*Segment[int, rig]]bool{}
	for s := r.q.head; s != nil; s = s.next.Load() {
		segments[s] = true
	}
	if len(segments) > 20 || r.q.spare.Load() > 20 {
		t.Errorf("%d segments in the chain and %d spare behind a stuck head", len(segments), r.q.spare.Load())
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Take of a folded queue does not panic")
			}
		}()
		r.q.Take(func(int) {})
	}()
	r.publish(0, false)
	r.rig.collect()
	if last, n, failed := r.q.Advance(); last != 999 || n != 64001 || failed {
		t.Errorf("Advance = %d, %d, %v", last, n, failed)
	}
}
