package queuetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

var errReferenceClosed = errors.New("reference: closed")

// fault is something the reference queue does wrong on purpose.
type fault string

const (
	none           fault = ""
	losesLast      fault = "a push beside a full page is lost"
	swapsTwo       fault = "two neighbours change places"
	doubles        fault = "an element comes twice"
	acceptsLate    fault = "a push after Close is accepted"
	refusesAndAdds fault = "a refused push is delivered"
	halfBatch      fault = "a batch may be accepted in part"
	stopsAtGap     fault = "what is behind an unfinished push waits for it"
	endsEarly      fault = "Wait ends before an unfinished push"
	losesWake      fault = "a push does not wake the consumer"
	contextFirst   fault = "Wait asks the context before the queue"
	lenAhead       fault = "Len counts one too many"
	failedStays    fault = "a callback that fails leaves its element"
	failedTakesAll fault = "a callback that fails takes the rest with it"
	endless        fault = "Drain goes on while its callback pushes"
	noGuard        fault = "a second consumer is not noticed"
	overfills      fault = "DrainTo writes behind what it returns"
	keepsPopped    fault = "popped elements stay reachable"
)

// reference is a queue that is too simple to be wrong, but for its fault.
type reference[T any] struct {
	fault fault

	mu      sync.Mutex
	cells   []*cell[T] // in claim order
	closed  bool
	waiting bool
	wake    chan struct{}
	busy    atomic.Bool
	old     []T
}

type cell[T any] struct {
	v     T
	ready bool
}

func (q *reference[T]) claim() *cell[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed && q.fault != acceptsLate {
		return nil
	}
	c := &cell[T]{}
	q.cells = append(q.cells, c)
	return c
}

func (q *reference[T]) publish(c *cell[T], v T) {
	q.mu.Lock()
	c.v, c.ready = v, true
	n := len(q.cells)
	switch {
	case q.fault == losesLast && n%32 == 0:
		q.cells = q.cells[:n-1]
	case q.fault == swapsTwo && n%32 == 0:
		q.cells[n-1], q.cells[n-2] = q.cells[n-2], q.cells[n-1]
	case q.fault == doubles && n%32 == 0:
		q.cells = append(q.cells, c)
	}
	if q.waiting && q.fault != losesWake {
		q.wakeUp()
	}
	q.mu.Unlock()
}

func (q *reference[T]) wakeUp() {
	q.waiting = false
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *reference[T]) push(v T) bool {
	c := q.claim()
	if c == nil {
		if q.fault == refusesAndAdds {
			q.mu.Lock()
			q.cells = append(q.cells, &cell[T]{v, true})
			q.mu.Unlock()
		}
		return false
	}
	q.publish(c, v)
	return true
}

func (q *reference[T]) pushBatch(vs []T) int {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		if q.fault == halfBatch && len(vs) > 1 {
			q.mu.Lock()
			q.cells = append(q.cells, &cell[T]{vs[0], true})
			q.mu.Unlock()
			return 1
		}
		return 0
	}
	for _, v := range vs {
		q.cells = append(q.cells, &cell[T]{v, true})
	}
	if q.waiting {
		q.wakeUp()
	}
	q.mu.Unlock()
	return len(vs)
}

func (q *reference[T]) enter(method string) func() {
	if q.fault == noGuard {
		return func() {}
	}
	if !q.busy.CompareAndSwap(false, true) {
		panic("reference: " + method + " inside another consumer call")
	}
	return func() { q.busy.Store(false) }
}

// next returns the position of the first published cell, -1 if there is none.
func (q *reference[T]) next() int {
	for i, c := range q.cells {
		if c.ready {
			return i
		}
		if q.fault == stopsAtGap {
			break
		}
	}
	return -1
}

func (q *reference[T]) pop() (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.next()
	if i < 0 {
		return v, false
	}
	v = q.cells[i].v
	copy(q.cells[1:i+1], q.cells[:i])
	q.cells[0] = nil
	q.cells = q.cells[1:]
	if q.fault == keepsPopped {
		q.old = append(q.old, v)
	}
	return v, true
}

func (q *reference[T]) tryPop() (T, bool) {
	defer q.enter("TryPop")()
	return q.pop()
}

func (q *reference[T]) drain(f func(T)) (n int) {
	defer q.enter("Drain")()
	most := q.length()
	for ; n < most || q.fault == endless; n++ {
		v, ok := q.pop()
		if !ok {
			break
		}
		q.call(f, v)
	}
	return n
}

func (q *reference[T]) call(f func(T), v T) {
	returned := false
	defer func() {
		if returned {
			return
		}
		q.mu.Lock()
		switch q.fault {
		case failedStays:
			q.cells = append([]*cell[T]{{v, true}}, q.cells...)
		case failedTakesAll:
			q.cells = nil
		}
		q.mu.Unlock()
	}()
	f(v)
	returned = true
}

func (q *reference[T]) drainTo(dst []T) int {
	defer q.enter("DrainTo")()
	for n := range dst {
		v, ok := q.pop()
		if !ok {
			if q.fault == overfills && n > 0 {
				dst[n] = dst[n-1]
			}
			return n
		}
		dst[n] = v
	}
	return len(dst)
}

func (q *reference[T]) wait(ctx context.Context) error {
	defer q.enter("Wait")()
	for {
		if q.fault == contextFirst && ctx.Err() != nil {
			return ctx.Err()
		}
		q.mu.Lock()
		if q.next() >= 0 {
			q.mu.Unlock()
			return nil
		}
		if q.closed && (len(q.cells) == 0 || q.fault == endsEarly) {
			q.mu.Unlock()
			return errReferenceClosed
		}
		q.waiting = true
		q.mu.Unlock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

func (q *reference[T]) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.cells); q.fault != lenAhead || n == 0 {
		return n
	}
	return len(q.cells) + 1
}

func (q *reference[T]) close() {
	q.mu.Lock()
	q.closed = true
	if q.waiting {
		q.wakeUp()
	}
	q.mu.Unlock()
}

func newReference[T any](wrong fault) func(Config) Queue[T] {
	return func(Config) Queue[T] {
		q := &reference[T]{fault: wrong, wake: make(chan struct{}, 1)}
		return Queue[T]{
			Producer: func() Producer[T] {
				return Producer[T]{Push: q.push, PushBatch: q.pushBatch}
			},
			TryPop: q.tryPop, Drain: q.drain, DrainTo: q.drainTo, Wait: q.wait,
			Len: q.length, Close: q.close, Closed: errReferenceClosed,
			Claim: func() func(T) {
				c := q.claim()
				return func(v T) { q.publish(c, v) }
			},
		}
	}
}

func referenceForm(wrong fault) Form {
	return Form{
		Ints: newReference[uint64](wrong), Empty: newReference[struct{}](wrong), Pointers: newReference[*Payload](wrong),
		Exclusive: true, PanicSafe: true, ExactLen: true,
	}
}
