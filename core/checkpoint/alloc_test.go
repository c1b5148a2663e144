package checkpoint_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

// steadyPending is up to how many pending batches Issue must not allocate.
const steadyPending = 8192

// driver is a checkpointer in a steady state, with everything it needs
// reserved beforehand.
type driver struct {
	t       testing.TB
	c       *checkpoint.Checkpointer
	i       *checkpoint.Issuer
	next    []int64
	acks    []checkpoint.Ack
	marks   []checkpoint.Watermark
	applied int
}

func newDriver(t testing.TB, partitions int, opts ...checkpoint.Option) *driver {
	t.Helper()
	c := checkpoint.New(opts...)
	ps := make([]checkpoint.PartitionID, partitions)
	for p := range ps {
		ps[p] = checkpoint.PartitionID(p)
	}
	if err := c.BeginEpoch(1, ps...); err != nil {
		t.Fatal(err)
	}
	return &driver{
		t: t, c: c, i: c.Issuer(), next: make([]int64, partitions),
		acks:  make([]checkpoint.Ack, 0, 2*steadyPending),
		marks: make([]checkpoint.Watermark, 0, partitions),
	}
}

// issue issues n batches, taking turns between the partitions.
func (d *driver) issue(n int) {
	for k := range n {
		p := k % len(d.next)
		a, err := d.i.Issue(checkpoint.PartitionID(p), d.next[p])
		if err != nil {
			d.t.Fatalf("Issue(%d, %d) = %v", p, d.next[p], err)
		}
		d.next[p]++
		d.acks = append(d.acks, a)
	}
}

// release releases what is held, newest first.
func (d *driver) release() {
	for k := len(d.acks) - 1; k >= 0; k-- {
		d.acks[k].Release()
	}
	d.acks = d.acks[:0]
}

func (d *driver) settle() {
	d.applied += d.c.Drain().Applied
	d.marks = d.c.TakeWatermarks(d.marks[:0])
}

// noAllocations runs f a few times to reach the steady state, then wants it
// free of allocations. AllocsPerRun rounds down, so f must do a lot.
func noAllocations(t *testing.T, f func()) {
	t.Helper()
	for range 4 {
		f()
	}
	if n := testing.AllocsPerRun(5, f); n != 0 {
		t.Errorf("%v allocations per run, want none", n)
	}
}

func TestLifeCycleDoesNotAllocate(t *testing.T) {
	counts := []int{1, 4, 64, 5000}
	if checkpointtest.RaceBuild() {
		counts = counts[:3] // one goroutine, at ten times the cost
	}
	for _, partitions := range counts {
		for _, pending := range []int{1, 17, 1000, steadyPending} {
			t.Run(fmt.Sprintf("partitions=%d/pending=%d", partitions, pending), func(t *testing.T) {
				d := newDriver(t, partitions)
				// A lane is in its steady state when it uses segments again,
				// for which it must have filled a few.
				for range 300 {
					d.issue(partitions)
					d.release()
					d.settle()
				}
				noAllocations(t, func() {
					for done := 0; done < steadyPending; done += pending {
						d.issue(pending)
						d.release()
						d.settle()
					}
				})
			})
		}
	}
}

// TestVaryingPendingDoesNotAllocate lets the number of pending batches go up
// and down, as ticks of a real pipeline do.
func TestVaryingPendingDoesNotAllocate(t *testing.T) {
	d := newDriver(t, 1)
	noAllocations(t, func() {
		for pending := steadyPending; pending > 0; pending = pending*2/3 - 1 {
			d.issue(pending)
			d.c.Drain()
			d.release()
			d.settle()
		}
	})
}

// TestSlidingWindowDoesNotAllocate keeps the window full: each batch that
// passes makes room for one.
func TestSlidingWindowDoesNotAllocate(t *testing.T) {
	d := newDriver(t, 1, checkpoint.WithPendingLimit(steadyPending))
	d.issue(steadyPending)
	noAllocations(t, func() {
		for k := range d.acks {
			d.acks[k].Release()
			if k%64 == 63 {
				d.settle()
				for j := k - 63; j <= k; j++ {
					a, err := d.i.Issue(0, d.next[0])
					if err != nil {
						t.Fatal(err)
					}
					d.next[0]++
					d.acks[j] = a
				}
			}
		}
	})
}

func TestHandleOperationsDoNotAllocate(t *testing.T) {
	const n = 1024
	errSink := errors.New("sink")
	d := newDriver(t, 2)
	var old checkpoint.Ack
	for _, c := range []struct {
		name string
		f    func(a checkpoint.Ack)
	}{
		{"Retain", func(a checkpoint.Ack) { a.Retain(); a.Release() }},
		{"RetainN", func(a checkpoint.Ack) { a.RetainN(2); a.Release(); a.Release() }},
		{"Done", func(a checkpoint.Ack) { a.Retain(); a.Done(nil) }},
		{"ID", func(a checkpoint.Ack) { _, _ = a.ID(), a.LastOffset() }},
		{"Duplicate", func(checkpoint.Ack) { old.Release(); old.Fail(); old.Retain(); old.Done(errSink) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			noAllocations(t, func() {
				d.issue(n)
				for _, a := range d.acks {
					c.f(a)
				}
				old = d.acks[0]
				d.release()
				d.settle()
			})
		})
	}
	t.Run("Fail", func(t *testing.T) {
		d := newDriver(t, 1)
		d.issue(n)
		noAllocations(t, func() {
			for _, a := range d.acks {
				a.Fail()
				a.Retain()
				a.Done(errSink)
			}
			d.settle()
		})
	})
}

func TestAckSetDoesNotAllocateInSteadyState(t *testing.T) {
	const batches = 8192
	var set, other checkpoint.AckSet
	d := newDriver(t, 4)
	noAllocations(t, func() {
		d.issue(batches)
		for k, a := range d.acks {
			if k%3 == 0 {
				a.Retain()
				set.Add(a)
			}
			set.Add(a)
		}
		d.acks = d.acks[:0]
		set.Deliver()
		d.settle()
	})
	noAllocations(t, func() {
		d.issue(batches)
		for k, a := range d.acks {
			if k%2 == 0 {
				set.Add(a)
			} else {
				other.Add(a)
			}
		}
		d.acks = d.acks[:0]
		set.Absorb(&other)
		set.Deliver()
		d.settle()
	})
}

func TestProbesAndRefusalsDoNotAllocate(t *testing.T) {
	const n = 2000
	d := newDriver(t, 3, checkpoint.WithPendingLimit(10))
	d.issue(30)
	d.acks[0].Fail()
	d.release()
	d.settle()
	var err error
	for err == nil {
		_, err = d.i.Issue(0, 1000)
	}
	stalls := make([]checkpoint.Stall, 0, 4)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Pending", func() { d.c.Pending(0); d.c.Pending(99) }},
		{"MaxPending", func() { d.c.MaxPending() }},
		{"Stalled", func() { stalls = d.c.Stalled(stalls[:0]) }},
		{"IdleDrain", func() { d.c.Drain() }},
		{"IdleTake", func() { d.marks = d.c.TakeWatermarks(d.marks[:0]) }},
		{"ErrPendingLimit", func() {
			if _, err := d.i.Issue(0, 1000); err != checkpoint.ErrPendingLimit {
				t.Fatalf("Issue at the limit = %v", err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			noAllocations(t, func() {
				for range n {
					c.f()
				}
			})
		})
	}
	if len(stalls) != 1 {
		t.Fatalf("Stalled() = %v, want one stall", stalls)
	}
}

// TestUntrackedBatchesDoNotAllocate: a partition that was revoked a moment ago
// may be issued for in a loop until the pipeline hears of it.
func TestUntrackedBatchesDoNotAllocate(t *testing.T) {
	d := newDriver(t, 1)
	noAllocations(t, func() {
		for round := range 64 {
			for k := range 300 {
				a, err := d.i.Issue(7, int64(k))
				if err != nil {
					t.Fatal(err)
				}
				d.acks = append(d.acks, a)
			}
			if round%2 == 0 {
				d.settle() // the releases come later than the registrations
			}
			d.release()
			d.settle()
		}
	})
}

func TestAckIsAtMost24Bytes(t *testing.T) {
	if size := unsafe.Sizeof(checkpoint.Ack{}); size > 24 {
		t.Errorf("an Ack takes %d bytes, want at most 24", size)
	}
}
