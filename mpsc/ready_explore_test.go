//go:build explore

package mpsc

import (
	"fmt"
	"testing"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/explore"
)

// noticed is a thing with news that only its visits see.
type noticed struct {
	ready Ready[noticed]
	news  [4]atomics.Int64 // of each marking thread
	seen  [4]int64         // by the last visit
}

// notices is some threads that mark things, and a consumer that drains. What a
// thread did before a Mark that has returned must be seen by the next Drain.
func notices(things, markers, marks, drains int) func() explore.Program {
	return func() explore.Program { return noticesOf(things, markers, marks, drains, false) }
}

// stalledNotices is notices of things that another goroutine is about to link,
// and only links when all is over.
func stalledNotices(things, marks int) func() explore.Program {
	return func() explore.Program { return noticesOf(things, things, marks, 2, true) }
}

func noticesOf(things, markers, marks, drains int, stalled bool) explore.Program {
	var set ReadySet[noticed]
	list := make([]noticed, things)
	for i := range list {
		list[i].ready.Bind(&list[i])
		if stalled {
			list[i].ready.mark.Store(markPushing)
		}
	}
	var returned [4]atomics.Int64 // marks that have returned, of each thread
	visit := func(x *noticed) {
		for m := range markers {
			x.seen[m] = x.news[m].Load()
		}
	}
	var threads []func()
	for m := range markers {
		threads = append(threads, func() {
			x := &list[m%things]
			for n := range int64(marks) {
				x.news[m].Store(n + 1)
				set.Mark(&x.ready)
				returned[m].Store(n + 1)
			}
		})
	}
	behind := func(m int, n int64) error {
		if seen := list[m%things].seen[m]; seen < n {
			return fmt.Errorf("a drain saw %d of thread %d, whose mark %d had returned", seen, m, n)
		}
		return nil
	}
	return explore.Program{
		Threads: append(threads, func() {
			for range drains {
				var before [4]int64
				for m := range markers {
					before[m] = returned[m].Load()
				}
				set.Drain(visit)
				for m := range markers {
					if err := behind(m, before[m]); err != nil {
						explore.Fail("%v", err)
					}
				}
			}
		}),
		Check: func() error {
			for i := range list {
				if stalled {
					set.link(&list[i].ready)
				}
			}
			set.Drain(visit)
			for m := range markers {
				if err := behind(m, int64(marks)); err != nil {
					return err
				}
			}
			if n := set.Drain(visit); n != 0 || !set.Empty() {
				return fmt.Errorf("%d things are left in an empty set", n)
			}
			return nil
		},
	}
}

func TestExploreReady(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "ready-2x1", Title: "2 goroutines mark one thing beside 2 drains", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: notices(1, 2, 1, 2)},
		{Name: "ready-1x2", Title: "a goroutine marks a thing twice beside 2 drains", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: notices(1, 1, 2, 2)},
		{Name: "ready-2x2", Title: "2 goroutines mark one thing twice beside a drain", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: notices(1, 2, 2, 1)},
		{Name: "ready-3x1", Title: "3 goroutines mark one thing beside 2 drains", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: notices(1, 3, 1, 2)},
		{Name: "ready-two-things", Title: "2 goroutines mark a thing each, twice, beside a drain", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: notices(2, 2, 2, 1)},
		{Name: "ready-stalled", Title: "2 goroutines mark a thing each that another is stalled in the middle of marking, beside 2 drains", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: stalledNotices(2, 1)},
		{Name: "ready-stalled-2", Title: "2 goroutines mark twice a thing each that another is stalled in the middle of marking, beside 2 drains", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: stalledNotices(2, 2)},
		{Name: "ready-3x2", Title: "3 goroutines mark one thing twice beside 2 drains", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: notices(1, 3, 2, 2)},
	} {
		explore.Run(t, c)
	}
}
