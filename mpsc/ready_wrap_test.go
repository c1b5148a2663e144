package mpsc

import "testing"

// A mark counts its turns in 30 bits; where they wrap is like everywhere else,
// also for a goroutine that stalls over the edge.
func TestMarksWrapAround(t *testing.T) {
	var s ReadySet[thing]
	x := newThings(1)[0]
	x.ready.mark.Store(-3 * markTurn & (1<<32 - 1))
	before := x.ready.mark.Load()
	for round := range 8 {
		if !s.Mark(&x.ready) || s.Mark(&x.ready) {
			t.Fatalf("round %d: Mark must report whether it added the thing", round)
		}
		if n := s.Drain(func(*thing) {}); n != 1 || !s.Empty() {
			t.Fatalf("round %d: Drain visited %d, want 1", round, n)
		}
	}
	if after := x.ready.mark.Load(); after >= before || after&markState != markClear {
		t.Fatalf("the mark went from %#x to %#x: it did not wrap", before, after)
	}
	// The last turn before the edge: a goroutine that linked and was taken
	// must not vouch for a push of the first turn behind it.
	last := uint32(1<<32 - markTurn)
	x.ready.mark.Store(last | markPushing)
	s.link(&x.ready)
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("Drain visited %d, want 1", n)
	}
	goOn := stallMark(&s, &x.ready)
	if x.ready.mark.CompareAndSwap(last|markPushing, last|markIn) {
		t.Fatal("a push before the edge vouched for one behind it")
	}
	goOn()
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("Drain visited %d, want 1", n)
	}
}
