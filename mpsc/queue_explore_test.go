//go:build explore

package mpsc

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// pushes is the queue's core: producers that share the chain, and a consumer.
func pushes(size, producers, each, pops int, opts ...Option) func() explore.Program {
	return func() explore.Program {
		x := newTraffic(append(opts, WithSegmentSize(size), WithMaxFree(1))...)
		var threads []func()
		for p := range producers {
			threads = append(threads, x.push(p+1, each))
		}
		return explore.Program{Threads: append(threads, x.pop(pops)), Check: x.rest}
	}
}

func TestExploreQueuePushes(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "queue-2x2", Title: "2 producers push 2 each beside a pop, segments of 2", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: pushes(2, 2, 2, 1)},
		{Name: "queue-2x2-pops", Title: "2 producers push 2 each beside 2 pops, segments of 2", Level: explore.Usual, Search: explore.Exhaust(4e6), Setup: pushes(2, 2, 2, 2)},
		{Name: "queue-2x1-ones", Title: "2 producers push 1 each beside 3 pops, segments of 1", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: pushes(1, 2, 1, 3)},
		{Name: "queue-2x2-tries", Title: "2 producers push 2 each beside a pop, segments of 1, and look twice for a kept one", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: pushes(1, 2, 2, 1, withPoolTries(2))},
		{Name: "queue-2x2-ones", Title: "2 producers push 2 each beside 3 pops, segments of 1", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: pushes(1, 2, 2, 3)},
		{Name: "queue-2x2-ones-deep", Title: "2 producers push 2 each beside 3 pops, segments of 1", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: pushes(1, 2, 2, 3)},
		{Name: "queue-3x1", Title: "3 producers push 1 each beside 2 pops, segments of 2", Level: explore.Usual, Search: explore.Exhaust(2e6), Setup: pushes(2, 3, 1, 2)},
		{Name: "queue-3x2", Title: "3 producers push 2 each beside 3 pops, segments of 2", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: pushes(2, 3, 2, 3)},
		{Name: "queue-3x2-deep", Title: "3 producers push 2 each beside 3 pops, segments of 2", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: pushes(2, 3, 2, 3)},
		{Name: "queue-4x3", Title: "4 producers push 3 each beside 6 pops, segments of 2", Level: explore.Usual, Search: explore.Random(2e5, 1), Setup: pushes(2, 4, 3, 6)},
	} {
		explore.Run(t, c)
	}
}

// reuse lets producers push through segments that were used before: the
// setup fills and empties one, so that it is kept. stale producers have
// loaded the tail before that.
func reuse(pushers, pops int) func() explore.Program {
	return func() explore.Program {
		x := newTraffic(WithSegmentSize(1), WithMaxFree(2))
		for i := range 3 {
			x.push(9, 1)()
			x.accepted, x.popped = nil, nil
			if v, ok := x.q.TryPop(); !ok || v != 90 {
				panic(fmt.Sprintf("setup: popped %d, %v in round %d", v, ok, i))
			}
		}
		x.q.TryPop()
		if len(x.q.pool.shared) == 0 {
			panic("setup: no segment is kept")
		}
		var threads []func()
		for p := range pushers {
			threads = append(threads, x.push(p+1, 1))
		}
		return explore.Program{Threads: append(threads, x.pop(pops)), Check: x.rest}
	}
}

func TestExploreQueueReuse(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "queue-reuse", Title: "2 producers push 1 each into kept segments", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: reuse(2, 0)},
		{Name: "queue-reuse-pops", Title: "2 producers push 1 each into kept segments beside 2 pops", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: reuse(2, 2)},
		{Name: "queue-reuse-3", Title: "3 producers push 1 each into kept segments beside 2 pops", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: reuse(3, 2)},
	} {
		explore.Run(t, c)
	}
}

// A passed segment leads nowhere but to itself, so that who holds it does not
// hold the whole chain, and is in nobody's chain when it is used again.
func TestExploreQueuePassedSegments(t *testing.T) {
	explore.Run(t, explore.Config{
		Name: "queue-passed", Title: "2 producers and a pop, and where the links of passed segments lead", Level: explore.Short, Search: explore.Exhaust(1e6),
		Setup: func() explore.Program {
			x := newTraffic(WithSegmentSize(1), WithMaxFree(0))
			x.push(9, 1)()
			first := x.q.tail.Load()
			return explore.Program{
				Threads: []func(){x.push(1, 1), x.push(2, 1), x.pop(1)},
				Check: func() error {
					err := x.rest()
					if next := first.next.Load(); err == nil && next != first {
						return errors.New("a passed segment links to another one, want itself")
					}
					return err
				},
			}
		},
	})
}

// closing is a Close, or several, beside pushes and a consumer.
func closing(size, producers, each, closers int, consumer func(x *traffic) func()) func() explore.Program {
	return func() explore.Program {
		x := newTraffic(WithSegmentSize(size), WithMaxFree(1))
		x.watch = consumer == nil
		var threads []func()
		for p := range producers {
			threads = append(threads, x.push(p+1, each))
		}
		for range closers {
			threads = append(threads, x.close)
		}
		if consumer != nil {
			threads = append(threads, consumer(x))
		}
		return explore.Program{Threads: threads, Check: x.closedRest}
	}
}

// closedRest is rest for a queue that must be closed.
func (x *traffic) closedRest() error {
	if x.q.Push(1000) {
		return errors.New("a push after Close was accepted")
	}
	if x.finished && x.verdict() != nil {
		return fmt.Errorf("Wait said that nothing would come any more: %w", x.verdict())
	}
	if err := x.rest(); err != nil {
		return err
	}
	if err := x.q.Wait(context.Background()); !errors.Is(err, ErrClosed) {
		return fmt.Errorf("Wait on a queue that is closed and empty: %w", err)
	}
	return nil
}

// untilClosed waits and takes until there is nothing any more.
func (x *traffic) untilClosed() {
	for {
		switch err := x.q.Wait(context.Background()); {
		case errors.Is(err, ErrClosed):
			x.finished = true
			return
		case err != nil:
			explore.Fail("Wait: %v", err)
		}
		v, ok := x.q.TryPop()
		if !ok {
			explore.Fail("nothing to pop after Wait")
		}
		x.take(v)
	}
}

func TestExploreQueueClose(t *testing.T) {
	pop := func(x *traffic) func() { return x.pop(1) }
	wait := func(x *traffic) func() { return x.untilClosed }
	for _, c := range []explore.Config{
		{Name: "queue-close", Title: "Close against 2 pushes and a pop, segments of 1", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: closing(1, 1, 2, 1, pop)},
		{Name: "queue-close-2x1", Title: "Close against 2 producers, segments of 1", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: closing(1, 2, 1, 1, nil)},
		{Name: "queue-close-2x1-pop", Title: "Close against 2 producers and a pop, segments of 1", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: closing(1, 2, 1, 1, pop)},
		{Name: "queue-close-twice", Title: "2 Closes against 2 pushes, segments of 2", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: closing(2, 1, 2, 2, nil)},
		{Name: "queue-close-wait", Title: "Close against 1 push and a consumer that waits until the end", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: closing(2, 1, 1, 1, wait)},
		{Name: "queue-close-wait-2", Title: "Close against 2 producers with 2 pushes and a consumer that waits until the end", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: closing(2, 2, 2, 1, wait)},
		{Name: "queue-close-wait-deep", Title: "Close against 2 producers with 1 push and a consumer that waits until the end", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: closing(2, 2, 1, 1, wait)},
	} {
		explore.Run(t, c)
	}
}

// parking is a consumer that waits for each of the elements that producers
// push. A wake-up that is lost is a deadlock.
func parking(producers, each int) func() explore.Program {
	return func() explore.Program {
		x := newTraffic(WithSegmentSize(2))
		var threads []func()
		for p := range producers {
			threads = append(threads, x.push(p+1, each))
		}
		return explore.Program{Threads: append(threads, func() {
			for range producers * each {
				x.waitAndPop(context.Background())
			}
		}), Check: x.rest}
	}
}

func (x *traffic) waitAndPop(ctx context.Context) {
	if err := x.q.Wait(ctx); err != nil {
		explore.Fail("Wait: %v", err)
	}
	v, ok := x.q.TryPop()
	if !ok {
		explore.Fail("nothing to pop after Wait")
	}
	x.take(v)
}

func TestExploreQueuePark(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "queue-park", Title: "a consumer parks against 2 pushes", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: parking(1, 2)},
		{Name: "queue-park-2x1", Title: "a consumer parks against 2 producers", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: parking(2, 1)},
		{Name: "queue-park-2x2", Title: "a consumer parks against 2 producers with 2 pushes", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: parking(2, 2)},
		{Name: "queue-park-deep", Title: "a consumer parks against 2 producers with 2 pushes", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: parking(2, 2)},
		{Name: "queue-park-context", Title: "a push, then the end of the context, against Wait", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newTraffic()
			ctx := explore.NewContext()
			return explore.Program{Threads: []func(){
				func() { x.push(1, 1)(); ctx.Cancel() },
				func() { x.waitAndPop(ctx) },
			}, Check: x.rest}
		}},
		{Name: "queue-park-late", Title: "a push against the end of the context and two Waits", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newTraffic()
			ctx := explore.NewContext()
			return explore.Program{Threads: []func(){
				x.push(1, 1), ctx.Cancel,
				func() {
					if err := x.q.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
						explore.Fail("Wait: %v", err)
					}
					x.waitAndPop(context.Background())
				},
			}, Check: x.rest}
		}},
	} {
		explore.Run(t, c)
	}
}

// Len counts what is there all the while, and at most what comes as well.
func TestExploreQueueLen(t *testing.T) {
	lengths := func(low, high, lens int, threads func(x *traffic) []func()) func() explore.Program {
		return func() explore.Program {
			x := newTraffic(WithSegmentSize(2))
			x.push(9, 1)()
			return explore.Program{Threads: append(threads(x), func() {
				for range lens {
					if n := x.q.Len(); n < low || n > high {
						explore.Fail("Len is %d, want %d to %d", n, low, high)
					}
				}
			}), Check: x.rest}
		}
	}
	for _, c := range []explore.Config{
		{Name: "queue-len", Title: "Len beside a goroutine that pushes, then pops, twice", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: lengths(1, 3, 1, func(x *traffic) []func() {
			return []func(){func() { x.push(1, 1)(); x.pop(1)(); x.push(2, 1)(); x.pop(1)() }}
		})},
		{Name: "queue-len-3", Title: "Len beside 2 producers", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: lengths(1, 3, 1, func(x *traffic) []func() {
			return []func(){x.push(1, 1), x.push(2, 1)}
		})},
		{Name: "queue-len-close", Title: "Len beside Close and a push", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: lengths(1, 2, 1, func(x *traffic) []func() {
			return []func(){x.push(1, 1), x.close}
		})},
	} {
		explore.Run(t, c)
	}
}
