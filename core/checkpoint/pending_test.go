package checkpoint_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Whoever asks beside takes may be told of batches that have passed since, but
// never of more than the limit lets in.
func TestPendingStaysWithinTheLimitBesideTakes(t *testing.T) {
	for _, limit := range []int{1, 7, 300} {
		c := checkpoint.New(checkpoint.WithPendingLimit(limit))
		if err := c.BeginEpoch(1, 0); err != nil {
			t.Fatal(err)
		}
		i := c.Issuer()
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if n, most := c.Pending(0), c.MaxPending(); n < 0 || n > limit || most < 0 || most > limit {
					t.Errorf("limit %d: Pending %d, MaxPending %d", limit, n, most)
					return
				}
			}
		})
		offset := int64(0)
		for round := 0; round < 100_000/limit && !t.Failed(); round++ {
			for range limit {
				a, err := i.Issue(0, offset)
				if err != nil {
					t.Errorf("limit %d: %v", limit, err)
				}
				a.Release()
				offset++
			}
			c.Drain()
			c.TakeWatermarks(nil)
		}
		close(stop)
		wg.Wait()
	}
}

// A clock that panics once takes nothing from the report: the next take finds
// the stall.
func TestAStallIsReportedThoughTheClockPanicked(t *testing.T) {
	broken := true
	c := checkpoint.New(checkpoint.WithClock(func() time.Time {
		if broken {
			panic("no clock")
		}
		return time.Unix(100, 0)
	}))
	if err := c.BeginEpoch(1, 0); err != nil {
		t.Fatal(err)
	}
	i := c.Issuer()
	a, err := i.Issue(0, 5)
	if err != nil {
		t.Fatal(err)
	}
	a.Done(errors.New("sink"))
	c.Drain()
	func() {
		defer func() {
			if r := recover(); r != "no clock" {
				t.Errorf("the take panicked with %v, want the clock's panic", r)
			}
		}()
		c.TakeWatermarks(nil)
	}()
	broken = false
	c.TakeWatermarks(nil)
	if s := c.Stalled(nil); len(s) != 1 || s[0].LastOffset != 5 || !s[0].Since.Equal(time.Unix(100, 0)) {
		t.Errorf("Stalled() = %+v", s)
	}
}
