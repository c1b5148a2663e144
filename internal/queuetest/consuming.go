package queuetest

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// consumerCases concern the consumer's calls themselves.
func consumerCases() []testCase {
	drains := func(_ Form, q Queue[uint64]) bool { return q.Drain != nil }
	panicSafe := func(f Form, q Queue[uint64]) bool { return q.Drain != nil && f.PanicSafe }
	exclusive := func(f Form, q Queue[uint64]) bool { return q.Drain != nil && f.Exclusive }
	return []testCase{
		{"a callback that panics has consumed its element alone", panicSafe, func(t T, f Form) {
			failingCallback(t, f, func(take func()) {
				if caught(take) == nil {
					t.Errorf("the callback's panic did not come through")
				}
			}, func() { panic("callback") })
		}},
		{"a callback that exits has consumed its element alone", panicSafe, func(t T, f Form) {
			failingCallback(t, f, func(take func()) {
				var wg sync.WaitGroup
				wg.Go(take)
				wg.Wait()
			}, runtime.Goexit)
		}},
		{"Drain ends while its callback pushes", func(f Form, q Queue[uint64]) bool { return drains(f, q) && !f.GapBlocks }, reentrantPush},
		{"Drain ends while producers push", drains, drainEnds},
		{"a consumer call in a callback panics", exclusive, callInCallback},
		{"a second consumer panics", exclusive, secondConsumer},
		{"a consumer call beside a parked Wait panics", func(f Form, q Queue[uint64]) bool {
			return exclusive(f, q) && q.Wait != nil
		}, callBesideWait},
		{"DrainTo moves no more than fits", func(_ Form, q Queue[uint64]) bool { return q.DrainTo != nil }, drainToSizes},
	}
}

func failingCallback(t T, f Form, guard func(take func()), fail func()) {
	for _, cfg := range configs(f, 160) {
		for _, k := range []int{0, 1, 2, 31, 32, 63, 64, 65, 99, 149} {
			const n = 150
			q := f.Ints(cfg)
			p := q.Producer()
			for seq := range n {
				p.Push(id(0, seq))
			}
			l := newLedger(t, f, 1)
			calls := 0
			guard(func() {
				q.Drain(func(v uint64) {
					l.add(v)
					if calls++; calls == k+1 {
						fail()
					}
				})
			})
			if calls != k+1 {
				t.Fatalf("%+v: %d callbacks before the one that fails, want %d", cfg, calls-1, k)
			}
			if f.ExactLen && q.Len() != n-k-1 {
				t.Errorf("%+v: Len is %d after callback %d failed, want %d", cfg, q.Len(), k, n-k-1)
			}
			takeN(t, q.Drain, n-k-1, l.add)
			l.expect(0, n)
			expectEmpty(t, f, q)
			closeProducer(p)
		}
	}
}

func reentrantPush(t T, f Form) {
	for _, cfg := range configs(f, 4096) {
		for _, first := range []int{1, 10, 200} {
			q := f.Ints(cfg)
			p := q.Producer()
			pushed := 0
			push := func() {
				if p.Push(id(0, pushed)) {
					pushed++
				}
			}
			for range first {
				push()
			}
			l := newLedger(t, f, 1)
			n := q.Drain(func(v uint64) {
				l.add(v)
				push()
				if pushed > 100000 {
					t.Fatalf("%+v: Drain goes on as long as its callback pushes", cfg)
				}
			})
			if n < first {
				t.Errorf("%+v: Drain took %d of %d elements that were there", cfg, n, first)
			}
			if f.ExactLen && q.Len() != first {
				t.Errorf("%+v: Len is %d, want %d", cfg, q.Len(), first)
			}
			takeN(t, q.Drain, pushed-n, l.add)
			l.expect(0, pushed)
			closeProducer(p)
		}
	}
}

// drainEnds counts what one Drain takes beside a producer that never stops by
// itself: it must not be all that is ever pushed.
func drainEnds(t T, f Form) {
	for _, cfg := range configs(f, 4096) {
		q := f.Ints(cfg)
		const most = 200000
		var stop atomic.Bool
		pushed := make(chan int)
		p := q.Producer()
		go func() {
			defer closeProducer(p)
			seq := 0
			for ; seq < most && !stop.Load(); seq++ {
				p.Push(id(0, seq))
			}
			pushed <- seq
		}()
		l := newLedger(t, f, 1)
		got := 0
		for range 3 {
			got += q.Drain(l.add)
		}
		stop.Store(true)
		for running := true; running; {
			select {
			case n := <-pushed:
				takeN(t, q.Drain, n-got, l.add)
				l.expect(0, n)
				running = false
			default: // a producer of a bounded queue may wait for room
				got += q.Drain(l.add)
			}
		}
	}
}

// consumerCalls returns every consumer call of the queue by name.
func consumerCalls(q Queue[uint64]) map[string]func() {
	calls := map[string]func(){"Drain": func() { q.Drain(func(uint64) {}) }}
	if q.TryPop != nil {
		calls["TryPop"] = func() { q.TryPop() }
	}
	if q.DrainTo != nil {
		calls["DrainTo"] = func() { q.DrainTo(make([]uint64, 4)) }
		calls["DrainTo(nil)"] = func() { q.DrainTo(nil) }
	}
	if q.Wait != nil {
		calls["Wait"] = func() { _ = waitLong(q) }
	}
	return calls
}

// expectRefused checks that the call panics with a message that names it.
func expectRefused(t T, name string, call func()) {
	t.Helper()
	method, _, _ := strings.Cut(name, "(")
	message, _ := caught(call).(string)
	if !strings.Contains(message, method) {
		t.Errorf("%s inside another consumer call panicked with %q, want a message that names it", name, message)
	}
}

func callInCallback(t T, f Form) {
	q := f.Ints(Config{Buffer: 16})
	p := q.Producer()
	for seq := range 10 {
		p.Push(id(0, seq))
	}
	l := newLedger(t, f, 1)
	if n := q.Drain(func(v uint64) {
		l.add(v)
		for name, call := range consumerCalls(q) {
			expectRefused(t, name, call)
		}
	}); n != 10 {
		t.Errorf("Drain took %d of 10 elements", n)
	}
	// A refusal that is not caught goes through Drain.
	p.Push(id(0, 10))
	p.Push(id(0, 11))
	expectRefused(t, "Drain", func() {
		q.Drain(func(v uint64) {
			l.add(v)
			q.Drain(l.add)
		})
	})
	takeN(t, q.Drain, 1, l.add)
	l.expect(0, 12)
	expectEmpty(t, f, q)
	closeProducer(p)
}

func secondConsumer(t T, f Form) {
	q := f.Ints(Config{Buffer: 16})
	p := q.Producer()
	p.Push(id(0, 0))
	inside, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var once sync.Once
	wg.Go(func() {
		q.Drain(func(uint64) {
			once.Do(func() { close(inside) })
			<-leave
		})
	})
	<-inside
	for name, call := range consumerCalls(q) {
		expectRefused(t, name, call)
	}
	p.Push(id(0, 1))
	close(leave)
	wg.Wait()
	// The element pushed meanwhile was taken by the Drain or is there now. In
	// turn, several goroutines may be the consumer.
	wg.Go(func() { q.Drain(func(uint64) {}) })
	wg.Wait()
	expectEmpty(t, f, q)
	closeProducer(p)
}

func callBesideWait(t T, f Form) {
	q := f.Ints(Config{Buffer: 16})
	p := q.Producer()
	result := make(chan error)
	go func() {
		// A Wait that comes while the call below is in its window is refused
		// in its turn, and tried again.
		for {
			var err error
			if caught(func() { err = waitLong(q) }) == nil {
				result <- err
				return
			}
		}
	}()
	// Wait opens its window some time after its goroutine started.
	deadline := time.Now().Add(patience)
	for caught(func() { q.DrainTo(nil) }) == nil {
		if time.Now().After(deadline) {
			t.Fatalf("a consumer call beside Wait does not panic")
		}
		runtime.Gosched()
	}
	for name, call := range consumerCalls(q) {
		expectRefused(t, name, call)
	}
	p.Push(id(0, 0))
	if err := <-result; err != nil {
		t.Errorf("Wait: %v", err)
	}
	takeN(t, q.Drain, 1, func(uint64) {})
	expectEmpty(t, f, q)
	closeProducer(p)
}

func drainToSizes(t T, f Form) {
	for _, cfg := range configs(f, 100) {
		q := f.Ints(cfg)
		p := q.Producer()
		l := newLedger(t, f, 1)
		for seq := range 100 {
			p.Push(id(0, seq))
		}
		left := 100
		for _, size := range []int{0, 1, 3, 0, 40, 200, 5} {
			var dst []uint64
			if size > 0 {
				dst = make([]uint64, size)
			}
			n := q.DrainTo(dst)
			if n != min(size, left) {
				t.Fatalf("%+v: DrainTo of %d with %d there returned %d", cfg, size, left, n)
			}
			left -= n
			for i, v := range dst {
				if i < n {
					l.add(v)
				} else if v != 0 {
					t.Errorf("%+v: DrainTo wrote behind the %d elements it returned", cfg, n)
				}
			}
		}
		l.expect(0, 100)
		expectEmpty(t, f, q)
		closeProducer(p)
	}
}
