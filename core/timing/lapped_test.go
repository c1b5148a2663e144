package timing_test

import (
	"errors"
	"testing"

	"github.com/tidemark-go/tidemark/core/timing"
)

// A client that pauses while pauses are recorded gets them all if at most a
// capacity of them came since, and learns exactly what it missed if more did.
func TestClientLappedByExactly(t *testing.T) {
	for _, capacity := range []int{1, 2, 64} {
		for _, seen := range []int{0, 1, capacity, 3*capacity + 1} {
			for _, since := range []int{0, 1, capacity, capacity + 1, 2*capacity + 1} {
				l := newLedger(t, capacity)
				record(t, l, seen+since)
				cursor := uint64(seen)
				if missed := max(since-capacity, 0); missed > 0 {
					_, err := l.SnapshotAfter(cursor, 64)
					var o *timing.CursorOverwrittenError
					if !errors.As(err, &o) || *o != (timing.CursorOverwrittenError{AfterSequence: cursor, OldestRetained: cursor + uint64(missed) + 1}) {
						t.Fatalf("%d records since %d: %v", since, cursor, err)
					}
					cursor += uint64(missed)
				}
				s := snapshot(t, l, cursor, 64)
				if len(s.Records) != min(since, capacity) || s.HasMore {
					t.Fatalf("%d records since %d: a page of %d, more %t, want %d", since, seen, len(s.Records), s.HasMore, min(since, capacity))
				}
				for i, seq := range sequences(s) {
					if seq != cursor+1+uint64(i) {
						t.Fatalf("%d records since %d: numbers %v after %d", since, seen, sequences(s), cursor)
					}
				}
			}
		}
	}
}
