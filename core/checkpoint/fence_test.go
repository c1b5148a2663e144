package checkpoint_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// issueAfter issues one batch and wants it tracked or not.
func (r *rig) issueAfter(f checkpoint.Fence, p checkpoint.PartitionID, offset int64, tracked bool) checkpoint.Ack {
	r.t.Helper()
	a, err := r.i.IssueAfter(f, p, offset)
	if err != nil {
		r.t.Fatalf("IssueAfter(%v, %d, %d) = %v", f, p, offset, err)
	}
	if a.Tracked() != tracked {
		r.t.Fatalf("IssueAfter(%v, %d, %d) is tracked: %v", f, p, offset, !tracked)
	}
	return a
}

// A batch that was polled before its partition left and came back moves
// nothing, in whatever way the admission ended.
func TestBatchPolledBeforeAnAdmissionMovesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(r *rig) error
	}{
		{"Return", func(r *rig) error { r.Revoke(0); return r.ExtendEpoch(0) }},
		{"BeginEpoch", func(r *rig) error { return r.BeginEpoch(2, 0, 1) }},
		{"ReturnInALaterEpoch", func(r *rig) error { _ = r.BeginEpoch(2, 1); return r.ExtendEpoch(0) }},
	} {
		for _, warm := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/warm=%v", c.name, warm), func(t *testing.T) {
				r := newRig(t, 0, 1)
				old := r.i.Fence()
				if warm {
					r.issueAfter(old, 0, 9, true).Release()
					r.take(0, 10)
				}
				if err := c.end(r); err != nil {
					t.Fatal(err)
				}
				late := r.issueAfter(old, 0, 1000, false)
				if warm {
					// The same with the new lane in the issuer's cache.
					r.issueAfter(r.i.Fence(), 0, 3, true).Release()
					r.issueAfter(old, 0, 2000, false).Release()
					r.issueAfter(old, 0, 1, false).Release() // its order does not matter either
				}
				late.Release()
				late.Release()
				r.Drain()
				if warm {
					r.taken(0, 4)
				} else {
					r.taken()
				}
				if n := r.Pending(0); n != 0 {
					t.Errorf("Pending(0) = %d", n)
				}
				r.issueAfter(r.i.Fence(), 0, 5, true).Release()
				r.take(0, 6)
			})
		}
	}
}

func TestFenceCountsAdmissionsNotEpochs(t *testing.T) {
	r := newRig(t, 0, 1)
	f := r.i.Fence()
	r.Revoke(1) // no admission
	if f != r.i.Fence() || f == (checkpoint.Fence{}) {
		t.Error("a revocation moved the fence")
	}
	if err := r.ExtendEpoch(1); err != nil {
		t.Fatal(err)
	}
	if f == r.i.Clone().Fence() {
		t.Error("an admission did not move the fence")
	}
	r.issueAfter(f, 0, 9, true)  // undisturbed
	r.issueAfter(f, 1, 9, false) // admitted since
	r.issueAfter(checkpoint.Fence{}, 0, 9, false)
	r.issueAfter(checkpoint.Fence{}, 99, 9, false)
}

// Behind the fence only the range of the offset is checked, and a failure
// registers nothing.
func TestIssueAfterChecks(t *testing.T) {
	r := newRigWith(t, []checkpoint.Option{checkpoint.WithPendingLimit(1)}, 0)
	f := r.i.Fence()
	r.issueAfter(f, 0, 9, true)
	if _, err := r.i.IssueAfter(f, 0, 9); err != checkpoint.ErrPendingLimit {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := r.i.IssueAfter(f, 0, 8); !errors.Is(err, checkpoint.ErrOffsetRegressed) {
		t.Errorf("a lower offset: %v", err)
	}
	if _, err := r.i.Clone().IssueAfter(f, 0, 10); !errors.Is(err, checkpoint.ErrPartitionOwned) {
		t.Errorf("another issuer: %v", err)
	}
	for _, fence := range []checkpoint.Fence{f, {}} {
		for _, off := range []int64{-1, math.MaxInt64} {
			if _, err := r.i.IssueAfter(fence, 0, off); !errors.Is(err, checkpoint.ErrOffsetRange) {
				t.Errorf("offset %d: %v", off, err)
			}
		}
	}
	other := r.i.Clone()
	for range 3 {
		if a, err := other.IssueAfter(checkpoint.Fence{}, 0, 1); err != nil || a.Tracked() {
			t.Errorf("behind the fence: %v, %v", a, err)
		}
	}
	if got := r.Drain().StaleEpoch; got != 3 {
		t.Errorf("%d stale registrations, want 3", got)
	}
	if (checkpoint.Ack{}).Tracked() {
		t.Error("the zero Ack is tracked")
	}
}

func TestIssueAfterDoesNotAllocate(t *testing.T) {
	d := newDriver(t, 4)
	f := d.i.Fence()
	noAllocations(t, func() {
		for k := range 4000 {
			a, err := d.i.IssueAfter(f, checkpoint.PartitionID(k%4), d.next[k%4])
			if err != nil {
				t.Fatal(err)
			}
			d.next[k%4]++
			a.Release()
			if k%100 == 0 {
				f = d.i.Fence()
			}
		}
		d.settle()
	})
}

// A poll that was under way during a rebalance returns records of before it.
func ExampleIssuer_IssueAfter() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	fence := issuer.Fence()
	polled := int64(99) // poll() returns a batch of partition 0 that ends here
	c.Revoke(0)         // meanwhile the partition goes and comes back,
	_ = c.ExtendEpoch(0)

	ack, _ := issuer.IssueAfter(fence, 0, polled)
	ack.Release()
	c.Drain()
	fmt.Println(ack.Tracked(), c.TakeWatermarks(nil))

	fence = issuer.Fence()
	ack, _ = issuer.IssueAfter(fence, 0, 49) // and is read from its committed offset
	ack.Release()
	c.Drain()
	fmt.Println(ack.Tracked(), c.TakeWatermarks(nil))
	// Output:
	// false []
	// true [{0 50}]
}
