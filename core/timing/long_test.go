package timing_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// TestLongLedgerStaysFlat records from several goroutines under every setting,
// beside a reader that takes a page now and then.
func TestLongLedgerStaysFlat(t *testing.T) {
	const writers = 3
	longtest.Settings(t, func(t *testing.T) {
		l := newLedger(t, 256)
		next := uint64(1)
		longtest.Flat(t, 40_000, 64<<10, l, func(n int) {
			var writing, reading sync.WaitGroup
			var stop atomic.Bool
			each := uint64(n / writers)
			reading.Go(func() { sample(t, l, next-1, &stop) })
			for w := range uint64(writers) {
				writing.Go(func() {
					for k := range each {
						if !l.TryRecord(signed(w, k)) {
							t.Error("a canonical observation was refused")
							return
						}
					}
				})
			}
			writing.Wait()
			stop.Store(true)
			reading.Wait()
			next += writers * each
			if s := snapshot(t, l, next-1, 1); s.NextSequence != next || s.RecordingLossCount != 0 {
				t.Errorf("next is %d with %d losses, want %d without", s.NextSequence, s.RecordingLossCount, next)
			}
		})
	})
}

// sample reads a page behind its cursor every few milliseconds. A page is an
// allocation, which nobody collects while the collector is off.
func sample(t *testing.T, l *timing.Ledger, cursor uint64, stop *atomic.Bool) {
	for !stop.Load() {
		s, err := l.SnapshotAfter(cursor, 64)
		var o *timing.CursorOverwrittenError
		switch {
		case errors.As(err, &o):
			if o.OldestRetained <= cursor+1 {
				t.Errorf("after %d: %v", cursor, err)
				return
			}
			cursor = o.OldestRetained + 63
			continue
		case err != nil && !errors.Is(err, timing.ErrBusy):
			t.Errorf("after %d: %v", cursor, err)
			return
		}
		for i := range s.Records {
			r := &s.Records[i]
			if id := r.Attempt.Epoch - 1; r.Sequence != cursor+1 || r.Observation != signed(id>>32, id&0xffffffff) {
				t.Errorf("after %d: torn or out of turn: %+v", cursor, *r)
				return
			}
			cursor++
		}
		time.Sleep(5 * time.Millisecond)
	}
}
