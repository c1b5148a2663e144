package checkpointtest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// stressCases run several goroutines and check themselves. Oracles are plain
// facts written before the operation they speak of: a batch is marked
// delivered before its last release, so a watermark that passes an unmarked
// batch has passed it too early, whatever the schedule was.
func stressCases() []testCase {
	return []testCase{
		{"WatermarkNeverPassesAnUnresolvedBatch", 0, stressWatermarks},
		{"RevokeAckDrainTakeTogether", 0, stressRebalance},
		{"EpochIsPublishedAfterItsTrackers", 0, stressEpochPublished},
		{"EpochIsPublishedAfterItsNewPartitions", 0, stressEpochNewPartitions},
		{"ExtendedPartitionIsTrackedFromThenOn", 0, stressExtendPublished},
		{"AtLeastOnceOverMovingOwners", 0, stressAtLeastOnce},
		{"RetainFailReleaseOnThreeGoroutines", 0, stressThreeHolders},
		{"DoubleReleaseAfterRecycle", LacksDuplicates, stressDoubleRelease},
		{"LimitClosesEarlyAtWorst", 0, stressLimit},
		{"FailureOnOneGoroutineAckOnAnother", 0, stressFailAgainstAck},
		{"EverySchedulerAndCollectorSetting", 0, stressSettings},
	}
}

// watched is the oracle of one partition whose batch k ends at offset
// k*stride + stride-1.
type watched struct {
	delivered []atomic.Bool
	issued    atomic.Int64 // batches whose Issue has returned
	releasing atomic.Int64 // batches whose last release has begun
	seen      []atomic.Int32
	failing   int64 // the batch that fails, or -1
}

const stride = 3

func newWatched(n int, failing int64) *watched {
	return &watched{delivered: make([]atomic.Bool, n), seen: make([]atomic.Int32, n+1), failing: failing}
}

// check judges one taken watermark; from is what the same goroutine has
// checked before, and the new value is returned.
func (w *watched) check(t testing.TB, m mark, from int64) int64 {
	k := m.Offset / stride
	if m.Offset%stride != 0 || k <= from || k > int64(len(w.delivered)) {
		t.Errorf("partition %d: watermark %d after %d, want a later batch's end", m.Partition, m.Offset, from*stride)
		return from
	}
	for b := from; b < k; b++ {
		if !w.delivered[b].Load() {
			t.Errorf("partition %d: watermark %d passes batch %d, which is not delivered", m.Partition, m.Offset, b)
			return from
		}
	}
	if w.seen[k].Add(1) != 1 {
		t.Errorf("partition %d: watermark %d was reported twice", m.Partition, m.Offset)
	}
	return k
}

// handed is a batch on its way to a goroutine that releases it.
type handed struct {
	a       Ack
	w       *watched
	k       int64
	holders *atomic.Int32
}

// finish ends one hold, marking the batch first when it is the last one.
func (d handed) finish() {
	if d.holders.Add(-1) == 0 {
		d.w.releasing.Add(1)
		if d.k != d.w.failing {
			d.w.delivered[d.k].Store(true)
		}
	}
	if d.k == d.w.failing {
		d.a.Done(errSink)
	} else {
		d.a.Release()
	}
}

// stressWatermarks: issuers, releasers, two goroutines that drain and take,
// and one that probes, all at once, without a rebalance.
func stressWatermarks(t testing.TB, s Subject) { watermarksOf(t, s, scale(15_000, 1500)) }

func watermarksOf(t testing.TB, s Subject, n int) {
	const issuers, perIssuer, releasers, takers = 3, 2, 3, 2
	r := newRig(t, s, parts(issuers*perIssuer)...)
	lanes := make([]*watched, issuers*perIssuer)
	for p := range lanes {
		failing := int64(-1)
		if p%3 == 2 {
			failing = int64(n/2 + p)
		}
		lanes[p] = newWatched(n, failing)
	}
	work := make(chan handed, 4096)
	var issuing, releasing, control sync.WaitGroup
	for g := range issuers {
		issuer := r.c.Issuer()
		issuing.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for k := range int64(n) {
				for x := range perIssuer {
					p := g*perIssuer + x
					a, err := issuer.Issue(part(p), k*stride+stride-1)
					if err != nil {
						t.Errorf("Issue(%d, %d) = %v", p, k*stride+stride-1, err)
						return
					}
					lanes[p].issued.Add(1)
					d := handed{a, lanes[p], k, new(atomic.Int32)}
					extra := rng.IntN(3)
					d.holders.Store(int32(extra) + 1)
					a.RetainN(extra)
					for range extra + 1 {
						work <- d
					}
				}
			}
		})
	}
	for g := range releasers {
		releasing.Go(func() { releaseScrambled(work, uint64(g)) })
	}
	var stop atomic.Bool
	var applied, other atomic.Int64
	checked := make([][]int64, takers)
	for g := range takers {
		checked[g] = make([]int64, len(lanes))
		control.Go(func() {
			var dst []mark
			for last := false; !last; {
				last = stop.Load()
				d := r.c.Drain()
				applied.Add(int64(d.Applied))
				other.Add(int64(d.StaleEpoch + d.Duplicates + d.Unknown))
				dst = r.c.TakeWatermarks(dst[:0])
				for _, m := range dst {
					checked[g][m.Partition] = lanes[m.Partition].check(t, m, checked[g][m.Partition])
				}
				runtime.Gosched()
			}
		})
	}
	control.Go(func() { probePending(t, r, lanes, &stop) })
	issuing.Wait()
	close(work)
	releasing.Wait()
	stop.Store(true)
	control.Wait()
	d := r.c.Drain()
	if got, want := applied.Load()+int64(d.Applied), int64(n*len(lanes)); got != want || other.Load() != 0 {
		t.Errorf("all drains together applied %d batches and counted %d otherwise, want %d and 0", got, other.Load(), want)
	}
	for _, m := range r.c.TakeWatermarks(nil) {
		checked[0][m.Partition] = lanes[m.Partition].check(t, m, checked[0][m.Partition])
	}
	for p, w := range lanes {
		end := int64(n)
		if w.failing >= 0 {
			end = w.failing
		}
		got := int64(0)
		for _, c := range checked {
			got = max(got, c[p])
		}
		if got != end || r.c.Pending(part(p)) != n-int(end) {
			t.Errorf("partition %d ends at batch %d with %d pending, want %d with %d", p, got, r.c.Pending(part(p)), end, n-int(end))
		}
	}
}

// releaseScrambled releases what comes, out of order: it keeps up to 50 and
// picks one of them each time.
func releaseScrambled(work <-chan handed, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var kept []handed
	finish := func(k int) {
		d := kept[k]
		kept[k] = kept[len(kept)-1]
		kept = kept[:len(kept)-1]
		d.finish()
	}
	for d := range work {
		if kept = append(kept, d); len(kept) >= 50 {
			finish(rng.IntN(len(kept)))
		}
	}
	for len(kept) > 0 {
		finish(rng.IntN(len(kept)))
	}
}

// probePending holds Pending, MaxPending and Stalled against what is certain:
// what was issued before the call and had not begun its release after it is
// pending; nothing that was not issued is.
func probePending(t testing.TB, r *rig, lanes []*watched, stop *atomic.Bool) {
	eager := r.s.Lacks&LacksEagerPending == 0
	var stalls []checkpoint.Stall
	for !stop.Load() {
		for p, w := range lanes {
			before := w.issued.Load()
			got := int64(r.c.Pending(part(p)))
			released := w.releasing.Load()
			if least := before - released; eager && got < least {
				t.Errorf("Pending(%d) = %d with at least %d pending", p, got, least)
				return
			}
			before = w.issued.Load()
			most := int64(r.c.MaxPending())
			if least := before - w.releasing.Load(); eager && most < least {
				t.Errorf("MaxPending() = %d with at least %d pending in partition %d", most, least, p)
				return
			}
			if got > int64(len(w.delivered)) || most > int64(len(w.delivered)) {
				t.Errorf("Pending(%d) = %d and MaxPending() = %d, of %d batches in all", p, got, most, len(w.delivered))
				return
			}
		}
		stalls = r.c.Stalled(stalls[:0])
		for _, st := range stalls {
			if w := lanes[st.Partition]; int64(st.Batch.Seq) != w.failing || st.LastOffset != w.failing*stride+stride-1 || st.Since.IsZero() {
				t.Errorf("Stalled() reports %+v, want batch %d", st, w.failing)
				return
			}
		}
		runtime.Gosched()
	}
}

// stressThreeHolders: each round one batch with three holders on three
// goroutines, one of which fails it in every other round.
func stressThreeHolders(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	type job struct {
		a    Ack
		fail bool
	}
	var jobs [3]chan job
	done := make(chan struct{}, 3)
	for g := range jobs {
		jobs[g] = make(chan job)
		go func() {
			for j := range jobs[g] {
				switch g {
				case 0: // one holder more for a while
					b := j.a.Retain()
					j.a.Release()
					runtime.Gosched()
					b.Release()
				case 1:
					if j.fail {
						j.a.Fail()
					}
					j.a.Release()
				case 2:
					j.a.RetainN(3)
					for range 4 {
						j.a.Done(nil)
					}
				}
				done <- struct{}{}
			}
			done <- struct{}{}
		}()
	}
	next := int64(0)
	for n := range scale(15_000, 1500) {
		a := r.issue(0, next)
		next++
		a.RetainN(2)
		j := job{a, n%2 == 1}
		for g := range jobs {
			jobs[g] <- j
		}
		var sum stats
		for got := 0; got < 3; {
			select {
			case <-done:
				got++
			default:
				sum.Applied += r.c.Drain().Applied
				runtime.Gosched()
			}
		}
		d := r.c.Drain()
		d.Applied += sum.Applied
		if d != (stats{Applied: 1}) {
			t.Fatalf("round %d: the drains counted %+v, want one applied", n, d)
		}
		if j.fail {
			r.take()
			r.stalled(a)
			r.c.Revoke(0)
			r.extend(0)
			next = 0
		} else {
			r.take(at(0, next))
		}
	}
	for g := range jobs {
		close(jobs[g])
		<-done
	}
}

// stressDoubleRelease misuses handles of passed batches from several
// goroutines while their cells are used again and again.
func stressDoubleRelease(t testing.TB, s Subject) {
	const abusers = 3
	r := newRig(t, s, 0, 1)
	rounds := scale(6000, 800)
	old := make([]atomic.Pointer[Ack], 64)
	var stop atomic.Bool
	var extra atomic.Int64
	var wg sync.WaitGroup
	for g := range abusers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 3))
			for !stop.Load() {
				a := old[rng.IntN(len(old))].Load()
				if a == nil {
					runtime.Gosched()
					continue
				}
				switch rng.IntN(4) {
				case 0:
					(*a).Fail()
				case 1:
					(*a).RetainN(2)
				default:
					extra.Add(1)
					(*a).Release()
				}
			}
		})
	}
	var sum stats
	drain := func() {
		d := r.c.Drain()
		sum.Applied += d.Applied
		sum.Duplicates += d.Duplicates
		if d.StaleEpoch+d.Unknown != 0 {
			t.Errorf("Drain() = %+v, want no stale and no unknown", d)
		}
	}
	issued := 0
	for n := range rounds {
		p := part(n % 2)
		acks := make([]Ack, 0, 20)
		for k := range 20 {
			acks = append(acks, r.issue(p, int64(n*20+k)))
		}
		issued += len(acks)
		for k := len(acks) - 1; k >= 0; k-- {
			acks[k].Release()
			if k == 7 {
				drain()
			}
		}
		drain()
		r.take(at(p, int64(n*20+20)))
		if got := r.c.Pending(p); got != 0 {
			t.Errorf("Pending(%d) = %d, want 0", p, got)
		}
		old[n%len(old)].Store(&acks[n%20])
	}
	stop.Store(true)
	wg.Wait()
	drain()
	if want := (stats{Applied: issued, Duplicates: int(extra.Load())}); sum != want {
		t.Errorf("all drains together counted %+v, want %+v", sum, want)
	}
	r.stalled()
}

// stressLimit: with a take running at any moment Issue may be refused early,
// but what it lets through is never more than the limit allows.
func stressLimit(t testing.TB, s Subject) {
	const limit = 32
	n := int64(scale(60_000, 10_000))
	r := newRigWith(t, s, Config{PendingLimit: limit}, 0)
	work := make(chan Ack, limit)
	var released atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for a := range work {
			released.Add(1)
			a.Release()
		}
	})
	var stop atomic.Bool
	wg.Go(func() {
		for !stop.Load() {
			r.c.Drain()
			r.c.TakeWatermarks(nil)
			runtime.Gosched()
		}
	})
	refused := 0
	for k := int64(0); k < n; {
		a, err := r.i.Issue(0, k)
		if err == checkpoint.ErrPendingLimit {
			refused++
			runtime.Gosched()
			continue
		}
		if err != nil {
			t.Errorf("Issue(0, %d) = %v", k, err)
			break
		}
		k++
		// At most the batches whose release has begun can have been passed.
		if pending := k - released.Load(); pending > limit {
			t.Errorf("batch %d was let through with %d pending, the limit is %d", k-1, pending, limit)
			break
		}
		work <- a
	}
	close(work)
	stop.Store(true)
	wg.Wait()
	r.c.Drain()
	r.c.TakeWatermarks(nil)
	r.pending(0, 0)
	// Quiet again, the limit is exact.
	r.issueAll(0, upFrom(n, limit)...)
	r.refuse(r.i, 0, n+limit, checkpoint.ErrPendingLimit)
	t.Logf("%d batches, %d refusals", n, refused)
}

// stressFailAgainstAck: A fails on one goroutine while B, issued after it, is
// acknowledged on another, against a goroutine that drains and takes.
func stressFailAgainstAck(t testing.TB, s Subject) {
	r := newRig(t, s, 0)
	as, bs := make(chan Ack), make(chan Ack)
	done := make(chan struct{}, 2)
	go func() {
		for a := range as {
			a.Fail()
			a.Release()
			done <- struct{}{}
		}
	}()
	go func() {
		for b := range bs {
			b.Release()
			done <- struct{}{}
		}
	}()
	for n := range scale(12_000, 2000) {
		a, b := r.issue(0, 10), r.issue(0, 20)
		if n%2 == 0 {
			as <- a
			bs <- b
		} else {
			bs <- b
			as <- a
		}
		for got := 0; got < 2; {
			select {
			case <-done:
				got++
			default:
				r.c.Drain()
				r.take()
				runtime.Gosched()
			}
		}
		r.settle()
		r.stalled(a)
		r.c.Revoke(0)
		r.extend(0)
	}
	close(as)
	close(bs)
}
