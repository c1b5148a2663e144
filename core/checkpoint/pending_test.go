package checkpoint_test

import (
	"sync"
	"testing"

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
