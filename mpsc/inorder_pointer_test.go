package mpsc

import (
	"fmt"
	"runtime"
	"testing"
	"weak"
)

// Values that are dropped or folded are referred to by nothing, in the segments
// that are used again as in those that wait.
func TestWhatIsDroppedOrFoldedIsReferredToByNothing(t *testing.T) {
	type value [64]byte
	type inOrder = InOrder[*value, int]
	const n = 1024
	published := func(q *inOrder, in *Inbox[*value, int], values []weak.Pointer[value], but int) {
		for i := range values {
			v := new(value)
			values[i] = weak.Make(v)
			h, _ := q.Reserve(v)
			if i != but {
				h.Release()
			}
		}
		in.Collect(func(*inOrder, int, int) {})
	}
	discardAfter := func(reuse bool) func(*inOrder, *Inbox[*value, int], []weak.Pointer[value]) {
		return func(q *inOrder, in *Inbox[*value, int], values []weak.Pointer[value]) {
			published(q, in, values, 100)
			q.Discard(reuse)
		}
	}
	for name, c := range map[string]struct {
		run  func(*inOrder, *Inbox[*value, int], []weak.Pointer[value])
		left int // values that may be alive: of the cell that is held, and of neighbours
	}{
		"discarded, with reuse": {discardAfter(true), 1},
		"discarded":             {discardAfter(false), 1},
		"discarded beforehand": {func(q *inOrder, in *Inbox[*value, int], values []weak.Pointer[value]) {
			q.Discard(true)
			published(q, in, values, 100)
		}, 2 * fullSegment}, // the segment of the held cell, and the last one
		"folded": {func(q *inOrder, in *Inbox[*value, int], values []weak.Pointer[value]) {
			published(q, in, values, 0)
			q.Advance()
			q.Fold(1, func(a, b *value) bool { return false })
		}, 2*fullSegment + 3}, // the first segment, the last one, and those of the run
	} {
		t.Run(name, func(t *testing.T) {
			in := NewInbox[*value, int](nil)
			var q inOrder
			q.Init(in, nil)
			values := make([]weak.Pointer[value], n)
			c.run(&q, in, values)
			runtime.GC()
			alive := ""
			count := 0
			for i, v := range values {
				if v.Value() != nil {
					count++
					alive += fmt.Sprint(" ", i)
				}
			}
			if count > c.left {
				t.Errorf("%d values are alive, want %d at most:%s", count, c.left, alive)
			}
			runtime.KeepAlive(in)
			runtime.KeepAlive(&q)
		})
	}
}
