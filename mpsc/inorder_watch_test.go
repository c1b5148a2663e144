package mpsc

import (
	"runtime"
	"testing"
	"time"
)

// watched reserves through an object of its own, and tells lost when that is
// gone.
func watched(t *testing.T, r *rig, v int, lost chan<- Reservation[int, rig]) Reservation[int, rig] {
	return r.reserve(t, v).Watched(func(h Reservation[int, rig]) { lost <- h })
}

func TestWatchedReservationIsAsGoodAsItsOwn(t *testing.T) {
	woken := 0
	r := &rig{}
	r.in = NewInbox[int, rig](func() { woken++ })
	r.q.Init(r.in, r)
	lost := make(chan Reservation[int, rig], 10_000)
	var old []Reservation[int, rig]
	for i := range 1000 {
		h := watched(t, r, i, lost)
		if h.Seq() != uint64(i) || h.WatchedSeq() != uint64(i) || h.Owner() != r || h.Holds() != 1 {
			t.Fatalf("watched reservation %d: Seq %d, %d holds", i, h.Seq(), h.Holds())
		}
		old = append(old, h)
		r.collect()
		if r.in.News() {
			t.Fatal("news after a Collect")
		}
		h.Retain(2)
		h.ReleaseN(2, false)
		before := woken
		if !h.Release() || h.Release() || h.Holds() != 0 {
			t.Fatal("one hold must allow exactly one release")
		}
		if woken == before || !r.in.News() {
			t.Fatalf("nobody learns of the release of %d", i)
		}
		r.collect()
		if last, n, _ := r.q.Advance(); last != i || n != 1 {
			t.Fatalf("Advance = %d, %d", last, n)
		}
	}
	for _, h := range old {
		if h.Fail(); h.Release() || h.Holds() != 0 {
			t.Fatal("a late release was accepted")
		}
	}
	runtime.KeepAlive(old)
}

func TestLostReservationIsToldWithItsHolds(t *testing.T) {
	r := newRig()
	lost := make(chan Reservation[int, rig], 10)
	next := func() Reservation[int, rig] {
		for range 2000 {
			runtime.GC()
			select {
			case h := <-lost:
				return h
			case <-time.After(time.Millisecond):
			}
		}
		t.Fatal("nothing is told")
		return Reservation[int, rig]{}
	}
	kept := watched(t, r, 1, lost)
	watched(t, r, 2, lost).Retain(4)
	if h := next(); h.Seq() != 1 || h.Holds() != 5 {
		t.Errorf("lost %d with %d holds", h.Seq(), h.Holds())
	}
	watched(t, r, 3, lost).Release()
	h := next()
	if h.Seq() != 2 || h.Holds() != 0 {
		t.Errorf("lost %d with %d holds", h.Seq(), h.Holds())
	}
	kept.Release()
	r.collect()
	if r.pub != 2 {
		t.Errorf("%d published, want 2", r.pub)
	}
	runtime.KeepAlive(kept)
}
