package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Batches of one partition finish out of order. The watermark is what may be
// committed: everything below it is delivered.
func Example() {
	c := checkpoint.New()
	if err := c.BeginEpoch(1, 0); err != nil { // the source assigned partition 0
		fmt.Println(err)
		return
	}
	issuer := c.Issuer()

	first, _ := issuer.Issue(0, 99)   // a poll that ends at offset 99
	second, _ := issuer.Issue(0, 199) // and one that ends at 199

	second.Release() // the second is delivered first
	c.Drain()
	fmt.Println("second alone:", c.TakeWatermarks(nil), "pending:", c.Pending(0))

	first.Release()
	c.Drain()
	for _, w := range c.TakeWatermarks(nil) {
		fmt.Printf("commit partition %d at offset %d\n", w.Partition, w.Offset)
	}
	// Output:
	// second alone: [] pending: 2
	// commit partition 0 at offset 200
}

// A batch whose records go to several goroutines has one holder for each. The
// last release resolves it, and it failed if any of them did.
func ExampleAck_RetainN() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	ack, _ := c.Issuer().Issue(0, 9)

	records := []string{"a", "b", "c"}
	ack.RetainN(len(records) - 1) // Issue gave one hold, for three records
	for n := range records {
		ack.Release()
		fmt.Printf("after %d: applied %d\n", n+1, c.Drain().Applied)
	}
	fmt.Println(c.TakeWatermarks(nil))
	// Output:
	// after 1: applied 0
	// after 2: applied 0
	// after 3: applied 1
	// [{0 10}]
}

// Done is what a sink's callback calls: it fails the batch on an error and
// releases in any case. A failed batch is never passed.
func ExampleAck_Done() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()
	send := func(ack checkpoint.Ack, err error) { ack.Done(err) }

	good, _ := issuer.Issue(0, 9)
	bad, _ := issuer.Issue(0, 19)
	later, _ := issuer.Issue(0, 29)
	send(good, nil)
	send(bad, errors.New("the sink is full"))
	send(later, nil)

	c.Drain()
	fmt.Println("commit:", c.TakeWatermarks(nil))
	fmt.Println("held back:", c.Pending(0))
	// Output:
	// commit: [{0 10}]
	// held back: 2
}

// A writer collects the holds of what it buffers and releases them when the
// data is durable. Close in a defer fails whatever an early return left.
func ExampleAckSet() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	write := func(batches int, flush func() error) error {
		var set checkpoint.AckSet
		defer func() { _ = set.Close() }()
		for range batches {
			ack, err := issuer.Issue(0, 9)
			if err != nil {
				return err
			}
			set.Add(ack)
		}
		if err := flush(); err != nil {
			return err // the set still holds everything: Close fails it
		}
		set.Deliver()
		return nil
	}

	fmt.Println(write(3, func() error { return nil }))
	fmt.Println("applied:", c.Drain().Applied, "commit:", c.TakeWatermarks(nil))

	fmt.Println(write(2, func() error { return errors.New("disk full") }))
	fmt.Println("applied:", c.Drain().Applied, "commit:", c.TakeWatermarks(nil), "stalled:", len(c.Stalled(nil)))
	// Output:
	// <nil>
	// applied: 3 commit: [{0 10}]
	// disk full
	// applied: 2 commit: [] stalled: 1
}

// Each pipeline goroutine has an issuer of its own. A partition belongs to
// the issuer that issued for it first, until the partition is admitted anew.
func ExampleIssuer_Clone() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0, 1)

	left := c.Issuer()
	right := left.Clone() // for another goroutine
	_, err := left.Issue(0, 9)
	fmt.Println("left, partition 0:", err)
	_, err = right.Issue(1, 9)
	fmt.Println("right, partition 1:", err)
	_, err = right.Issue(0, 19)
	fmt.Println("right, partition 0, owned:", errors.Is(err, checkpoint.ErrPartitionOwned))
	// Output:
	// left, partition 0: <nil>
	// right, partition 1: <nil>
	// right, partition 0, owned: true
}

// The pending limit is a back-pressure loop: ErrPendingLimit says take
// watermarks, then issue again.
func ExampleWithPendingLimit() {
	c := checkpoint.New(checkpoint.WithPendingLimit(2))
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	var acks []checkpoint.Ack
	for offset := int64(0); offset < 5; {
		ack, err := issuer.Issue(0, offset)
		if err == checkpoint.ErrPendingLimit {
			fmt.Println("full with", c.Pending(0), "pending")
			for _, a := range acks {
				a.Release()
			}
			acks = acks[:0]
			c.Drain()
			fmt.Println("commit", c.TakeWatermarks(nil))
			continue
		}
		acks = append(acks, ack)
		offset++
	}
	// Output:
	// full with 2 pending
	// commit [{0 2}]
	// full with 2 pending
	// commit [{0 4}]
}

// A cooperative rebalance adds partitions without disturbing those that stay.
func ExampleCheckpointer_ExtendEpoch() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()
	inFlight, _ := issuer.Issue(0, 9)

	fmt.Println(c.ExtendEpoch(1)) // partition 1 joins
	joined, _ := issuer.Issue(1, 99)
	inFlight.Release()
	joined.Release()
	stats := c.Drain()
	fmt.Println("applied:", stats.Applied, "stale:", stats.StaleEpoch)
	fmt.Println(c.TakeWatermarks(nil))

	fmt.Println("again:", errors.Is(c.ExtendEpoch(1), checkpoint.ErrPartitionAdmitted))
	// Output:
	// <nil>
	// applied: 2 stale: 0
	// [{0 10} {1 100}]
	// again: true
}

// A revoked partition may come back in the same epoch. It is read from the
// committed offset again; handles from before the revoke no longer count.
func ExampleCheckpointer_Revoke() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()
	before, _ := issuer.Issue(0, 500)
	c.Drain()

	c.Revoke(0)
	_ = c.ExtendEpoch(0)
	before.Release()
	fmt.Println("stale:", c.Drain().StaleEpoch, "commit:", c.TakeWatermarks(nil))

	after, _ := issuer.Issue(0, 9)
	after.Release()
	c.Drain()
	fmt.Println(after.ID(), "commit:", c.TakeWatermarks(nil))
	// Output:
	// stale: 1 commit: []
	// p0@e1#0 commit: [{0 10}]
}

// A loop that drains on events instead of a timer.
func ExampleCheckpointer_Wait() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	const batches = 3
	go func() {
		for n := range int64(batches) {
			ack, err := issuer.Issue(0, n*10+9)
			if err != nil {
				fmt.Println(err)
				return
			}
			ack.Release()
		}
	}()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	applied, committed := 0, int64(0)
	for applied < batches {
		if err := c.Wait(ctx); err != nil {
			fmt.Println(err)
			return
		}
		applied += c.Drain().Applied
		for _, w := range c.TakeWatermarks(nil) {
			committed = w.Offset
		}
	}
	fmt.Println("applied:", applied, "committed:", committed)
	// Output:
	// applied: 3 committed: 30
}

// A health probe: which partitions are held back by a failed batch, by which
// one, and for how long.
func ExampleCheckpointer_Stalled() {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	c := checkpoint.New(checkpoint.WithClock(func() time.Time { return now }))
	_ = c.BeginEpoch(1, 4)
	ack, _ := c.Issuer().Issue(4, 77)
	ack.Done(errors.New("the sink refused it"))
	c.Drain()
	c.TakeWatermarks(nil) // reaches the failed batch

	now = now.Add(90 * time.Second)
	for _, s := range c.Stalled(nil) {
		fmt.Printf("%s, up to offset %d, has held back its partition for %v\n", s.Batch, s.LastOffset, now.Sub(s.Since))
	}

	// Reading the partition again is a new admission of it.
	c.Revoke(4)
	_ = c.ExtendEpoch(4)
	fmt.Println("stalls:", len(c.Stalled(nil)))
	// Output:
	// p4@e1#0, up to offset 77, has held back its partition for 1m30s
	// stalls: 0
}

// What a drain counts tells a healthy pipeline from a faulty one.
func ExampleDrainStats() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	issuer := c.Issuer()

	ack, _ := issuer.Issue(0, 9)
	ack.Release()
	ack.Release() // once too often
	fmt.Printf("%+v\n", c.Drain())

	old, _ := issuer.Issue(0, 19)
	_ = c.BeginEpoch(2, 0) // a rebalance overtakes the batch
	old.Release()
	fmt.Printf("%+v\n", c.Drain())
	// Output:
	// {Applied:1 StaleEpoch:0 Duplicates:1 Unknown:0}
	// {Applied:0 StaleEpoch:2 Duplicates:0 Unknown:0}
}
