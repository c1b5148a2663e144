package mpsc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/internal/longtest"
	"github.com/tidemark-go/tidemark/internal/queuetest"
	"github.com/tidemark-go/tidemark/mpsc"
)

// expectPanic checks that f panics with a message that has every part.
func expectPanic(t *testing.T, what string, f func(), parts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		message := fmt.Sprint(recover())
		for _, part := range parts {
			if !strings.Contains(message, part) {
				t.Errorf("%s panicked with %q, want a message with %q", what, message, part)
			}
		}
	}()
	f()
}

func TestOptionsRefuseSizesOutOfRange(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		expectPanic(t, "WithSegmentSize", func() { mpsc.WithSegmentSize(n) }, "mpsc: WithSegmentSize", fmt.Sprint(n), "1..")
	}
	for _, n := range []int{-1, math.MinInt} {
		expectPanic(t, "WithMaxFree", func() { mpsc.WithMaxFree(n) }, "mpsc: WithMaxFree", fmt.Sprint(n), "0 or more")
	}
}

func TestAnySegmentSizeWorks(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, 31, 33, 100, 1 << 20, math.MaxInt} {
		for _, free := range []int{0, 1, math.MaxInt} {
			q := mpsc.New[int](mpsc.WithSegmentSize(size), mpsc.WithMaxFree(free))
			p := q.Producer()
			// Shared pushes are even, the lane's odd.
			next := [2]int{0, 1}
			for i := range 500 {
				q.Push(2 * i)
				p.Push(2*i + 1)
				if i%7 > 0 && i < 499 {
					continue
				}
				q.Drain(func(v int) {
					if v != next[v%2] {
						t.Fatalf("size %d: popped %d, want %d", size, v, next[v%2])
					}
					next[v%2] += 2
				})
			}
			if next != [2]int{1000, 1001} || q.Len() != 0 {
				t.Errorf("size %d, %d free: popped up to %v, Len %d", size, free, next, q.Len())
			}
			p.Close()
		}
	}
}

func TestZeroAndNilReceiversPanicNamingTheConstructor(t *testing.T) {
	for name, q := range map[string]*mpsc.Queue[string]{"nil": nil, "zero": new(mpsc.Queue[string])} {
		for method, call := range map[string]func(){
			"Push":     func() { q.Push("x") },
			"Producer": func() { q.Producer() },
			"TryPop":   func() { q.TryPop() },
			"Drain":    func() { q.Drain(func(string) {}) },
			"DrainTo":  func() { q.DrainTo(nil) },
			"Wait":     func() { _ = q.Wait(context.Background()) },
			"Len":      func() { q.Len() },
			"Close":    func() { q.Close() },
		} {
			expectPanic(t, name+" Queue."+method, call, "mpsc: Queue."+method, "New")
		}
	}
	for name, p := range map[string]*mpsc.Producer[string]{"nil": nil, "zero": new(mpsc.Producer[string])} {
		for method, call := range map[string]func(){
			"Push":      func() { p.Push("x") },
			"PushBatch": func() { p.PushBatch([]string{"x"}) },
			"Close":     func() { p.Close() },
		} {
			expectPanic(t, name+" Producer."+method, call, "mpsc: Producer."+method, "New")
		}
	}
}

func TestNilArgumentsPanicBeforeAnythingIsTaken(t *testing.T) {
	q := mpsc.New[int]()
	q.Push(1)
	var noContext context.Context
	expectPanic(t, "Drain(nil) of a zero queue", func() { new(mpsc.Queue[int]).Drain(nil) }, "mpsc: Queue.Drain", "New")
	expectPanic(t, "Wait(nil) of a zero queue", func() { _ = new(mpsc.Queue[int]).Wait(noContext) }, "mpsc: Queue.Wait", "New")
	expectPanic(t, "Drain(nil)", func() { q.Drain(nil) }, "mpsc: Queue.Drain", "nil")
	expectPanic(t, "Wait(nil)", func() { _ = q.Wait(noContext) }, "mpsc: Queue.Wait", "nil")
	if v, ok := q.TryPop(); v != 1 || !ok {
		t.Errorf("TryPop returned %d, %v after refused calls, want 1, true", v, ok)
	}
	var set mpsc.ReadySet[int]
	expectPanic(t, "ReadySet.Drain(nil)", func() { set.Drain(nil) }, "mpsc: ReadySet.Drain", "nil")
	in := mpsc.NewInbox[int, int](nil)
	expectPanic(t, "Collect(nil)", func() { in.Collect(nil) }, "mpsc: Inbox.Collect", "nil")
	var inOrder mpsc.InOrder[int, int]
	inOrder.Init(in, nil)
	expectPanic(t, "Take(nil)", func() { inOrder.Take(nil) }, "mpsc: InOrder.Take", "nil")
}

// The consumer must not leave lanes waiting because shared pushes never end,
// nor the other way round.
func TestTryPopAndDrainToTakeTurns(t *testing.T) {
	for name, take := range map[string]func(*mpsc.Queue[int]) int{
		"TryPop": func(q *mpsc.Queue[int]) int { v, _ := q.TryPop(); return v },
		"DrainTo": func(q *mpsc.Queue[int]) int {
			var dst [1]int
			q.DrainTo(dst[:])
			return dst[0]
		},
	} {
		q := mpsc.New[int]()
		a, b := q.Producer(), q.Producer()
		count := map[int]int{}
		for range 1000 {
			// Every source always has something.
			for range 3 {
				q.Push(1)
				a.Push(2)
				b.Push(3)
			}
			count[take(q)]++
		}
		for source := 1; source <= 3; source++ {
			if count[source] < 200 {
				t.Errorf("%s: source %d got %d of 1000 turns", name, source, count[source])
			}
		}
		a.Close()
		b.Close()
	}
}

func TestClosedLanesLeaveTheList(t *testing.T) {
	for name, consume := range map[string]func(*mpsc.Queue[int]){
		"Drain":   func(q *mpsc.Queue[int]) { q.Drain(func(int) {}) },
		"DrainTo": func(q *mpsc.Queue[int]) { q.DrainTo(make([]int, 100)) },
		"TryPop": func(q *mpsc.Queue[int]) {
			for ok := true; ok; {
				_, ok = q.TryPop()
			}
		},
		"Wait": func(q *mpsc.Queue[int]) {
			q.Drain(func(int) {})
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = q.Wait(ctx)
		},
	} {
		q := mpsc.New[int]()
		keep := q.Producer()
		for i := range 10 {
			p := q.Producer()
			p.Push(i)
			p.Close()
			if p.Push(i) || p.PushBatch([]int{1}) != 0 {
				t.Errorf("a closed lane accepted a push")
			}
		}
		if n := mpsc.LaneCount(q); n != 11 {
			t.Errorf("%s: %d lanes listed with elements in them, want 11", name, n)
		}
		consume(q)
		if n := mpsc.LaneCount(q); n != 1 {
			t.Errorf("%s: %d lanes listed afterwards, want the open one", name, n)
		}
		if !keep.Push(1) || q.Len() != 1 {
			t.Errorf("%s: the open lane does not work; Len %d", name, q.Len())
		}
		keep.Close()
	}
}

func TestLanesClosedBesideAParkedConsumerLeaveTheList(t *testing.T) {
	q := mpsc.New[int]()
	result := make(chan error)
	go func() { result <- q.Wait(context.Background()) }()
	for !mpsc.Parked(q) {
		runtime.Gosched()
	}
	p := q.Producer()
	time.Sleep(5 * time.Millisecond) // the consumer sees an open lane, if it looks at all
	p.Close()
	for deadline := time.Now().Add(10 * time.Second); mpsc.LaneCount(q) > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d closed lanes stay listed while the consumer sleeps", mpsc.LaneCount(q))
		}
	}
	q.Push(1)
	if err := <-result; err != nil {
		t.Errorf("Wait: %v", err)
	}
}

// An idle consumer sleeps: its goroutine is blocked in the runtime, where it
// gets no processor.
func TestAnIdleConsumerIsParked(t *testing.T) {
	q := mpsc.New[int]()
	p := q.Producer()
	result := make(chan error)
	go func() { result <- q.Wait(context.Background()) }()
	blocked := func() bool {
		buf := make([]byte, 1<<20)
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "Queue[...]).Wait") {
				return strings.Contains(g, "[select") || strings.Contains(g, "[chan receive")
			}
		}
		return false
	}
	deadline := time.Now().Add(10 * time.Second)
	for !mpsc.Parked(q) || !blocked() {
		if time.Now().After(deadline) {
			t.Fatal("a consumer with nothing to do does not block")
		}
		runtime.Gosched()
	}
	for range 20 {
		time.Sleep(time.Millisecond)
		if !mpsc.Parked(q) || !blocked() {
			t.Fatal("a parked consumer woke without a reason")
		}
	}
	q.Close()
	if err := <-result; !errors.Is(err, mpsc.ErrClosed) {
		t.Errorf("Wait: %v, want ErrClosed", err)
	}
	if p.Push(1) {
		t.Errorf("a lane of a closed queue accepted a push")
	}
	p.Close()
}

func TestTrafficUnderSchedulerAndCollectorSettings(t *testing.T) {
	longtest.Settings(t, func(t *testing.T) { pointers(t, 4, 1000) })
}

// pointers moves allocated elements from producers, half of them with lanes,
// to the consumer, which checks their order and their content.
func pointers(t *testing.T, producers, each int) {
	q := mpsc.New[*queuetest.Payload](mpsc.WithSegmentSize(8), mpsc.WithMaxFree(2))
	var wg sync.WaitGroup
	for i := range producers {
		push, done := q.Push, func() {}
		if i%2 == 0 {
			p := q.Producer()
			push, done = p.Push, p.Close
		}
		wg.Go(func() {
			defer done()
			for seq := range each {
				v := &queuetest.Payload{ID: uint64(i*each + seq)}
				v.Body[47] = byte(seq)
				push(v)
			}
		})
	}
	next := make([]int, producers)
	for got := 0; got < producers*each; {
		if err := q.Wait(context.Background()); err != nil {
			t.Fatalf("Wait: %v", err)
		}
		got += q.Drain(func(v *queuetest.Payload) {
			i, seq := int(v.ID)/each, int(v.ID)%each
			if seq != next[i] || v.Body[47] != byte(seq) {
				t.Errorf("producer %d: popped %d with %d, want %d", i, seq, v.Body[47], next[i])
			}
			next[i]++
		})
	}
	wg.Wait()
}
