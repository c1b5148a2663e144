package checkpoint_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

// leakRig collects what is reported.
type leakRig struct {
	*rig
	reports chan checkpoint.Leak
}

func newLeakRig(t testing.TB, opts ...checkpoint.Option) *leakRig {
	t.Helper()
	reports := make(chan checkpoint.Leak, 1000)
	opts = append(opts, checkpoint.WithLeakReport(func(l checkpoint.Leak) { reports <- l }))
	return &leakRig{newRigWith(t, opts, 0, 1), reports}
}

// next collects garbage until there is a report.
func (r *leakRig) next() checkpoint.Leak {
	r.t.Helper()
	for range 2000 {
		runtime.GC()
		select {
		case l := <-r.reports:
			return l
		case <-time.After(time.Millisecond):
		}
	}
	r.t.Fatal("nothing is reported")
	return checkpoint.Leak{}
}

// quiet wants no report of what is unreachable by now. A batch that is lost on
// purpose shows that the collector has come by.
func (r *leakRig) quiet() {
	r.t.Helper()
	r.i.SetLabel("sentinel")
	for range 2 {
		r.lose(1, 1<<40)
		if l := r.next(); l.Label != "sentinel" {
			r.t.Fatalf("reported %v", l)
		}
	}
	r.i.SetLabel("")
}

// lose issues a batch and drops its handle. It returns its name and line.
//
//go:noinline
func (r *leakRig) lose(p checkpoint.PartitionID, offset int64) (checkpoint.BatchID, int) {
	_, _, line, _ := runtime.Caller(0)
	a, err := r.i.Issue(p, offset) // the next line but one
	if err != nil {
		r.t.Fatal(err)
	}
	return a.ID(), line + 1
}

func TestLostHandleIsNamedWithItsIssueSite(t *testing.T) {
	r := newLeakRig(t)
	r.i.SetLabel("orders/7")
	id, line := r.lose(0, 99)
	r.i.SetLabel("later")
	l := r.next()
	if l.Kind != checkpoint.LeakUnreachable || l.Batch != id || l.LastOffset != 99 || l.Holds != 1 || l.Label != "orders/7" || l.Failed {
		t.Errorf("reported %+v", l)
	}
	if filepath.Base(l.Site.File) != "leak_test.go" || l.Site.Line != line || !strings.HasSuffix(l.Site.Function, "checkpoint_test.(*leakRig).lose") {
		t.Errorf("issued at %v, want line %d of leak_test.go", l.Site, line)
	}
	want := fmt.Sprintf("unreachable batch p0@e1#0 with last offset 99: 1 holds lost, issued at %s:%d (%s), label \"orders/7\"", l.Site.File, line, l.Site.Function)
	if l.String() != want {
		t.Errorf("%q, want %q", l.String(), want)
	}
	if r.Drain(); r.Pending(0) != 1 {
		t.Error("a report resolved the batch")
	}
	r.quiet()
	if s := r.Snapshot(0); s.Leaks.Unreachable != 3 || s.Leaks.OverReleased != 0 {
		t.Errorf("counted %+v", s.Leaks)
	}
}

func TestHandlesThatAreHeldOrDoneAreNotReported(t *testing.T) {
	r := newLeakRig(t)
	held := r.issue(0, 1)[0]
	cp := held.Retain()
	if cp != held {
		t.Error("copies of a handle differ")
	}
	r.deliver(0, 2, 3)
	r.issue(0, 4)[0].Done(errSink)
	for range 100 {
		a := r.issue(0, 5)[0]
		a.RetainN(3)
		a.Fail()
		var set checkpoint.AckSet
		for range 4 {
			set.Add(a)
		}
		set.Deliver()
	}
	r.Drain()
	r.TakeWatermarks(nil)
	r.quiet()
	held.Release()
	if held == r.issue(0, 5)[0] {
		t.Error("handles of different batches are equal")
	}
	runtime.KeepAlive(cp)
}

// A dropped AckSet, a dropped closure, a hold that was taken and forgotten:
// all that counts is that no handle is left.
func TestEveryWayToLoseAHandle(t *testing.T) {
	for name, c := range map[string]struct {
		holds int
		lose  func(r *leakRig)
	}{
		"AckSet": {5, func(r *leakRig) {
			a := r.issue(0, 9)[0]
			a.RetainN(4)
			set := new(checkpoint.AckSet)
			for range 5 {
				set.Add(a)
			}
		}},
		"OneHoldOfThree": {1, func(r *leakRig) {
			a := r.issue(0, 9)[0]
			a.RetainN(2)
			a.Release()
			a.Done(errSink)
		}},
		"Untracked":      {1, func(r *leakRig) { r.issue(7, 9) }},
		"BehindTheFence": {1, func(r *leakRig) { r.issueAfter(checkpoint.Fence{}, 0, 9, false) }},
		"Revoked": {1, func(r *leakRig) {
			r.issue(0, 9)
			r.Revoke(0)
			r.Drain()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newLeakRig(t)
			c.lose(r)
			if l := r.next(); l.Kind != checkpoint.LeakUnreachable || l.Holds != c.holds || l.LastOffset != 9 {
				t.Errorf("reported %+v, want %d holds", l, c.holds)
			}
			r.quiet()
		})
	}
}

func TestOverReleasedBatchIsNamedWithItsIssueSite(t *testing.T) {
	r := newLeakRig(t)
	r.i.SetLabel("x")
	_, _, line, _ := runtime.Caller(0)
	a, _ := r.i.Issue(0, 9)
	a.Release()
	for range 200 { // its cell is used again
		r.deliver(0, 10)
		r.Drain()
		r.TakeWatermarks(nil)
	}
	a.Release()
	var set checkpoint.AckSet
	for range 3 {
		set.Add(a)
	}
	_ = set.Close()
	for _, holds := range []int{1, 3} {
		l := <-r.reports
		if l.Kind != checkpoint.LeakOverReleased || l.Batch != a.ID() || l.LastOffset != 9 || l.Holds != holds || l.Label != "x" ||
			filepath.Base(l.Site.File) != "leak_test.go" || l.Site.Line != line+1 {
			t.Errorf("reported %+v, want %d releases too many and line %d", l, holds, line+1)
		}
		if want := fmt.Sprintf("over-released batch p0@e1#0 with last offset 9: %d releases too many, issued at ", holds); !strings.HasPrefix(l.String(), want) {
			t.Errorf("%q", l)
		}
	}
	r.drained(checkpoint.DrainStats{Duplicates: 4})
	if s := r.Snapshot(0); s.Leaks.OverReleased != 4 {
		t.Errorf("counted %+v", s.Leaks)
	}
}

// With the option a lost batch becomes a failed head: visible, and nothing
// passes it.
func TestLostBatchIsFailed(t *testing.T) {
	r := newLeakRig(t, checkpoint.WithLeakedFailed())
	func() {
		a := r.issue(0, 9)[0]
		a.RetainN(6)
		a.Release()
	}()
	r.deliver(0, 19)
	l := r.next()
	if !l.Failed || l.Holds != 6 || !strings.HasSuffix(l.String(), ", failed") {
		t.Errorf("reported %+v", l)
	}
	r.drained(checkpoint.DrainStats{Applied: 2})
	r.taken()
	if s := r.Stalled(nil); len(s) != 1 || s[0].Batch != l.Batch {
		t.Fatalf("Stalled() = %+v", s)
	}
	if err := r.SkipFailed(0, l.Batch); err != nil {
		t.Fatal(err)
	}
	r.taken(0, 20)
	// Holds that saturate stay: the batch never resolves.
	func() { r.issue(1, 5)[0].RetainN(1 << 30) }()
	if l := r.next(); l.Failed || l.Holds != 1<<23-1 {
		t.Errorf("reported %+v", l)
	}
}

// A report wakes whoever waits for what it resolves, and may call everything.
func TestReportMayCallTheCheckpointer(t *testing.T) {
	var r *rig
	done := make(chan checkpoint.Leak, 10)
	r = newRigWith(t, []checkpoint.Option{checkpoint.WithLeakedFailed(), checkpoint.WithLeakReport(func(l checkpoint.Leak) {
		r.Drain()
		r.TakeWatermarks(nil)
		_ = r.SkipFailed(l.Batch.Partition, l.Batch)
		r.TakeWatermarks(nil)
		r.Heads(nil, 3)
		r.Snapshot(3)
		r.Pending(0)
		r.RevokeAndTake(9)
		done <- l
	})}, 0)
	idle := make(chan error)
	r.issue(0, 9)
	go func() { idle <- waitIdle(t, r.Checkpointer) }()
	for waiting := true; waiting; {
		runtime.GC()
		select {
		case err := <-idle:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	<-done
	if r.Skipped() != 1 || r.Pending(0) != 0 {
		t.Errorf("skipped %d, pending %d", r.Skipped(), r.Pending(0))
	}
	a := r.issue(0, 19)[0]
	a.Release()
	a.Release()
	if l := <-done; l.Kind != checkpoint.LeakOverReleased {
		t.Errorf("reported %v", l)
	}
}

// Holders, the collector and a drainer at once: every lost batch is reported
// and failed, every other one is delivered.
func TestLeaksUnderConcurrency(t *testing.T) {
	const goroutines, each = 4, 400
	r := newLeakRig(t, checkpoint.WithLeakedFailed())
	if err := r.ExtendEpoch(2, 3); err != nil {
		t.Fatal(err)
	}
	var lost sync.Map
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			i := r.Issuer()
			for k := range int64(each) {
				a, err := i.Issue(checkpoint.PartitionID(g), k)
				if err != nil {
					t.Errorf("Issue: %v", err)
					return
				}
				a.Retain()
				go a.Release()
				if k%20 == 7 {
					lost.Store(a.ID(), true)
					runtime.KeepAlive(a) // until then: the report may come the moment it is lost
				} else {
					a.Release()
				}
			}
		})
	}
	for range goroutines * each / 20 {
		l := r.next()
		if _, ok := lost.LoadAndDelete(l.Batch); !ok || l.Kind != checkpoint.LeakUnreachable || !l.Failed {
			t.Errorf("reported %v", l)
		}
		r.Drain()
	}
	wg.Wait()
	if err := waitIdle(t, r.Checkpointer); err != nil {
		t.Fatal(err)
	}
}

// The contract is the same with leak reports, but for what it says of memory.
func TestConformanceWithLeakReport(t *testing.T) {
	s := subject(checkpoint.WithLeakReport(func(checkpoint.Leak) {}))
	s.Name += "/leaks"
	s.Lacks |= checkpointtest.LacksMemory | checkpointtest.LacksFlatCost
	s.Slow = true
	checkpointtest.Run(t, s)
}

func TestLeakKindsHaveNames(t *testing.T) {
	if got := fmt.Sprint(checkpoint.LeakUnreachable, checkpoint.LeakOverReleased, checkpoint.LeakKind(9)); got != "unreachable over-released LeakKind(9)" {
		t.Error(got)
	}
}

// Who released too often is told by where the batch was issued.
func ExampleWithLeakReport() {
	c := checkpoint.New(checkpoint.WithLeakReport(func(l checkpoint.Leak) {
		fmt.Println(l.Kind, l.Batch, "label", l.Label, "issued in", filepath.Base(l.Site.File))
	}))
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()
	issuer.SetLabel("orders")
	ack, _ := issuer.Issue(0, 9)
	ack.Release()
	ack.Release()
	// Output: over-released p0@e1#0 label orders issued in leak_test.go
}
