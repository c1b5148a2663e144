package checkpointtest

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// controlCases hold the sentences about BeginEpoch, ExtendEpoch, Revoke,
// Drain, TakeWatermarks and the probes.
func controlCases() []testCase {
	return []testCase{
		{"FirstEpochMayBeAnyNumber", 0, epochFirst},
		{"EpochRefusedChangesNothing", 0, epochRefused},
		{"LastEpochDoesNotWrap", 0, epochLast},
		{"EpochCoversExactlyItsPartitions", 0, epochCovers},
		{"RepeatedPartitionsAreOne", 0, epochRepeats},
		{"ExtendBeforeTheFirstEpoch", 0, extendNoEpoch},
		{"ExtendIsAllOrNothing", 0, extendAllOrNothing},
		{"ExtendByNothing", 0, extendNothing},
		{"ExtendLeavesTheOthersUndisturbed", 0, extendUndisturbed},
		{"RevokeEndsStallPendingAndWatermark", 0, revokeAtOnce},
		{"RevokeOfUnknownPartitions", 0, revokeUnknown},
		{"UndrainedBatchIsStaleAfterRevoke", 0, revokeUndrained},
		{"HandleOutlivesTheReturn", 0, revokeReturn},
		{"ReturnsRepeatIDs", 0, revokeRepeatsIDs},
		{"EachEventIsCountedOnce", 0, drainOnce},
		{"TakeIsAsOfTheLastDrain", 0, takeAsOfDrain},
		{"TakeAppendsSorted", 0, takeAppends},
		{"LongListsAreSorted", 0, takeLong},
		{"UnmovedWatermarkIsNotReported", 0, takeUnmoved},
		{"PendingFallsAtTake", 0, pendingFalls},
		{"MaxPendingIsTheLargest", 0, pendingMax},
		{"PendingCountsTheUndrained", LacksEagerPending, pendingEager},
		{"StallCarriesIdentityAndTime", 0, stallFields},
		{"FailureBehindAPendingBatchIsNoStallYet", 0, stallBehindPending},
		{"StallIsForTheRestOfTheEpoch", 0, stallLasts},
		{"EverythingBeforeAStallIsReported", 0, stallPrefix},
		{"StalledAppendsSorted", 0, stallAppends},
		{"StallsEndWithTheAdmission", 0, stallEnds},
		{"WatermarksGrowStrictly", 0, takeStrictly},
	}
}

func epochFirst(t testing.TB, s Subject) {
	for _, e := range []uint32{0, 1, 77, math.MaxUint32 - 1, math.MaxUint32} {
		c := s.New(Config{})
		r := &rig{t: t, s: s, c: c, i: c.Issuer()}
		r.begin(e, 0)
		a := r.issue(0, 9)
		if a.ID().Epoch != e {
			t.Fatalf("in epoch %d a batch is %v", e, a.ID())
		}
		a.Release()
		r.drain(stats{Applied: 1})
		r.take(at(0, 10))
		wantErr(t, "BeginEpoch of the same", r.c.BeginEpoch(e, 0), checkpoint.ErrEpochNotIncreasing)
		wantErr(t, "BeginEpoch(0)", r.c.BeginEpoch(0, 0), checkpoint.ErrEpochNotIncreasing)
	}
}

func epochRefused(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	r.begin(7, 0, 1)
	a, bad := r.issue(0, 9), r.issue(1, 9)
	r.issue(0, 19)
	fail(bad)
	r.drain(stats{Applied: 1})
	r.take()
	a.Release()
	for _, e := range []uint32{7, 6, 1, 0} {
		wantErr(t, "BeginEpoch", r.c.BeginEpoch(e, 2, 3), checkpoint.ErrEpochNotIncreasing)
		wantErr(t, "BeginEpoch", r.c.BeginEpoch(e), checkpoint.ErrEpochNotIncreasing)
	}
	r.pending(0, 2)
	r.stalled(bad)
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
	if got := r.issue(0, 29).ID(); got != (checkpoint.BatchID{Partition: 0, Epoch: 7, Seq: 2}) {
		t.Fatalf("after refused epochs a batch is %v, want p0@e7#2", got)
	}
	r.issue(2, 0).Release()
	r.drain(stats{StaleEpoch: 2})
}

func epochLast(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.begin(math.MaxUint32-1, 0)
	old := r.issue(0, 5)
	r.begin(math.MaxUint32, 0)
	for _, e := range []uint32{0, 1, math.MaxUint32 - 1, math.MaxUint32} {
		wantErr(t, "BeginEpoch after the last", r.c.BeginEpoch(e, 0), checkpoint.ErrEpochNotIncreasing)
	}
	old.Release()
	r.drain(stats{StaleEpoch: 2})
	a := r.issue(0, 1)
	if a.ID().String() != "p0@e4294967295#0" {
		t.Fatalf("a batch of the last epoch is %v", a.ID())
	}
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 2))
	r.extend(1)
	r.c.Revoke(0)
	r.extend(0)
	r.issue(0, 0).Release()
	r.settle(at(0, 1))
}

func epochCovers(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	acks := []Ack{r.issue(0, 1), r.issue(1, 1), r.issue(2, 1)}
	r.drain(stats{})
	r.begin(2, 1, 3)
	for p := range part(4) {
		r.pending(p, 0)
	}
	releaseAll(acks)
	for p := range part(4) {
		r.issue(p, 5).Release()
	}
	r.drain(stats{Applied: 2, StaleEpoch: 3 + 4})
	r.take(at(1, 6), at(3, 6))
	r.begin(3)
	r.issue(1, 6).Release()
	r.drain(stats{StaleEpoch: 2})
	r.take()
	r.extend(1)
	r.issue(1, 7).Release()
	r.settle(at(1, 8))
}

func epochRepeats(t testing.TB, s Subject) {
	r := newRig(t, s, 4, 4, 4, 2, 4)
	r.issue(4, 1).Release()
	r.issue(2, 1).Release()
	r.settle(at(2, 2), at(4, 2))
	r.extend(6, 6)
	r.issue(6, 1).Release()
	r.settle(at(6, 2))
	r.c.Revoke(4, 4)
	r.extend(4)
	r.maxPending(0)
}

func extendNoEpoch(t testing.TB, s Subject) {
	c := s.New(Config{})
	wantErr(t, "ExtendEpoch before BeginEpoch", c.ExtendEpoch(1, 2), checkpoint.ErrNoEpoch)
	r := &rig{t: t, s: s, c: c, i: c.Issuer()}
	r.issue(1, 5).Release()
	r.drain(stats{StaleEpoch: 2})
	r.begin(1, 2)
	r.issue(1, 5).Release()
	r.drain(stats{StaleEpoch: 2})
	r.extend(1)
	r.issue(1, 5).Release()
	r.settle(at(1, 6))
}

func extendAllOrNothing(t testing.TB, s Subject) {
	r := newRig(t, s, 3)
	a := r.issue(3, 9)
	wantErr(t, "ExtendEpoch with a live partition", r.c.ExtendEpoch(1, 2, 3, 4), checkpoint.ErrPartitionAdmitted)
	for _, p := range []part{1, 2, 4} {
		r.issue(p, 0).Release()
	}
	r.drain(stats{StaleEpoch: 6})
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(3, 10))
	r.extend(1, 2, 4)
}

func extendNothing(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	r.extend()
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func extendUndisturbed(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a, bad := r.issue(0, 9), r.issue(1, 9)
	fail(bad)
	r.settle()
	r.extend(2, 3)
	r.pending(0, 1)
	r.stalled(bad)
	if got := r.issue(0, 19).ID().Seq; got != 1 {
		t.Fatalf("ExtendEpoch restarted the sequence of another partition at %d", got)
	}
	r.refuse(r.c.Issuer(), 0, 30, checkpoint.ErrPartitionOwned)
	r.refuse(r.i, 0, 8, checkpoint.ErrOffsetRegressed)
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func revokeAtOnce(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	fail(r.issue(0, 9))
	r.issue(1, 9).Release()
	kept := r.issue(2, 9)
	r.drain(stats{Applied: 2})
	r.take(at(1, 10))
	r.issue(1, 19).Release()
	r.drain(stats{Applied: 1})
	r.pending(0, 1)
	r.pending(1, 1)
	r.c.Revoke(0, 1)
	r.pending(0, 0)
	r.pending(1, 0)
	r.stalled()
	r.take()
	r.maxPending(1)
	r.c.Revoke(2)
	r.maxPending(0)
	kept.Release()
	r.drain(stats{StaleEpoch: 1})
	r.take()
}

func revokeUnknown(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	r.c.Revoke(1, 2, math.MaxUint32)
	r.c.Revoke()
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

// revokeUndrained: what an event counts as is decided by the drain that first
// sees it, not by the state when it happened.
func revokeUndrained(t testing.TB, s Subject) {
	for _, end := range []func(*rig){
		func(r *rig) { r.c.Revoke(0) },
		func(r *rig) { r.c.Revoke(0); r.extend(0) },
		func(r *rig) { r.begin(2, 0) },
		func(r *rig) { r.begin(2) },
	} {
		r := newRig(t, s, 0)
		seen := r.issueAll(0, 1, 2, 3)
		seen[0].Release()
		r.drain(stats{Applied: 1})
		seen[1].Release()
		unseen := r.issueAll(0, 4, 5)
		unseen[0].Release()
		end(r)
		// Stale: the release of seen[1]; both registrations; one release.
		r.drain(stats{StaleEpoch: 4})
		r.take()
		seen[2].Release()
		unseen[1].Release()
		r.drain(stats{StaleEpoch: 2})
		r.take()
		r.pending(0, 0)
	}
}

func revokeReturn(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	var old []Ack
	for range 5 {
		acks := r.issueAll(0, 0, 1, 2)
		r.drain(stats{})
		r.c.Revoke(0)
		r.extend(0)
		r.pending(0, 0)
		old = append(old, acks...)
	}
	fresh := r.issueAll(0, 0, 1, 2)
	for _, a := range old {
		a.Fail()
		a.Release()
	}
	r.drain(stats{StaleEpoch: 15})
	r.take()
	r.stalled()
	r.pending(0, 3)
	releaseAll(fresh)
	r.drain(stats{Applied: 3})
	r.take(at(0, 3))
}

func revokeRepeatsIDs(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 5)
	r.c.Revoke(0)
	r.extend(0)
	b := r.issue(0, 5)
	if a.ID() != b.ID() {
		t.Fatalf("the first batches of two admissions are %v and %v, want one ID", a.ID(), b.ID())
	}
	if a == b {
		t.Fatal("the handles of two batches are equal")
	}
}

func drainOnce(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	var sum stats
	add := func(d stats) {
		sum.Applied += d.Applied
		sum.StaleEpoch += d.StaleEpoch
		sum.Duplicates += d.Duplicates
		sum.Unknown += d.Unknown
	}
	for n := range int64(500) {
		a := r.issue(part(n%2), n)
		if n%3 == 0 {
			add(r.c.Drain())
		}
		a.Release()
		r.issue(9, n).Release()
		if n%7 == 0 {
			add(r.c.Drain())
			add(r.c.Drain())
		}
	}
	add(r.c.Drain())
	if want := (stats{Applied: 500, StaleEpoch: 1000}); sum != want {
		t.Fatalf("all drains together counted %+v, want %+v", sum, want)
	}
	for range 4 {
		r.drain(stats{})
	}
}

func takeAsOfDrain(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a, b := r.issue(0, 9), r.issue(0, 19)
	a.Release()
	r.take()
	r.drain(stats{Applied: 1})
	b.Release()
	r.take(at(0, 10))
	r.take()
	if r.s.Lacks&LacksEagerPending == 0 {
		r.pending(0, 1)
	}
	r.drain(stats{Applied: 1})
	r.take(at(0, 20))
	// A failure that no drain has seen is no stall.
	c := r.issue(0, 29)
	fail(c)
	r.take()
	r.stalled()
	r.drain(stats{Applied: 1})
	r.stalled()
	r.take()
	r.stalled(c)
}

func takeAppends(t testing.TB, s Subject) {
	ps := []part{40, 3, 17, 1 << 20, 0, 99, 18, 2}
	r := newRig(t, s, ps...)
	for _, p := range ps {
		r.issue(p, 1).Release()
	}
	r.drain(stats{Applied: len(ps)})
	dst := make([]mark, 2, 64)
	dst[0], dst[1] = at(7, 7), at(5, 5)
	got := r.c.TakeWatermarks(dst)
	want := []mark{at(7, 7), at(5, 5)}
	slices.Sort(ps)
	for _, p := range ps {
		want = append(want, at(p, 2))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("TakeWatermarks(dst) = %v, want %v", got, want)
	}
	if &got[0] != &dst[0] {
		t.Fatal("TakeWatermarks did not use the capacity it was given")
	}
	if got := r.c.TakeWatermarks(dst[:1]); len(got) != 1 || got[0] != at(7, 7) {
		t.Fatalf("TakeWatermarks(dst) with nothing to say = %v, want dst as it was", got)
	}
	if got := r.c.TakeWatermarks(nil); len(got) != 0 {
		t.Fatalf("TakeWatermarks(nil) with nothing to say = %v", got)
	}
}

func takeUnmoved(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.issue(0, 5).Release()
	r.settle(at(0, 6))
	for range 5 {
		r.issue(0, 5).Release()
		r.drain(stats{Applied: 1})
		r.pending(0, 1)
		r.take()
		r.pending(0, 0)
	}
	r.issue(0, 6).Release()
	r.settle(at(0, 7))
}

func pendingFalls(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, 1, 2, 3)
	r.drain(stats{})
	r.pending(0, 3)
	releaseAll(acks[:2])
	r.pending(0, 3)
	r.drain(stats{Applied: 2})
	r.pending(0, 3)
	r.take(at(0, 3))
	r.pending(0, 1)
	r.maxPending(1)
	acks[2].Release()
	r.settle(at(0, 4))
	r.pending(0, 0)
	r.maxPending(0)
}

func pendingMax(t testing.TB, s Subject) {
	r := newRig(t, s, parts(6)...)
	acks := map[part][]Ack{}
	for p := range part(6) {
		acks[p] = r.issueAll(p, upTo(int(p)*3)...)
	}
	r.drain(stats{})
	for p := part(5); p > 0; p-- {
		r.maxPending(int(p) * 3)
		releaseAll(acks[p])
		r.settle(at(p, int64(p)*3))
	}
	r.maxPending(0)
}

func pendingEager(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	for n := range 100 {
		r.issue(0, int64(n)).Release()
		r.pending(0, n+1)
		r.maxPending(n + 1)
	}
	r.pending(1, 0)
	r.settle(at(0, 100))
	r.pending(0, 0)
}

func stallFields(t testing.TB, s Subject) {
	var ck clock
	r := newRigWith(t, s, Config{Now: ck.now}, 0, 1)
	r.issue(1, 3).Release()
	bad := r.issue(1, 8)
	ck.advance(time.Second)
	fail(bad)
	ck.advance(time.Second)
	r.drain(stats{Applied: 2})
	ck.advance(time.Second)
	since := ck.now()
	r.take(at(1, 4))
	want := checkpoint.Stall{Partition: 1, Batch: checkpoint.BatchID{Partition: 1, Epoch: 1, Seq: 1}, LastOffset: 8, Since: since}
	for range 4 {
		got := r.c.Stalled(nil)
		if len(got) != 1 || !got[0].Since.Equal(want.Since) {
			t.Fatalf("Stalled() = %+v, want %+v", got, want)
		}
		if got[0].Since = want.Since; got[0] != want {
			t.Fatalf("Stalled() = %+v, want %+v", got, want)
		}
		ck.advance(time.Hour)
		r.issue(1, 20).Release()
		r.issue(0, 20).Release()
		r.c.Drain()
		r.c.TakeWatermarks(nil)
	}
}

func stallBehindPending(t testing.TB, s Subject) {
	var ck clock
	r := newRigWith(t, s, Config{Now: ck.now}, 0)
	head, bad := r.issue(0, 1), r.issue(0, 2)
	fail(bad)
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled()
	ck.advance(time.Minute)
	head.Release()
	r.drain(stats{Applied: 1})
	r.stalled()
	r.take(at(0, 2))
	r.stalled(bad)
	if got := r.c.Stalled(nil)[0].Since; !got.Equal(ck.now()) {
		t.Fatalf("the stall is since %v, want %v: when the take reached it", got, ck.now())
	}
}

func stallLasts(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	bad := r.issue(0, 0)
	fail(bad)
	r.settle()
	for n := int64(1); n < 200; n++ {
		r.issue(0, n).Release()
		r.drain(stats{Applied: 1})
		r.take()
		r.stalled(bad)
		r.pending(0, int(n)+1)
	}
	// A second failure behind it changes nothing.
	fail(r.issue(0, 200))
	r.drain(stats{Applied: 1})
	r.take()
	r.stalled(bad)
}

func stallPrefix(t testing.TB, s Subject) {
	for _, at0 := range []int64{1, 15, 16, 17, 31, 63, 64, 65, 127, 128, 200} {
		r := newRig(t, s, 0)
		acks := r.issueAll(0, upTo(256)...)
		acks[at0].Fail()
		releaseAll(acks)
		r.drain(stats{Applied: 256})
		r.take(at(0, at0))
		r.stalled(acks[at0])
		r.pending(0, 256-int(at0))
		r.take()
	}
}

func stallAppends(t testing.TB, s Subject) {
	ps := []part{9, 4, 7, 1}
	r := newRig(t, s, ps...)
	for _, p := range ps {
		fail(r.issue(p, int64(p)))
	}
	r.settle()
	dst := make([]checkpoint.Stall, 1, 16)
	dst[0].LastOffset = 77
	got := r.c.Stalled(dst)
	if len(got) != 5 || got[0] != dst[0] || &got[0] != &dst[0] {
		t.Fatalf("Stalled(dst) = %+v, want dst and four more", got)
	}
	for k, p := range []part{1, 4, 7, 9} {
		if got[k+1].Partition != p || got[k+1].LastOffset != int64(p) {
			t.Fatalf("stall %d is %+v, want partition %d", k, got[k+1], p)
		}
	}
}

func stallEnds(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1, 2)
	var acks []Ack
	for p := range part(3) {
		acks = append(acks, r.issue(p, 1))
		fail(acks[p])
	}
	r.settle()
	r.stalled(acks...)
	r.c.Revoke(1)
	r.stalled(acks[0], acks[2])
	r.extend(1)
	r.stalled(acks[0], acks[2])
	r.issue(1, 1).Release()
	r.settle(at(1, 2))
	r.begin(2, 0, 1, 2)
	r.stalled()
	for p := range part(3) {
		r.issue(p, 0).Release()
	}
	r.settle(at(0, 1), at(1, 1), at(2, 1))
}

// takeStrictly resolves in many orders and watches every watermark.
func takeStrictly(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	last := int64(0)
	for round := range int64(40) {
		acks := r.issueAll(0, upFrom(round*50, 50)...)
		for _, a := range acks {
			a.Retain()
		}
		for k := range acks {
			acks[(k*7+int(round))%50].Release()
			acks[(k*11+5)%50].Release()
			r.c.Drain()
			for _, w := range r.c.TakeWatermarks(nil) {
				if w.Offset <= last {
					t.Fatalf("watermark %d after %d", w.Offset, last)
				}
				last = w.Offset
			}
		}
	}
}
