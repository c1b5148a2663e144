package queuetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// closeCases close queues and park consumers.
func closeCases() []testCase {
	closes := func(_ Form, q Queue[uint64]) bool { return q.Close != nil }
	waits := func(_ Form, q Queue[uint64]) bool { return q.Wait != nil }
	both := func(_ Form, q Queue[uint64]) bool { return q.Wait != nil && q.Close != nil }
	return []testCase{
		{"Close keeps what was pushed and refuses the rest", closes, closeKeeps},
		{"close against push: delivered or refused", closes, closeAgainstPush},
		{"close against batches: all or nothing", func(f Form, q Queue[uint64]) bool {
			return closes(f, q) && q.Producer().PushBatch != nil
		}, closeAgainstBatches},
		{"a producer made after Close refuses", closes, producerAfterClose},
		{"Wait answers by element, closed, context, in this order", both, waitOrder},
		{"Wait is cancelled while parked", waits, waitCancelled},
		{"park against the last push", waits, parkAgainstPush},
		{"Wait and Drain against Close with open producers", both, waitDrainClose},
	}
}

func closeKeeps(t T, f Form) {
	for _, cfg := range configs(f, 100) {
		for _, n := range []int{0, 1, 2, 32, 64, 100} {
			q := f.Ints(cfg)
			p := q.Producer()
			for seq := range n {
				p.Push(id(0, seq))
			}
			q.Close()
			q.Close()
			for range 3 {
				if p.Push(1) {
					t.Fatalf("%+v: Push after Close with %d pending succeeded", cfg, n)
				}
			}
			if p.PushBatch != nil && p.PushBatch(make([]uint64, 300)) != 0 {
				t.Fatalf("%+v: PushBatch after Close succeeded", cfg)
			}
			if f.ExactLen && q.Len() != n {
				t.Fatalf("%+v: Len after Close is %d, want %d", cfg, q.Len(), n)
			}
			l := newLedger(t, f, 1)
			takeN(t, takers(q)[0].take, n, l.add)
			l.expect(0, n)
			expectEmpty(t, f, q)
			q.Close()
			expectEmpty(t, f, q)
			closeProducer(p)
		}
	}
}

// closeRace runs producers that push until they are refused, or for long
// enough, beside the consumer, which closes at some point. What was accepted
// must come out.
func closeRace(t T, f Form, cfg Config, push func(p Producer[uint64], i, seq int) int) {
	producers := 4
	if f.SingleProducer {
		producers = 1
	}
	q := f.Ints(cfg)
	accepted := make([]int, producers)
	var wg sync.WaitGroup
	for i := range producers {
		p := q.Producer()
		wg.Go(func() {
			defer closeProducer(p)
			for accepted[i] < 2000 {
				n := push(p, i, accepted[i])
				if n == 0 {
					if p.Push(id(i, 0)) {
						t.Errorf("%+v: a push succeeded after one was refused", cfg)
					}
					return
				}
				if accepted[i] += n; rand.IntN(16) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	l := newLedger(t, f, producers)
	take := takers(q)[0].take
	for range rand.IntN(40) {
		take(l.add)
		runtime.Gosched()
	}
	// Two goroutines close; a third push after either must fail.
	wg.Go(q.Close)
	q.Close()
	// A bounded queue may have producers that wait for room.
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	for running := true; running; {
		select {
		case <-finished:
			running = false
		default:
			take(l.add)
			runtime.Gosched()
		}
	}
	for take(l.add) > 0 {
	}
	for i := range producers {
		l.expect(i, accepted[i])
	}
	expectEmpty(t, f, q)
}

func closeAgainstPush(t T, f Form) {
	for _, cfg := range configs(f, 4096) {
		for range scale(30) {
			closeRace(t, f, cfg, func(p Producer[uint64], i, seq int) int {
				if p.Push(id(i, seq)) {
					return 1
				}
				return 0
			})
		}
	}
}

func closeAgainstBatches(t T, f Form) {
	for _, cfg := range configs(f, 4096) {
		for range scale(30) {
			closeRace(t, f, cfg, func(p Producer[uint64], i, seq int) int {
				vs := make([]uint64, 1+seq%37)
				for k := range vs {
					vs[k] = id(i, seq+k)
				}
				n := p.PushBatch(vs)
				if n != 0 && n != len(vs) {
					t.Errorf("PushBatch of %d accepted %d", len(vs), n)
				}
				return n
			})
		}
	}
}

func producerAfterClose(t T, f Form) {
	q := f.Ints(Config{Buffer: 8})
	q.Close()
	p := q.Producer()
	if p.Push(1) {
		t.Errorf("Push succeeded through a producer made after Close")
	}
	if p.PushBatch != nil && p.PushBatch([]uint64{1, 2}) != 0 {
		t.Errorf("PushBatch succeeded through a producer made after Close")
	}
	closeProducer(p)
	closeProducer(p)
	expectEmpty(t, f, q)
	if q.Wait != nil {
		if err := waitLong(q); !errors.Is(err, q.Closed) {
			t.Errorf("Wait on a closed and empty queue: %v, want %v", err, q.Closed)
		}
	}
}

func waitOrder(t T, f Form) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	q := f.Ints(Config{Buffer: 8})
	p := q.Producer()
	if err := q.Wait(done); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait on an empty queue with a cancelled context: %v", err)
	}
	p.Push(id(0, 0))
	if err := q.Wait(done); err != nil {
		t.Errorf("Wait with an element and a cancelled context: %v, want nil", err)
	}
	q.Close()
	if err := q.Wait(done); err != nil {
		t.Errorf("Wait on a closed queue with an element: %v, want nil", err)
	}
	takeN(t, takers(q)[0].take, 1, func(uint64) {})
	if err := q.Wait(done); !errors.Is(err, q.Closed) {
		t.Errorf("Wait on a closed and empty queue with a cancelled context: %v, want %v", err, q.Closed)
	}
	closeProducer(p)
}

func waitCancelled(t T, f Form) {
	q := f.Ints(Config{Buffer: 8})
	p := q.Producer()
	soon, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
	defer cancel()
	if err := q.Wait(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait past its deadline: %v", err)
	}
	// The wait that ended leaves nothing behind that harms the next.
	p.Push(id(0, 0))
	if err := waitLong(q); err != nil {
		t.Errorf("Wait with an element: %v", err)
	}
	takeN(t, takers(q)[0].take, 1, func(uint64) {})
	expectEmpty(t, f, q)
	closeProducer(p)
}

func parkAgainstPush(t T, f Form) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q := f.Ints(Config{SegmentSize: 2, Buffer: 8})
	take := takers(q)[0].take
	rounds := scale(10000)
	var turn atomic.Int64
	p := q.Producer()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for i := range rounds {
			for turn.Load() < int64(i) && ctx.Err() == nil {
				runtime.Gosched()
			}
			p.Push(id(0, i))
		}
	}()
	for i := range rounds {
		if err := q.Wait(ctx); err != nil {
			t.Fatalf("round %d: Wait: %v (a lost wake-up)", i, err)
		}
		takeN(t, take, 1, func(uint64) {})
		turn.Store(int64(i + 1))
	}
	<-finished
	expectEmpty(t, f, q)
	closeProducer(p)
}

func waitDrainClose(t T, f Form) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, cfg := range configs(f, 4096) {
		for round := range scale(60) {
			producers := 3
			if f.SingleProducer {
				producers = 1
			}
			q := f.Ints(cfg)
			accepted := make([]int, producers)
			open := make([]Producer[uint64], producers)
			var wg sync.WaitGroup
			for i := range producers {
				open[i] = q.Producer()
				wg.Go(func() {
					for accepted[i] < 5+round && open[i].Push(id(i, accepted[i])) {
						accepted[i]++
					}
				})
			}
			wg.Go(func() {
				for range round * 20 {
					runtime.Gosched()
				}
				q.Close()
			})
			l := newLedger(t, f, producers)
			take := takers(q)[round%len(takers(q))].take
			var err error
			for err = q.Wait(ctx); err == nil; err = q.Wait(ctx) {
				take(l.add)
			}
			if !errors.Is(err, q.Closed) {
				t.Fatalf("%+v: Wait: %v, want %v", cfg, err, q.Closed)
			}
			// Closed means: nothing comes any more.
			expectEmpty(t, f, q)
			wg.Wait()
			expectEmpty(t, f, q)
			for i, p := range open {
				l.expect(i, accepted[i])
				closeProducer(p)
			}
		}
	}
}
