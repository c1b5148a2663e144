//go:build explore

package mpsc

import (
	"fmt"
	"slices"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/explore"
)

// traffic is a queue under exploration and what its threads have seen of it.
// Producer p pushes p*10, p*10+1, …
type traffic struct {
	q        *Queue[int]
	accepted []int // in any order
	refused  []int
	popped   []int // in the order of the consumer
	finished bool  // Wait has returned ErrClosed

	// closed says that a Close has returned. A thread looks at it before each
	// push if watch is set: a shared variable like any other.
	watch  bool
	closed atomics.Bool
}

// newTraffic looks into the pool once, unless told otherwise: each look beyond
// that multiplies the executions and changes nothing but who allocates.
func newTraffic(opts ...Option) *traffic {
	return &traffic{q: New[int](append([]Option{withPoolTries(1)}, opts...)...)}
}

func withPoolTries(n int) Option { return func(c *queueConfig) { c.poolTries = n } }

// note takes down whether a push was accepted. late says that it began after
// a Close had returned.
func (x *traffic) note(v int, accepted, late bool) {
	switch {
	case accepted && late:
		explore.Fail("%d was accepted after Close had returned", v)
	case accepted:
		x.accepted = append(x.accepted, v)
	default:
		x.refused = append(x.refused, v)
	}
}

// push returns a thread that pushes n elements.
func (x *traffic) push(producer, n int) func() {
	return func() {
		for i := range n {
			late := x.late()
			x.note(producer*10+i, x.q.Push(producer*10+i), late)
		}
	}
}

// lane returns a thread that pushes n elements through a lane.
func (x *traffic) lane(p *Producer[int], producer, n int) func() {
	return func() {
		for i := range n {
			late := x.late()
			x.note(producer*10+i, p.Push(producer*10+i), late)
		}
	}
}

// batch returns a thread that pushes n elements at once through a lane.
func (x *traffic) batch(p *Producer[int], producer, n int) func() {
	return func() {
		late := x.late()
		vs := make([]int, n)
		for i := range vs {
			vs[i] = producer*10 + i
		}
		switch p.PushBatch(vs) {
		case n:
			for _, v := range vs {
				x.note(v, true, late)
			}
		case 0:
			x.refused = append(x.refused, vs...)
		default:
			explore.Fail("a part of a batch was accepted")
		}
	}
}

// close is a thread that closes the queue.
func (x *traffic) close() {
	x.q.Close()
	x.closed.Store(true)
}

// late reports whether a push that begins now must be refused.
func (x *traffic) late() bool { return x.watch && x.closed.Load() }

// pop returns a thread that makes n calls of TryPop.
func (x *traffic) pop(n int) func() {
	return func() {
		for range n {
			if v, ok := x.q.TryPop(); ok {
				x.popped = append(x.popped, v)
			}
		}
	}
}

// drain returns a thread that makes n calls of Drain.
func (x *traffic) drain(n int) func() {
	return func() {
		for range n {
			x.q.Drain(x.take)
		}
	}
}

func (x *traffic) take(v int) { x.popped = append(x.popped, v) }

// rest takes what is left and checks that every accepted element was popped
// once, in the order of its producer, and nothing else was.
func (x *traffic) rest() error {
	if left, n := len(x.accepted)-len(x.popped), x.q.Len(); n != left {
		return fmt.Errorf("Len is %d at rest, want %d", n, left)
	}
	for range 2 {
		x.pop(2)()
		x.drain(1)()
	}
	for range len(x.accepted) {
		x.pop(1)()
	}
	if n := x.q.Len(); n != 0 {
		return fmt.Errorf("Len is %d when nothing is left", n)
	}
	return x.verdict()
}

func (x *traffic) verdict() error {
	last := map[int]int{}
	for _, v := range x.popped {
		if before, ok := last[v/10]; ok && before >= v {
			return fmt.Errorf("popped %v: %d not after %d of the same producer", x.popped, v, before)
		}
		last[v/10] = v
	}
	got, want := slices.Sorted(slices.Values(x.popped)), slices.Sorted(slices.Values(x.accepted))
	if !slices.Equal(got, want) {
		return fmt.Errorf("popped %v, accepted %v, refused %v", x.popped, x.accepted, x.refused)
	}
	return nil
}

// strict makes a queue's next call strict: the allowance of calls that do not
// look behind an unpublished cell is used up.
func strict(q *Queue[int]) {
	for range lazyCalls {
		q.Drain(func(int) {})
	}
}
