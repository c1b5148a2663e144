package queuetest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// T is what a case reports to. *testing.T is one; the suite's own tests use
// another, to see that broken queues fail.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// patience is how long a case waits for something that must happen. The suite's
// own tests shorten it.
var patience = 30 * time.Second

// testCase is one case of the suite.
type testCase struct {
	name   string
	covers func(f Form, q Queue[uint64]) bool
	run    func(t T, f Form)
}

// Run drives the form through every case its capabilities cover.
func Run(t *testing.T, f Form) {
	ran := 0
	for _, c := range covered(f) {
		ran++
		t.Run(c.name, func(t *testing.T) { c.run(t, f) })
	}
	if ran == 0 {
		t.Fatal("the form declares no capability that any case covers")
	}
}

// covered returns the cases that apply to the form.
func covered(f Form) []testCase {
	q := f.Ints(Config{Buffer: 1})
	var list []testCase
	for _, cases := range [][]testCase{trafficCases(), stallCases(), closeCases(), consumerCases(), memoryCases(), settingCases()} {
		for _, c := range cases {
			if c.covers == nil || c.covers(f, q) {
				list = append(list, c)
			}
		}
	}
	if q.Close != nil {
		q.Close()
	}
	return list
}

// scale shrinks a stress size in short mode and under the race detector's
// usual slowdown, which the caller cannot see from here.
func scale(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// id makes an element that tells its producer and its place.
func id(producer, seq int) uint64 { return uint64(producer)<<32 | uint64(seq) }

func split(v uint64) (producer, seq int) { return int(v >> 32), int(v & (1<<32 - 1)) }

// taker is one way to take elements out of a queue.
type taker struct {
	name string
	take func(f func(uint64)) int
}

// takers returns every way the queue offers.
func takers(q Queue[uint64]) []taker {
	var list []taker
	if q.Drain != nil {
		list = append(list, taker{"Drain", q.Drain})
	}
	if q.DrainTo != nil {
		for _, size := range []int{1, 7, 256} {
			dst := make([]uint64, size)
			list = append(list, taker{fmt.Sprintf("DrainTo(%d)", size), func(f func(uint64)) int {
				n := q.DrainTo(dst)
				for _, v := range dst[:n] {
					f(v)
				}
				return n
			}})
		}
	}
	if q.TryPop != nil {
		list = append(list, taker{"TryPop", func(f func(uint64)) int {
			v, ok := q.TryPop()
			if !ok {
				return 0
			}
			f(v)
			return 1
		}})
	}
	return list
}

// takeN takes until n elements came, yielding when there are none.
func takeN(t T, take func(func(uint64)) int, n int, f func(uint64)) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for got := 0; got < n; {
		k := take(f)
		got += k
		if k > 0 {
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("took %d of %d elements, then none for too long", got, n)
		}
		runtime.Gosched()
	}
}

// ledger checks what comes out: every element once, and in order if there is one.
type ledger struct {
	t       T
	ordered bool
	next    []int
	seen    map[uint64]bool
}

func newLedger(t T, f Form, producers int) *ledger {
	return &ledger{t: t, ordered: !f.Unordered, next: make([]int, producers), seen: map[uint64]bool{}}
}

func (l *ledger) add(v uint64) {
	p, seq := split(v)
	if p >= len(l.next) {
		l.t.Fatalf("popped %#x, which nobody pushed", v)
	}
	if l.ordered {
		if seq != l.next[p] {
			l.t.Fatalf("producer %d: popped element %d, want %d", p, seq, l.next[p])
		}
	} else if l.seen[v] {
		l.t.Fatalf("producer %d: popped element %d twice", p, seq)
	} else {
		l.seen[v] = true
	}
	l.next[p]++
}

// expect checks that producer p's first n elements came, and no more.
func (l *ledger) expect(p, n int) {
	l.t.Helper()
	if l.next[p] != n {
		l.t.Errorf("producer %d: popped %d elements, want %d", p, l.next[p], n)
	}
	for seq := range n {
		if !l.ordered && !l.seen[id(p, seq)] {
			l.t.Errorf("producer %d: element %d was lost", p, seq)
			return
		}
	}
}

// expectEmpty checks that every way of taking finds nothing.
func expectEmpty(t T, f Form, q Queue[uint64]) {
	t.Helper()
	for _, k := range takers(q) {
		if n := k.take(func(v uint64) { t.Errorf("%s took %#x from an empty queue", k.name, v) }); n != 0 {
			t.Errorf("%s returned %d on an empty queue", k.name, n)
		}
	}
	if f.ExactLen {
		if n := q.Len(); n != 0 {
			t.Errorf("Len of an empty queue is %d", n)
		}
	}
}

func closeProducer[E any](p Producer[E]) {
	if p.Close != nil {
		p.Close()
	}
}

// waitLong is a Wait that must end because of the queue: its context is done
// only when the case has lost patience.
func waitLong(q Queue[uint64]) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return q.Wait(ctx)
}

// caught calls f and returns what it panicked with, nil if it did not.
func caught(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
