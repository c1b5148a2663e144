package checkpoint_test

import (
	"math"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// quickest is the shortest of n runs: the one least disturbed.
func quickest(n int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range n {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

// flat measures up to five times and fails when large exceeds limit × small
// in all of them. The limits are far above what is expected and far below what
// a cost that grows would show.
func flat(t *testing.T, what string, limit int, measure func() (large, small time.Duration)) {
	t.Helper()
	var large, small time.Duration
	for range 5 {
		if large, small = measure(); large <= time.Duration(limit)*small {
			return
		}
	}
	t.Errorf("%s: %v against %v, more than %d times as long", what, large, small, limit)
}

// TestDrainCostFollowsWhatChanged: ten touched partitions cost the same
// whether ten or ten thousand are assigned. Growth would show as a thousand.
func TestDrainCostFollowsWhatChanged(t *testing.T) {
	const touched = 10
	cost := func(assigned int) time.Duration {
		d := newDriver(t, assigned)
		d.issue(assigned)
		d.release()
		d.settle()
		stalls := make([]checkpoint.Stall, 0, 1)
		return quickest(200, func() {
			for k := range touched {
				p := k * (assigned / touched)
				a, err := d.i.Issue(checkpoint.PartitionID(p), d.next[p])
				if err != nil {
					t.Fatal(err)
				}
				d.next[p]++
				a.Release()
			}
			d.settle()
			stalls = d.c.Stalled(stalls[:0])
		})
	}
	flat(t, "ten touched partitions of 10,000 against of 10", 20, func() (time.Duration, time.Duration) {
		return cost(10_000), cost(touched)
	})
}

// TestHeadsOfAllCost: asking for more heads than there are costs what asking
// for all does. Sorting them again for each one would show as hundreds.
func TestHeadsOfAllCost(t *testing.T) {
	const assigned = 5000
	d := newDriver(t, assigned)
	d.issue(assigned)
	d.c.Drain()
	heads := make([]checkpoint.Head, 0, assigned)
	cost := func(n int) time.Duration {
		return quickest(3, func() { heads = d.c.Heads(heads[:0], n) })
	}
	flat(t, "all heads, asked for with the largest int against their number", 10, func() (time.Duration, time.Duration) {
		return cost(math.MaxInt), cost(assigned)
	})
	if len(heads) != assigned {
		t.Errorf("%d heads, want %d", len(heads), assigned)
	}
}

// TestIdleDrainCost: a drain and a take with nothing new do not look at every
// partition.
func TestIdleDrainCost(t *testing.T) {
	cost := func(assigned int) time.Duration {
		d := newDriver(t, assigned)
		d.issue(4 * assigned)
		d.release()
		for range 3 {
			d.settle()
		}
		return quickest(200, func() {
			for range 20 {
				d.settle()
			}
		})
	}
	flat(t, "an idle drain with 10,000 partitions against 10", 20, func() (time.Duration, time.Duration) {
		return cost(10_000), cost(10)
	})
}

// TestStuckHeadCost: what waits resolved behind an open or a failed head does
// not make drains dearer.
func TestStuckHeadCost(t *testing.T) {
	const window, batch = 100_000, 64
	cost := func(behind int, failed bool) time.Duration {
		d := newDriver(t, 1)
		d.issue(1)
		if failed {
			d.acks[0].Fail()
			d.release()
		}
		d.acks = d.acks[:0]
		for range behind {
			a, err := d.i.Issue(0, d.next[0])
			if err != nil {
				t.Fatal(err)
			}
			d.next[0]++
			a.Release()
		}
		for range 3 {
			d.settle()
		}
		return quickest(100, func() {
			d.issue(batch)
			d.release()
			d.settle()
		})
	}
	for _, failed := range []bool{false, true} {
		flat(t, "100,000 resolved batches behind a head against none", 10, func() (time.Duration, time.Duration) {
			return cost(window, failed), cost(0, failed)
		})
	}
}

// TestDuplicateCost: a release of a batch passed long ago does not search.
func TestDuplicateCost(t *testing.T) {
	cost := func(behind int) time.Duration {
		d := newDriver(t, 1)
		d.issue(1)
		old := d.acks[0]
		d.release()
		d.issue(1)
		d.acks = d.acks[:0]
		for range behind {
			a, err := d.i.Issue(0, d.next[0])
			if err != nil {
				t.Fatal(err)
			}
			d.next[0]++
			a.Release()
		}
		d.settle()
		return quickest(100, func() {
			for range 200 {
				old.Release()
			}
			d.settle()
		})
	}
	flat(t, "duplicates with 100,000 batches behind the head against none", 20, func() (time.Duration, time.Duration) {
		return cost(100_000), cost(0)
	})
}

// TestProducersDoNotWaitForControlCalls stops a take in the middle, inside
// the clock it asks, and wants producers to go on.
func TestProducersDoNotWaitForControlCalls(t *testing.T) {
	stopped, goOn := make(chan struct{}), make(chan struct{})
	first := true
	d := newDriver(t, 2, checkpoint.WithClock(func() time.Time {
		if first {
			first = false
			close(stopped)
			<-goOn
		}
		return time.Unix(1, 0)
	}))
	d.issue(2)
	d.acks[0].Fail()
	d.release()
	d.c.Drain()
	taken := make(chan int)
	go func() { taken <- len(d.c.TakeWatermarks(nil)) }()
	<-stopped
	done := make(chan struct{})
	go func() {
		defer close(done)
		other := d.i.Clone()
		for k := range int64(10_000) {
			a, err := d.i.Issue(1, k+1)
			if err != nil {
				t.Errorf("Issue(1, %d) = %v", k+1, err)
				return
			}
			a.Retain()
			a.Fail()
			a.Release()
			a.Done(nil)
			if k%100 == 0 {
				_, _ = other.Issue(9, k)
				_, _ = other.Issue(1, k)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("producers wait for a TakeWatermarks that stands still")
	}
	close(goOn)
	if n := <-taken; n != 1 {
		t.Errorf("the take reports %d watermarks, want 1", n)
	}
	<-done
}
