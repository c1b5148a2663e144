package checkpointtest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// closeCases keep two or three goroutines as close together as they get, in
// loops without a pause, so that steps a few nanoseconds apart meet.
func closeCases() []testCase {
	return []testCase{
		{"DrainAppliesWhatHappenedBefore", 0, closeDrain},
		{"DrainSeesUntrackedBatchesToo", 0, closeDrainUntracked},
		{"NoDuplicateIsLostToADrain", LacksDuplicates, closeDuplicates},
		{"PendingNeverCountsTooFew", LacksEagerPending, closePending},
		{"NoWakeUpIsLostAtCloseRange", LacksWait, closeWait},
	}
}

// spin waits for a condition that another goroutine is about to make true.
func spin(t testing.TB, what string, done func() bool) bool {
	for n := 1; !done(); n++ {
		if n%64 == 0 {
			runtime.Gosched()
		}
		if n == 1<<12 { // not close any more: look at the time
			for deadline := time.Now().Add(patience); !done(); runtime.Gosched() {
				if time.Now().After(deadline) {
					t.Errorf("waited in vain for %s", what)
					return false
				}
			}
			return true
		}
	}
	return true
}

// closeDrain: whatever a producer had released when Drain was called is
// applied when it returns.
func closeDrain(t testing.TB, s Subject) {
	const producers = 2
	n := int64(scale(60_000, 15_000))
	r := newRig(t, s, parts(producers)...)
	var released atomic.Int64
	var running atomic.Int32
	running.Store(producers)
	for p := range part(producers) {
		issuer := r.c.Issuer()
		go func() {
			defer running.Add(-1)
			for k := range n {
				a, err := issuer.Issue(p, k)
				if err != nil {
					t.Errorf("Issue(%d, %d) = %v", p, k, err)
					return
				}
				if k%3 == 0 {
					a.Retain()
					a.Release()
				}
				a.Release()
				released.Add(1)
				// Let drains find nothing between two batches, too.
				for pause := k * 7 % 400; pause > 0; pause-- {
					released.Load()
				}
				if k%1024 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	applied := int64(0)
	for drains := 1; running.Load() > 0 || applied < released.Load(); drains++ {
		before := released.Load()
		d := r.c.Drain()
		applied += int64(d.Applied)
		if d.StaleEpoch+d.Duplicates+d.Unknown != 0 {
			t.Fatalf("Drain() = %+v, want only applied batches", d)
		}
		if applied < before {
			t.Fatalf("%d batches were released before the drain, %d are applied after it", before, applied)
		}
		if drains%64 == 0 {
			r.c.TakeWatermarks(nil)
			runtime.Gosched()
		}
	}
	if want := n * producers; applied != want {
		t.Fatalf("all drains together applied %d batches, want %d", applied, want)
	}
	r.settleAny()
	r.maxPending(0)
}

// closeDrainUntracked is the same for batches that are only counted, twice
// each, and that come in pairs of which the first is released last.
func closeDrainUntracked(t testing.TB, s Subject) {
	n := int64(scale(50_000, 10_000))
	r := newRig(t, s)
	var events atomic.Int64
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		for k := range n {
			var pair [2]Ack
			for j := range pair {
				a, err := r.i.Issue(5, k)
				if err != nil {
					t.Errorf("Issue(5, %d) = %v", k, err)
					return
				}
				pair[j] = a
				events.Add(1)
			}
			for j := range pair {
				pair[1-j].Release()
				events.Add(1)
			}
			if k%512 == 0 {
				runtime.Gosched()
			}
		}
	}()
	counted := int64(0)
	for drains := 1; !done.Load() || counted < events.Load(); drains++ {
		before := events.Load()
		counted += int64(r.c.Drain().StaleEpoch)
		if counted < before {
			t.Fatalf("%d events happened before the drain, %d are counted after it", before, counted)
		}
		if drains%64 == 0 {
			runtime.Gosched()
		}
	}
	if counted != 4*n {
		t.Fatalf("all drains together counted %d events, want %d", counted, 4*n)
	}
}

// closeDuplicates releases one resolved batch over and over against a
// goroutine that does nothing but drain.
func closeDuplicates(t testing.TB, s Subject) {
	const abusers = 2
	n := int64(scale(1_500_000, 200_000))
	r := newRig(t, s, 0)
	old := r.issue(0, 0)
	old.Release()
	r.settle(at(0, 1))
	var running atomic.Int32
	running.Store(abusers)
	for range abusers {
		go func() {
			defer running.Add(-1)
			for k := range n {
				old.Release()
				if k%4096 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	counted := int64(0)
	for drains := 1; running.Load() > 0; drains++ {
		counted += int64(r.c.Drain().Duplicates)
		if drains%256 == 0 {
			runtime.Gosched()
		}
	}
	counted += int64(r.c.Drain().Duplicates)
	if counted != abusers*n {
		t.Fatalf("all drains together counted %d duplicates, want %d", counted, abusers*n)
	}
}

// closePending slides a window: the next batch is issued before the oldest is
// released, so that there are never fewer than the window pending.
func closePending(t testing.TB, s Subject) {
	const window = 5
	n := int64(scale(100_000, 30_000))
	r := newRig(t, s, 0)
	acks := r.issueAll(0, upTo(window)...)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := 1; !stop.Load(); k++ {
			if got := r.c.Pending(0); got < window {
				t.Errorf("Pending(0) = %d, and there were never fewer than %d", got, window)
				return
			}
			if got := r.c.MaxPending(); got < window {
				t.Errorf("MaxPending() = %d, and there were never fewer than %d", got, window)
				return
			}
			if k%256 == 0 {
				runtime.Gosched()
			}
		}
	})
	for k := range n {
		next := r.issue(0, window+k)
		acks[k%window].Release()
		acks[k%window] = next
		r.c.Drain()
		r.take(at(0, k+1))
		if k%256 == 0 {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	wg.Wait()
	r.pending(0, window)
}

// closeWait lets a producer make one event the moment it sees the one before
// drained, while the waiter is on its way from that drain into the next park.
func closeWait(t testing.TB, s Subject) {
	n := int64(scale(40_000, 12_000))
	r := newRig(t, s, 0)
	var drained atomic.Int64 // drains that found something
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		for {
			if err := r.c.Wait(ctx); err != nil {
				ended <- err
				return
			}
			r.c.Drain()
			drained.Add(1)
		}
	}()
	events := int64(0)
	event := func(what string, do func()) bool {
		for pause := events * 7 % 97; pause > 0; pause-- {
			drained.Load()
		}
		do()
		events++
		return spin(t, "the drain after "+what, func() bool { return drained.Load() >= events })
	}
	for k := range n {
		var a Ack
		ok := event("Issue", func() { a = r.issue(0, k) }) && event("Release", a.Release)
		if ok && k%4 == 0 && s.Lacks&LacksDuplicates == 0 {
			ok = event("a second Release", a.Release)
		}
		if !ok {
			break
		}
		if k%64 == 63 {
			r.c.TakeWatermarks(nil)
		}
	}
	cancel()
	if err := awaitResult(t, ended, "the waiter"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the waiter ended with %v, want Canceled", err)
	}
	if got := drained.Load(); got != events && !t.Failed() {
		t.Fatalf("Wait returned %d times for %d events: at times with nothing to drain", got, events)
	}
}
