//go:build explore

package mpsc

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// onLanes makes threads over a queue with so many open lanes.
func onLanes(lanes int, threads func(x *traffic, lane []*Producer[int]) []func(), check func(x *traffic) error) func() explore.Program {
	return func() explore.Program {
		x := newTraffic(WithSegmentSize(2), WithMaxFree(1))
		x.watch = true
		var list []*Producer[int]
		for range lanes {
			list = append(list, x.q.Producer())
		}
		return explore.Program{Threads: threads(x, list), Check: func() error { return check(x) }}
	}
}

func TestExploreLanes(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "lanes-2x2", Title: "2 lanes push 2 each beside 2 pops", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(2, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){x.lane(l[0], 1, 2), x.lane(l[1], 2, 2), x.pop(2)}
			}, (*traffic).rest)},
		{Name: "lanes-shared", Title: "a lane pushes 3 and a producer 1 beside 2 drains", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(1, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){x.lane(l[0], 1, 3), x.push(2, 1), x.drain(2)}
			}, (*traffic).rest)},
		{Name: "lanes-close", Title: "Close against 3 pushes of a lane and a drain", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(1, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){x.lane(l[0], 1, 3), x.close, x.drain(1)}
			}, (*traffic).closedRest)},
		{Name: "lanes-batch-close", Title: "Close against a batch over three segments, a push and a drain", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(2, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){x.batch(l[0], 1, 5), x.lane(l[1], 2, 1), x.close, x.drain(1)}
			}, (*traffic).closedRest)},
		{Name: "lanes-open", Title: "2 goroutines open a lane, push and close it, beside 2 drains that take it off", Level: explore.Usual, Search: explore.Exhaust(3e6),
			Setup: onLanes(0, func(x *traffic, _ []*Producer[int]) []func() {
				open := func(producer int) func() {
					return func() {
						p := x.q.Producer()
						x.lane(p, producer, 1)()
						p.Close()
						if p.Push(0) {
							explore.Fail("a closed lane accepted a push")
						}
					}
				}
				return []func(){open(1), open(2), x.drain(2)}
			}, (*traffic).rest)},
		{Name: "lanes-open-close", Title: "Close against a goroutine that opens a lane and pushes", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(1, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){func() { x.lane(x.q.Producer(), 1, 1)() }, func() { x.lane(l[0], 2, 1)(); l[0].Close() }, x.close, x.drain(1)}
			}, (*traffic).closedRest)},
		{Name: "lanes-park", Title: "a consumer waits until the end of a lane and a Close", Level: explore.Usual, Search: explore.Exhaust(1e6),
			Setup: onLanes(1, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){func() { x.lane(l[0], 1, 1)(); l[0].Close() }, x.close, x.untilClosed}
			}, (*traffic).closedRest)},
		{Name: "lanes-park-2", Title: "a consumer waits until the end of 2 lanes and a Close", Level: explore.Usual, Search: explore.Bound(3, 2e6),
			Setup: onLanes(2, func(x *traffic, l []*Producer[int]) []func() {
				return []func(){x.lane(l[0], 1, 1), func() { x.lane(l[1], 2, 1)(); x.close() }, x.untilClosed}
			}, (*traffic).closedRest)},
		{Name: "lanes-len", Title: "Len beside a lane that pushes and is taken off the list", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: onLanes(1, func(x *traffic, l []*Producer[int]) []func() {
				x.lane(l[0], 9, 1)()
				return []func(){
					func() { l[0].Close() },
					func() { x.push(1, 1)(); x.pop(2)(); x.push(2, 1)() },
					func() {
						if n := x.q.Len(); n < 0 || n > 3 {
							explore.Fail("Len is %d, want 0 to 3", n)
						}
					},
				}
			}, (*traffic).rest)},
	} {
		explore.Run(t, c)
	}
}

// A strict drain passes an unfinished push and must still keep the order of
// each producer; so must those that follow.
func TestExploreGaps(t *testing.T) {
	gaps := func(producers, each, drains int) func() explore.Program {
		return func() explore.Program {
			x := newTraffic(WithSegmentSize(2))
			strict(x.q)
			var threads []func()
			for p := range producers {
				threads = append(threads, x.push(p+1, each))
			}
			return explore.Program{Threads: append(threads, x.drain(drains)), Check: x.rest}
		}
	}
	for _, c := range []explore.Config{
		{Name: "gaps-2x1", Title: "2 producers push 1 each beside 2 strict drains", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: gaps(2, 1, 2)},
		{Name: "gaps-2x2", Title: "2 producers push 2 each beside a strict drain and one more", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: gaps(2, 2, 2)},
		{Name: "gaps-3x1", Title: "3 producers push 1 each beside 2 strict drains", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: gaps(3, 1, 2)},
	} {
		explore.Run(t, c)
	}
}

// Two goroutines are the consumer in turn, or one of them panics; never both.
func TestExploreTwoConsumers(t *testing.T) {
	explore.Run(t, explore.Config{
		Name: "queue-two-consumers", Title: "2 goroutines pop beside a push", Level: explore.Short, Search: explore.Exhaust(1e6),
		Setup: func() explore.Program {
			x := newTraffic(WithSegmentSize(1))
			x.push(9, 1)()
			panics := 0
			pop := func() {
				defer func() {
					if text, ok := recover().(string); ok {
						panics++
						_ = text
					}
				}()
				x.pop(1)()
			}
			return explore.Program{Threads: []func(){x.push(1, 1), pop, pop}, Check: func() error {
				if panics > 1 {
					explore.Fail("both consumers panicked")
				}
				return x.rest()
			}}
		},
	})
}
