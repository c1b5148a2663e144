package mpsc

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

type rig struct {
	in  *Inbox[int, rig]
	q   InOrder[int, rig]
	res int
	pub int
}

func newRig() *rig {
	r := &rig{in: NewInbox[int, rig](nil)}
	r.q.Init(r.in, r)
	return r
}

func (r *rig) collect() { r.in.Collect(r.count) }

func (r *rig) count(q *InOrder[int, rig], reserved, published int) {
	o := q.Owner()
	o.res += reserved
	o.pub += published
}

func (r *rig) reserve(t testing.TB, v int) Reservation[int, rig] {
	t.Helper()
	h, ok := r.q.Reserve(v)
	if !ok {
		t.Fatalf("Reserve(%d) refused", v)
	}
	return h
}

func (r *rig) take() (vs []int) {
	r.q.Take(func(v int) { vs = append(vs, v) })
	return vs
}

func TestInOrderTakesThePublishedPrefix(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500} {
		r := newRig()
		hs := make([]Reservation[int, rig], n)
		for i := range hs {
			hs[i] = r.reserve(t, i)
			if hs[i].Seq() != uint64(i) || hs[i].Owner() != r {
				t.Fatalf("n=%d: reservation %d has Seq %d", n, i, hs[i].Seq())
			}
		}
		order := rand.New(rand.NewPCG(uint64(n), 1)).Perm(n)
		published := make([]bool, n)
		next := 0
		for _, i := range order {
			if !hs[i].Release() {
				t.Fatalf("n=%d: first Release of %d refused", n, i)
			}
			published[i] = true
			r.collect()
			var want []int
			for next < n && published[next] {
				want = append(want, next)
				next++
			}
			if got := r.take(); !slices.Equal(got, want) {
				t.Fatalf("n=%d after publishing %d: took %v, want %v", n, i, got, want)
			}
			if r.q.Outstanding() != n-next {
				t.Fatalf("n=%d: Outstanding %d, want %d", n, r.q.Outstanding(), n-next)
			}
		}
		if r.res != n || r.pub != n {
			t.Fatalf("n=%d: reported %d reserved, %d published", n, r.res, r.pub)
		}
	}
}

func TestInOrderAdvanceStopsBeforeAFailedCell(t *testing.T) {
	r := newRig()
	hs := make([]Reservation[int, rig], 70)
	for i := range hs {
		hs[i] = r.reserve(t, 10*i)
	}
	hs[66].Fail()
	for _, h := range hs {
		h.Release()
	}
	if _, n, failed := r.q.Advance(); n != 0 || failed {
		t.Fatal("Advance saw what no Collect has seen")
	}
	r.collect()
	if last, n, failed := r.q.Advance(); last != 650 || n != 66 || !failed {
		t.Fatalf("Advance = %d, %d, %v; want 650, 66, true", last, n, failed)
	}
	if seq, v, failed, ok := r.q.Head(); seq != 66 || v != 660 || !failed || !ok {
		t.Fatalf("Head = %d, %d, %v, %v", seq, v, failed, ok)
	}
	if r.q.Outstanding() != 4 || r.q.Taken() != 66 {
		t.Fatalf("Outstanding %d, Taken %d", r.q.Outstanding(), r.q.Taken())
	}
}

func TestReservationHoldsAndLateHandles(t *testing.T) {
	r := newRig()
	a := r.reserve(t, 1)
	a.Retain(2)
	a.Retain(-1)
	if !a.Release() || a.ReleaseN(5, false) != 2 || a.Release() || a.ReleaseN(1, true) != 0 {
		t.Fatal("three holds must allow exactly three releases")
	}
	a.Fail()
	a.Retain(3)
	r.collect()
	if got := r.take(); !slices.Equal(got, []int{1}) {
		t.Fatalf("a late Fail or Retain changed the cell: took %v", got)
	}
	// Fill and pass the first segments until a full one is used again.
	old := []Reservation[int, rig]{a}
	for i := range 64 * 20 {
		h := r.reserve(t, i)
		h.Release()
		old = append(old, h)
		r.collect()
		r.take()
	}
	fresh := r.reserve(t, 7)
	for _, h := range old {
		h.Fail()
		h.Retain(1)
		if h.Release() {
			t.Fatalf("late Release of %d was taken for one of cell %d", h.Seq(), fresh.Seq())
		}
	}
	if !fresh.Release() {
		t.Fatal("late handles took the hold of a fresh one")
	}
	r.collect()
	if got := r.take(); !slices.Equal(got, []int{7}) {
		t.Fatalf("took %v", got)
	}
}

func TestReservationSaturates(t *testing.T) {
	r := newRig()
	a := r.reserve(t, 1)
	a.Retain(1<<22 - 1) // 2^22 holders must work
	if a.ReleaseN(1<<22, false) != 1<<22 {
		t.Fatal("2^22 holds are too many")
	}
	b := r.reserve(t, 2)
	b.Retain(1 << 30)
	if b.ReleaseN(1<<30, false) != 1<<30 || !b.Release() {
		t.Fatal("a saturated cell must keep its holds and say that they were there")
	}
	r.collect()
	if got := r.take(); !slices.Equal(got, []int{1}) {
		t.Fatalf("took %v: a saturated cell must never be published", got)
	}
}

func TestInOrderUsesAllOfItsSequenceNumbers(t *testing.T) {
	r := newRig()
	const start = uint64(maxReserved - 128)
	setStart(&r.q, start)
	for i := range 128 {
		h := r.reserve(t, i)
		if h.Seq() != start+uint64(i) {
			t.Fatalf("Seq %d", h.Seq())
		}
		if i == 127 {
			r.collect() // reserved, not published: the wrapped stamp must not look published
			r.take()
			if r.q.Outstanding() != 1 {
				t.Fatalf("Outstanding %d before the last Release", r.q.Outstanding())
			}
		}
		if !h.Release() || h.Release() {
			t.Fatalf("cell %d does not release exactly once", h.Seq())
		}
	}
	if _, ok := r.q.Reserve(0); ok {
		t.Fatal("Reserve beyond 2^40 was not refused")
	}
	r.collect()
	r.take()
	if r.pub != 128 || r.q.Outstanding() != 0 {
		t.Fatalf("published %d, outstanding %d", r.pub, r.q.Outstanding())
	}
}

// setStart makes an unused queue continue at sequence number seq, a multiple
// of 64.
func setStart[T, O any](q *InOrder[T, O], seq uint64) {
	q.seq, q.end = seq, seq
	q.taken.Store(seq)
	s := allocSegment[T, O](fullSegment)
	s.queue, s.mask = q, fullSegment-1
	s.ready.Bind(s)
	s.start.Store(seq - fullSegment)
	q.first.Store(s)
	q.cur = s
	q.adopt(s, seq-fullSegment)
	s.known, s.seen, q.pos = fullSegment, ^uint64(0), fullSegment
}

func TestInOrderKeepsNoMoreThanItsSpareSegments(t *testing.T) {
	r := newRig()
	hs := make([]Reservation[int, rig], 64*1000)
	for i := range hs {
		hs[i] = r.reserve(t, i)
	}
	for _, h := range hs {
		h.Release()
	}
	r.collect()
	r.q.Advance()
	if got := r.q.spare.Load(); got != maxSpare {
		t.Fatalf("kept %d segments after a burst, want %d", got, maxSpare)
	}
	bytes := (maxSpare + 1) * unsafe.Sizeof(segment64[int64, rig]{})
	if bytes > 256<<10 {
		t.Fatalf("%d bytes kept", bytes)
	}
	for i := range 64 * maxSpare {
		r.reserve(t, i)
	}
	if got := r.q.spare.Load(); got != 0 {
		t.Fatalf("spare counts %d after all were used", got)
	}
}

func TestInboxGivesItsListBackAfterABurst(t *testing.T) {
	r := newRig()
	hs := make([]Reservation[int, rig], 64*20_000)
	for i := range hs {
		hs[i] = r.reserve(t, i)
	}
	r.collect()
	for i := range hs {
		if i%64 == 0 {
			hs[i].Release()
		}
	}
	r.collect() // something was found in every segment: all are hot
	if len(r.in.hot) < 19_000 {
		t.Fatalf("%d segments are hot: the burst is none", len(r.in.hot))
	}
	for i := range hs {
		if i%64 != 0 {
			hs[i].Release()
		}
	}
	r.collect()
	if n := cap(r.in.hot); n > 1024 {
		t.Errorf("room for %d segments kept", n)
	}
}

func TestSegmentLayout(t *testing.T) {
	var s Segment[int64, rig]
	if unsafe.Sizeof(uintptr(0)) == 8 {
		if off := unsafe.Offsetof(s.next); off != 64 {
			t.Errorf("what the consumer writes starts at byte %d, want 64", off)
		}
		if size := unsafe.Sizeof(s); size != 120 {
			t.Errorf("header of %d bytes, want 120", size)
		}
		for range 100 {
			for _, n := range []int{32, 64} {
				if a := uintptr(unsafe.Pointer(&allocSegment[int64, rig](n).cells[0])); a%64 != 0 {
					t.Fatalf("the %d cells start %d bytes into a cache line", n, a%64)
				}
			}
		}
		if size := unsafe.Sizeof(cell[int64]{}); size != 16 {
			t.Errorf("cell of %d bytes, want 16", size)
		}
	}
}

// A holder that was delayed between its CAS and its mark brings a segment to
// the inbox that was passed, is free, or is used for other cells by now.
func TestInboxTakesALateMark(t *testing.T) {
	for reuse := range 3 {
		r := newRig()
		for i := range 128 {
			r.reserve(t, i).Release()
		}
		r.collect()
		r.take()
		s := r.q.cur // the segment of cells 64…127, seen complete
		r.reserve(t, 128)
		r.collect()
		r.take() // passes s: it is free now
		if s.live {
			t.Fatal("the segment was not passed")
		}
		switch reuse {
		case 0: // late mark of a free segment
			s.notice()
			r.collect()
		case 1: // late mark of a segment the consumer does not know yet
			s.notice()
			hs := fill(t, r, s)
			r.collect()
			hs.Release()
		case 2: // late mark of a segment that is in use again
			hs := fill(t, r, s)
			r.collect()
			s.notice()
			hs.Release()
			r.collect()
			s.notice()
		}
		r.collect()
		r.in.News()
		if r.res != int(r.q.Next()) {
			t.Fatalf("case %d: %d of %d reservations reported", reuse, r.res, r.q.Next())
		}
	}
}

// fill reserves until s is the tail again and returns the handle of the cell
// that is in it.
func fill(t *testing.T, r *rig, s *Segment[int, rig]) Reservation[int, rig] {
	for i := 0; ; i++ {
		h := r.reserve(t, i)
		if h.segment == s {
			return h
		}
		h.Release()
		if i > 1000 {
			t.Fatal("the segment is not used again")
		}
	}
}

func TestDiscardingQueueReportsAndKeepsNothing(t *testing.T) {
	for _, reuse := range []bool{true, false} {
		r := newRig()
		a := r.reserve(t, 0)
		for i := range 300 {
			r.reserve(t, i).Release()
		}
		r.collect()
		r.q.Discard(reuse)
		rounds := 100
		for range rounds {
			for i := range 640 {
				r.reserve(t, i).Release()
			}
			r.collect()
			if _, n, _ := r.q.Advance(); n != 0 {
				t.Fatal("a discarding queue was taken from")
			}
		}
		a.Release()
		r.collect()
		if want := 301 + rounds*640; r.res != want || r.pub != want {
			t.Fatalf("reuse %v: reported %d and %d of %d", reuse, r.res, r.pub, want)
		}
		if reuse && r.q.spare.Load() == 0 {
			t.Fatal("segments are not used again")
		}
	}
}

func TestOldReservationDoesNotPinTheChain(t *testing.T) {
	for _, mode := range []string{"in order", "discard"} {
		r := newRig()
		var old []Reservation[int, rig]
		if mode == "discard" {
			r.q.Discard(true)
			old = append(old, r.reserve(t, 0)) // never released
		}
		for i := range 200_000 {
			h := r.reserve(t, i)
			if i%1000 == 0 {
				old = append(old, h)
			}
			h.Release()
			if i%256 == 0 {
				r.collect()
				r.q.Advance()
			}
		}
		seen := map[*Segment[int, rig]]bool{}
		for _, h := range old {
			for s := h.segment; s != nil && !seen[s]; s = s.next.Load() {
				seen[s] = true
			}
		}
		// What hangs on old handles are the spare segments and those in use.
		if len(seen) > maxSpare+len(old)+8 {
			t.Errorf("%s: old handles reach %d segments", mode, len(seen))
		}
	}
}

func TestTakeZeroesPointers(t *testing.T) {
	in := NewInbox[*int, int](nil)
	var q InOrder[*int, int]
	q.Init(in, nil)
	for range 3 {
		h, _ := q.Reserve(new(int))
		h.Release()
	}
	in.Collect(func(*InOrder[*int, int], int, int) {})
	func() {
		defer func() { _ = recover() }()
		q.Take(func(*int) { panic("first") })
	}()
	if q.Taken() != 1 {
		t.Fatalf("a panicking callback took %d cells, want 1", q.Taken())
	}
	if n := q.Take(func(*int) {}); n != 2 {
		t.Fatalf("took %d after the panic, want 2", n)
	}
	for i := range q.head.cells {
		if q.head.cells[i].value != nil {
			t.Errorf("taken cell %d still refers to its value", i)
		}
	}
}

func TestInboxNewsIsExact(t *testing.T) {
	woken := 0
	r := &rig{}
	r.in = NewInbox[int, rig](func() { woken++ })
	r.q.Init(r.in, r)
	expect := func(what string, want bool) {
		t.Helper()
		if got := r.in.News(); got != want {
			t.Fatalf("%s: News %v, want %v", what, got, want)
		}
	}
	expect("empty", false)
	a := r.reserve(t, 1)
	expect("reserved", true)
	expect("asked again", true)
	r.collect()
	expect("collected", false)
	before := woken
	a.Release()
	if woken == before {
		t.Fatal("no wake-up although News had said false")
	}
	expect("released", true)
	r.collect()
	expect("collected again", false)
	for i := range 1000 { // over segment edges, with hot segments
		before = woken
		h := r.reserve(t, i)
		if woken == before {
			t.Fatalf("no wake-up for reservation %d", i)
		}
		expect("reserved", true)
		r.collect()
		r.q.Advance()
		expect("collected", false)
		before = woken
		h.Release()
		if woken == before {
			t.Fatalf("no wake-up for release %d", i)
		}
		expect("released", true)
		r.collect()
		expect("collected", false)
	}
	if r.res != 1001 || r.pub != 1001 {
		t.Fatalf("News took something over: %d, %d reported", r.res, r.pub)
	}
}

// One producer, several holders, one consumer: the values come out in the
// order of reservation, each once, and none is lost.
func TestInOrderUnderConcurrency(t *testing.T) {
	total := 200_000
	if testing.Short() {
		total = 20_000
	}
	for _, holders := range []int{1, 3} {
		r := newRig()
		work := make(chan Reservation[int, rig], 512)
		var wg sync.WaitGroup
		for range holders {
			wg.Go(func() {
				var kept []Reservation[int, rig]
				for h := range work {
					if kept = append(kept, h); len(kept) == 7 {
						rand.Shuffle(7, func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
						for _, k := range kept {
							k.Release()
							if k.Release() {
								t.Error("second Release of a single hold was accepted")
							}
						}
						kept = kept[:0]
					}
				}
				for _, k := range kept {
					k.Release()
				}
			})
		}
		go func() {
			for i := range total {
				h, _ := r.q.Reserve(i)
				work <- h
			}
			close(work)
		}()
		next := 0
		for next < total {
			r.collect()
			r.q.Take(func(v int) {
				if v != next {
					t.Fatalf("took %d, want %d", v, next)
				}
				next++
			})
			if out := r.q.Outstanding(); out < 0 || out > total {
				t.Fatalf("Outstanding %d", out)
			}
			runtime.Gosched()
		}
		wg.Wait()
		r.collect()
		if r.res != total || r.pub != total {
			t.Fatalf("%d holders: %d reserved, %d published of %d", holders, r.res, r.pub, total)
		}
	}
}

func TestInOrderAllocatesNothingInSteadyState(t *testing.T) {
	r := newRig()
	hs := make([]Reservation[int, rig], 8192)
	cycle := func() {
		for i := range hs {
			hs[i], _ = r.q.Reserve(i)
			hs[i].Retain(1)
		}
		for _, h := range hs {
			h.Release()
			h.Release()
			h.Fail() // late, else the queue would stall
		}
		r.collect()
		r.q.Advance()
	}
	cycle()
	cycle()
	if n := testing.AllocsPerRun(20, cycle); n != 0 {
		t.Errorf("%v allocations in a cycle of 8192", n)
	}
}
