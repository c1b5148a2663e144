package mpsc

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

type thing struct {
	ready Ready[thing]
	id    int
	news  atomic.Int64
}

func newThings(n int) []*thing {
	ts := make([]*thing, n)
	for i := range ts {
		ts[i] = &thing{id: i}
		ts[i].ready.Bind(ts[i])
	}
	return ts
}

func TestReadySetHoldsAThingOnce(t *testing.T) {
	var s ReadySet[thing]
	ts := newThings(3)
	if !s.Empty() {
		t.Fatal("a new set is not empty")
	}
	if !s.Mark(&ts[1].ready) || s.Mark(&ts[1].ready) || !s.Mark(&ts[2].ready) {
		t.Fatal("Mark must report whether it added the thing")
	}
	got := map[int]int{}
	if n := s.Drain(func(x *thing) { got[x.id]++ }); n != 2 || got[1] != 1 || got[2] != 1 {
		t.Fatalf("Drain visited %v, want 1 and 2 once each", got)
	}
	if n := s.Drain(func(*thing) {}); n != 0 {
		t.Fatalf("Drain of an empty set visited %d", n)
	}
}

func TestReadySetMarkDuringTheVisitComesAgain(t *testing.T) {
	var s ReadySet[thing]
	ts := newThings(1)
	s.Mark(&ts[0].ready)
	if n := s.Drain(func(x *thing) { s.Mark(&x.ready) }); n != 1 {
		t.Fatalf("Drain visited %d, want 1: it must end although the callback marks", n)
	}
	if n := s.Drain(func(*thing) {}); n != 1 {
		t.Fatalf("the mark made during the visit was lost")
	}
}

func TestReadySetPanickingCallbackLosesNothing(t *testing.T) {
	var s ReadySet[thing]
	ts := newThings(5)
	for _, x := range ts {
		s.Mark(&x.ready)
	}
	visited := map[int]int{}
	func() {
		defer func() { _ = recover() }()
		s.Drain(func(x *thing) {
			visited[x.id]++
			if len(visited) == 2 {
				panic("second")
			}
		})
	}()
	s.Mark(&ts[0].ready) // one that comes on top, unless it is still in
	s.Drain(func(x *thing) { visited[x.id]++ })
	for _, x := range ts {
		if visited[x.id] == 0 {
			t.Errorf("thing %d was lost by the panic; visits %v", x.id, visited)
		}
	}
}

func TestReadySetDetectsASecondConsumerAndAnUnboundHook(t *testing.T) {
	var s ReadySet[thing]
	ts := newThings(1)
	s.Mark(&ts[0].ready)
	mustPanic(t, "Drain within Drain", func() { s.Drain(func(*thing) { s.Drain(func(*thing) {}) }) })
	mustPanic(t, "unbound", func() { s.Mark(&new(thing).ready) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

// Producers add news to things and mark them; the consumer collects the news
// of the things it is shown. In the end nothing may be left uncollected.
func TestReadySetLosesNoNewsUnderConcurrency(t *testing.T) {
	const producers = 4
	rounds := 50_000
	if testing.Short() {
		rounds = 5_000
	}
	var s ReadySet[thing]
	ts := newThings(3)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range rounds {
				x := ts[(i+p)%len(ts)]
				x.news.Add(1)
				s.Mark(&x.ready)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var collected int64
	collect := func() { s.Drain(func(x *thing) { collected += x.news.Swap(0) }) }
	for {
		select {
		case <-done:
			collect()
			if want := int64(producers * rounds); collected != want {
				t.Fatalf("collected %d of %d", collected, want)
			}
			return
		default:
			collect()
			runtime.Gosched()
		}
	}
}
