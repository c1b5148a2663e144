package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// The consumer takes the shared chain in one of two ways.
//
// In order: it takes cells as long as each next one is published and stops at
// the first that is not. This keeps every order there is, and loads nothing
// that producers write but the cells.
//
// Strictly: it loads the end of the chain (findEnd) and then goes through all
// claimed cells before it, noting the unpublished ones as gaps. This keeps the
// order of each goroutine. Suppose a goroutine's cell a was passed as a gap and
// its later cell b was taken: b was claimed before the end was loaded, so a
// was published before that too, and was found published. For the same reason
// gaps are tried before anything behind them, after the end was loaded.

// popShared takes one element of the shared chain. ok is false if none was
// published before the call.
func (q *Queue[T]) popShared() (v T, ok bool) {
	c := &q.cons
	if len(c.gaps) == 0 {
		if cell := q.nextPublished(); cell != nil {
			c.pos++
			return q.take(cell), true
		}
	}
	var one [1]T
	k := queueSink[T]{dst: one[:], max: 1}
	q.findEnd(&k)
	q.sweepStrictly(&k)
	return one[0], k.n == 1
}

// nextPublished returns the cell at the consumer's position, or nil if there
// is none or it is not published.
func (q *Queue[T]) nextPublished() *queueCell[T] {
	c := &q.cons
	if c.pos == len(c.head.cells) && !q.passHead() {
		return nil
	}
	if cell := &c.head.cells[c.pos]; cell.stamp.Load() == c.head.gen {
		return cell
	}
	return nil
}

// take moves the value out of a published cell.
func (q *Queue[T]) take(cell *queueCell[T]) T {
	atomics.Read(&cell.v)
	v := cell.v
	if q.zeroing {
		var zero T
		atomics.Write(&cell.v)
		cell.v = zero
	}
	return v
}

// plan notes what every source has before the first callback, which may push.
// The shared chain is to be swept strictly if the allowance of calls that do
// not is used up, or if a gap is open.
func (q *Queue[T]) plan(list *laneList[T], k *queueSink[T]) {
	c := &q.cons
	for _, p := range list.lanes {
		p.cons.seen = p.tail.Load()
	}
	if len(c.gaps) == 0 && c.lazy < lazyCalls {
		if k.run = q.published(lazyBudget); k.run < lazyBudget {
			return
		}
	}
	q.findEnd(k)
}

// published returns how many of the next cells, up to budget, are published up
// to the first that is not. It takes nothing.
func (q *Queue[T]) published(budget int) (n int) {
	for s, i := q.cons.head, q.cons.pos; n < budget; i++ {
		if i == len(s.cells) {
			if s, i = s.next.Load(), 0; s == nil || len(s.cells) == 0 {
				break
			}
		}
		if s.cells[i].stamp.Load() != s.gen {
			break
		}
		n++
	}
	return n
}

// findEnd notes the end of the shared chain.
func (q *Queue[T]) findEnd(k *queueSink[T]) {
	k.tail = q.tail.Load()
	k.end = k.tail.claimed(k.tail.claim.Load())
}

// sweepShared takes what the shared chain has: for callbacks as it was planned,
// into a slice as sweepStrictly or sweepInOrder finds it now.
func (q *Queue[T]) sweepShared(k *queueSink[T]) {
	c := &q.cons
	switch {
	case k.tail != nil:
		q.sweepStrictly(k)
		return
	case k.f != nil:
		c.lazy++
		q.takeRun(k)
		return
	}
	if len(c.gaps) > 0 {
		q.retryGaps(k)
	}
	if len(c.gaps) == 0 && c.lazy < lazyCalls && q.sweepInOrder(k, lazyBudget) {
		c.lazy++
		return
	}
	if k.n < k.max {
		q.findEnd(k)
		q.sweepStrictly(k)
	}
}

// takeRun takes the next run cells, which are published.
func (q *Queue[T]) takeRun(k *queueSink[T]) {
	c := &q.cons
	for n := k.run; n > 0; {
		if c.pos == len(c.head.cells) {
			q.passHead()
		}
		cells := c.head.cells[c.pos:]
		cells = cells[:min(len(cells), n)]
		n -= len(cells)
		for i := range cells {
			c.pos++
			k.give(q.take(&cells[i]))
		}
	}
}

// sweepInOrder takes up to budget elements and reports whether it stopped at
// an unpublished cell or at the end of the chain.
func (q *Queue[T]) sweepInOrder(k *queueSink[T], budget int) bool {
	c := &q.cons
	for budget = min(budget, k.max-k.n); budget > 0; {
		s := c.head
		if c.pos == len(s.cells) {
			if !q.passHead() {
				return true
			}
			continue
		}
		cells := s.cells[c.pos:]
		cells = cells[:min(len(cells), budget)]
		budget -= len(cells)
		for i := range cells {
			cell := &cells[i]
			if cell.stamp.Load() != s.gen {
				return true
			}
			c.pos++
			k.give(q.take(cell))
		}
	}
	return false
}

// sweepStrictly takes every element before the end that was found, up to the
// sink's size.
func (q *Queue[T]) sweepStrictly(k *queueSink[T]) {
	c := &q.cons
	q.retryGaps(k)
	for k.n < k.max {
		s, limit := c.head, k.end
		if s != k.tail {
			limit = len(s.cells)
		}
		if c.pos >= limit {
			if s == k.tail || !q.passHead() {
				break
			}
			continue
		}
		cell := &s.cells[c.pos]
		c.pos++
		if cell.stamp.Load() != s.gen {
			c.gaps = append(c.gaps, queueGap[T]{s, c.pos - 1})
			s.gaps++
			continue
		}
		k.give(q.take(cell))
	}
	if k.n < k.max {
		c.lazy = 0
	}
	// Nothing published lies behind the last gaps, so they need not be gaps:
	// without this, one strict call among busy producers would make all that
	// follow strict.
	for n := len(c.gaps); n > 0 && c.gaps[n-1] == (queueGap[T]{c.head, c.pos - 1}); n-- {
		c.dropGap(n - 1)
		c.pos--
	}
}

// retryGaps takes the gaps that were published in the meantime. Their order
// among each other is free: a goroutine has at most one.
func (q *Queue[T]) retryGaps(k *queueSink[T]) {
	c := &q.cons
	for i := 0; i < len(c.gaps) && k.n < k.max; {
		g := c.gaps[i]
		cell := &g.seg.cells[g.i]
		if cell.stamp.Load() != g.seg.gen {
			i++
			continue
		}
		c.dropGap(i)
		v := q.take(cell)
		if g.seg.gaps == 0 && g.seg.passed {
			q.retire(g.seg)
		}
		k.give(v)
	}
}

// dropGap forgets gap i; the last one takes its place.
func (c *queueConsumer[T]) dropGap(i int) {
	c.gaps[i].seg.gaps--
	last := len(c.gaps) - 1
	c.gaps[i] = c.gaps[last]
	c.gaps[last] = queueGap[T]{}
	c.gaps = c.gaps[:last]
}

// passHead moves the head to the segment behind it and reports whether there
// is one. The tail never stays behind the head.
func (q *Queue[T]) passHead() bool {
	c := &q.cons
	s := c.head
	next := s.next.Load()
	if next == nil {
		return false
	}
	q.tail.CompareAndSwap(s, next)
	c.head, c.pos = next, 0
	s.passed = true
	if s.gaps == 0 {
		q.retire(s)
	}
	return len(next.cells) > 0
}

// retire takes a segment out of the chain: all its cells are consumed, and
// head and tail are behind it.
func (q *Queue[T]) retire(s *queueSegment[T]) {
	s.passed = false
	// A producer may be looking at s for as long as it likes. The link to
	// itself tells it so, and keeps the rest of the chain from being pinned.
	s.next.Store(s)
	c := &q.cons
	if len(s.cells) == q.segmentSize && len(c.limbo) < q.pool.limit {
		c.limbo = append(c.limbo, s)
		q.flushLimbo()
	}
}

// flushLimbo makes the retired segments ready for reuse if no goroutine can be
// within a section that began before they were retired.
func (q *Queue[T]) flushLimbo() {
	if q.sections.Load() != 0 {
		return
	}
	c := &q.cons
	for i, s := range c.limbo {
		c.limbo[i] = nil
		atomics.Write(&s.gen)
		s.gen++
		s.next.Store(nil)
		q.pool.putShared(s)
	}
	c.limbo = c.limbo[:0]
}
