package checkpoint_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// manualClock counts how often it is read.
type manualClock struct {
	at    int64
	reads int
}

func (k *manualClock) now() time.Time {
	k.reads++
	return time.Unix(k.at, 0)
}

func newClockRig(t testing.TB, partitions ...checkpoint.PartitionID) (*rig, *manualClock) {
	t.Helper()
	k := &manualClock{at: 100}
	return newRigWith(t, []checkpoint.Option{checkpoint.WithClock(k.now)}, partitions...), k
}

func head(a checkpoint.Ack, failed bool, since int64, behind int) checkpoint.Head {
	return checkpoint.Head{Partition: a.ID().Partition, Batch: a.ID(), LastOffset: a.LastOffset(), Failed: failed, Since: time.Unix(since, 0), Behind: behind}
}

// heads wants exactly these, asked for n.
func (r *rig) heads(n int, want ...checkpoint.Head) {
	r.t.Helper()
	got := r.Heads(nil, n)
	same := func(a, b checkpoint.Head) bool {
		ok := a.Since.Equal(b.Since)
		a.Since, b.Since = time.Time{}, time.Time{}
		return ok && a == b
	}
	if !slices.EqualFunc(got, want, same) {
		r.t.Fatalf("Heads(%d) =\n%+v, want\n%+v", n, got, want)
	}
}

// A completion that never comes is visible: which batch, since when, and how
// much waits for it.
func TestHeadThatNeverCompletesIsReported(t *testing.T) {
	r, k := newClockRig(t, 0, 1, 2)
	r.heads(9)
	stuck := r.issue(0, 9)[0]
	r.heads(9) // no drain has seen it
	r.Drain()
	r.heads(9, head(stuck, false, 100, 0))
	for n := int64(1); n <= 50; n++ {
		k.at++
		r.deliver(0, 9+n)
		r.deliver(1, n)
		r.take(1, n+1)
		r.heads(9, head(stuck, false, 100, int(n)))
	}
	later := r.issue(1, 60)[0]
	r.Drain()
	r.heads(9, head(stuck, false, 100, 50), head(later, false, 150, 0))
	r.heads(1, head(stuck, false, 100, 50))
	r.heads(0)
	r.heads(-1)
	stuck.Release()
	r.Drain()
	r.heads(9, head(later, false, 150, 0)) // delivered, not taken yet
	r.taken(0, 60)
	r.heads(9, head(later, false, 150, 0))
	r.Revoke(1)
	r.heads(9)
}

func TestHeadsFollowTheFirstUndeliveredBatch(t *testing.T) {
	r, k := newClockRig(t, 0)
	acks := r.issue(0, 0, 1, 2, 3, 4)
	r.Drain()
	r.heads(1, head(acks[0], false, 100, 4))
	k.at = 110
	acks[0].Release()
	acks[1].Done(errSink)
	acks[2].Release()
	r.Drain()
	r.heads(1, head(acks[1], true, 110, 3))
	k.at = 120
	acks[3].Release()
	acks[4].Release()
	r.take(0, 1)
	r.heads(1, head(acks[1], true, 110, 3))
	// The stall counts from the take that reached it.
	if s := r.Stalled(nil); len(s) != 1 || !s[0].Since.Equal(time.Unix(120, 0)) {
		t.Errorf("Stalled() = %+v", s)
	}
}

// A batch that fails while it is the head stays the head since it became it.
func TestPendingHeadThatFailsKeepsItsTime(t *testing.T) {
	r, k := newClockRig(t, 0)
	a := r.issue(0, 9)[0]
	r.Drain()
	k.at = 200
	a.Done(errSink)
	r.take()
	r.heads(1, head(a, true, 100, 0))
}

// A head that failed before any drain saw it is stamped by whoever sees it
// first, once.
func TestHeadThatFailsUnseenIsStampedOnce(t *testing.T) {
	for _, take := range []bool{false, true} {
		r, k := newClockRig(t, 0)
		a := r.issue(0, 9)[0]
		a.Done(errSink)
		r.Drain()
		k.at = 300
		if take {
			r.taken()
			k.at = 400
		}
		r.heads(1, head(a, true, 300, 0))
		k.at = 500
		r.deliver(0, 19)
		r.take()
		r.heads(1, head(a, true, 300, 1))
	}
}

func TestHeadsAreOrderedByTimeAndBounded(t *testing.T) {
	const partitions = 500
	var ps []checkpoint.PartitionID
	for p := range checkpoint.PartitionID(partitions) {
		ps = append(ps, p)
	}
	r, k := newClockRig(t, ps...)
	var acks []checkpoint.Ack
	for n := range partitions {
		p := checkpoint.PartitionID(n * 7 % partitions)
		acks = append(acks, r.issue(p, 1)...)
		if k.at += int64(n % 2); n%2 == 0 {
			continue
		}
		r.Drain() // two partitions share a time
	}
	for _, n := range []int{1, 2, 3, 10, 499, 500, 10_000} {
		got := r.Heads([]checkpoint.Head{{Partition: 77}}, n)
		if len(got) != 1+min(n, partitions) || got[0].Partition != 77 {
			t.Fatalf("Heads(dst, %d) returned %d", n, len(got))
		}
		for i := range got[1:] {
			a, b := acks[i/2*2], acks[min(i/2*2+1, partitions-1)]
			if a.ID().Partition > b.ID().Partition {
				a, b = b, a
			}
			want := []checkpoint.Ack{a, b}[i%2]
			if got[1+i].Batch != want.ID() {
				t.Fatalf("Heads(dst, %d)[%d] is %v, want %v", n, i, got[1+i].Batch, want.ID())
			}
		}
	}
}

// The clock is read when something stays unresolved, once a drain, and not
// again for the same head.
func TestDrainsReadTheClockSparingly(t *testing.T) {
	r, k := newClockRig(t, 0, 1, 2)
	expect := func(what string, want int) {
		t.Helper()
		if k.reads != want {
			t.Fatalf("%s: the clock was read %d times, want %d", what, k.reads, want)
		}
	}
	for n := range int64(100) {
		r.deliver(0, n)
		r.deliver(1, n)
		r.take(0, n+1, 1, n+1)
	}
	expect("everything resolved", 0)
	a, b := r.issue(0, 100)[0], r.issue(1, 100)[0]
	r.Drain()
	expect("two new heads", 1)
	for n := int64(101); n < 200; n++ {
		r.deliver(0, n)
		r.deliver(2, n)
		r.take(2, n+1)
	}
	r.Heads(nil, 5)
	expect("the same heads", 1)
	a.Release()
	b.Release()
	r.Drain()
	expect("no head", 1)
}

func TestSkipFailedLetsTheHeadPass(t *testing.T) {
	r, k := newClockRig(t, 0, 1)
	acks := r.issue(0, 9, 19, 29, 39)
	for n, a := range acks[:3] {
		if n == 1 {
			a.Fail()
		}
		a.Release()
	}
	r.take(0, 10)
	if len(r.Stalled(nil)) != 1 {
		t.Fatal("not stalled")
	}
	k.at = 200
	if err := r.SkipFailed(0, acks[1].ID()); err != nil {
		t.Fatal(err)
	}
	if r.Skipped() != 1 || len(r.Stalled(nil)) != 0 {
		t.Errorf("skipped %d, stalled %v", r.Skipped(), r.Stalled(nil))
	}
	r.heads(5, head(acks[3], false, 200, 0))
	r.taken(0, 30) // without another drain
	acks[1].Fail() // too late for anything
	acks[1].Release()
	r.drained(checkpoint.DrainStats{Duplicates: 1})
	acks[3].Done(errSink)
	r.take()
	if s := r.Stalled(nil); len(s) != 1 || s[0].Batch != acks[3].ID() {
		t.Errorf("the next failure stalls: %v", s)
	}
	if err := r.SkipFailed(0, acks[3].ID()); err != nil {
		t.Fatal(err)
	}
	r.take(0, 40)
	r.deliver(0, 49)
	r.take(0, 50)
	if r.Skipped() != 2 || r.Pending(0) != 0 {
		t.Errorf("skipped %d, pending %d", r.Skipped(), r.Pending(0))
	}
}

func TestSkipFailedRefusesAnythingElse(t *testing.T) {
	r := newRig(t, 0, 1)
	acks := r.issue(0, 9, 19, 29)
	pending := r.issue(1, 5)[0]
	acks[0].Done(nil)
	acks[1].Done(errSink)
	acks[2].Done(errSink)
	refuse := func(p checkpoint.PartitionID, b checkpoint.BatchID, want string) {
		t.Helper()
		err := r.SkipFailed(p, b)
		if !errors.Is(err, checkpoint.ErrNotFailedHead) || err.Error() != "checkpoint: not the failed head: "+want {
			t.Errorf("SkipFailed(%d, %v) = %q, want %q", p, b, err, want)
		}
	}
	refuse(0, acks[1].ID(), "p0@e1#1 of partition 0, which nothing holds back") // no drain has seen it
	r.Drain()
	refuse(0, acks[0].ID(), "p0@e1#0 of partition 0, whose head is p0@e1#1 with last offset 19, failed")
	refuse(0, acks[2].ID(), "p0@e1#2 of partition 0, whose head is p0@e1#1 with last offset 19, failed")
	refuse(1, pending.ID(), "p1@e1#0 of partition 1, whose head is p1@e1#0 with last offset 5, pending")
	refuse(1, acks[1].ID(), "p0@e1#1 of partition 1, whose head is p1@e1#0 with last offset 5, pending")
	refuse(7, pending.ID(), "p1@e1#0 of partition 7, which is not admitted")
	other := acks[1].ID()
	other.Epoch = 2
	refuse(0, other, "p0@e2#1 of partition 0, whose head is p0@e1#1 with last offset 19, failed")
	r.taken(0, 10)
	if err := r.SkipFailed(0, acks[1].ID()); err != nil {
		t.Fatal(err)
	}
	refuse(0, acks[1].ID(), "p0@e1#1 of partition 0, whose head is p0@e1#2 with last offset 29, failed")
	if r.Skipped() != 1 {
		t.Errorf("skipped %d", r.Skipped())
	}
	if err := r.BeginEpoch(2, 0); err != nil {
		t.Fatal(err)
	}
	refuse(0, acks[2].ID(), "p0@e1#2 of partition 0, which nothing holds back")
}

func TestDrainsOfPendingBatchesDoNotAllocate(t *testing.T) {
	d := newDriver(t, 4)
	heads := make([]checkpoint.Head, 0, 100)
	noAllocations(t, func() {
		for range 100 {
			d.issue(50)
			d.c.Drain() // sees them pending
			heads = d.c.Heads(heads[:0], 10)
			d.release()
			d.settle()
		}
	})
}

// An operator lets a batch pass that cannot be delivered.
func ExampleCheckpointer_SkipFailed() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()
	for offset := int64(9); offset < 40; offset += 10 {
		ack, _ := issuer.Issue(0, offset)
		if offset == 19 {
			ack.Done(errors.New("poison"))
		} else {
			ack.Done(nil)
		}
	}
	c.Drain()
	fmt.Println(c.TakeWatermarks(nil))

	for _, h := range c.Heads(nil, 10) {
		fmt.Println(h.Batch, "last offset", h.LastOffset, "failed", h.Failed, "behind", h.Behind)
		if h.Failed {
			fmt.Println(c.SkipFailed(h.Partition, h.Batch))
		}
	}
	fmt.Println(c.TakeWatermarks(nil), "skipped", c.Skipped())
	// Output:
	// [{0 10}]
	// p0@e1#1 last offset 19 failed true behind 2
	// <nil>
	// [{0 40}] skipped 1
}
