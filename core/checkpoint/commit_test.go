package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// rig is a checkpointer under test with the helpers that cases share.
type rig struct {
	t testing.TB
	*checkpoint.Checkpointer
	i *checkpoint.Issuer
}

func newRig(t testing.TB, partitions ...checkpoint.PartitionID) *rig {
	t.Helper()
	return newRigWith(t, nil, partitions...)
}

func newRigWith(t testing.TB, opts []checkpoint.Option, partitions ...checkpoint.PartitionID) *rig {
	t.Helper()
	c := checkpoint.New(opts...)
	if err := c.BeginEpoch(1, partitions...); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, Checkpointer: c, i: c.Issuer()}
}

func (r *rig) issue(p checkpoint.PartitionID, offsets ...int64) []checkpoint.Ack {
	r.t.Helper()
	acks := make([]checkpoint.Ack, len(offsets))
	for k, off := range offsets {
		var err error
		if acks[k], err = r.i.Issue(p, off); err != nil {
			r.t.Fatal(err)
		}
	}
	return acks
}

// deliver issues batches and releases them.
func (r *rig) deliver(p checkpoint.PartitionID, offsets ...int64) {
	r.t.Helper()
	for _, a := range r.issue(p, offsets...) {
		a.Release()
	}
}

// take drains and wants exactly these watermarks of partition, offset pairs.
func (r *rig) take(want ...int64) []checkpoint.Watermark {
	r.t.Helper()
	r.Drain()
	return r.taken(want...)
}

// taken is take without a drain before it.
func (r *rig) taken(want ...int64) []checkpoint.Watermark {
	r.t.Helper()
	ws := r.TakeWatermarks(nil)
	var got []int64
	for _, w := range ws {
		got = append(got, int64(w.Partition), w.Offset)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("took %v, want %v", ws, want)
	}
	return ws
}

// committed wants what Committed says of p; want 0: nothing.
func (r *rig) committed(p checkpoint.PartitionID, want int64) {
	r.t.Helper()
	if got, ok := r.Committed(p); got != want || ok != (want != 0) {
		r.t.Fatalf("Committed(%d) = %d, %v, want %d", p, got, ok, want)
	}
}

func (r *rig) confirm(ws []checkpoint.Watermark, want int) {
	r.t.Helper()
	if n := r.Confirm(ws); n != want {
		r.t.Fatalf("Confirm(%v) = %d, want %d", ws, n, want)
	}
}

func (r *rig) reject(ws []checkpoint.Watermark, want int) {
	r.t.Helper()
	if n := r.Reject(ws); n != want {
		r.t.Fatalf("Reject(%v) = %d, want %d", ws, n, want)
	}
}

func TestConfirmedWatermarkIsCommitted(t *testing.T) {
	r := newRig(t, 0, 1)
	r.deliver(0, 9)
	r.deliver(1, 99)
	ws := r.take(0, 10, 1, 100)
	r.committed(0, 0)
	r.confirm(ws, 2)
	r.committed(0, 10)
	r.committed(1, 100)
	r.committed(7, 0)
	r.taken()
	r.deliver(0, 19)
	r.taken()
	r.confirm(r.take(0, 20), 1)
	r.confirm(ws, 2) // late, and lower
	r.committed(0, 20)
}

// A commit that fails twice loses nothing: the watermark is offered until it
// is confirmed, and what was delivered meanwhile with it.
func TestCommitThatFailsTwiceLosesNothing(t *testing.T) {
	r := newRig(t, 0, 1)
	r.deliver(0, 9)
	r.deliver(1, 4)
	ws := r.take(0, 10, 1, 5)
	r.reject(ws, 2)
	ws = r.taken(0, 10, 1, 5) // without a drain, without progress
	r.taken()
	r.reject(ws[:1], 1)
	r.confirm(ws[1:], 1)
	r.deliver(0, 19)            // progress after the second failure
	r.confirm(r.take(0, 20), 1) // is offered instead
	r.taken()
	r.committed(0, 20)
	r.committed(1, 5)
}

func TestProgressDuringACommitStaysToBeOffered(t *testing.T) {
	for _, fails := range []bool{false, true} {
		r := newRig(t, 0)
		r.deliver(0, 9)
		first := r.take(0, 10)
		r.deliver(0, 19) // while the commit of 10 is under way
		if fails {
			r.reject(first, 1)
		} else {
			r.confirm(first, 1)
		}
		r.take(0, 20)
		r.taken()
	}
}

// Several commits of a partition are under way at once and end in any order.
func TestCommitsThatOverlap(t *testing.T) {
	taken := func(t *testing.T) (r *rig, low, high []checkpoint.Watermark) {
		r = newRig(t, 0)
		r.deliver(0, 9)
		low = r.take(0, 10)
		r.deliver(0, 19)
		return r, low, r.take(0, 20)
	}
	for _, c := range []struct {
		name      string
		run       func(r *rig, low, high []checkpoint.Watermark)
		again     []int64
		committed int64
	}{
		{"LowFails", func(r *rig, low, _ []checkpoint.Watermark) { r.reject(low, 1) }, nil, 0},
		{"LowFailsHighIsCommitted", func(r *rig, low, high []checkpoint.Watermark) { r.reject(low, 1); r.confirm(high, 1) }, nil, 20},
		{"HighFails", func(r *rig, low, high []checkpoint.Watermark) { r.confirm(low, 1); r.reject(high, 1) }, []int64{0, 20}, 10},
		{"HighFailsFirst", func(r *rig, low, high []checkpoint.Watermark) { r.reject(high, 1); r.confirm(low, 1) }, []int64{0, 20}, 10},
		{"BothFail", func(r *rig, low, high []checkpoint.Watermark) { r.reject(high, 1); r.reject(low, 1) }, []int64{0, 20}, 0},
		{"HighIsCommittedLowFails", func(r *rig, low, high []checkpoint.Watermark) { r.confirm(high, 1); r.reject(low, 1) }, nil, 20},
		{"FailsAfterItWasConfirmed", func(r *rig, _, high []checkpoint.Watermark) { r.confirm(high, 1); r.reject(high, 1) }, nil, 20},
		{"IsConfirmedAfterItFailed", func(r *rig, _, high []checkpoint.Watermark) { r.reject(high, 1); r.confirm(high, 1) }, nil, 20},
		{"FailsTwiceBeforeATake", func(r *rig, _, high []checkpoint.Watermark) { r.reject(high, 1); r.reject(high, 1) }, []int64{0, 20}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, low, high := taken(t)
			c.run(r, low, high)
			r.taken(c.again...)
			r.taken()
			r.committed(0, c.committed)
		})
	}
}

func TestWatermarksOfEndedAdmissionsAreIgnored(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(r *rig) error
	}{
		{"Revoke", func(r *rig) error { r.Revoke(0); return nil }},
		{"Return", func(r *rig) error { r.Revoke(0); return r.ExtendEpoch(0) }},
		{"BeginEpoch", func(r *rig) error { return r.BeginEpoch(2, 0, 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 0)
			r.deliver(0, 9)
			ws := r.take(0, 10)
			r.reject(ws, 1) // an offer that the end takes away
			if err := c.end(r); err != nil {
				t.Fatal(err)
			}
			r.taken()
			r.reject(ws, 0)
			r.confirm(ws, 0)
			r.committed(0, 0)
			r.deliver(0, 9) // the same offset, under the new admission
			r.Drain()
			r.TakeWatermarks(nil)
			r.reject(ws, 0)
			r.confirm(ws, 0)
			r.committed(0, 0)
			r.taken()
		})
	}
}

func TestWaitDoesNotReturnForARejectedWatermark(t *testing.T) {
	r := newRig(t, 0)
	r.deliver(0, 9)
	r.reject(r.take(0, 10), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v", err)
	}
	r.take(0, 10)
}

func TestWatermarksOfAnotherCheckpointerAreIgnored(t *testing.T) {
	mine, other := newRig(t, 0), newRig(t, 0)
	mine.deliver(0, 9)
	mine.take(0, 10)
	other.deliver(0, 9)
	theirs := other.take(0, 10)
	if confirmed, rejected := mine.Confirm(theirs), mine.Reject(theirs); confirmed+rejected != 0 {
		t.Errorf("confirmed %d, rejected %d", confirmed, rejected)
	}
	mine.take()
	if off, ok := mine.Committed(0); ok {
		t.Errorf("committed %d", off)
	}
	other.confirm(theirs, 1)
}

func TestWatermarksThatWereNotTakenAreIgnored(t *testing.T) {
	r := newRig(t, 0)
	r.deliver(0, 9)
	ws := r.take(0, 10)
	above := slices.Clone(ws)
	above[0].Offset++
	below := slices.Clone(ws)
	below[0].Offset = 0
	other := newRig(t, 5)
	other.deliver(5, 9)
	for _, bad := range [][]checkpoint.Watermark{
		{{Partition: 0, Offset: 10}}, {{Partition: 9, Offset: 10}}, {{}}, above, below, other.take(5, 10), nil,
	} {
		r.confirm(bad, 0)
		r.reject(bad, 0)
	}
	r.committed(0, 0)
	r.taken()
}

func TestWatermarkPrintsPartitionAndOffset(t *testing.T) {
	r := newRig(t, 3)
	r.deliver(3, 99)
	if got := fmt.Sprint(r.take(3, 100)); got != "[{3 100}]" {
		t.Errorf("printed %s", got)
	}
}

func TestConfirmAndRejectDoNotAllocate(t *testing.T) {
	d := newDriver(t, 4)
	noAllocations(t, func() {
		d.issue(1000)
		d.release()
		d.settle()
		d.c.Reject(d.marks)
		d.marks = d.c.TakeWatermarks(d.marks[:0])
		if n := d.c.Confirm(d.marks); n != 4 {
			t.Fatalf("confirmed %d", n)
		}
	})
}

// A commit loop that survives failures: what was not committed is offered
// again, and a failed commit cannot lose a watermark.
func ExampleCheckpointer_Reject() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	broken := 2 // the first two commits fail
	commit := func(ws []checkpoint.Watermark) error {
		if broken > 0 {
			broken--
			return fmt.Errorf("no connection")
		}
		return nil
	}
	for offset := int64(9); offset < 40; offset += 10 {
		ack, _ := issuer.Issue(0, offset)
		ack.Release()
		c.Drain()
		ws := c.TakeWatermarks(nil)
		err := commit(ws)
		if err != nil {
			c.Reject(ws)
		} else {
			c.Confirm(ws)
		}
		committed, _ := c.Committed(0)
		fmt.Println(ws, err, committed)
	}
	// Output:
	// [{0 10}] no connection 0
	// [{0 20}] no connection 0
	// [{0 30}] <nil> 30
	// [{0 40}] <nil> 40
}
