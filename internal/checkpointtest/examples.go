package checkpointtest

import (
	"sync"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// exampleCases are the contract's own examples.
func exampleCases() []testCase {
	return []testCase{
		{"ReleasedBatchIsCommittedOnce", 0, exampleReleased},
		{"HoleHoldsOnlyItsPartition", 0, exampleHole},
		{"FailedHeadStalls", 0, exampleFailedHead},
		{"OlderEpochIsStaleAndTheNextOneWorks", 0, exampleOlderEpoch},
		{"RevokedPartitionIsStale", 0, exampleRevoked},
		{"TwoGoroutinesTwoPartitions", 0, exampleTwoGoroutines},
		{"EpochMustIncrease", 0, exampleEpochMustIncrease},
		{"ExtendKeepsBatchesInFlight", 0, exampleExtend},
		{"ReturningPartitionStartsAfresh", 0, exampleReturn},
		{"UntrackedBatchLeavesNoTrace", 0, exampleUntracked},
		{"EqualOffsetsCommitAfterTheLast", 0, exampleEqualOffsets},
	}
}

func exampleReleased(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.issue(0, 99).Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 100))
	r.take()
}

func exampleHole(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	first, second, other := r.issue(0, 9), r.issue(0, 19), r.issue(1, 99)
	second.Release()
	other.Release()
	r.drain(stats{Applied: 2})
	r.take(at(1, 100))
	r.pending(0, 2)
	first.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 20))
	r.pending(0, 0)
}

func exampleFailedHead(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	first, second := r.issue(0, 9), r.issue(0, 19)
	first.Fail()
	first.Release()
	second.Release()
	r.drain(stats{Applied: 2})
	r.take()
	r.stalled(first)
	if seq := r.c.Stalled(nil)[0].Batch.Seq; seq != 0 {
		t.Fatalf("the stalled batch has Seq %d, want 0", seq)
	}
}

func exampleOlderEpoch(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	old := r.issue(0, 9)
	r.begin(2, 0)
	old.Release()
	r.drain(stats{StaleEpoch: 2})
	r.take()
	r.issue(0, 49).Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 50))
}

func exampleRevoked(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	a := r.issue(1, 9)
	r.drain(stats{})
	r.pending(1, 1)
	r.c.Revoke(1)
	a.Release()
	r.drain(stats{StaleEpoch: 1})
	r.pending(1, 0)
	r.take()
}

func exampleTwoGoroutines(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	var wg sync.WaitGroup
	for p := range part(2) {
		issuer := r.i
		if p == 1 {
			issuer = r.i.Clone()
		}
		wg.Go(func() {
			for n := range int64(100) {
				a, err := issuer.Issue(p, n*10+9)
				if err != nil {
					t.Errorf("Issue(%d, %d) = %v", p, n*10+9, err)
					return
				}
				a.Release()
			}
		})
	}
	wg.Wait()
	r.drain(stats{Applied: 200})
	r.take(at(0, 1000), at(1, 1000))
}

func exampleEpochMustIncrease(t testing.TB, s Subject) {
	c := s.New(Config{})
	r := &rig{t: t, s: s, c: c, i: c.Issuer()}
	r.begin(5, 0)
	a := r.issue(0, 9)
	wantErr(t, "BeginEpoch(5) after 5", c.BeginEpoch(5, 0), checkpoint.ErrEpochNotIncreasing)
	a.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
	r.issue(0, 19).Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 20))
}

func exampleExtend(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	a := r.issue(0, 9)
	r.extend(1)
	b := r.issue(1, 99)
	wantErr(t, "ExtendEpoch of a live partition", r.c.ExtendEpoch(0), checkpoint.ErrPartitionAdmitted)
	a.Release()
	b.Release()
	r.drain(stats{Applied: 2})
	r.take(at(0, 10), at(1, 100))
}

func exampleReturn(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	old := r.issue(0, 500)
	r.drain(stats{})
	r.c.Revoke(0)
	r.extend(0)
	old.Release()
	r.drain(stats{StaleEpoch: 1})
	r.take()
	fresh := r.issue(0, 9)
	if id := fresh.ID(); id != (checkpoint.BatchID{Partition: 0, Epoch: 1, Seq: 0}) {
		t.Fatalf("first batch after the return is %v, want p0@e1#0", id)
	}
	fresh.Release()
	r.drain(stats{Applied: 1})
	r.take(at(0, 10))
}

func exampleUntracked(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.issue(7, 5).Release()
	r.drain(stats{StaleEpoch: 2})
	r.take()
	r.extend(7)
	r.issueFrom(r.i.Clone(), 7, 3).Release()
	r.drain(stats{Applied: 1})
	r.take(at(7, 4))
}

func exampleEqualOffsets(t testing.TB, s Subject) {
	r := newRig(t, s, 3)
	acks := r.issueAll(3, 4, 4, 5)
	acks[0].Release()
	acks[2].Release()
	r.drain(stats{Applied: 2})
	r.take(at(3, 5))
	acks[1].Release()
	r.drain(stats{Applied: 1})
	r.take(at(3, 6))
	r.issue(3, 5).Release()
	r.drain(stats{Applied: 1})
	r.take()
	r.pending(3, 0)
}
