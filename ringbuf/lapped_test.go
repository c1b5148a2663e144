package ringbuf_test

import (
	"errors"
	"testing"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// A reader that pauses while others append gets the next page if at most a
// capacity of records came since, and learns exactly what it missed if more did.
func TestReaderLappedByExactly(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		for _, seen := range []int{0, 1, capacity, 3*capacity + 1} { // what the reader has when it pauses
			for _, since := range []int{0, 1, capacity - 1, capacity, capacity + 1, 2*capacity + 1} {
				r, err := ringbuf.New[payload](capacity)
				if err != nil {
					t.Fatal(err)
				}
				for n := range seen + since {
					v := valueOf(uint64(n) + 1)
					r.Append(&v)
				}
				cursor := uint64(seen)
				dst := make([]payload, since+1)
				n, err := r.ReadAfter(cursor, dst)
				if missed := max(since-capacity, 0); missed > 0 {
					var o *ringbuf.CursorOverwrittenError
					if !errors.As(err, &o) || o.AfterSequence != cursor || o.OldestRetained != cursor+uint64(missed)+1 || n != 0 {
						t.Fatalf("%d records since %d: %d, %v, want the oldest to be %d", since, cursor, n, err, cursor+uint64(missed)+1)
					}
					cursor += uint64(missed)
					n, err = r.ReadAfter(cursor, dst)
				}
				if want := min(since, capacity); n != want || err != nil {
					t.Fatalf("%d records since %d: page of %d, %v, want %d", since, seen, n, err, want)
				}
				for i, v := range dst[:n] {
					if seq := cursor + 1 + uint64(i); v != valueOf(seq) {
						t.Fatalf("record %d is %v, want %v", seq, v, valueOf(seq))
					}
				}
			}
		}
	})
}

// The tag of the spare buffers' head has 32 bits; where it wraps nothing
// happens.
func TestTagOfTheSparesWraps(t *testing.T) {
	m := newMachine(t, 1, 1)
	ringbuf.SetSpareTag(m.r, 1<<32-3)
	m.appendWhole(1)
	for range 8 {
		m.stepTo(m.start(), ringbuf.HalfFill)
		m.appendWhole(1)
		m.check()
	}
	m.finish()
	if tag := ringbuf.SpareTag(m.r); tag > 1<<16 {
		t.Errorf("the tag is %d: it did not wrap", tag)
	}
}
