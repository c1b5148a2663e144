package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// laneList is the list of a queue's open lanes. It never changes; a change
// makes a new one. So what Len finds in it belongs together.
type laneList[T any] struct {
	lanes []*Producer[T]
	// retired counts the elements of the lanes that are gone, modulo 2^38.
	retired uint64
	closed  bool // no lane comes any more
}

// laneSegment is a run of cells of a lane. It may be used again once the
// consumer has moved on to the next one, which the producer linked when it had
// moved on itself: then nobody else knows it.
type laneSegment[T any] struct {
	// next is stored by the producer once, loaded by the consumer, which
	// stores nil when it has moved on.
	next atomics.Pointer[laneSegment[T]]
	// cells are plain. The producer writes one before the CAS of the lane's
	// tail that covers it; the consumer reads and zeroes it after loading
	// that tail.
	cells []T
}

// laneHead is the consumer's own state of a lane.
type laneHead[T any] struct {
	head  *laneSegment[T]
	pos   int    // next cell of head
	taken uint64 // like the lane's tail, but of what was taken
	seen  uint64 // the tail as last loaded by a call that takes; before its callbacks
	dead  bool   // sealed and empty: to be taken off the list
}

// open returns a lane that is part of the list, or a sealed one that is not if
// the list is closed.
func (q *Queue[T]) open() *Producer[T] {
	first := &laneSegment[T]{cells: make([]T, min(laneFirstSize, q.segmentSize))}
	word := q.start * laneStep
	p := &Producer[T]{q: q, seg: first, cells: first.cells, word: word}
	p.cons = laneHead[T]{head: first, taken: word, seen: word}
	p.tail.Store(word)
	for {
		old := q.lanes.Load()
		if old.closed {
			p.tail.Store(word | laneSealed)
			p.seg, p.cells = nil, nil
			return p
		}
		list := &laneList[T]{retired: old.retired - q.start}
		list.lanes = append(append(make([]*Producer[T], 0, len(old.lanes)+1), old.lanes...), p)
		if q.lanes.CompareAndSwap(old, list) {
			return p
		}
	}
}

// closeLanes closes the list and seals every lane on it.
func (q *Queue[T]) closeLanes() {
	for {
		old := q.lanes.Load()
		if old.closed || q.lanes.CompareAndSwap(old, &laneList[T]{lanes: old.lanes, retired: old.retired, closed: true}) {
			break
		}
	}
	for _, p := range q.lanes.Load().lanes {
		p.tail.Or(laneSealed)
	}
}

// prune takes the dead lanes off the list. Only the consumer does.
func (q *Queue[T]) prune() {
	for {
		old := q.lanes.Load()
		list := &laneList[T]{retired: old.retired, closed: old.closed}
		for _, p := range old.lanes {
			if p.cons.dead {
				// An owner that keeps the Producer keeps no segment that a
				// refused push has let go of.
				p.cons.head = nil
				list.retired += p.cons.taken / laneStep
			} else {
				list.lanes = append(list.lanes, p)
			}
		}
		if q.lanes.CompareAndSwap(old, list) {
			return
		}
	}
}

// sweepLane takes what lane p had when the sweep came to it, or before the
// first callback.
func (q *Queue[T]) sweepLane(p *Producer[T], k *queueSink[T]) {
	if k.f == nil {
		p.cons.seen = p.tail.Load()
	}
	end := p.cons.seen
	for n := (end&^laneSealed - p.cons.taken) / laneStep; n > 0 && k.n < k.max; {
		if p.cons.pos == len(p.cons.head.cells) {
			q.passLane(p)
		}
		run := int(min(n, uint64(min(len(p.cons.head.cells)-p.cons.pos, k.max-k.n))))
		cells := p.cons.head.cells[p.cons.pos : p.cons.pos+run]
		n -= uint64(run)
		k.lane, k.from = p, k.n
		if k.f == nil {
			q.copyRun(cells, k)
		} else {
			q.callRun(cells, k)
		}
		k.commit()
	}
	p.cons.dead = end == p.cons.taken|laneSealed
}

// copyRun moves a run of published cells into the sink's slice.
func (q *Queue[T]) copyRun(cells []T, k *queueSink[T]) {
	for i := range cells {
		atomics.Read(&cells[i])
	}
	copy(k.dst[k.n:], cells)
	if q.zeroing {
		for i := range cells {
			atomics.Write(&cells[i])
		}
		clear(cells)
	}
	k.n += len(cells)
}

// callRun hands a run of published cells to the sink's callback.
func (q *Queue[T]) callRun(cells []T, k *queueSink[T]) {
	f, zeroing := k.f, q.zeroing
	for i := range cells {
		atomics.Read(&cells[i])
		v := cells[i]
		if zeroing {
			var zero T
			atomics.Write(&cells[i])
			cells[i] = zero
		}
		k.n++ // before the call: see give
		f(v)
	}
}

// commit moves the position of the lane a run is from behind what was taken.
// A callback that does not return leaves it to the end of the call.
func (k *queueSink[T]) commit() {
	if k.lane == nil {
		return
	}
	n := k.n - k.from
	k.lane.cons.pos += n
	k.lane.cons.taken += uint64(n) * laneStep
	k.lane = nil
}

// popLane takes one element of lane p. It looks at the lane's tail only when
// it has taken all it knew of.
func (q *Queue[T]) popLane(p *Producer[T]) (v T, ok bool) {
	if p.cons.taken == p.cons.seen&^laneSealed {
		p.cons.seen = p.tail.Load()
		if p.cons.taken == p.cons.seen&^laneSealed {
			p.cons.dead = p.cons.seen&laneSealed != 0
			return v, false
		}
	}
	if p.cons.pos == len(p.cons.head.cells) {
		q.passLane(p)
	}
	cell := &p.cons.head.cells[p.cons.pos]
	atomics.Read(cell)
	v = *cell
	if q.zeroing {
		var zero T
		atomics.Write(cell)
		*cell = zero
	}
	p.cons.pos++
	p.cons.taken += laneStep
	return v, true
}

// passLane moves the head of lane p to the next segment. There is one: the
// lane's tail covers cells of it.
func (q *Queue[T]) passLane(p *Producer[T]) {
	s := p.cons.head
	p.cons.head, p.cons.pos = s.next.Load(), 0
	s.next.Store(nil)
	if len(s.cells) == q.segmentSize {
		q.pool.putLane(s)
	}
}
