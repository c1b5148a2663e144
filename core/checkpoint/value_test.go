package checkpoint_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func TestZeroAckIsInert(t *testing.T) {
	var a, b checkpoint.Ack
	a.Fail()
	a.RetainN(5)
	a.Release()
	a.Release()
	a.Done(errors.New("sink"))
	if a != b || a.Retain() != b {
		t.Error("a used zero Ack differs from a fresh one")
	}
	if a.ID() != (checkpoint.BatchID{}) || a.LastOffset() != 0 {
		t.Errorf("a zero Ack says %v with offset %d", a.ID(), a.LastOffset())
	}
	var set checkpoint.AckSet
	set.Add(a)
	if set.Len() != 0 {
		t.Errorf("a set of a zero Ack has Len %d", set.Len())
	}
	set.Deliver()
	if err := set.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

func TestAckIsAValue(t *testing.T) {
	d := newDriver(t, 1)
	d.issue(2)
	byAck := map[checkpoint.Ack]int{d.acks[0]: 0, d.acks[1]: 1}
	for k, a := range d.acks {
		copied := a
		if byAck[copied] != k || byAck[copied.Retain()] != k {
			t.Errorf("batch %d is not found by a copy of its Ack", k)
		}
		copied.Release()
	}
	d.release()
	if got, want := d.c.Drain(), (checkpoint.DrainStats{Applied: 2}); got != want {
		t.Errorf("Drain() = %+v, want %+v", got, want)
	}
}

func TestRefusedIssueReturnsTheZeroAck(t *testing.T) {
	d := newDriver(t, 1, checkpoint.WithPendingLimit(1))
	other := d.c.Issuer()
	d.issue(1)
	for _, c := range []struct {
		i    *checkpoint.Issuer
		last int64
		want error
	}{
		{d.i, -1, checkpoint.ErrOffsetRange},
		{other, 5, checkpoint.ErrPartitionOwned},
		{d.i, 5, checkpoint.ErrPendingLimit},
	} {
		if a, err := c.i.Issue(0, c.last); a != (checkpoint.Ack{}) || !errors.Is(err, c.want) {
			t.Errorf("Issue(0, %d) = %v, %v, want the zero Ack and %v", c.last, a.ID(), err, c.want)
		}
	}
}

func TestBatchIDText(t *testing.T) {
	for _, c := range []struct {
		id   checkpoint.BatchID
		want string
	}{
		{checkpoint.BatchID{}, "p0@e0#0"},
		{checkpoint.BatchID{Partition: 3, Epoch: 1, Seq: 42}, "p3@e1#42"},
		{checkpoint.BatchID{Partition: 1<<32 - 1, Epoch: 1<<32 - 1, Seq: 1<<64 - 1}, "p4294967295@e4294967295#18446744073709551615"},
	} {
		if got := c.id.String(); got != c.want {
			t.Errorf("String() = %q, want %q", got, c.want)
		}
	}
}

func TestErrorsSayTheirPackage(t *testing.T) {
	for _, err := range []error{
		checkpoint.ErrEpochNotIncreasing, checkpoint.ErrNoEpoch, checkpoint.ErrPartitionAdmitted, checkpoint.ErrPartitionOwned,
		checkpoint.ErrOffsetRange, checkpoint.ErrOffsetRegressed, checkpoint.ErrPendingLimit, checkpoint.ErrWaiting,
	} {
		if text := err.Error(); len(text) < 13 || text[:12] != "checkpoint: " {
			t.Errorf("error text %q does not start with the package", text)
		}
	}
	c := checkpoint.New()
	if err := c.ExtendEpoch(1); !errors.Is(err, checkpoint.ErrNoEpoch) {
		t.Errorf("ExtendEpoch before BeginEpoch = %v", err)
	}
}

// TestDefaultClock: without WithClock a stall carries the time of the take.
func TestDefaultClock(t *testing.T) {
	d := newDriver(t, 1)
	d.issue(1)
	d.acks[0].Fail()
	d.release()
	d.c.Drain()
	before := time.Now()
	d.c.TakeWatermarks(nil)
	after := time.Now()
	st := d.c.Stalled(nil)
	if len(st) != 1 || st[0].Since.Before(before) || st[0].Since.After(after) {
		t.Errorf("Stalled() = %+v, want one since a time in %v…%v", st, before, after)
	}
}

// TestAckAloneKeepsWorking drops everything but the handles.
func TestAckAloneKeepsWorking(t *testing.T) {
	acks := func() []checkpoint.Ack {
		d := newDriver(t, 3)
		d.issue(300)
		return slices.Clone(d.acks)
	}()
	runtime.GC()
	for k, a := range acks {
		a.RetainN(2)
		a.Fail()
		for range 5 {
			a.Release()
		}
		if got := a.ID(); int(got.Seq) != k/3 || int(got.Partition) != k%3 || a.LastOffset() != int64(k/3) {
			t.Fatalf("handle %d says %v with offset %d", k, got, a.LastOffset())
		}
	}
}

// TestDoneOfAnyErrorFails: any error fails the batch.
func TestDoneOfAnyErrorFails(t *testing.T) {
	d := newDriver(t, 1)
	d.issue(1)
	d.acks[0].Done(errors.Join(errors.New("first"), errors.New("second")))
	d.settle()
	if len(d.marks) != 0 || len(d.c.Stalled(nil)) != 1 {
		t.Errorf("after Done(err): watermarks %v, stalls %v", d.marks, d.c.Stalled(nil))
	}
}
