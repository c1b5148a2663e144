package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// folds is what a queue keeps of the cells that Fold took out of its chain.
// Consumer only.
type folds[T any] struct {
	runs  []Stretch[T] // in order; each lies before a segment of the chain
	cells uint64       // in all runs
	again uint64       // the number of waiting cells from which folding is worth a walk
}

// Fold gives back the segments in which every cell is published in good order
// but that wait behind one that is not: of each run of them only the number of
// cells and three values are kept, so that what waits behind a stuck head
// costs next to nothing. The segments are used again at once. It does nothing
// while fewer than least cells wait so; above that its cost, over many calls,
// grows with the cells published. same reports whether two values are equal.
//
// Take cannot look at values that are gone: a queue is for Fold and Advance
// or for Take. Consumer only; best after Advance, which passes what need not be
// folded.
func (q *InOrder[T, O]) Fold(least int, same func(a, b T) bool) {
	waiting := q.published() - q.taken.Load()
	if waiting <= uint64(least) || q.head == q.last || q.mode != takeInOrder {
		if q.folds != nil && q.folds.cells == 0 {
			q.folds = nil
		}
		return
	}
	if q.folds == nil {
		q.folds = new(folds[T])
	}
	f := q.folds
	// A walk is paid for by as many cells published since the one before.
	again := waiting - f.cells + uint64(least) + q.chained()/2
	if waiting-f.cells < f.again {
		f.again = min(f.again, again)
		return
	}
	q.fold(f, same)
	f.again = waiting - f.cells + uint64(least) + q.chained()/2
}

// chained returns the number of cells in the chain, from the head on.
func (q *InOrder[T, O]) chained() uint64 { return q.Seen() - q.head.base - q.folds.cells }

// fold walks the chain and moves what can be folded into runs.
func (q *InOrder[T, O]) fold(f *folds[T], same func(a, b T) bool) {
	old := f.runs
	f.runs, f.cells = nil, 0
	q.front = nil // without an Advance just before it may be taken out
	for prev := q.head; prev != q.last; {
		run := Stretch[T]{State: CellGood}
		s := prev.next.Load()
		for {
			if len(old) > 0 && old[0].Seq < s.base {
				run.append(old[0], same)
				old = old[1:]
			}
			if s == q.last || !s.complete() || s.failed != 0 {
				break
			}
			run.append(s.summary(same), same)
			next := s.next.Load()
			prev.next.Store(next) // prev has a successor: its link is the consumer's
			q.drop(s)
			s = next
		}
		if run.Cells > 0 {
			f.runs = append(f.runs, run)
			f.cells += uint64(run.Cells)
		}
		prev = s
	}
}

// summary returns a complete segment as one stretch.
func (s *Segment[T, O]) summary(same func(a, b T) bool) Stretch[T] {
	sum := s.stretch(0)
	sum.Cells = len(s.cells)
	last := len(s.cells) - 1
	for i := 1; i <= last && same(sum.Turn, sum.First); i++ {
		atomics.Read(&s.cells[i].value)
		sum.Turn = s.cells[i].value
	}
	atomics.Read(&s.cells[last].value)
	sum.Last = s.cells[last].value
	return sum
}

// append makes r the stretch of its cells and those of t, which follow them.
func (r *Stretch[T]) append(t Stretch[T], same func(a, b T) bool) {
	if r.Cells == 0 {
		*r = t
		return
	}
	if same(r.Turn, r.First) {
		if r.Turn = t.First; same(r.Turn, r.First) {
			r.Turn = t.Turn
		}
	}
	r.Cells += t.Cells
	r.Last = t.Last
}

// passRun passes the run that lies before the new head, if there is one.
func (q *InOrder[T, O]) passRun(last T, n int) (T, int) {
	f := q.folds
	if len(f.runs) == 0 || f.runs[0].Seq > q.head.base {
		return last, n
	}
	run := f.runs[0]
	f.runs = f.runs[1:]
	f.cells -= uint64(run.Cells)
	return run.Last, n + run.Cells
}
