package mpsc

import (
	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/pad"
)

// The tail word of a lane is count(63) | sealed(1): the number of elements
// pushed so far, modulo 2^63, and whether the lane accepts no more.
const (
	laneSealed = 1
	laneStep   = 2
)

// Producer is a lane of a Queue: pushes through it touch only memory that its
// producer owns, which makes them the cheapest. Queue.Producer opens one. A
// Producer belongs to one goroutine at a time, which closes it when it is done
// with it; Close alone may come from anywhere.
//
// The methods are wait-free, but that the allocation of a segment may wait for
// the garbage collector. A push allocates nothing while the backlog fits the
// segments the queue keeps.
type Producer[T any] struct {
	// tail publishes the elements: see laneSealed. The producer CASes count
	// to a larger one; Close, of the lane or of the queue, sets sealed, which
	// makes every later CAS fail. The consumer and Len load it.
	tail atomics.Uint64

	// The producer's own.
	word  uint64 // tail, as the producer left it
	pos   int    // next cell of seg
	cells []T    // of seg; none once a push was refused
	seg   *laneSegment[T]
	q     *Queue[T]

	_ pad.Line

	cons laneHead[T] // the consumer's own
}

// Producer opens a lane. Elements of one lane are popped in the order they
// were pushed to it; there is no order between lanes, nor between a lane and
// Queue.Push. On a closed queue the Producer refuses every push.
//
// Any goroutine may call it. It is lock-free, and its cost and the memory it
// allocates grow with the number of open lanes.
func (q *Queue[T]) Producer() *Producer[T] {
	q.mustBeMade("Producer")
	return q.open()
}

// Push appends v and reports whether it was accepted: false only after Close
// of the lane or of the queue.
func (p *Producer[T]) Push(v T) bool {
	if p == nil || p.pos >= len(p.cells) {
		if !p.extend() {
			return false
		}
	}
	cell := &p.cells[p.pos]
	atomics.Write(cell)
	*cell = v
	if !p.tail.CompareAndSwap(p.word, p.word+laneStep) {
		clear(p.cells[p.pos : p.pos+1])
		p.refuse()
		return false
	}
	p.pos++
	p.word += laneStep
	p.q.wake()
	return true
}

// PushBatch appends all of vs, in order, or none of them, and returns the
// number: len(vs), or 0 after Close of the lane or of the queue. The consumer
// sees the whole batch at once. vs is not kept.
func (p *Producer[T]) PushBatch(vs []T) int {
	if p == nil || p.q == nil {
		panicZeroProducer("PushBatch")
	}
	if len(vs) == 0 {
		return 0
	}
	seg, pos := p.seg, p.pos
	for rest := vs; len(rest) > 0; {
		if p.pos >= len(p.cells) && !p.extend() {
			p.unwrite(seg, pos)
			return 0
		}
		cells := p.cells[p.pos:]
		cells = cells[:min(len(cells), len(rest))]
		for i := range cells {
			atomics.Write(&cells[i])
		}
		p.pos += copy(cells, rest)
		rest = rest[len(cells):]
	}
	next := p.word + uint64(len(vs))*laneStep
	if !p.tail.CompareAndSwap(p.word, next) {
		p.unwrite(seg, pos)
		p.refuse()
		return 0
	}
	p.word = next
	p.q.wake()
	return len(vs)
}

// Close ends the lane: later pushes return false, what was pushed stays
// poppable. It may be called more than once.
func (p *Producer[T]) Close() {
	if p == nil || p.q == nil {
		panicZeroProducer("Close")
	}
	p.tail.Or(laneSealed)
	p.q.wake() // the consumer takes empty lanes off its list before it sleeps on
}

// extend gets the next segment. It returns false if the lane is sealed.
func (p *Producer[T]) extend() bool {
	if p == nil || p.q == nil {
		panicZeroProducer("Push")
	}
	if p.tail.Load()&laneSealed != 0 {
		p.refuse()
		return false
	}
	s := p.q.pool.takeLane()
	if s == nil {
		s = &laneSegment[T]{cells: make([]T, p.q.segmentSize)}
	}
	p.seg.next.Store(s) // the segment before is the consumer's from here on
	p.seg, p.cells, p.pos = s, s.cells, 0
	return true
}

// unwrite zeroes the cells from pos of seg on, up to the producer's position.
// They are not covered by the tail and never will be.
func (p *Producer[T]) unwrite(seg *laneSegment[T], pos int) {
	for ; seg != nil && seg != p.seg; seg = seg.next.Load() {
		clear(seg.cells[pos:])
		pos = 0
	}
	if seg != nil {
		clear(seg.cells[pos:p.pos])
	}
}

// refuse gives up the memory of a sealed lane.
func (p *Producer[T]) refuse() {
	if p.tail.Load()&laneSealed == 0 {
		panic("mpsc: Producer used by two goroutines at once; each needs one of its own")
	}
	p.seg, p.cells, p.pos = nil, nil, 0
}

func panicZeroProducer(method string) {
	panic("mpsc: Producer." + method + " on a nil or zero Producer; get one from the Producer method of a queue made with New")
}
