package mpsc

import (
	"math"
	"reflect"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/pad"
	"github.com/tidemark-go/tidemark/internal/pointers"
)

// Queue is an unbounded queue of many producers and one consumer. Make one
// with New; the zero Queue panics. A Queue must not be copied.
//
// Push, Producer, Len and Close are for any goroutine. TryPop, Drain, DrainTo
// and Wait belong to the consumer: one goroutine at a time, and not from
// within the callback of Drain. A call inside another's window panics.
type Queue[T any] struct {
	// tail is the last segment of the shared chain, or the one before it while
	// a segment is being appended. CASed forward by whoever finds it behind:
	// producers, Close, the consumer. Loaded by everybody.
	tail atomics.Pointer[queueSegment[T]]
	// lanes is the list of open lanes. CASed by Producer, Close and the
	// consumer; loaded by the consumer and Len. The list itself never changes.
	lanes atomics.Pointer[laneList[T]]
	// closed refuses pushes early. Set by Close, before the ends are sealed;
	// loaded by producers. It alone decides nothing: see seal.
	closed atomics.Bool
	// waiting is set by the consumer before it looks a last time and parks, and
	// cleared by itself or by the goroutine that wakes it: the one whose swap
	// to false finds true. Producers load it after publishing.
	waiting atomics.Bool
	parker  atomics.Parker

	// Fixed by New.
	segmentSize int
	firstGen    uint32 // stamp of fresh segments
	start       uint64 // index of the first element
	zeroing     bool   // T holds pointers, so popped cells are zeroed

	_ pad.Line

	// sections counts the goroutines that use segments they found through the
	// tail for more than a claim: those that append and those that seal. The
	// consumer reuses a segment only if it sees 0 after the tail has left the
	// segment behind: whoever counts later finds a later tail. Added to (±1)
	// by those goroutines, loaded by the consumer.
	sections atomics.Int32
	pool     queuePool[T]

	_ pad.Line

	// window is popped<<1 | busy. The consumer sets busy when a call begins
	// (CAS) and stores the new count without it when the call ends; Len loads
	// it. Nothing of cons is touched outside a window.
	window atomics.Uint64
	cons   queueConsumer[T]
}

// New returns an empty queue.
func New[T any](opts ...Option) *Queue[T] {
	element := reflect.TypeFor[T]()
	c := queueConfig{segmentSize: defaultSegmentSize(element), maxFree: defaultMaxFree, poolTries: defaultPoolTries, firstGen: 1}
	for _, o := range opts {
		o(&c)
	}
	q := &Queue[T]{
		segmentSize: c.segmentSize,
		firstGen:    c.firstGen,
		start:       c.start,
		zeroing:     pointers.In(element),
		parker:      atomics.NewParker(),
		pool:        queuePool[T]{limit: c.maxFree, tries: c.poolTries},
	}
	first := newQueueSegment[T](min(firstSegmentSize, c.segmentSize), c.firstGen)
	first.base = q.start & indexMask
	first.claim.Store(q.start << claimBaseShift)
	q.cons.head = first
	q.cons.popped = q.start
	q.window.Store(q.start << 1)
	q.lanes.Store(&laneList[T]{})
	q.tail.Store(first)
	return q
}

// Push appends v and reports whether the queue accepted it: false only after
// Close. Elements of one goroutine are popped in the order it pushed them.
//
// Push is lock-free and never waits for another goroutine: it retries only
// because a segment got full, and then other pushes have succeeded. A
// goroutine that stalls inside Push delays its own element alone.
func (q *Queue[T]) Push(v T) bool {
	s, i := q.claim()
	if s == nil {
		return false
	}
	q.publish(s, i, v)
	return true
}

// Len returns the number of elements that were accepted and not yet popped.
// It is exact while no other call is in progress. Beside others it counts
// every element that was accepted before it began and not popped before it
// ended, and none that was popped before it began; those that come or go
// meanwhile may count. A push counts from its claim on, and elements that a
// running consumer call has taken count until that call returns. Len is
// wait-free; its cost grows with the number of open lanes.
func (q *Queue[T]) Len() int {
	q.mustBeMade("Len")
	// The count of popped elements first: what was popped was counted as
	// pushed before, so the difference cannot be negative.
	popped := q.window.Load() >> 1
	list := q.lanes.Load()
	total := q.tail.Load().end() + list.retired
	for _, p := range list.lanes {
		total += p.tail.Load() / laneStep
	}
	n := (total - popped) & indexMask
	if n > indexMask/2 {
		return 0
	}
	return int(min(n, math.MaxInt))
}

func (q *Queue[T]) mustBeMade(method string) {
	if q == nil || q.tail.Load() == nil {
		panicZeroQueue(method)
	}
}

func panicZeroQueue(method string) {
	panic("mpsc: Queue." + method + " on a nil or zero Queue; make one with New")
}
