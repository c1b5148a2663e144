package mpsc

import "testing"

// stallMark stands for a goroutine that has changed a cell and stopped between
// its mark and its link. The returned function lets it go on.
func stallMark[T any](s *ReadySet[T], r *Ready[T]) (goOn func()) {
	m := r.mark.Load()
	if m&markState != markClear {
		panic("the mark is not clear")
	}
	r.mark.Store(m | markPushing)
	return func() {
		s.link(r)
		r.mark.CompareAndSwap(m|markPushing, m|markIn)
	}
}

// A goroutine that stalls between mark and link delays what it did itself, not
// what others did to the same segment and returned from.
func TestAStalledMarkDelaysItselfAlone(t *testing.T) {
	woken := 0
	r := &rig{}
	r.in = NewInbox[int, rig](func() { woken++ })
	r.q.Init(r.in, r)
	a, b, c := r.reserve(t, 1), r.reserve(t, 2), r.reserve(t, 3)
	r.collect()
	r.collect()
	if r.in.News() {
		t.Fatal("something is left")
	}
	goOn := stallMark(&r.in.ready, &a.segment.ready)
	before := woken
	b.Release()
	if woken == before || !r.in.News() || !r.in.News() {
		t.Fatal("a waiter would not learn of the release")
	}
	r.collect()
	if r.pub != 1 {
		t.Fatalf("%d publications reported before the call, want 1", r.pub)
	}
	if r.in.News() {
		t.Fatal("the same news twice")
	}
	c.Release()
	r.collect()
	a.Release() // what the stalled goroutine did before its mark, in effect
	goOn()
	r.collect()
	if got := r.take(); r.pub != 3 || len(got) != 3 {
		t.Fatalf("%d publications, took %v", r.pub, got)
	}
	// The goroutine that went on must not take a later push for its own.
	for range 200 {
		r.reserve(t, 1).Release()
		r.collect()
		r.collect()
		r.take()
	}
	if r.q.Outstanding() != 0 || r.in.News() {
		t.Fatalf("%d outstanding", r.q.Outstanding())
	}
}

// A mark that was linked, taken and cleared before its goroutine could say so
// leaves a later push alone.
func TestADelayedMarkDoesNotVouchForALaterOne(t *testing.T) {
	var s ReadySet[thing]
	x := newThings(1)[0]
	m := x.ready.mark.Load()
	x.ready.mark.Store(m | markPushing)
	s.link(&x.ready)
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("Drain visited %d", n)
	}
	goOn := stallMark(&s, &x.ready)
	if x.ready.mark.CompareAndSwap(m|markPushing, m|markIn) { // the first goroutine at last
		t.Fatal("the first push vouched for the second")
	}
	if s.Mark(&x.ready); s.Empty() {
		t.Fatal("a mark beside a stalled one left no word")
	}
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("Drain visited %d, want the thing that was noted", n)
	}
	goOn()
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("Drain visited %d, want the thing that was linked late", n)
	}
	if !s.Empty() || s.Drain(func(*thing) {}) != 0 {
		t.Fatal("something is left")
	}
}

// More things than there are places beside the set: nothing is lost.
func TestManyStalledMarks(t *testing.T) {
	var s ReadySet[thing]
	ts := newThings(3 * latePlaces)
	var goOn []func()
	for _, x := range ts {
		goOn = append(goOn, stallMark(&s, &x.ready))
	}
	visits := map[int]int{}
	for range 2 {
		for _, x := range ts {
			s.Mark(&x.ready)
		}
		s.Drain(func(x *thing) { visits[x.id]++ })
	}
	if len(visits) != latePlaces {
		t.Fatalf("%d things were found beside the set, want %d", len(visits), latePlaces)
	}
	for _, f := range goOn {
		f()
	}
	s.Drain(func(x *thing) { visits[x.id]++ })
	if len(visits) != len(ts) {
		t.Fatalf("%d of %d things were visited", len(visits), len(ts))
	}
}
