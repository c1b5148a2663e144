package ringbuf_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-go/tidemark/internal/longtest"
	"github.com/tidemark-go/tidemark/ringbuf"
)

// TestLongRingStaysFlat lets writers overwrite a small ring again and again
// under every setting, beside a reader that looks at every record it gets.
func TestLongRingStaysFlat(t *testing.T) {
	const writers = 3
	longtest.Settings(t, func(t *testing.T) {
		r, err := ringbuf.New[signed](256)
		if err != nil {
			t.Fatal(err)
		}
		longtest.Flat(t, 40_000, 64<<10, r, func(n int) {
			var writing, reading sync.WaitGroup
			var stop atomic.Bool
			from, each := r.Next()-1, n/writers
			reading.Go(func() {
				read, missed := follow(t, r, from, 64, &stop)
				if want := uint64(writers * each); read+missed != want && !t.Failed() {
					t.Errorf("the reader got %d records and missed %d of %d", read, missed, want)
				}
			})
			for w := range writers {
				writing.Go(func() {
					for k := range each {
						if _, ok := r.Append(sign(w, k)); !ok {
							t.Error("a record was refused")
							return
						}
					}
				})
			}
			writing.Wait()
			stop.Store(true)
			reading.Wait()
			checkBuffers(t, r)
		})
	})
}
