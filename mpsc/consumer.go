package mpsc

import (
	"math"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// lazyCalls is how many calls in a row may end at an unpublished cell without
// asking whether more is published behind it. Asking means loading the claim
// word, which takes its cache line away from the producers.
const lazyCalls = 15

// lazyBudget is how many elements one call takes in that way. Past it the
// claim word is loaded once, which also bounds the call.
const lazyBudget = 64

// turnLength is how many elements TryPop takes from one source before it
// looks at the next.
const turnLength = 64

// queueConsumer is the consumer's own state. It is plain: whoever holds the
// queue's window owns it, and the window hands it on.
type queueConsumer[T any] struct {
	// The shared chain is consumed up to cell pos of head, but for the gaps:
	// cells that were claimed and not published when the consumer came by.
	head *queueSegment[T]
	pos  int
	gaps []queueGap[T]

	lazy  int // calls in a row that ended at an unpublished cell
	limbo []*queueSegment[T]

	popped uint64 // elements taken, modulo 2^63
	turn   int    // source that TryPop and DrainTo try first: 0 shared, i lane i-1
	taken  int    // elements TryPop took in this turn
}

type queueGap[T any] struct {
	seg *queueSegment[T]
	i   int
}

// queueSink is where a consumer call puts what it takes: a callback or a
// slice, up to max elements.
type queueSink[T any] struct {
	f   func(T)
	dst []T
	n   int // taken so far
	max int

	// The run of a lane that is being handed over began at n == from.
	lane *Producer[T]
	from int

	// What of the shared chain was published before the first callback: the
	// next run elements, or without a limit what lies before cell end of tail.
	run  int
	tail *queueSegment[T]
	end  int
}

// give hands v over. It is counted before, so a callback that panics has
// consumed its element.
func (k *queueSink[T]) give(v T) {
	k.n++
	if k.f != nil {
		k.f(v)
		return
	}
	k.dst[k.n-1] = v
}

// enter opens the consumer's window.
func (q *Queue[T]) enter(method string) *queueConsumer[T] {
	q.mustBeMade(method)
	w := q.window.Load()
	if w&1 != 0 || !q.window.CompareAndSwap(w, w|1) {
		panic("mpsc: Queue." + method + " inside another consumer call: TryPop, Drain, DrainTo and Wait " +
			"are for one goroutine at a time and not for the callback of Drain")
	}
	atomics.Write(&q.cons)
	return &q.cons
}

// leave closes the window after n more elements were taken.
func (q *Queue[T]) leave(n int) {
	q.cons.popped += uint64(n)
	q.window.Store(q.cons.popped << 1) // cons is the next window's from here on
}

// TryPop removes and returns one element. ok is false if no element was
// published before the call, whatever pushes are unfinished. It is for the
// consumer and never blocks; its cost grows with the number of open lanes and
// of unfinished pushes.
func (q *Queue[T]) TryPop() (v T, ok bool) {
	c := q.enter("TryPop")
	n := 0
	if list := q.lanes.Load(); len(list.lanes) == 0 {
		v, ok = q.popShared()
	} else {
		v, ok = q.popAny(list)
	}
	if ok {
		n = 1
	}
	if len(c.limbo) > 0 {
		q.flushLimbo()
	}
	q.leave(n)
	return v, ok
}

// popAny is popShared for a queue with lanes: it takes turns.
func (q *Queue[T]) popAny(list *laneList[T]) (v T, ok bool) {
	c := &q.cons
	if c.taken >= turnLength {
		c.turn, c.taken = c.turn+1, 0
	}
	dead := false
	for range len(list.lanes) + 1 {
		if c.turn > len(list.lanes) {
			c.turn = 0
		}
		if c.turn == 0 {
			v, ok = q.popShared()
		} else {
			p := list.lanes[c.turn-1]
			v, ok = q.popLane(p)
			dead = dead || p.cons.dead
		}
		if ok {
			c.taken++
			break
		}
		c.turn, c.taken = c.turn+1, 0
	}
	if dead {
		q.prune()
	}
	return v, ok
}

// Drain calls f with elements until it has taken everything that was published
// before the call, and returns their number. Elements behind an unfinished
// push may be left, but at the latest the sixteenth of consecutive Drain and
// DrainTo calls passes it and takes them; the unfinished one is
// taken when it is published. Drain ends even if producers, or f, keep
// pushing. f may push, also to lanes, and may call Len and Close; what it
// pushes is for a later call.
//
// If f panics or exits the goroutine, it has consumed its element and the rest
// stays. Drain is for the consumer and does not block; it takes as long as its
// callbacks, the open lanes and the unfinished pushes make it.
func (q *Queue[T]) Drain(f func(T)) int {
	q.mustBeMade("Drain")
	if f == nil {
		panic("mpsc: Queue.Drain needs a function, got nil")
	}
	q.enter("Drain")
	k := queueSink[T]{f: f, max: math.MaxInt}
	defer func() {
		k.commit()
		q.leave(k.n)
	}()
	q.sweep(&k)
	return k.n
}

// DrainTo is Drain into dst: it moves up to len(dst) elements and returns
// their number. A queue with lanes gives each lane and the shared pushes their
// turn over successive calls.
func (q *Queue[T]) DrainTo(dst []T) int {
	q.enter("DrainTo")
	k := queueSink[T]{dst: dst, max: len(dst)}
	q.sweep(&k)
	q.leave(k.n)
	return k.n
}

// sweep takes what every source has, beginning with the one whose turn it is.
func (q *Queue[T]) sweep(k *queueSink[T]) {
	c := &q.cons
	list := q.lanes.Load()
	dead := false
	if k.f != nil {
		q.plan(list, k)
	}
	for range len(list.lanes) + 1 {
		if k.n == k.max {
			break
		}
		turn := c.turn
		if turn > len(list.lanes) {
			turn = 0
		}
		c.turn = turn + 1
		if turn == 0 {
			q.sweepShared(k)
			continue
		}
		p := list.lanes[turn-1]
		q.sweepLane(p, k)
		dead = dead || p.cons.dead
	}
	if dead {
		q.prune()
	}
	if len(c.limbo) > 0 {
		q.flushLimbo()
	}
}
