package checkpointtest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// waitCases hold the sentences about Wait.
func waitCases() []testCase {
	return []testCase{
		{"ReturnsWhenSomethingIsThere", LacksWait, waitSomething},
		{"EndedContextWithNothingThere", LacksWait, waitEnded},
		{"EndedContextWithSomethingThere", LacksWait, waitEndedSomething},
		{"ParksAfterADrainThatLeftNothing", LacksWait, waitParks},
		{"RetainAndFailAreNoNews", LacksWait, waitRetainFail},
		{"SecondWaiterIsRefused", LacksWait, waitSecond},
		{"WakesOnEachKindOfEvent", LacksWait, waitWakes},
		{"WakesOnDuplicatesAlone", LacksWait | LacksDuplicates, waitDuplicates},
		{"CancelWakesTheWaiter", LacksWait, waitCancel},
		{"NoWakeUpIsLost", LacksWait, waitNoneLost},
		{"NoWakeUpIsLostToManyGoroutines", LacksWait, waitManyProducers},
	}
}

// patience is how long a case waits for what must happen; only a failing
// case takes that long.
var patience = 20 * time.Second

// mustReturn fails unless Wait finds something now.
func mustReturn(t testing.TB, r *rig, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.c.Wait(ctx); err != nil {
		t.Fatalf("Wait with %s to drain = %v, want nil", what, err)
	}
}

// mustPark fails if Wait returns before its context ends.
func mustPark(t testing.TB, r *rig, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
	defer cancel()
	if err := r.c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Wait after %s = %v, want it to park until the deadline", what, err)
	}
}

func waitSomething(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 1)
	mustReturn(t, r, "a registration")
	mustReturn(t, r, "a registration, still")
	r.drain(stats{})
	a.Release()
	mustReturn(t, r, "a resolution")
	r.drain(stats{Applied: 1})
	r.issue(5, 1).Release()
	mustReturn(t, r, "an untracked batch")
	r.drain(stats{StaleEpoch: 2})
	b := r.issue(0, 2)
	r.drain(stats{})
	r.c.Revoke(0)
	b.Release()
	mustReturn(t, r, "a stale resolution")
	r.drain(stats{StaleEpoch: 1})
	r.extend(0)
	r.issue(0, 3)
	r.c.Revoke(0)
	mustReturn(t, r, "a stale registration")
	r.drain(stats{StaleEpoch: 1})
	if s.Lacks&LacksDuplicates == 0 {
		b.Release()
		mustReturn(t, r, "a duplicate")
		r.drain(stats{Duplicates: 1})
	}
}

func waitEnded(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if err := r.c.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait with a cancelled context = %v, want Canceled", err)
		}
	}
	ctx, cancel = context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if err := r.c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Wait past its deadline = %v, want DeadlineExceeded", err)
	}
	r.issue(0, 1)
	mustReturn(t, r, "a registration")
}

func waitEndedSomething(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for n := range int64(50) {
		a := r.issue(0, n)
		if err := r.c.Wait(ctx); err != nil {
			t.Fatalf("Wait with an ended context and a registration = %v, want nil", err)
		}
		r.drain(stats{})
		a.Release()
		if err := r.c.Wait(ctx); err != nil {
			t.Fatalf("Wait with an ended context and a resolution = %v, want nil", err)
		}
		r.drain(stats{Applied: 1})
		if err := r.c.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait with an ended context and nothing = %v, want Canceled", err)
		}
	}
}

func waitParks(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	mustPark(t, r, "nothing at all")
	a := r.issue(0, 1)
	r.drain(stats{})
	mustPark(t, r, "a drained registration")
	a.Release()
	r.drain(stats{Applied: 1})
	mustPark(t, r, "a drained resolution")
	r.take(at(0, 2))
	mustPark(t, r, "a take")
	r.issue(9, 1).Release()
	r.drain(stats{StaleEpoch: 2})
	mustPark(t, r, "a drained untracked batch")
	b := r.issue(0, 2)
	r.drain(stats{})
	r.c.Revoke(0)
	mustPark(t, r, "a revoke with nothing to drain")
	b.Release()
	r.drain(stats{StaleEpoch: 1})
	mustPark(t, r, "a drained stale resolution")
	r.begin(2, 0, 1)
	mustPark(t, r, "a new epoch")
	r.extend(2)
	mustPark(t, r, "an extension")
	for n := range int64(200) {
		r.issue(part(n%2), n).Release()
	}
	r.drain(stats{Applied: 200})
	mustPark(t, r, "a drained burst")
	if s.Lacks&LacksDuplicates == 0 {
		a.Release()
		r.drain(stats{Duplicates: 1})
		mustPark(t, r, "a drained duplicate")
	}
}

func waitRetainFail(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 1)
	r.drain(stats{})
	a.RetainN(2)
	mustPark(t, r, "RetainN")
	a.Fail()
	mustPark(t, r, "Fail")
	a.Release()
	mustPark(t, r, "a release that is not the last")
	a.Release()
	a.Release()
	mustReturn(t, r, "the last release")
}

func waitSecond(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for n := range int64(20) {
		first := startWait(r.c)
		for head := 100 * time.Microsecond; ; head *= 2 {
			// The other one needs a head start; without it this one is the first.
			time.Sleep(head)
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			err := r.c.Wait(ctx)
			cancel()
			if errors.Is(err, checkpoint.ErrWaiting) {
				break
			}
			if !errors.Is(err, context.DeadlineExceeded) || head > patience {
				t.Fatalf("second Wait = %v, want ErrWaiting", err)
			}
			select {
			case err := <-first:
				wantErr(t, "the Wait that came second", err, checkpoint.ErrWaiting)
				first = startWait(r.c)
			default:
			}
		}
		r.issue(0, n)
		if err := awaitResult(t, first, "the first waiter after a second was refused"); err != nil {
			t.Fatalf("the first Wait = %v, want nil", err)
		}
		mustReturn(t, r, "a registration, after another waiter left")
		r.drain(stats{})
	}
}

// startWait waits on its own goroutine for as long as patience lasts.
func startWait(c Checkpointer) <-chan error {
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	go func() {
		defer cancel()
		done <- c.Wait(ctx)
	}()
	return done
}

func awaitResult(t testing.TB, done <-chan error, what string) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * patience):
		t.Fatalf("%s did not return", what)
		return nil
	}
}

func waitWakes(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	var a, b Ack
	for _, step := range []struct {
		what string
		do   func()
		want stats
	}{
		{"Issue", func() { a = r.issue(0, 1) }, stats{}},
		{"Release", func() { a.Release() }, stats{Applied: 1}},
		{"Issue of another partition", func() { b = r.issue(1, 1) }, stats{}},
		{"a failed Done", func() { b.Done(errSink) }, stats{Applied: 1}},
		{"Issue of an unknown partition", func() { a = r.issue(8, 1) }, stats{StaleEpoch: 1}},
		{"Release of an untracked batch", func() { a.Release() }, stats{StaleEpoch: 1}},
		{"Issue before a revoke", func() { a = r.issue(0, 2) }, stats{}},
		{"Release after a revoke", func() { r.c.Revoke(0); a.Release() }, stats{StaleEpoch: 1}},
		{"Issue before an epoch", func() { b = r.issue(1, 3) }, stats{}},
		{"Release after an epoch", func() { r.begin(2, 0, 1); b.Release() }, stats{StaleEpoch: 1}},
		{"Issue in the new epoch", func() { a = r.issue(0, 1) }, stats{}},
	} {
		done := startWait(r.c)
		time.Sleep(2 * time.Millisecond)
		step.do()
		if err := awaitResult(t, done, "Wait on "+step.what); err != nil {
			t.Fatalf("Wait did not wake on %s: %v", step.what, err)
		}
		if got := r.c.Drain(); got != step.want {
			t.Fatalf("after %s Drain() = %+v, want %+v", step.what, got, step.want)
		}
	}
}

func waitDuplicates(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 1)
	a.Release()
	r.settle(at(0, 2))
	for _, end := range []func(){func() {}, func() { r.c.Revoke(0) }, func() { r.begin(2, 0) }} {
		end()
		mustPark(t, r, "nothing")
		done := startWait(r.c)
		time.Sleep(2 * time.Millisecond)
		a.Release()
		if err := awaitResult(t, done, "Wait on a duplicate"); err != nil {
			t.Fatalf("Wait did not wake on a duplicate: %v", err)
		}
		r.drain(stats{Duplicates: 1})
		mustPark(t, r, "a drained duplicate")
	}
}

func waitCancel(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- r.c.Wait(ctx) }()
		runtime.Gosched()
		cancel()
		if err := awaitResult(t, done, "a cancelled Wait"); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled Wait = %v, want Canceled", err)
		}
	}
	r.issue(0, 0).Release()
	mustReturn(t, r, "a batch after cancelled waits")
	r.drain(stats{Applied: 1})
	// An event before the end of the context is there when the context ends.
	for n := range int64(500) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- r.c.Wait(ctx) }()
		for range n % 7 {
			runtime.Gosched()
		}
		a := r.issue(0, n)
		cancel()
		if err := awaitResult(t, done, "a cancelled Wait"); err != nil {
			t.Fatalf("Wait cancelled after an event = %v, want nil", err)
		}
		a.Release()
		r.drain(stats{Applied: 1})
	}
}

// waitNoneLost lets one event at a time race against the waiter on its way to
// parking: the producer goes on only when the event was drained, so one lost
// wake-up stops everything.
func waitNoneLost(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	rounds := scale(20000, 4000)
	drained := make(chan stats)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		for {
			if err := r.c.Wait(ctx); err != nil {
				ended <- err
				return
			}
			select {
			case drained <- r.c.Drain():
			case <-ctx.Done():
				ended <- ctx.Err()
				return
			}
		}
	}()
	await := func(n int, what string, want stats) {
		t.Helper()
		select {
		case got := <-drained:
			if got != want {
				t.Fatalf("round %d: drain after %s = %+v, want %+v: Wait returned with nothing to drain", n, what, got, want)
			}
		case err := <-ended:
			t.Fatalf("round %d: Wait = %v", n, err)
		case <-time.After(patience):
			t.Fatalf("round %d: the wake-up by %s was lost", n, what)
		}
	}
	duplicates := s.Lacks&LacksDuplicates == 0
	for n := range rounds {
		for range n % 23 {
			runtime.Gosched()
		}
		switch {
		case n%5 == 4 && duplicates:
			a := r.issue(0, int64(n))
			await(n, "Issue", stats{})
			a.Release()
			await(n, "Release", stats{Applied: 1})
			a.Release()
			await(n, "a second Release", stats{Duplicates: 1})
		case n%5 == 3:
			a := r.issue(6, int64(n))
			await(n, "an untracked Issue", stats{StaleEpoch: 1})
			a.Release()
			await(n, "an untracked Release", stats{StaleEpoch: 1})
		default:
			a := r.issue(0, int64(n))
			await(n, "Issue", stats{})
			a.Release()
			await(n, "Release", stats{Applied: 1})
		}
		if n%64 == 0 {
			r.c.TakeWatermarks(nil)
		}
	}
	cancel()
	if err := awaitResult(t, ended, "the waiter"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the waiter ended with %v, want Canceled", err)
	}
}

// waitManyProducers drains on events alone; every batch must get through.
func waitManyProducers(t testing.TB, s Subject) {
	const producers = 4
	each := int64(scale(20000, 3000))
	r := newRig(t, s, parts(producers)...)
	ended := make(chan struct{}, producers)
	for p := range part(producers) {
		issuer := r.c.Issuer()
		go func() {
			for n := range each {
				a, err := issuer.Issue(p, n)
				if err != nil {
					t.Errorf("Issue(%d, %d) = %v", p, n, err)
					break
				}
				a.Release()
				if n%(37+int64(p)) == 0 {
					time.Sleep(time.Microsecond)
				}
			}
			ended <- struct{}{}
		}()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	var last [producers]int64
	for applied, want := 0, producers*int(each); applied < want; {
		if err := r.c.Wait(ctx); err != nil {
			t.Fatalf("Wait = %v with %d of %d batches applied", err, applied, want)
		}
		got := r.c.Drain()
		if got.StaleEpoch+got.Duplicates+got.Unknown != 0 {
			t.Fatalf("Drain() = %+v, want only applied batches", got)
		}
		applied += got.Applied
		for _, w := range r.c.TakeWatermarks(nil) {
			last[w.Partition] = w.Offset
		}
	}
	for range producers {
		<-ended
	}
	for p, offset := range last {
		if offset != each {
			t.Fatalf("the last watermark of partition %d is %d, want %d", p, offset, each)
		}
	}
}
