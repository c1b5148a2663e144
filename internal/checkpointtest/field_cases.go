package checkpointtest

import (
	"math"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// fieldCases are scenarios in which comparable systems lost data, stood still
// or grew without bound, as their users reported them.
func fieldCases() []testCase {
	return []testCase{
		{"HoleIsNotCommittedOver", 0, fieldHole},
		{"FailedBatchIsNotSkippedByTheNext", 0, fieldFailedThenDone},
		{"NegativeAckIsNotIgnored", 0, fieldNegativeAck},
		{"HighestIssuedOffsetIsNotCommitted", 0, fieldHighestIssued},
		{"NoOrderLetsALaterAckPassAFailure", 0, fieldFailAgainstAck},
		{"NackThenAckStaysFailed", 0, fieldNackThenAck},
		{"TransactionRowsShareAPosition", 0, fieldTransaction},
		{"AbnormalExitMeansFailed", LacksAckSet, fieldAbnormalExit},
		{"CompactedOffsetsOutOfOrder", 0, fieldCompacted},
		{"MarkersAndGapsDoNotStopTheWatermark", 0, fieldGaps},
		{"RepeatedOffsetDoesNotWedge", 0, fieldRepeatedOffset},
		{"CompletionThatNeverComesIsVisible", 0, fieldNeverComes},
		{"IdleStreamAdvancesByEmptyBatches", 0, fieldIdleStream},
		{"AckAfterRevokeIsDiscarded", 0, fieldAckAfterRevoke},
		{"CooperativeRevokeLosesNoWindow", 0, fieldCooperativeRevoke},
		{"RetainedPartitionsKeepTheirBatches", 0, fieldRetained},
		{"PendingRestartsWithEachAssignment", 0, fieldPendingRestarts},
		{"RevokeReturnsAtOnce", 0, fieldRevokeAtOnce},
		{"CommitsAreNeverReordered", 0, fieldCommitOrder},
		{"TooManyAcksAreCounted", LacksDuplicates, fieldTooManyAcks},
		{"AckCostIsFlatInTheDeferredWindow", LacksFlatCost, fieldAckCost},
		{"LimitStopsIssue", 0, fieldLimitStops},
		{"FilledGapMovesAtTheNextDrain", 0, fieldFilledGap},
	}
}

func fieldHole(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, 1, 2, 3, 4)
	acks[0].Release()
	acks[2].Release()
	r.settle(at(0, 2))
	acks[3].Release()
	r.settle()
	acks[1].Release()
	r.settle(at(0, 5))
}

func fieldFailedThenDone(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, 10, 20, 30)
	acks[0].Done(nil)
	acks[1].Done(errSink)
	acks[2].Done(nil)
	r.settle(at(0, 11))
	r.stalled(acks[1])
	r.settle()
}

func fieldNegativeAck(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	bad := r.issue(0, 0)
	bad.Done(errSink)
	for n := int64(1); n <= 50; n++ {
		r.issue(0, n).Done(nil)
		r.issue(1, n).Done(nil)
		r.settle(at(1, n+1))
		r.stalled(bad)
	}
}

func fieldHighestIssued(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	r.issueAll(0, 100, 200)
	r.issueAll(1, 100, 200)
	r.settle()
	r.c.Revoke(0)
	r.settle()
	r.begin(2, 1)
	r.settle()
}

// fieldFailAgainstAck: A is failed on one goroutine, B after it acknowledged
// on another. Every order of their three steps, with a drain and a take at
// every place between them.
func fieldFailAgainstAck(t testing.TB, s Subject) {
	for mask := range 16 {
		permutations(3, func(order []int) {
			r := newRig(t, s, 0)
			a, b := r.issue(0, 1), r.issue(0, 2)
			failed, released := false, false
			look := func(n int) {
				if mask&(1<<n) != 0 {
					r.settle()
				}
			}
			look(0)
			for n, step := range order {
				switch {
				case step == 2:
					b.Release()
				case !failed:
					a.Fail()
					failed = true
				case !released:
					a.Release()
					released = true
				}
				look(n + 1)
			}
			r.settle()
			r.stalled(a)
			r.pending(0, 2)
		})
	}
}

func fieldNackThenAck(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 1)
	a.Retain()
	a.Done(errSink)
	a.Done(nil)
	r.settle()
	r.stalled(a)
}

// fieldTransaction: the rows of a transaction repeat the position before it
// until the last row, so no order of their acks commits a part of it.
func fieldTransaction(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	base := int64(40)
	r.issue(0, base).Release()
	r.settle(at(0, base+1))
	permutations(5, func(order []int) {
		rows := r.issueAll(0, base, base, base, base, base+1)
		for n, k := range order {
			rows[k].Release()
			if n < len(order)-1 {
				r.settle()
			}
		}
		r.settle(at(0, base+2))
		base++
	})
}

func fieldAbnormalExit(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a, b := r.issue(0, 1), r.issue(1, 1)
	write := func(a Ack, cancelled bool) {
		set := s.NewAckSet()
		defer func() { _ = set.Close() }()
		set.Add(a)
		if cancelled {
			return
		}
		set.Deliver()
	}
	write(a, true)
	write(b, false)
	r.settle(at(1, 2))
	r.stalled(a)
	c := r.issue(1, 2)
	func() {
		defer func() { _ = recover() }()
		set := s.NewAckSet()
		defer func() { _ = set.Close() }()
		set.Add(c)
		panic("sink")
	}()
	r.settle()
	r.stalled(a, c)
}

func fieldCompacted(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, 0, 2, 4, 6)
	acks[0].Release()
	acks[1].Release()
	r.settle(at(0, 3))
	acks[3].Release()
	r.settle()
	acks[2].Release()
	r.settle(at(0, 7))
	r.pending(0, 0)
}

func fieldGaps(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for _, last := range []int64{3, 5, 1000, 1 << 40, math.MaxInt64 - 1} {
		r.issue(0, last).Release()
		r.settle(at(0, last+1))
	}
}

func fieldRepeatedOffset(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for n := int64(0); n < 100; n++ {
		a, b := r.issue(0, n), r.issue(0, n)
		r.c.Drain()
		b.Release()
		r.settle()
		a.Release()
		r.settle(at(0, n+1))
		if n > 0 {
			r.refuse(r.i, 0, n-1, checkpoint.ErrOffsetRegressed)
		}
	}
	r.stalled()
	r.pending(0, 0)
}

// fieldNeverComes: a head that is never resolved shows as pending, stops the
// partition at the limit, and is reported with identity and time once failed.
func fieldNeverComes(t testing.TB, s Subject) {
	var ck clock
	r := newRigWith(t, s, Config{PendingLimit: 10, Now: ck.now}, 0, 1)
	r.issue(0, 6).Release()
	r.settle(at(0, 7))
	lost := r.issue(0, 7)
	for n := int64(8); n < 17; n++ {
		r.issue(0, n).Release()
		r.issue(1, n).Release()
		r.settle(at(1, n+1))
		r.pending(0, int(n)-6)
		r.maxPending(int(n) - 6)
		ck.advance(time.Minute)
	}
	r.refuse(r.i, 0, 17, checkpoint.ErrPendingLimit)
	r.stalled()
	lost.Done(errSink)
	r.settle()
	r.stalled(lost)
	failedAt := ck.now()
	ck.advance(time.Hour)
	st := r.c.Stalled(nil)[0]
	if age := ck.now().Sub(st.Since); !st.Since.Equal(failedAt) || age != time.Hour {
		t.Fatalf("the stall is since %v (age %v), want %v (age 1h)", st.Since, age, failedAt)
	}
}

func fieldIdleStream(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for n := int64(0); n < 1000; n += 100 {
		r.issue(0, n).Release() // everything up to n was filtered out
		r.settle(at(0, n+1))
		r.issue(0, n).Release() // nothing new at all
		r.settle()
		r.pending(0, 0)
	}
}

func fieldAckAfterRevoke(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a, b := r.issue(0, 99), r.issue(0, 199)
	a.Release()
	r.drain(stats{Applied: 1})
	r.c.Revoke(0)
	b.Release()
	r.drain(stats{StaleEpoch: 1})
	r.take()
	r.pending(0, 0)
	// Nothing of it turns up when the partition comes back, here or later.
	r.extend(0)
	r.settle()
	r.begin(2, 0, 1)
	r.settle()
	r.pending(0, 0)
}

// fieldCooperativeRevoke plays a source with committed offsets: seven of ten
// partitions move away and back while a window of each is in flight.
func fieldCooperativeRevoke(t testing.TB, s Subject) {
	const window = 5
	ps, moving := parts(10), parts(7)
	r := newRig(t, s, ps...)
	committed, delivered := map[part]int64{}, map[part]map[int64]bool{}
	position := map[part]int64{}
	inflight := map[part][]Ack{}
	for _, p := range ps {
		delivered[p] = map[int64]bool{}
	}
	commit := func() {
		r.c.Drain()
		for _, w := range r.c.TakeWatermarks(nil) {
			for o := committed[w.Partition]; o < w.Offset; o++ {
				if !delivered[w.Partition][o] {
					t.Fatalf("partition %d: watermark %d passes offset %d, which was never delivered", w.Partition, w.Offset, o)
				}
			}
			if w.Offset <= committed[w.Partition] {
				t.Fatalf("partition %d: watermark %d after %d", w.Partition, w.Offset, committed[w.Partition])
			}
			committed[w.Partition] = w.Offset
		}
	}
	deliver := func(p part) {
		for k := len(inflight[p]) - 1; k >= 0; k-- {
			delivered[p][inflight[p][k].LastOffset()] = true
			inflight[p][k].Release()
		}
		inflight[p] = nil
	}
	for round := range 20 {
		for _, p := range ps {
			head := r.issue(p, position[p])
			for n := int64(1); n < window; n++ {
				inflight[p] = append(inflight[p], r.issue(p, position[p]+n))
			}
			position[p] += window
			deliver(p)
			inflight[p] = []Ack{head}
			if round%2 == 1 {
				deliver(p)
			}
		}
		commit()
		r.c.Revoke(moving...)
		commit()
		for _, p := range moving {
			releaseAll(inflight[p]) // too late, whatever became of it
			inflight[p] = nil
			position[p] = committed[p]
		}
		commit()
		r.extend(moving...)
		commit()
		for _, p := range ps[len(moving):] {
			deliver(p)
		}
		commit()
	}
	for _, p := range ps {
		want := int64(20 * window)
		if int(p) < len(moving) {
			want /= 2 // every other window was lost with its revoke, and read again
		}
		if committed[p] != want {
			t.Fatalf("partition %d is committed to %d, want %d", p, committed[p], want)
		}
	}
}

func fieldRetained(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	kept := append(r.issueAll(0, 1, 2), r.issueAll(1, 1, 2)...)
	gone := r.issue(2, 1)
	r.drain(stats{})
	r.c.Revoke(2)
	r.extend(3)
	r.pending(0, 2)
	r.pending(1, 2)
	releaseAll(kept)
	gone.Release()
	r.drain(stats{Applied: 4, StaleEpoch: 1})
	r.take(at(0, 3), at(1, 3))
}

func fieldPendingRestarts(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 4}, 0)
	for e := uint32(2); e < 40; e++ {
		r.issueAll(0, 0, 1, 2, 3)
		r.c.Drain()
		r.pending(0, 4)
		if e%2 == 0 {
			r.begin(e, 0)
		} else {
			r.c.Revoke(0)
			r.extend(0)
		}
		r.pending(0, 0)
		r.maxPending(0)
	}
}

// fieldRevokeAtOnce: a revoke waits for nothing, idle or with a full window.
func fieldRevokeAtOnce(t testing.TB, s Subject) {
	const n = 200
	r := newRig(t, s, parts(n)...)
	for p := range part(n) {
		if p%2 == 0 {
			r.issueAll(p, upTo(20)...)
		}
	}
	done := make(chan struct{})
	go func() {
		r.c.Revoke(parts(n)...)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("Revoke waits for batches in flight")
	}
	r.maxPending(0)
}

// fieldCommitOrder acknowledges in a scrambled order and commits at odd
// times; what is committed must grow strictly for each partition.
func fieldCommitOrder(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	last := map[part]int64{}
	held := map[part][]Ack{}
	for n := range int64(3000) {
		p := part(n % 3)
		held[p] = append(held[p], r.issue(p, n/3))
		if k := int(n*7919) % len(held[p]); n%5 != 0 {
			held[p][k].Release()
			held[p] = append(held[p][:k], held[p][k+1:]...)
		}
		if n%11 == 0 {
			r.c.Drain()
		}
		if n%4 == 0 {
			for _, w := range r.c.TakeWatermarks(nil) {
				if w.Offset <= last[w.Partition] {
					t.Fatalf("partition %d: watermark %d after %d", w.Partition, w.Offset, last[w.Partition])
				}
				last[w.Partition] = w.Offset
			}
		}
	}
	for p := range part(3) {
		releaseAll(held[p])
	}
	r.settle(at(0, 1000), at(1, 1000), at(2, 1000))
}

func fieldTooManyAcks(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 0)
	for range 10 {
		a.Release()
	}
	r.drain(stats{Applied: 1, Duplicates: 9})
	r.take(at(0, 1))
	b := r.issue(0, 1)
	b.Retain()
	for range 5 {
		b.Done(nil)
	}
	r.drain(stats{Applied: 1, Duplicates: 3})
	r.take(at(0, 2))
	r.pending(0, 0)
}

// fieldAckCost times acks behind a head that stays open, with 100,000
// deferred ones between and without. The bound is wide: a cost that grows
// with the window differs by a factor in the hundreds.
func fieldAckCost(t testing.TB, s Subject) {
	const window, batch, limit = 100_000, 64, 10
	cost := func(deferred int) time.Duration {
		r := newRig(t, s, 0)
		r.issue(0, 0)
		next := int64(1)
		for range deferred {
			r.issue(0, next).Release()
			next++
		}
		r.settle()
		r.settle()
		return best(40, func() {
			for range batch {
				r.issue(0, next).Release()
				next++
			}
			r.c.Drain()
			r.c.TakeWatermarks(nil)
		})
	}
	mustBeFlat(t, "an ack with 100k deferred behind the head, against none", limit,
		func() (time.Duration, time.Duration) { return cost(window), cost(0) })
}

// best is the shortest of n runs: the one least disturbed.
func best(n int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range n {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

// mustBeFlat measures up to five times and fails when large exceeds
// limit × small in all of them.
func mustBeFlat(t testing.TB, what string, limit int, measure func() (large, small time.Duration)) {
	t.Helper()
	var large, small time.Duration
	for range 5 {
		if large, small = measure(); large <= time.Duration(limit)*small {
			return
		}
	}
	t.Fatalf("%s takes %v, against %v: more than %d times as long", what, large, small, limit)
}

func fieldLimitStops(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 50}, 0)
	r.issueAll(0, upTo(50)...)
	for n := range int64(10_000) {
		r.refuse(r.i, 0, 50+n, checkpoint.ErrPendingLimit)
	}
	r.drain(stats{})
	r.pending(0, 50)
}

func fieldFilledGap(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, upTo(100)...)
	for k, a := range acks {
		if k != 13 {
			a.Release()
		}
	}
	r.settle(at(0, 13))
	r.settle()
	acks[13].Release()
	r.take()
	r.settle(at(0, 100))
}
