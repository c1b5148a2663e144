package mpsc

import (
	"testing"
	"unsafe"

	"github.com/tidemark-go/tidemark/internal/pad"
)

// What one side writes all the time must not lie on a line that another side
// reads all the time.
func TestQueueLayoutKeepsWritersApart(t *testing.T) {
	var q Queue[uint64]
	var s queueSegment[uint64]
	var p Producer[uint64]
	for what, distance := range map[string]uintptr{
		"read by pushes … written per segment": unsafe.Offsetof(q.sections) - unsafe.Offsetof(q.zeroing),
		"per segment … the consumer's window":  unsafe.Offsetof(q.window) - unsafe.Offsetof(q.pool),
		"claim … the rest of a segment":        unsafe.Offsetof(s.next) - unsafe.Offsetof(s.claim),
		"lane's producer … lane's consumer":    unsafe.Offsetof(p.cons) - unsafe.Offsetof(p.q),
	} {
		if distance < pad.LineSize {
			t.Errorf("%s: %d bytes apart, want %d", what, distance, pad.LineSize)
		}
	}
	// The lane's tail and what its producer keeps fit one line: a push that
	// does not cross a segment touches it and the cell.
	if end := unsafe.Offsetof(p.q) + unsafe.Sizeof(p.q); end > pad.LineSize {
		t.Errorf("the producer's part of a lane takes %d bytes, want at most %d", end, pad.LineSize)
	}
	if unsafe.Sizeof(uintptr(0)) == 8 {
		if n := unsafe.Sizeof(queueCell[uint64]{}); n != 16 {
			t.Errorf("a cell of 8-byte elements takes %d bytes, want 16", n)
		}
		if n := unsafe.Sizeof(queueCell[struct{}]{}); n != 8 {
			t.Errorf("a cell of empty elements takes %d bytes, want 8", n)
		}
	}
}

// The words' arithmetic at its edges.
func TestClaimWordReadings(t *testing.T) {
	s := newQueueSegment[int](4, 1)
	for _, c := range []struct {
		word    uint64
		claimed int
		end     uint64
	}{
		{7 << claimBaseShift, 0, 7},
		{7<<claimBaseShift | 3, 3, 10},
		{7<<claimBaseShift | 4, 4, 11},
		{7<<claimBaseShift | 9, 4, 11}, // late claims do not count
		{7<<claimBaseShift | claimShut | 2, 0, 7},
		{3<<claimBaseShift | claimSealed | 5, 3, 103},
		{claimSealed, 0, 100},
		{uint64(indexMask) << claimBaseShift, 0, indexMask},
	} {
		s.base = 100
		s.claim.Store(c.word)
		if n := s.claimed(c.word); n != c.claimed {
			t.Errorf("%#x: %d claimed, want %d", c.word, n, c.claimed)
		}
		if n := s.end(); n != c.end {
			t.Errorf("%#x: end %d, want %d", c.word, n, c.end)
		}
	}
}
