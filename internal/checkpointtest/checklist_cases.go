package checkpointtest

import (
	"math"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// checklistCases are the reliability checklist's single-threaded items.
func checklistCases() []testCase {
	return []testCase{
		{"EveryPermutationOfAcks", 0, listPermutations},
		{"EveryPermutationWithEveryFailure", 0, listPermutationsFailing},
		{"FailedOrPendingHeadFreezes", 0, listHeadFreezes},
		{"DoubleReleaseAndReleaseAfterRecycle", LacksDuplicates, listDoubleRelease},
		{"AckAfterRevokeAndReturnWithEqualOffsets", 0, listAckAfterReturn},
		{"IssueOnUnknownOrRevokedPartition", 0, listIssueUnknown},
		{"IssueFromTwoIssuers", 0, listTwoIssuers},
		{"EpochEqualLowerMax", 0, listEpochs},
		{"LastOffsetBorders", 0, listOffsets},
		{"FailedCommitIsRetried", 0, listCommitRetry},
	}
}

// listPermutations acknowledges n batches in every order, draining and taking
// after each ack, and compares with the model.
func listPermutations(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	m := NewModel(Config{})
	mi := m.Issuer()
	if err := m.BeginEpoch(1, 0); err != nil {
		t.Fatal(err)
	}
	var next int64
	var got, want []mark
	acks, refs := make([]Ack, 8), make([]ModelAck, 8)
	for n := 1; n <= 8-less(2); n++ {
		permutations(n, func(order []int) {
			for k := range n {
				acks[k] = r.issue(0, next)
				refs[k], _ = mi.Issue(0, next)
				next += int64(k%3) + 1
			}
			for _, k := range order {
				acks[k].Release()
				refs[k].Release()
				if got, want := r.c.Drain(), m.Drain(); got != want {
					t.Fatalf("order %v: Drain() = %+v, want %+v", order, got, want)
				}
				got, want = r.c.TakeWatermarks(got[:0]), m.TakeWatermarks(want[:0])
				if !slices.Equal(got, want) {
					t.Fatalf("order %v: TakeWatermarks() = %v, want %v", order, got, want)
				}
			}
			r.pending(0, 0)
		})
	}
}

// listPermutationsFailing does the same with every subset of the batches
// failing; the expected watermark is written down directly.
func listPermutationsFailing(t testing.TB, s Subject) {
	for n := 1; n <= 5-less(1); n++ {
		r := newRig(t, s, 0)
		for failing := range 1 << n {
			permutations(n, func(order []int) {
				r.c.Revoke(0)
				r.extend(0)
				acks := r.issueAll(0, upTo(n)...)
				done := 0
				mark := int64(0)
				for _, k := range order {
					if failing&(1<<k) != 0 {
						acks[k].Fail()
					}
					acks[k].Release()
					done |= 1 << k
					reached := mark
					for reached < int64(n) && done&(1<<reached) != 0 && failing&(1<<reached) == 0 {
						reached++
					}
					if reached > mark {
						r.settle(at(0, reached))
					} else {
						r.settle()
					}
					mark = reached
					r.pending(0, n-int(mark))
					if done&failing&(1<<mark) != 0 {
						r.stalled(acks[mark])
					} else {
						r.stalled()
					}
				}
			})
		}
	}
}

func listHeadFreezes(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	failed, open := r.issue(0, 0), r.issue(1, 0)
	fail(failed)
	for n := int64(1); n < 500; n++ {
		r.issue(0, n).Release()
		r.issue(1, n).Release()
		r.settle()
		r.stalled(failed)
	}
	open.Release()
	r.settle(at(1, 500))
	r.stalled(failed)
	r.pending(0, 500)
	r.pending(1, 0)
}

// listDoubleRelease releases handles again at every distance from their
// resolution: not drained, drained, passed, and long recycled.
func listDoubleRelease(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	var old []Ack
	next, applied, duplicates := int64(0), 0, 0
	var sum stats
	drain := func() {
		d := r.c.Drain()
		sum.Applied += d.Applied
		sum.Duplicates += d.Duplicates
		if d.StaleEpoch+d.Unknown != 0 {
			t.Fatalf("Drain() = %+v, want no stale and no unknown", d)
		}
	}
	for range 400 {
		p := part(next % 2)
		acks := []Ack{r.issue(p, next), r.issue(p, next), r.issue(p, next)}
		next++
		acks[2].Release()
		acks[2].Release() // not drained
		acks[0].Release()
		drain()
		acks[0].Release() // drained
		r.c.TakeWatermarks(nil)
		acks[0].Release() // passed
		acks[1].Release()
		applied, duplicates = applied+3, duplicates+3
		for k := 0; k < len(old); k += 1 + len(old)/8 {
			old[k].Release() // recycled
			duplicates++
		}
		old = append(old, acks[1])
		drain()
		r.c.TakeWatermarks(nil)
		r.pending(p, 0)
	}
	if want := (stats{Applied: applied, Duplicates: duplicates}); sum != want {
		t.Fatalf("all drains together counted %+v, want %+v", sum, want)
	}
}

func listAckAfterReturn(t testing.TB, s Subject) {
	for _, drained := range []bool{false, true} {
		r := newRig(t, s, 0)
		old := r.issueAll(0, 10, 20, 30)
		stale := 3
		if drained {
			r.drain(stats{})
			stale = 0
		}
		r.c.Revoke(0)
		r.extend(0)
		fresh := r.issueAll(0, 10, 20, 30)
		old[0].Release()
		old[1].Fail()
		old[1].Release()
		r.drain(stats{StaleEpoch: stale + 2})
		r.take()
		fresh[0].Release()
		r.drain(stats{Applied: 1})
		r.take(at(0, 11))
		old[2].Release()
		r.drain(stats{StaleEpoch: 1})
		r.take()
		releaseAll(fresh[1:])
		r.drain(stats{Applied: 2})
		r.take(at(0, 31))
		r.stalled()
	}
}

func listIssueUnknown(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.issue(5, 1).Release()
	r.drain(stats{StaleEpoch: 2})
	r.issue(0, 1)
	r.drain(stats{})
	r.c.Revoke(0)
	a := r.issue(0, 2)
	b := r.issueFrom(r.c.Issuer(), 0, 1)
	r.drain(stats{StaleEpoch: 2})
	fail(a)
	b.Release()
	r.drain(stats{StaleEpoch: 2})
	r.take()
	r.stalled()
	r.maxPending(0)
}

func listTwoIssuers(t testing.TB, s Subject) {
	r := newRig(t, s, 0, 1)
	other := r.i.Clone()
	for n := range int64(100) {
		r.issue(0, n).Release()
		r.issueFrom(other, 1, n).Release()
		r.refuse(other, 0, n, checkpoint.ErrPartitionOwned)
		r.refuse(r.i, 1, n, checkpoint.ErrPartitionOwned)
	}
	r.drain(stats{Applied: 200})
	r.take(at(0, 100), at(1, 100))
}

func listEpochs(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	r.begin(1000, 0)
	for _, e := range []uint32{1000, 999, 1, 0} {
		wantErr(t, "BeginEpoch", r.c.BeginEpoch(e, 0), checkpoint.ErrEpochNotIncreasing)
	}
	r.begin(1<<31, 0)
	r.begin(math.MaxUint32, 0)
	wantErr(t, "BeginEpoch", r.c.BeginEpoch(0, 0), checkpoint.ErrEpochNotIncreasing)
	wantErr(t, "BeginEpoch", r.c.BeginEpoch(math.MaxUint32, 0), checkpoint.ErrEpochNotIncreasing)
	r.issue(0, 0).Release()
	r.settle(at(0, 1))
}

func listOffsets(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	for _, c := range []struct {
		last int64
		want error
	}{
		{-1, checkpoint.ErrOffsetRange},
		{math.MinInt64, checkpoint.ErrOffsetRange},
		{math.MaxInt64, checkpoint.ErrOffsetRange},
		{5, nil}, {5, nil}, {4, checkpoint.ErrOffsetRegressed},
		{0, checkpoint.ErrOffsetRegressed}, {-1, checkpoint.ErrOffsetRange},
		{6, nil}, {1 << 33, nil}, {1<<33 - 1, checkpoint.ErrOffsetRegressed},
		{math.MaxInt64 - 1, nil}, {math.MaxInt64 - 1, nil}, {math.MaxInt64, checkpoint.ErrOffsetRange},
	} {
		if c.want != nil {
			r.refuse(r.i, 0, c.last, c.want)
			continue
		}
		a := r.issue(0, c.last)
		if a.LastOffset() != c.last {
			t.Fatalf("LastOffset() = %d, want %d", a.LastOffset(), c.last)
		}
		a.Release()
	}
	r.settle(at(0, math.MaxInt64))
}

// listCommitRetry is a committer whose commits fail at times: it retries with
// the newest watermark it has, and the committed offset never goes back and
// never jumps over what is not delivered.
func listCommitRetry(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	var held []Ack
	delivered := map[int64]bool{}
	committed, owed := int64(0), int64(0)
	for n := range int64(2000) {
		held = append(held, r.issue(0, n))
		if k := int(n*31) % len(held); n%3 != 0 || len(held) > 20 {
			delivered[held[k].LastOffset()] = true
			held[k].Release()
			held = append(held[:k], held[k+1:]...)
		}
		if n%4 != 0 {
			continue
		}
		r.c.Drain()
		for _, w := range r.c.TakeWatermarks(nil) {
			if w.Offset <= owed {
				t.Fatalf("watermark %d after %d", w.Offset, owed)
			}
			owed = w.Offset
		}
		if n%12 == 0 {
			continue // this commit fails
		}
		for o := committed; o < owed; o++ {
			if !delivered[o] {
				t.Fatalf("commit of %d passes offset %d, which is not delivered", owed, o)
			}
		}
		committed = owed
	}
	releaseAll(held)
	r.settle(at(0, 2000))
}
