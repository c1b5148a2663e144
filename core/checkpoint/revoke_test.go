package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

var errSink = errors.New("sink")

// revoked wants exactly these revocations; of their watermarks the offset.
func (r *rig) revoked(got []checkpoint.Revocation, want ...checkpoint.Revocation) {
	r.t.Helper()
	same := func(a, b checkpoint.Revocation) bool {
		ok := a.Watermark.Partition == a.Partition && a.Watermark.Offset == b.Watermark.Offset
		a.Watermark, b.Watermark = checkpoint.Watermark{}, checkpoint.Watermark{}
		return ok && a == b
	}
	if !slices.EqualFunc(got, want, same) {
		r.t.Fatalf("revoked %+v, want %+v", got, want)
	}
}

func (r *rig) drained(want checkpoint.DrainStats) {
	r.t.Helper()
	if got := r.Drain(); got != want {
		r.t.Fatalf("Drain() = %+v, want %+v", got, want)
	}
}

func upTo(p checkpoint.PartitionID, offset int64) checkpoint.Watermark {
	return checkpoint.Watermark{Partition: p, Offset: offset}
}

func TestRevokeAndTakeReturnsTheLastWatermark(t *testing.T) {
	r := newRig(t, 0, 1, 2, 3, 4)
	r.deliver(1, 9)
	r.confirm(r.take(1, 10), 1)
	// Delivered and not drained, behind a take and a confirm.
	acks := r.issue(1, 19, 29, 39, 49)
	acks[0].Done(nil)
	acks[2].Done(nil)
	acks[3].Done(errSink)
	r.issue(3, 5)[0].Done(errSink)
	r.deliver(4, 7)
	r.revoked(r.RevokeAndTake(4, 3, 1, 3, 77, 2),
		checkpoint.Revocation{Partition: 1, Watermark: upTo(1, 20), Committed: 10, Delivered: 1, Pending: 1, Failed: 1},
		checkpoint.Revocation{Partition: 2},
		checkpoint.Revocation{Partition: 3, Failed: 1},
		checkpoint.Revocation{Partition: 4, Watermark: upTo(4, 8)})
	// Its drain is counted once, by the next one.
	r.drained(checkpoint.DrainStats{Applied: 5})
	r.taken()
	for p := range checkpoint.PartitionID(5) {
		if n := r.Pending(p); n != 0 {
			t.Errorf("Pending(%d) = %d after the revocation", p, n)
		}
	}
	acks[1].Release()
	r.drained(checkpoint.DrainStats{StaleEpoch: 1})
	if got := r.RevokeAndTake(1); len(got) != 0 {
		t.Errorf("revoked %v again", got)
	}
}

func TestRevokeAndTakeLeavesOthersAlone(t *testing.T) {
	r := newRig(t, 0, 1)
	r.deliver(0, 9)
	r.deliver(1, 99)
	r.RevokeAndTake(1)
	r.taken(0, 10) // its drain has seen this
	r.drained(checkpoint.DrainStats{Applied: 2})
	if err := r.ExtendEpoch(1); err != nil {
		t.Fatal(err)
	}
	r.deliver(1, 3)
	r.take(1, 4)
}

// Seven partitions lose their last window in a cooperative revoke when the
// window was acknowledged and not committed yet.
func TestCooperativeRevokeLosesNoWindow(t *testing.T) {
	ps := []checkpoint.PartitionID{0, 1, 2, 3, 4, 5, 6, 7}
	r := newRig(t, ps...)
	var open []checkpoint.Ack
	for _, p := range ps {
		r.deliver(p, 99, 199)
		open = append(open, r.issue(p, 299)...)
	}
	r.Drain()
	r.TakeWatermarks(nil)
	for _, p := range ps {
		open[p].Release() // the last window, after the last commit
		open[p] = r.issue(p, 399)[0]
	}
	got := r.RevokeAndTake(ps[:7]...)
	if len(got) != 7 {
		t.Fatalf("revoked %v", got)
	}
	for _, v := range got {
		if v.Watermark.Offset != 300 || v.Pending != 1 || v.Delivered != 0 {
			t.Errorf("%+v, want the watermark 300 and one pending batch", v)
		}
	}
	for _, a := range open {
		a.Release() // too late for the seven
	}
	r.drained(checkpoint.DrainStats{Applied: 8 + 1, StaleEpoch: 7})
	r.taken(7, 400)
}

func TestRevokeAndTakeWakesAWaiter(t *testing.T) {
	r := newRig(t, 0, 1)
	r.deliver(1, 9)
	r.RevokeAndTake(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Wait(ctx); err != nil {
		t.Errorf("Wait() = %v although the next drain returns something", err)
	}
	r.drained(checkpoint.DrainStats{Applied: 1})
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() = %v with nothing left", err)
	}
}

// A partition whose commit is rejected and that is revoked then keeps its last
// watermark in what the revocation returns.
func TestRejectedWatermarkSurvivesARevoke(t *testing.T) {
	r := newRig(t, 0)
	r.deliver(0, 9)
	r.reject(r.take(0, 10), 1)
	r.revoked(r.RevokeAndTake(0), checkpoint.Revocation{Partition: 0, Watermark: upTo(0, 10)})
	r.taken()
}

func waitIdle(t *testing.T, c *checkpoint.Checkpointer, ps ...checkpoint.PartitionID) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.WaitIdle(ctx, ps...)
}

// A revoke does not wait when there is nothing to wait for, whatever its
// deadline, and no event has to come.
func TestWaitIdleReturnsAtOnceWhenIdle(t *testing.T) {
	r := newRig(t, 0, 1)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	wait := func(ps ...checkpoint.PartitionID) {
		t.Helper()
		if err := r.WaitIdle(over, ps...); err != nil {
			t.Fatalf("WaitIdle(%v) = %v", ps, err)
		}
	}
	wait()
	wait(0, 1, 99)
	r.deliver(0, 9)
	r.issue(0, 19)[0].Done(errSink) // failed is resolved
	wait()
	open := r.issue(1, 9)
	wait(0)
	err := r.WaitIdle(over)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("WaitIdle() = %v with a pending batch", err)
	}
	if want := "checkpoint: partition 1 in epoch 1 is not idle: context canceled"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	open[0].Release()
	wait()
	r.drained(checkpoint.DrainStats{Applied: 3})
	r.taken(0, 10, 1, 10)
}

func TestWaitIdleReturnsOnTheLastRelease(t *testing.T) {
	for _, waiters := range []int{1, 5} {
		r := newRig(t, 0, 1, 2)
		acks := append(r.issue(0, 1, 2, 3), r.issue(1, 1, 2, 3)...)
		acks[2].Retain()
		r.issue(2, 1) // does not count
		done := make(chan error, waiters)
		for k := range waiters {
			go func() {
				if k%2 == 0 {
					done <- waitIdle(t, r.Checkpointer, 0, 1)
				} else {
					done <- waitIdle(t, r.Checkpointer, 1, 0, 0)
				}
			}()
		}
		for _, a := range acks {
			select {
			case err := <-done:
				t.Fatalf("WaitIdle() = %v before the last release", err)
			case <-time.After(2 * time.Millisecond):
			}
			a.Release()
		}
		acks[2].Release()
		for range waiters {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		r.drained(checkpoint.DrainStats{Applied: 6})
	}
}

func TestWaitIdleEndsWithTheAdmission(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(r *rig) error
	}{
		{"Revoke", func(r *rig) error { r.Revoke(0); return nil }},
		{"RevokeAndTake", func(r *rig) error { r.RevokeAndTake(0); return nil }},
		{"Return", func(r *rig) error { r.Revoke(0); return r.ExtendEpoch(0) }},
		{"BeginEpoch", func(r *rig) error { return r.BeginEpoch(2, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 0)
			r.issue(0, 1)
			done := make(chan error)
			go func() { done <- waitIdle(t, r.Checkpointer) }()
			time.Sleep(2 * time.Millisecond)
			if err := c.end(r); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		})
	}
}

// With traffic of others there is always something new to drain; the clock,
// which a drain reads for a new head, sees to that.
func TestWaitIdleEndsWithTheContextBesideTraffic(t *testing.T) {
	var next func()
	traffic := checkpoint.WithClock(func() time.Time {
		if next != nil {
			next()
		}
		return time.Unix(100, 0)
	})
	r := newRigWith(t, []checkpoint.Option{traffic}, 0, 1)
	open := r.issue(0, 1)[0]
	other := r.issue(1, 0)[0]
	next = func() {
		other.Release()
		other = r.issue(1, other.LastOffset()+1)[0]
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan error, 1)
	go func() { done <- r.WaitIdle(ctx, 0) }()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "partition 0 ") {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		open.Release()
		t.Errorf("went on for 5 s after the context was done, then %v", <-done)
	}
}

// Traffic of partitions that do not count neither ends the wait nor keeps it
// from its end.
func TestWaitIdleBesideTrafficOfOthers(t *testing.T) {
	r := newRig(t, 0, 1)
	open := r.issue(0, 1)[0]
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		i := r.Issuer()
		for k := int64(0); ctx.Err() == nil; k++ {
			if a, err := i.Issue(1, k); err == nil {
				a.Release()
			}
			if k%1000 == 0 {
				r.TakeWatermarks(nil)
			}
		}
	}()
	done := make(chan error)
	go func() { done <- waitIdle(t, r.Checkpointer, 0) }()
	select {
	case err := <-done:
		t.Fatalf("WaitIdle() = %v before the release", err)
	case <-time.After(20 * time.Millisecond):
	}
	open.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stop()
	<-stopped
}

// Waiters of both kinds, a loop that drains on events and one that drains on a
// timer, while batches come and go: nobody misses the end, and everything is
// counted once.
func TestWaitIdleBesideWaitAndDrains(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	r := newRig(t, 0, 1)
	ctx, stop := context.WithCancel(context.Background())
	applied := make(chan int, 2)
	go func() {
		n := 0
		for r.Wait(ctx) == nil {
			n += r.Drain().Applied
			r.TakeWatermarks(nil)
		}
		applied <- n
	}()
	go func() {
		n := 0
		for ctx.Err() == nil {
			n += r.Drain().Applied
			time.Sleep(50 * time.Microsecond)
		}
		applied <- n
	}()
	const batches = 150
	for round := range rounds {
		acks := make([]checkpoint.Ack, batches)
		for k := range acks {
			var err error
			if acks[k], err = r.i.Issue(checkpoint.PartitionID(k%2), int64(round*batches+k)); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error, 2)
		for range 2 {
			go func() { done <- waitIdle(t, r.Checkpointer) }()
		}
		for half := range 2 {
			go func() {
				for k := half; k < batches; k += 2 {
					acks[k].Release()
				}
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()
	if n := <-applied + <-applied + r.Drain().Applied; n != rounds*batches {
		t.Errorf("%d batches were applied, want %d", n, rounds*batches)
	}
}

// Revoking partitions without losing what is delivered: wait a little for what
// is on its way, then commit the last watermarks.
func ExampleCheckpointer_RevokeAndTake() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0, 1)
	issuer := c.Issuer()
	for offset := int64(9); offset < 30; offset += 10 {
		ack, _ := issuer.Issue(0, offset)
		if offset < 20 {
			ack.Release()
		}
	}

	// The source takes partition 0 away.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	fmt.Println(c.WaitIdle(ctx, 0))
	for _, v := range c.RevokeAndTake(0) {
		fmt.Printf("commit %v, %d pending\n", v.Watermark, v.Pending)
	}
	fmt.Println(c.WaitIdle(context.Background())) // partition 1 has nothing
	// Output:
	// checkpoint: partition 0 in epoch 1 is not idle: context deadline exceeded
	// commit {0 20}, 1 pending
	// <nil>
}
