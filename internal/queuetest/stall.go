package queuetest

import (
	"context"
	"errors"
	"time"
)

// stallCases stop a producer between its claim and its publication.
func stallCases() []testCase {
	stalls := func(_ Form, q Queue[uint64]) bool { return q.Claim != nil }
	passes := func(f Form, q Queue[uint64]) bool { return q.Claim != nil && !f.GapBlocks }
	blocks := func(f Form, q Queue[uint64]) bool { return q.Claim != nil && f.GapBlocks }
	waits := func(f Form, q Queue[uint64]) bool { return passes(f, q) && q.Wait != nil }
	return []testCase{
		{"a stalled producer delays its own element alone", passes, stalledDelaysItself},
		{"a stalled producer holds back what is behind it", blocks, stalledHoldsBack},
		{"many stalled producers finish in any order", stalls, manyStalled},
		{"Wait sees what lies behind a stalled producer", waits, waitBehindStalled},
		{"Wait does not end before an unfinished push", func(f Form, q Queue[uint64]) bool {
			return stalls(f, q) && q.Wait != nil && q.Close != nil
		}, waitForUnfinished},
	}
}

func stalledDelaysItself(t T, f Form) {
	for _, cfg := range configs(f, 600) {
		for i, k := range takers(f.Ints(cfg)) {
			q := f.Ints(cfg)
			take := takers(q)[i].take
			l := newLedger(t, f, 2)
			p := q.Producer()
			pushed := 0
			push := func(n int) {
				for range n {
					p.Push(id(0, pushed))
					pushed++
				}
			}
			for round := range 5 {
				push(round)
				publish := q.Claim()
				push(40 * round)
				got, calls := 0, f.Lazy+1
				if k.name != "Drain" {
					calls += 41 * round // a call may be good for one element
				}
				for range calls {
					got += take(l.add)
				}
				if got != 41*round {
					t.Fatalf("%+v, %s: took %d of the %d elements around a stalled one", cfg, k.name, got, 41*round)
				}
				if f.ExactLen && q.Len() != 1 {
					t.Errorf("%+v, %s: Len is %d beside one unfinished push, want 1", cfg, k.name, q.Len())
				}
				publish(id(1, round))
				push(1)
				takeN(t, take, 2, l.add)
				l.expect(0, pushed)
				l.expect(1, round+1)
				expectEmpty(t, f, q)
			}
			closeProducer(p)
		}
	}
}

func stalledHoldsBack(t T, f Form) {
	for _, cfg := range configs(f, 600) {
		q := f.Ints(cfg)
		take := takers(q)[0].take
		p := q.Producer()
		var got []uint64
		add := func(v uint64) { got = append(got, v) }
		p.Push(1)
		publish := q.Claim()
		for v := range uint64(100) {
			p.Push(3 + v)
		}
		for range 20 {
			take(add)
		}
		if len(got) != 1 || got[0] != 1 {
			t.Fatalf("%+v: took %v before the unfinished element, want [1]", cfg, got)
		}
		publish(2)
		takeN(t, take, 101, add)
		for i, v := range got {
			if v != uint64(i+1) {
				t.Fatalf("%+v: element %d is %d, want %d", cfg, i, v, i+1)
			}
		}
		closeProducer(p)
	}
}

func manyStalled(t T, f Form) {
	const n = 60
	for _, cfg := range configs(f, 2*n) {
		// The i-th to finish is the one that claimed at order(i).
		for _, order := range []func(int) int{
			func(i int) int { return i },
			func(i int) int { return n - 1 - i },
			func(i int) int { return i * 7 % n },
		} {
			q := f.Ints(cfg)
			take := takers(q)[0].take
			l := newLedger(t, f, n+1)
			p := q.Producer()
			var publish [n]func(uint64)
			for i := range n {
				publish[i] = q.Claim()
				p.Push(id(n, i))
			}
			for i := range n {
				take(l.add)
				publish[order(i)](id(order(i), 0))
			}
			for range f.Lazy + 1 {
				take(l.add)
			}
			for i := range n {
				l.expect(i, 1)
			}
			l.expect(n, n)
			expectEmpty(t, f, q)
			closeProducer(p)
		}
	}
}

func waitBehindStalled(t T, f Form) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, cfg := range configs(f, 64) {
		for i, k := range takers(f.Ints(cfg)) {
			q := f.Ints(cfg)
			take := takers(q)[i].take
			p := q.Producer()
			publish := q.Claim()
			for seq := range 30 {
				if err := q.Wait(done); !errors.Is(err, context.Canceled) {
					t.Fatalf("%+v: Wait beside an unfinished push alone: %v, want the context's error", cfg, err)
				}
				take(func(uint64) { t.Fatalf("%+v: took an unfinished element", cfg) })
				p.Push(id(0, seq))
				if err := q.Wait(done); err != nil {
					t.Fatalf("%+v: Wait with an element behind an unfinished one: %v", cfg, err)
				}
				if n := take(func(uint64) {}); n != 1 {
					t.Fatalf("%+v: %s after Wait took %d, want 1", cfg, k.name, n)
				}
			}
			publish(id(1, 0))
			if err := q.Wait(done); err != nil {
				t.Fatalf("%+v: Wait with the late element published: %v", cfg, err)
			}
			if n := take(func(uint64) {}); n != 1 {
				t.Fatalf("%+v: %s of the late element took %d, want 1", cfg, k.name, n)
			}
			closeProducer(p)
		}
	}
}

func waitForUnfinished(t T, f Form) {
	for _, cfg := range configs(f, 64) {
		for _, before := range []int{0, 1, 2, 33} {
			q := f.Ints(cfg)
			p := q.Producer()
			for seq := range before {
				p.Push(id(0, seq))
			}
			publish := q.Claim()
			q.Close()
			if p.Push(9) {
				t.Fatalf("%+v: Push succeeded after Close", cfg)
			}
			l := newLedger(t, f, 2)
			takeN(t, takers(q)[0].take, before, l.add)
			soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			if err := q.Wait(soon); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%+v: Wait beside an unfinished push of a closed queue: %v, want the deadline's error", cfg, err)
			}
			cancel()
			result := make(chan error)
			go func() { result <- waitLong(q) }()
			publish(id(1, 0))
			if err := <-result; err != nil {
				t.Fatalf("%+v: Wait for the unfinished push: %v", cfg, err)
			}
			takeN(t, takers(q)[0].take, 1, l.add)
			l.expect(1, 1)
			if err := waitLong(q); !errors.Is(err, q.Closed) {
				t.Fatalf("%+v: Wait on a closed and empty queue: %v, want %v", cfg, err, q.Closed)
			}
			closeProducer(p)
		}
	}
}
