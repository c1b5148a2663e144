package checkpointtest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// issueCases hold the sentences about Issue: what it checks and in which
// order, what an error leaves behind, and batches of partitions that are not
// admitted.
func issueCases() []testCase {
	return []testCase{
		{"SequencesAreContiguousPerAdmission", 0, issueSequences},
		{"IDCarriesPartitionAndEpoch", 0, issueIDs},
		{"OffsetRange", 0, issueOffsetRange},
		{"OffsetsMayRepeatAndSkipButNotRegress", 0, issueOffsetOrder},
		{"OffsetsMayBeLowerInTheNextEpoch", 0, issueLowerInNextEpoch},
		{"OneOwnerPerAdmission", 0, issueOwner},
		{"CloneIsAnotherIssuer", 0, issueClone},
		{"ChecksComeInOrder", 0, issueCheckOrder},
		{"RefusedIssueLeavesNothing", 0, issueRefusedLeavesNothing},
		{"RefusedFirstIssueOwnsNothing", 0, issueRefusedOwnsNothing},
		{"LimitIsExactWhileNoTakeRuns", 0, issueLimitExact},
		{"LimitReopensAtTake", 0, issueLimitReopens},
		{"LimitIsPerPartitionAndAdmission", 0, issueLimitScope},
		{"LimitCountsBatchesBehindAStall", 0, issueLimitStall},
		{"LimitErrorIsUnwrapped", 0, issueLimitUnwrapped},
		{"NoLimitByDefault", 0, issueNoLimit},
		{"ErrorsNameWhatWasGiven", 0, issueErrorTexts},
		{"UntrackedBatchChecksOnlyTheRange", 0, issueUntrackedChecks},
		{"UntrackedBatchWorksAsAHandle", 0, issueUntrackedHandle},
		{"UntrackedBatchStaysStaleAfterAdmission", 0, issueUntrackedAdmitted},
		{"UntrackedBatchOwnsNothing", 0, issueUntrackedOwnsNothing},
		{"IssueBeforeTheFirstEpoch", 0, issueBeforeFirstEpoch},
		{"IssuerFollowsTheEpoch", 0, issueFollowsEpoch},
		{"IssuersOfOneCheckpointerShareIt", 0, issueManyIssuers},
		{"AnyShardCount", 0, issueShards},
		{"SparsePartitionNumbers", 0, issueSparsePartitions},
	}
}

func issueSequences(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	for n := range 300 {
		for p := range part(2) {
			if got := r.issue(p, int64(n)).ID().Seq; got != uint64(n) {
				t.Fatalf("batch %d of partition %d has Seq %d", n, p, got)
			}
		}
	}
}

func issueIDs(t testing.TB, s Subject) {
	r := newRig(t, s, 3, 4)
	r.issue(3, 1)
	a := r.issue(3, 2)
	r.begin(9, 4)
	b := r.issue(4, 7)
	for _, c := range []struct {
		a    Ack
		id   checkpoint.BatchID
		text string
		last int64
	}{
		{a, checkpoint.BatchID{Partition: 3, Epoch: 1, Seq: 1}, "p3@e1#1", 2},
		{b, checkpoint.BatchID{Partition: 4, Epoch: 9, Seq: 0}, "p4@e9#0", 7},
	} {
		if got := c.a.ID(); got != c.id || got.String() != c.text || c.a.LastOffset() != c.last {
			t.Fatalf("got %v (%s) with offset %d, want %s with offset %d", got, got.String(), c.a.LastOffset(), c.text, c.last)
		}
	}
}

func issueOffsetRange(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	for _, bad := range []int64{-1, -2, math.MinInt64, math.MaxInt64} {
		r.refuse(r.i, 0, bad, checkpoint.ErrOffsetRange)
	}
	r.issue(0, 0).Release()
	r.issue(1, math.MaxInt64-1).Release()
	r.settle(at(0, 1), at(1, math.MaxInt64))
	r.refuse(r.i, 1, math.MaxInt64, checkpoint.ErrOffsetRange)
	r.issue(1, math.MaxInt64-1).Release()
	r.settle()
	r.pending(1, 0)
}

func issueOffsetOrder(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, 10, 10, 11, 5000)
	r.refuse(r.i, 0, 4999, checkpoint.ErrOffsetRegressed)
	r.refuse(r.i, 0, 0, checkpoint.ErrOffsetRegressed)
	acks = append(acks, r.issue(0, 5000))
	releaseAll(acks)
	r.settle(at(0, 5001))
	// Passing batches does not forget their order.
	r.refuse(r.i, 0, 4999, checkpoint.ErrOffsetRegressed)
}

func issueLowerInNextEpoch(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.issue(0, 100).Release()
	r.settle(at(0, 101))
	r.begin(2, 0)
	r.issue(0, 3).Release()
	r.settle(at(0, 4))
}

func issueOwner(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	second := r.c.Issuer()
	a := r.issue(0, 1)
	r.refuse(second, 0, 2, checkpoint.ErrPartitionOwned)
	b := r.issueFrom(second, 1, 1)
	r.refuse(r.i, 1, 2, checkpoint.ErrPartitionOwned)
	a.Release()
	b.Release()
	r.drain(stats{Applied: 2})
	r.take(at(0, 2), at(1, 2))
	r.refuse(second, 0, 2, checkpoint.ErrPartitionOwned)
	// The next admission of the partition is anybody's.
	r.c.Revoke(0)
	r.extend(0)
	r.issueFrom(second, 0, 1)
	r.refuse(r.i, 0, 2, checkpoint.ErrPartitionOwned)
	r.begin(2, 0, 1)
	r.issueFrom(second, 1, 0)
	r.issue(0, 0)
}

func issueClone(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	r.issue(0, 1)
	clone := r.i.Clone()
	r.refuse(clone, 0, 2, checkpoint.ErrPartitionOwned)
	if got := r.issueFrom(clone, 1, 5).ID(); got != (checkpoint.BatchID{Partition: 1, Epoch: 1}) {
		t.Fatalf("the clone's first batch is %v, want p1@e1#0", got)
	}
	if got := r.issue(0, 2).ID().Seq; got != 1 {
		t.Fatalf("the original's second batch has Seq %d, want 1", got)
	}
	r.refuse(clone.Clone(), 1, 6, checkpoint.ErrPartitionOwned)
}

func issueCheckOrder(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 1}, 0)
	other := r.c.Issuer()
	r.issue(0, 10)
	r.refuse(other, 0, -1, checkpoint.ErrOffsetRange)
	r.refuse(other, 0, 5, checkpoint.ErrPartitionOwned)
	r.refuse(other, 0, 20, checkpoint.ErrPartitionOwned)
	r.refuse(r.i, 0, math.MaxInt64, checkpoint.ErrOffsetRange)
	r.refuse(r.i, 0, 5, checkpoint.ErrOffsetRegressed)
	r.refuse(r.i, 0, 10, checkpoint.ErrPendingLimit)
}

func issueRefusedLeavesNothing(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 2}, 0)
	other := r.c.Issuer()
	a := r.issue(0, 10)
	r.refuse(r.i, 0, -1, checkpoint.ErrOffsetRange)
	r.refuse(other, 0, 11, checkpoint.ErrPartitionOwned)
	r.refuse(r.i, 0, 9, checkpoint.ErrOffsetRegressed)
	b := r.issue(0, 20)
	r.refuse(r.i, 0, 1000, checkpoint.ErrPendingLimit)
	if b.ID().Seq != 1 {
		t.Fatalf("refused issues used up sequences: the second batch is %v", b.ID())
	}
	r.drain(stats{})
	r.pending(0, 2)
	a.Release()
	b.Release()
	r.drain(stats{Applied: 2})
	r.take(at(0, 21))
	// The offset refused at the limit was not remembered as the previous one.
	c := r.issue(0, 25)
	if c.ID().Seq != 2 {
		t.Fatalf("refused issues used up sequences: the third batch is %v", c.ID())
	}
	c.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 26))
}

func issueRefusedOwnsNothing(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.refuse(r.i, 0, -5, checkpoint.ErrOffsetRange)
	r.refuse(r.i, 0, math.MaxInt64, checkpoint.ErrOffsetRange)
	other := r.c.Issuer()
	r.issueFrom(other, 0, 1).Release()
	r.refuse(r.i, 0, 2, checkpoint.ErrPartitionOwned)
	r.settle(at(0, 2))
}

func issueLimitExact(t testing.TB, s Subject) {
	for _, limit := range []int{1, 2, 16, 17, 100} {
		r := newRigWith(t, s, Config{PendingLimit: limit}, 0)
		for round := range int64(4) {
			var acks []Ack
			for n := range limit {
				acks = append(acks, r.issue(0, round*1000+int64(n)))
			}
			r.refuse(r.i, 0, round*1000+999, checkpoint.ErrPendingLimit)
			r.pendingIfEager(0, limit)
			releaseAll(acks)
			r.settle(at(0, round*1000+int64(limit)))
		}
		// One passed batch makes room for exactly one.
		acks := r.issueAll(0, upFrom(5000, limit)...)
		acks[0].Release()
		r.settle(at(0, 5001))
		r.issue(0, 6000)
		r.refuse(r.i, 0, 6001, checkpoint.ErrPendingLimit)
	}
}

func issueLimitReopens(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 1}, 0)
	a := r.issue(0, 0)
	r.refuse(r.i, 0, 1, checkpoint.ErrPendingLimit)
	a.Release()
	r.refuse(r.i, 0, 1, checkpoint.ErrPendingLimit)
	r.take()
	r.refuse(r.i, 0, 1, checkpoint.ErrPendingLimit)
	r.drain(stats{Applied: 1})
	r.refuse(r.i, 0, 1, checkpoint.ErrPendingLimit)
	r.pending(0, 1)
	r.take(at(0, 1))
	r.pending(0, 0)
	r.issue(0, 1)
	r.refuse(r.i, 0, 1, checkpoint.ErrPendingLimit)
}

func issueLimitScope(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 2}, 0, 1)
	r.issueAll(0, 0, 1)
	r.refuse(r.i, 0, 2, checkpoint.ErrPendingLimit)
	r.issueAll(1, 0, 1)
	// A return and a new epoch start with nothing pending.
	r.c.Revoke(0)
	r.extend(0)
	r.issueAll(0, 0, 1)
	r.refuse(r.i, 0, 2, checkpoint.ErrPendingLimit)
	r.begin(2, 0, 1)
	r.issueAll(0, 0, 1)
	r.refuse(r.i, 0, 2, checkpoint.ErrPendingLimit)
	// What is not tracked is not pending and has no limit.
	r.c.Revoke(1)
	r.issueAll(1, upTo(10)...)
}

func issueLimitStall(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 3}, 0)
	fail(r.issue(0, 0))
	r.settle()
	r.pending(0, 1)
	r.issue(0, 1).Release()
	r.issue(0, 2).Release()
	r.settle()
	r.pending(0, 3)
	r.refuse(r.i, 0, 3, checkpoint.ErrPendingLimit)
}

func issueLimitUnwrapped(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 1}, 0)
	r.issue(0, 0)
	if _, err := r.i.Issue(0, 1); err != checkpoint.ErrPendingLimit {
		t.Fatalf("Issue at the limit = %#v, want ErrPendingLimit itself", err)
	}
}

func issueNoLimit(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	acks := r.issueAll(0, upTo(20000)...)
	r.drain(stats{})
	r.pending(0, 20000)
	releaseAll(acks)
	r.drain(stats{Applied: 20000})
	r.take(at(0, 20000))
	r.pending(0, 0)
}

func issueErrorTexts(t testing.TB, s Subject) {
	r := newRig(t, s, 31)
	r.begin(17, 31)
	other := r.c.Issuer()
	r.issue(31, 4242)
	for _, c := range []struct {
		what string
		call func() error
		want error
		says []string
	}{
		{"range", func() error { _, err := r.i.Issue(31, -77); return err }, checkpoint.ErrOffsetRange, []string{"31", "17", "-77"}},
		{"owner", func() error { _, err := other.Issue(31, 4243); return err }, checkpoint.ErrPartitionOwned, []string{"31", "17", "4243"}},
		{"order", func() error { _, err := r.i.Issue(31, 4100); return err }, checkpoint.ErrOffsetRegressed, []string{"31", "17", "4100", "4242"}},
		{"admitted", func() error { return r.c.ExtendEpoch(31) }, checkpoint.ErrPartitionAdmitted, []string{"31"}},
		{"epoch", func() error { return r.c.BeginEpoch(16) }, checkpoint.ErrEpochNotIncreasing, []string{"16", "17"}},
	} {
		err := c.call()
		wantErr(t, c.what, err, c.want)
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the %s error %q does not name %s", c.what, err, word)
			}
		}
	}
}

func issueUntrackedChecks(t testing.TB, s Subject) {
	r := newRigWith(t, s, Config{PendingLimit: 1}, 0)
	other := r.c.Issuer()
	r.refuse(r.i, 5, -1, checkpoint.ErrOffsetRange)
	r.refuse(r.i, 5, math.MaxInt64, checkpoint.ErrOffsetRange)
	acks := r.issueAll(5, 10, 3, 10, 0, math.MaxInt64-1)
	acks = append(acks, r.issueFrom(other, 5, 7))
	r.drain(stats{StaleEpoch: 6})
	releaseAll(acks)
	r.drain(stats{StaleEpoch: 6})
	r.take()
	r.pending(5, 0)
}

func issueUntrackedHandle(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.begin(6, 0)
	a := r.issue(9, 123)
	if id := a.ID(); id.Partition != 9 || id.Epoch != 6 || a.LastOffset() != 123 {
		t.Fatalf("untracked handle says %v with offset %d, want partition 9, epoch 6, offset 123", id, a.LastOffset())
	}
	if b := a.Retain(); b != a {
		t.Fatal("Retain of an untracked handle returned another value")
	}
	a.RetainN(2)
	r.drain(stats{StaleEpoch: 1})
	a.Fail()
	for range 3 {
		a.Release()
		r.drain(stats{})
	}
	a.Release()
	r.drain(stats{StaleEpoch: 1})
	r.take()
	r.stalled()
	if s.Lacks&LacksDuplicates == 0 {
		a.Release()
		r.drain(stats{Duplicates: 1})
	}
	r.maxPending(0)
}

func issueUntrackedAdmitted(t testing.TB, s Subject) {
	r := newRig(t, s)
	a := r.issue(2, 100)
	b := r.issue(2, 101)
	a.Release()
	r.extend(2)
	r.drain(stats{StaleEpoch: 3})
	b.Release()
	r.drain(stats{StaleEpoch: 1})
	r.take()
	r.pending(2, 0)
	c := r.issue(2, 0)
	if c.ID().Seq != 0 {
		t.Fatalf("untracked batches used up sequences: %v", c.ID())
	}
	c.Release()
	r.drain(stats{Applied: 1})
	r.take(at(2, 1))
}

func issueUntrackedOwnsNothing(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	other := r.c.Issuer()
	r.issue(4, 50).Release()
	r.extend(4)
	r.issueFrom(other, 4, 2)
	r.refuse(r.i, 4, 60, checkpoint.ErrPartitionOwned)
	// Revoked: untracked again for both, and the owner is forgotten.
	r.c.Revoke(4)
	r.issue(4, 1)
	r.issueFrom(other, 4, 0)
	r.extend(4)
	r.issue(4, 0)
	r.refuse(other, 4, 9, checkpoint.ErrPartitionOwned)
}

func issueBeforeFirstEpoch(t testing.TB, s Subject) {
	c := s.New(Config{})
	r := &rig{t: t, s: s, c: c, i: c.Issuer()}
	a := r.issue(0, 10)
	r.pending(0, 0)
	r.maxPending(0)
	r.drain(stats{StaleEpoch: 1})
	r.take()
	r.stalled()
	r.refuse(r.i, 0, -1, checkpoint.ErrOffsetRange)
	// Even when the first epoch has the number that was current before it.
	r.begin(0, 0)
	a.Release()
	r.drain(stats{StaleEpoch: 1})
	r.issue(0, 4).Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 5))
}

func issueFollowsEpoch(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for e := uint32(2); e < 30; e++ {
		r.issue(0, 100)
		r.begin(e, 0)
		a := r.issue(0, int64(e))
		if a.ID() != (checkpoint.BatchID{Partition: 0, Epoch: e, Seq: 0}) {
			t.Fatalf("first batch after BeginEpoch(%d) is %v", e, a.ID())
		}
		a.Release()
		r.drain(stats{Applied: 1, StaleEpoch: 1})
		r.take(at(0, int64(e)+1))
	}
}

func issueManyIssuers(t testing.TB, s Subject) {
	const n = 20
	r := newRig(t, s, parts(n)...)
	var want []mark
	var acks []Ack
	for p := range part(n) {
		i := r.c.Issuer()
		if p%2 == 1 {
			i = r.i.Clone()
		}
		acks = append(acks, r.issueFrom(i, p, int64(p)))
		want = append(want, at(p, int64(p)+1))
	}
	releaseAll(acks)
	r.drain(stats{Applied: n})
	r.take(want...)
}

func issueShards(t testing.TB, s Subject) {
	for _, shards := range []int{1, 2, 3, 7, 64, 1000} {
		r := newRigWith(t, s, Config{Shards: shards}, parts(50)...)
		var want []mark
		for p := range part(50) {
			r.issue(p, 7).Release()
			want = append(want, at(p, 8))
		}
		if got := r.c.Drain(); got != (stats{Applied: 50}) {
			t.Fatalf("with %d shards Drain() = %+v, want 50 applied", shards, got)
		}
		r.take(want...)
	}
}

func issueSparsePartitions(t testing.TB, s Subject) {
	ps := []part{math.MaxUint32, 0, 1 << 31, 1<<31 - 1, 65536}
	r := newRig(t, s, ps...)
	for n, p := range ps {
		a := r.issue(p, int64(n))
		if want := fmt.Sprintf("p%d@e1#0", uint32(p)); a.ID().String() != want {
			t.Fatalf("ID is %s, want %s", a.ID(), want)
		}
		a.Release()
	}
	r.drain(stats{Applied: 5})
	r.take(at(0, 2), at(65536, 5), at(1<<31-1, 4), at(1<<31, 3), at(math.MaxUint32, 1))
}
