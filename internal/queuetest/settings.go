package queuetest

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// settingCases look at beginnings, and at traffic under settings of the
// scheduler and the collector.
func settingCases() []testCase {
	return []testCase{
		{"first pushes, the consumer and Close meet on a new queue", nil, firstMeets},
		{"pointers survive every scheduler and collector setting", func(f Form, _ Queue[uint64]) bool { return f.Pointers != nil }, pointersUnderSettings},
		{"a callback that panics beside a stalled producer loses nothing", func(f Form, q Queue[uint64]) bool {
			return f.PanicSafe && q.Drain != nil && q.Claim != nil && !f.GapBlocks
		}, failingBesideStalled},
	}
}

// firstMeets makes a queue, and then two producers push, the consumer takes and
// somebody closes, all as the first thing that happens to it. What was accepted
// comes out, nothing else does.
func firstMeets(t T, f Form) {
	for _, cfg := range configs(f, 8) {
		for round := range scale(1000) {
			q := f.Ints(cfg)
			producers := []Producer[uint64]{q.Producer()}
			if !f.SingleProducer {
				producers = append(producers, q.Producer())
			}
			start := make(chan struct{})
			accepted := make([]int, len(producers))
			var wg sync.WaitGroup
			for i, p := range producers {
				wg.Go(func() {
					<-start
					for accepted[i] < 2 && p.Push(id(i, accepted[i])) {
						accepted[i]++
					}
				})
			}
			if q.Close != nil && round%2 == 1 {
				wg.Go(func() {
					<-start
					q.Close()
				})
			}
			l := newLedger(t, f, len(producers))
			take := takers(q)[round/2%len(takers(q))].take
			close(start)
			for range 3 {
				take(l.add)
			}
			wg.Wait()
			for take(l.add) > 0 {
			}
			for i, p := range producers {
				if q.Close == nil && accepted[i] != 2 {
					t.Fatalf("%+v: an open queue accepted %d of 2 elements", cfg, accepted[i])
				}
				l.expect(i, accepted[i])
				closeProducer(p)
			}
			expectEmpty(t, f, q)
		}
	}
}

// pointersUnderSettings moves elements that hold memory, with few and many
// processors, and with a collector that always runs or never.
func pointersUnderSettings(t T, f Form) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, procs := range []int{1, 2, 8} {
		for _, percent := range []int{1, -1} {
			runtime.GOMAXPROCS(procs)
			debug.SetGCPercent(percent)
			for _, cfg := range configs(f, 256) {
				movePointers(t, f, cfg, scale(1000))
			}
		}
	}
}

func movePointers(t T, f Form, cfg Config, each int) {
	q := f.Pointers(cfg)
	producers := 4
	if f.SingleProducer {
		producers = 1
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range producers {
		p := q.Producer()
		wg.Go(func() {
			defer closeProducer(p)
			for seq := range each {
				v := &Payload{ID: id(i, seq)}
				v.Body[47] = byte(seq)
				if !p.Push(v) {
					t.Errorf("%+v: Push refused an element of an open queue", cfg)
				}
			}
		})
	}
	l := newLedger(t, f, producers)
	take := pointerCallbacks(q)
	takeN(t, func(f func(uint64)) int {
		return take(func(v *Payload) {
			if _, seq := split(v.ID); v.Body[47] != byte(seq) {
				t.Errorf("%+v: element %#x came with %d in it", cfg, v.ID, v.Body[47])
			}
			f(v.ID)
		})
	}, producers*each, l.add)
	for i := range producers {
		l.expect(i, each)
	}
}

// pointerCallbacks returns the queue's Drain, or what does the same.
func pointerCallbacks(q Queue[*Payload]) func(func(*Payload)) int {
	if q.Drain != nil {
		return q.Drain
	}
	dst := make([]*Payload, 50)
	return func(f func(*Payload)) int {
		n := q.DrainTo(dst)
		for i, v := range dst[:n] {
			dst[i] = nil
			f(v)
		}
		return n
	}
}

// failingBesideStalled lets a callback panic at each element while producers
// stand between claim and publication, before and after the late ones are
// published.
func failingBesideStalled(t T, f Form) {
	const n, stalled = 12, 3
	for _, cfg := range configs(f, 64) {
		for fail := range n + stalled {
			q := f.Ints(cfg)
			p := q.Producer()
			l := newLedger(t, f, stalled+1)
			var publish [stalled]func(uint64)
			for seq := range n {
				if seq%4 == 1 {
					publish[seq/4] = q.Claim()
				}
				p.Push(id(stalled, seq))
			}
			calls := 0
			take := func() {
				if caught(func() {
					q.Drain(func(v uint64) {
						l.add(v)
						if calls++; calls == fail+1 {
							panic("callback")
						}
					})
				}) != nil && calls != fail+1 {
					t.Fatalf("%+v: Drain panicked by itself after %d callbacks", cfg, calls)
				}
			}
			for range f.Lazy + 2 {
				take()
			}
			l.expect(stalled, n)
			for i, done := range publish {
				done(id(i, 0))
				take()
			}
			for range 2 {
				take()
			}
			for i := range stalled {
				l.expect(i, 1)
			}
			if calls != n+stalled {
				t.Errorf("%+v: %d callbacks for %d elements", cfg, calls, n+stalled)
			}
			expectEmpty(t, f, q)
			closeProducer(p)
		}
	}
}
