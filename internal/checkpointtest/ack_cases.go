package checkpointtest

import (
	"errors"
	"math"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// ackCases hold the sentences about the handle and the bulk holder.
func ackCases() []testCase {
	return []testCase{
		{"LastReleaseResolves", 0, ackLastRelease},
		{"RetainReturnsItsReceiver", 0, ackRetainEqual},
		{"HandlesCompareByBatch", 0, ackComparable},
		{"RetainNOfNothing", 0, ackRetainNothing},
		{"OneFailureFailsTheBatch", 0, ackWorstOf},
		{"FailDoesNotRelease", 0, ackFailDoesNotRelease},
		{"DoneReleasesAndFailsOnError", 0, ackDone},
		{"HandleOutlivesItsCell", 0, ackIDAfterReuse},
		{"ReleaseOfAResolvedBatchIsCounted", LacksDuplicates, ackDuplicates},
		{"DuplicatesAreCountedInAnyEpoch", LacksDuplicates, ackDuplicatesAnyEpoch},
		{"ResolvedHandleChangesNoOtherBatch", LacksDuplicates, ackResolvedIsInert},
		{"FailAfterResolutionIsTooLate", LacksDuplicates, ackFailTooLate},
		{"SaturatedHoldersNeverResolve", LacksSaturation, ackSaturated},
		{"SafeAfterTheCheckpointerIsGone", 0, ackWithoutCheckpointer},
		{"ZeroAckIsInertInASet", LacksAckSet, setZeroAck},
		{"SetCountsHolds", LacksAckSet, setHolds},
		{"SetDelivers", LacksAckSet, setDeliver},
		{"SetClosesAsFailed", LacksAckSet, setClose},
		{"SetCloseAfterDeliverDoesNothing", LacksAckSet, setCloseAfterDeliver},
		{"SetAbsorbs", LacksAckSet, setAbsorb},
		{"SetAbsorbsItself", LacksAckSet, setAbsorbItself},
		{"SetOfManyBatches", LacksAckSet, setLarge},
		{"SetKeepsAFailureOfAnotherHolder", LacksAckSet, setWorstOf},
		{"ZeroDrainHasNothing", 0, ackNothing},
	}
}

func ackLastRelease(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	b := a.Retain()
	a.RetainN(3)
	for n := range 4 {
		if n%2 == 0 {
			a.Release()
		} else {
			b.Release()
		}
		r.drain(stats{})
		r.take()
		r.pending(0, 1)
	}
	b.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func ackRetainEqual(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	if b := a.Retain(); b != a {
		t.Fatalf("Retain returned %v, want a value equal to its receiver %v", b, a)
	}
	if b := a.Retain().Retain(); b != a || b.ID() != a.ID() || b.LastOffset() != 9 {
		t.Fatal("Retain of a retained handle is another handle")
	}
	a.RetainN(5)
	if b := a.Retain(); b != a {
		t.Fatal("the number of holders shows in the handle")
	}
}

func ackComparable(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	seen := map[Ack]bool{}
	for n := range int64(100) {
		for p := range part(2) {
			a := r.issue(p, n)
			if seen[a] {
				t.Fatalf("the handle of %v equals that of another batch", a.ID())
			}
			seen[a], seen[a.Retain()] = true, true
		}
	}
	if len(seen) != 200 {
		t.Fatalf("200 batches have %d different handles", len(seen))
	}
}

func ackRetainNothing(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	for _, n := range []int{0, -1, math.MinInt} {
		a.RetainN(n)
	}
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func ackWorstOf(t testing.TB, s Subject) {
	// Each holder of three in turn is the one that fails, and each the last.
	permutations(3, func(order []int) {
		for failing := range 3 {
			r := newRig(t, s, 0)
			a := r.issue(0, 9)
			a.RetainN(2)
			for _, holder := range order {
				if holder == failing {
					a.Fail()
					a.Fail()
				}
				a.Release()
			}
			r.drain(stats{Applied: 1})
			r.take()
			r.stalled(a)
		}
	})
}

func ackFailDoesNotRelease(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	for range 5 {
		a.Fail()
	}
	r.drain(stats{})
	r.take()
	r.stalled()
	r.pending(0, 1)
	a.Release()
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(a)
	r.pending(0, 1)
}

func ackDone(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	a, b, c := r.issue(0, 9), r.issue(1, 9), r.issue(2, 9)
	a.Done(nil)
	b.Done(errSink)
	c.Retain()
	c.Done(errSink)
	r.drain(stats{Applied: 2})
	r.take(at(0, 10))
	r.stalled(b)
	c.Done(nil)
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(b, c)
}

func ackIDAfterReuse(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	var old []Ack
	for n := range int64(3000) {
		a := r.issue(0, n*7)
		a.Release()
		if n%10 == 9 {
			r.c.Drain()
			r.c.TakeWatermarks(nil)
		}
		if n%50 == 0 {
			old = append(old, a)
		}
	}
	r.c.Drain()
	r.begin(2, 0)
	r.issue(0, 1)
	for k, a := range old {
		want := checkpoint.BatchID{Partition: 0, Epoch: 1, Seq: uint64(k * 50)}
		if a.ID() != want || a.LastOffset() != int64(k*50*7) {
			t.Fatalf("old handle says %v with offset %d, want %v with offset %d", a.ID(), a.LastOffset(), want, k*50*7)
		}
	}
}

func ackDuplicates(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	a.Release()
	a.Release()
	r.drain(stats{Applied: 1, Duplicates: 1})
	a.Release()
	r.drain(stats{Duplicates: 1})
	r.take(at(0, 10))
	for range 1000 {
		a.Release()
	}
	a.Done(errSink)
	r.drain(stats{Duplicates: 1001})
	r.take()
	r.drain(stats{})
}

func ackDuplicatesAnyEpoch(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a, b, c := r.issue(0, 9), r.issue(1, 9), r.issue(7, 9)
	releaseAll([]Ack{a, b, c})
	r.drain(stats{Applied: 2, StaleEpoch: 2})
	r.c.Revoke(0)
	r.begin(2, 0)
	releaseAll([]Ack{a, b, c, a})
	r.drain(stats{Duplicates: 4})
	// Resolved as stale is resolved all the same.
	d := r.issue(0, 5)
	r.begin(3, 0)
	d.Release()
	d.Release()
	r.drain(stats{StaleEpoch: 2, Duplicates: 1})
	r.take()
	r.issue(0, 0).Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 1))
}

// ackResolvedIsInert misuses handles of batches long passed while their cells
// are in use again.
func ackResolvedIsInert(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	var old []Ack
	next, misuses := int64(0), 0
	for range 60 {
		live := r.issueAll(0, upFrom(next, 37)...)
		next += 37
		for _, a := range old {
			a.Fail()
			if a.Retain() != a {
				t.Fatal("Retain of a resolved handle returned another value")
			}
			a.RetainN(2)
			a.Release()
			misuses++
		}
		r.drain(stats{Duplicates: misuses})
		misuses = 0
		r.pending(0, 37)
		releaseAll(live)
		r.drain(stats{Applied: 37})
		r.take(at(0, next))
		old = append(old, live[0], live[20])
	}
	r.stalled()
}

func ackFailTooLate(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	a.Release()
	a.Fail()
	r.drain(stats{Applied: 1})
	a.Fail()
	r.take(at(0, 10))
	a.Fail()
	r.settle()
	r.stalled()
}

func ackManyHolders(t testing.TB, s Subject) {
	const holders = 1 << 22
	r := newRig(t, s, 0, 1)
	a, b := r.issue(0, 9), r.issue(1, 9)
	a.RetainN(holders/2 - 1)
	a.RetainN(holders / 2)
	b.Release()
	for range holders - 1 {
		a.Release()
	}
	r.drain(stats{Applied: 1})
	r.take(at(1, 10))
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func ackSaturated(t testing.TB, s Subject) {
	for _, counts := range [][]int{{math.MaxInt}, {math.MaxInt, math.MaxInt}, {math.MaxInt32, 1}, {1 << 23}, {1 << 24, 1 << 24}, {1 << 30, 1 << 30, 1 << 30, 1 << 30}} {
		r := newRig(t, s, 0)
		before := r.issue(0, 1)
		a := r.issue(0, 5)
		after := r.issue(0, 9)
		for _, n := range counts {
			a.RetainN(n)
		}
		for range 50_000 {
			a.Release()
			a.Retain()
			a.Release()
		}
		a.Fail()
		before.Release()
		after.Release()
		r.drain(stats{Applied: 2})
		r.take(at(0, 2))
		r.stalled()
		r.pending(0, 2)
		if a.ID().Seq != 1 || a.LastOffset() != 5 {
			t.Fatalf("a saturated handle says %v with offset %d", a.ID(), a.LastOffset())
		}
		r.c.Revoke(0)
		r.extend(0)
		r.issue(0, 0).Release()
		r.drain(stats{Applied: 1})
		r.take(at(0, 1))
	}
}

// ackSaturationSticks: a count that was cut off must not come down to zero
// while holders are left.
func ackSaturationSticks(t testing.TB, s Subject) {
	releases := 1<<23>>less(1) + 10
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	a.RetainN(1 << 30)
	for range releases {
		a.Release()
	}
	r.drain(stats{})
	r.take()
	r.pending(0, 1)
}

func ackWithoutCheckpointer(t testing.TB, s Subject) {
	acks := func() []Ack {
		r := newRig(t, s, 0)
		return r.issueAll(0, upTo(40)...)
	}()
	for n, a := range acks {
		a.Retain()
		a.Fail()
		a.Release()
		a.Done(errors.New("late"))
		if a.ID().Seq != uint64(n) || a.LastOffset() != int64(n) {
			t.Fatalf("handle %d says %v with offset %d", n, a.ID(), a.LastOffset())
		}
	}
}

// zeroAck gets the subject's zero handle: Issue returns it with an error.
func zeroAck(t testing.TB, r *rig) Ack {
	t.Helper()
	a, err := r.i.Issue(0, -1)
	if err == nil {
		t.Fatal("Issue(0, -1) = nil, want an error")
	}
	return a
}

func setZeroAck(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	zero, set := zeroAck(t, r), s.NewAckSet()
	set.Add(zero)
	if set.Len() != 0 {
		t.Fatalf("a set of a zero handle has Len %d", set.Len())
	}
	set.Deliver()
	zero.Fail()
	zero.RetainN(7)
	if zero.Retain() != zero {
		t.Fatal("Retain of the zero handle returned another value")
	}
	zero.Release()
	zero.Done(errSink)
	if zero.ID() != (checkpoint.BatchID{}) || zero.LastOffset() != 0 {
		t.Fatalf("the zero handle says %v with offset %d", zero.ID(), zero.LastOffset())
	}
	r.drain(stats{})
}

func setLen(t testing.TB, set AckSet, want int) {
	t.Helper()
	if got := set.Len(); got != want {
		t.Fatalf("Len() = %d, want %d", got, want)
	}
}

func setHolds(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	set := s.NewAckSet()
	setLen(t, set, 0)
	a := r.issue(0, 9)
	a.RetainN(4)
	for n := range 5 {
		set.Add(a)
		setLen(t, set, n+1)
	}
	set.Add(r.issue(0, 10))
	setLen(t, set, 6)
	set.Deliver()
	setLen(t, set, 0)
	r.drain(stats{Applied: 2})
	r.take(at(0, 11))
}

func setDeliver(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	set := s.NewAckSet()
	set.Deliver()
	shared := r.issue(0, 9)
	set.Add(shared.Retain())
	set.Add(r.issue(1, 9))
	set.Deliver()
	r.drain(stats{Applied: 1})
	r.take(at(1, 10))
	shared.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
	// The set is ready for the next round.
	set.Add(r.issue(0, 19))
	setLen(t, set, 1)
	set.Deliver()
	r.settle(at(0, 20))
}

func setClose(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	set := s.NewAckSet()
	a, b := r.issue(0, 9), r.issue(1, 9)
	a.RetainN(2)
	set.Add(a)
	set.Add(a)
	set.Add(b)
	if err := set.Close(); err != nil {
		t.Fatalf("Close() = %v, want nil", err)
	}
	setLen(t, set, 0)
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(b)
	a.Release()
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(a, b)
	if err := set.Close(); err != nil {
		t.Fatalf("second Close() = %v, want nil", err)
	}
	r.drain(stats{})
}

func setCloseAfterDeliver(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	func() {
		set := s.NewAckSet()
		defer func() { _ = set.Close() }()
		set.Add(r.issue(0, 9))
		set.Deliver()
	}()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
	r.stalled()
}

func setAbsorb(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a, b := s.NewAckSet(), s.NewAckSet()
	a.Add(r.issue(0, 9))
	b.Add(r.issue(0, 19))
	b.Add(r.issue(1, 9))
	a.Absorb(b)
	setLen(t, a, 3)
	setLen(t, b, 0)
	r.drain(stats{})
	b.Deliver()
	if err := b.Close(); err != nil {
		t.Fatalf("Close() = %v, want nil", err)
	}
	r.drain(stats{})
	// The emptied set is as good as new, and does not share memory with a.
	b.Add(r.issue(1, 19))
	a.Deliver()
	r.drain(stats{Applied: 3})
	r.take(at(0, 20), at(1, 10))
	a.Absorb(b)
	a.Absorb(s.NewAckSet())
	setLen(t, a, 1)
	a.Deliver()
	r.drain(stats{Applied: 1})
	r.take(at(1, 20))
}

func setAbsorbItself(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	set := s.NewAckSet()
	set.Add(r.issue(0, 9))
	set.Add(r.issue(0, 19))
	set.Absorb(set)
	setLen(t, set, 2)
	set.Deliver()
	r.drain(stats{Applied: 2})
	r.take(at(0, 20))
}

func setLarge(t testing.TB, s Subject) {
	const n = 5000
	r := newRig(t, s, 0)
	sets := []AckSet{s.NewAckSet(), s.NewAckSet(), s.NewAckSet()}
	for k, a := range r.issueAll(0, upTo(n)...) {
		a.Retain()
		sets[k%2].Add(a)
		sets[2].Add(a)
	}
	sets[2].Deliver()
	r.drain(stats{})
	sets[0].Absorb(sets[1])
	setLen(t, sets[0], n)
	sets[0].Deliver()
	r.drain(stats{Applied: n})
	r.take(at(0, n))
}

func setWorstOf(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	set := s.NewAckSet()
	a := r.issue(0, 9)
	set.Add(a.Retain())
	a.Done(errSink)
	set.Deliver()
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(a)
}

func ackNothing(t testing.TB, s Subject) {
	c := s.New(Config{})
	r := &rig{t: t, s: s, c: c, i: c.Issuer()}
	r.drain(stats{})
	r.take()
	r.stalled()
	r.pending(0, 0)
	r.maxPending(0)
	r.c.Revoke(0, 1)
	r.c.Revoke()
	r.drain(stats{})
}
