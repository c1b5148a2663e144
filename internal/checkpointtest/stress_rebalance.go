package checkpointtest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Stages of a partition in stressRebalance, counted up for ever: the stage
// mod 4 is what happens now. A batch belongs certainly to admission g when the
// stage was g, and admitted, before its Issue and after it.
const (
	stageAdmitted = iota
	stageRevoking
	stageRevoked
	stageExtending
)

// moving is the oracle of one partition that comes and goes. Offset k is
// batch k: positions never go back, so a watermark tells the batch it ends at.
type moving struct {
	stage   atomic.Int64
	batches []movingBatch
}

type movingBatch struct {
	before, after int64
	delivered     atomic.Bool
}

// certain says to which admission a batch belongs, if that can be known.
func (b *movingBatch) certain() (int64, bool) {
	return b.before, b.before == b.after && b.before%4 == stageAdmitted
}

// check judges a watermark taken while the stage was early at its start.
func (w *moving) check(t testing.TB, m mark, early int64) {
	k := m.Offset - 1
	b := &w.batches[k]
	if !b.delivered.Load() {
		t.Errorf("partition %d: watermark %d ends at batch %d, which is not delivered", m.Partition, m.Offset, k)
		return
	}
	g, ok := b.certain()
	if !ok {
		return
	}
	if early >= g+stageRevoked {
		t.Errorf("partition %d: watermark %d is of admission %d, which ended before the take (stage %d)", m.Partition, m.Offset, g, early)
	}
	for j := k - 1; j >= 0; j-- {
		h, ok := w.batches[j].certain()
		if ok && h < g {
			return
		}
		if ok && h == g && !w.batches[j].delivered.Load() {
			t.Errorf("partition %d: watermark %d passes batch %d of its admission, which is not delivered", m.Partition, m.Offset, j)
			return
		}
	}
}

// stressRebalance: issue, release, drain, take, revoke, extend and new epochs
// all at once; issuers do not know of the rebalances.
func stressRebalance(t testing.TB, s Subject) { rebalanceOf(t, s, scale(15_000, 1500)) }

func rebalanceOf(t testing.TB, s Subject, n int) {
	const issuers, perIssuer, takers = 2, 3, 2
	all := parts(issuers * perIssuer)
	r := newRig(t, s, all...)
	lanes := make([]*moving, len(all))
	for p := range lanes {
		lanes[p] = &moving{batches: make([]movingBatch, n)}
	}
	type job struct {
		a Ack
		b *movingBatch
	}
	work := make(chan job, 1024)
	var issuing, releasing, control sync.WaitGroup
	for g := range issuers {
		issuer := r.c.Issuer()
		issuing.Go(func() {
			for k := range n {
				for x := range perIssuer {
					p := g*perIssuer + x
					b := &lanes[p].batches[k]
					b.before = lanes[p].stage.Load()
					a, err := issuer.Issue(part(p), int64(k))
					b.after = lanes[p].stage.Load()
					if err != nil {
						t.Errorf("Issue(%d, %d) = %v", p, k, err)
						return
					}
					work <- job{a, b}
				}
				if k%8 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	var extra atomic.Int64
	misuse := s.Lacks&LacksDuplicates == 0
	for g := range 2 {
		releasing.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 4))
			for j := range work {
				switch x := rng.IntN(2000); {
				case x < 2:
					j.a.Done(errSink)
				case x < 60 && misuse:
					j.b.delivered.Store(true)
					j.a.Release()
					j.a.Release()
					extra.Add(1)
				default:
					j.b.delivered.Store(true)
					j.a.Release()
				}
			}
		})
	}
	var stop atomic.Bool
	var mu sync.Mutex
	var sum stats
	drain := func() {
		d := r.c.Drain()
		mu.Lock()
		defer mu.Unlock()
		sum.Applied += d.Applied
		sum.StaleEpoch += d.StaleEpoch
		sum.Duplicates += d.Duplicates
		sum.Unknown += d.Unknown
	}
	for range takers {
		control.Go(func() {
			last := make([]int64, len(lanes))
			early := make([]int64, len(lanes))
			var dst []mark
			for !stop.Load() {
				drain()
				for p := range lanes {
					early[p] = lanes[p].stage.Load()
				}
				dst = r.c.TakeWatermarks(dst[:0])
				for _, m := range dst {
					if m.Offset <= last[m.Partition] {
						t.Errorf("partition %d: watermark %d after %d, though positions never go back", m.Partition, m.Offset, last[m.Partition])
					}
					last[m.Partition] = m.Offset
					lanes[m.Partition].check(t, m, early[m.Partition])
				}
				r.c.MaxPending()
				r.c.Stalled(nil)
				runtime.Gosched()
			}
		})
	}
	control.Go(func() { rebalance(t, r, lanes, &stop) })
	issuing.Wait()
	close(work)
	releasing.Wait()
	stop.Store(true)
	control.Wait()
	drain()
	r.c.TakeWatermarks(nil)
	// Each resolution is applied or stale; each registration, if counted at
	// all, is stale, and then its resolution is too.
	total := n * len(lanes)
	if staleRegs := sum.Applied + sum.StaleEpoch - total; sum.Unknown != 0 || sum.Duplicates != int(extra.Load()) ||
		staleRegs < 0 || staleRegs > total-sum.Applied {
		t.Errorf("all drains together counted %+v of %d batches and %d releases too many", sum, total, extra.Load())
	}
	t.Logf("%d batches in %d partitions: %+v", total, len(lanes), sum)
	afterwards(t, r, all)
}

// rebalance revokes and extends partitions and begins epochs until stopped.
func rebalance(t testing.TB, r *rig, lanes []*moving, stop *atomic.Bool) {
	rng := rand.New(rand.NewPCG(1, 5))
	epoch := uint32(1)
	move := func(ps []part) {
		for _, p := range ps {
			lanes[p].stage.Add(1)
		}
	}
	all := parts(len(lanes))
	for !stop.Load() {
		for range rng.IntN(60) {
			runtime.Gosched()
		}
		if rng.IntN(6) == 0 {
			epoch++
			move(all)
			if err := r.c.BeginEpoch(epoch, all...); err != nil {
				t.Errorf("BeginEpoch(%d) = %v", epoch, err)
			}
			move(all)
			move(all)
			move(all)
			continue
		}
		var ps []part
		for _, p := range all {
			if rng.IntN(3) == 0 {
				ps = append(ps, p)
			}
		}
		move(ps)
		r.c.Revoke(ps...)
		move(ps)
		for _, p := range ps {
			// The issuer may issue untracked batches; they are not pending.
			if got := r.c.Pending(p); got != 0 {
				t.Errorf("Pending(%d) = %d after its revoke, want 0", p, got)
			}
		}
		for range rng.IntN(20) {
			runtime.Gosched()
		}
		move(ps)
		if err := r.c.ExtendEpoch(ps...); err != nil {
			t.Errorf("ExtendEpoch(%v) = %v", ps, err)
		}
		move(ps)
	}
}

// afterwards wants a checkpointer that works like a new one.
func afterwards(t testing.TB, r *rig, all []part) {
	t.Helper()
	r.begin(1<<31, all...)
	r.maxPending(0)
	r.stalled()
	var want []mark
	i := r.c.Issuer()
	for _, p := range all {
		a := r.issueFrom(i, p, 0)
		if a.ID().Seq != 0 {
			t.Fatalf("the first batch of a new epoch is %v", a.ID())
		}
		a.Release()
		want = append(want, at(p, 1))
	}
	r.drain(stats{Applied: len(all)})
	r.take(want...)
	r.drain(stats{})
}

// stressEpochPublished: epochs begin while issuers issue. Batches of the new
// epoch are all accepted, those of the old one are all stale, to the count.
func stressEpochPublished(t testing.TB, s Subject) {
	const issuers = 3
	all := parts(issuers)
	epochsUnderLoad(t, s, issuers, func(int) []part { return all })
}

// stressEpochNewPartitions is the same with epochs that replace all
// partitions: until the epoch begins, batches of its partitions are untracked
// and carry the old epoch; from its number on they are tracked.
func stressEpochNewPartitions(t testing.TB, s Subject) {
	const issuers = 3
	even, odd := []part{0, 1, 2}, []part{3, 4, 5}
	epochsUnderLoad(t, s, issuers, func(round int) []part {
		if round%2 == 0 {
			return odd
		}
		return even
	})
}

// epochsUnderLoad begins one epoch after another, with the partitions that
// admit says, one for each issuer, while they are being issued for.
func epochsUnderLoad(t testing.TB, s Subject, issuers int, admit func(round int) []part) {
	r := newRig(t, s, admit(-1)...)
	own := make([]Issuer, issuers)
	offsets := make([]int64, issuers)
	for g := range own {
		own[g] = r.c.Issuer()
	}
	for round := range scale(1000, 150) {
		epoch := uint32(round) + 2
		all := admit(round)
		acks := make([][]Ack, issuers)
		var ready, wg sync.WaitGroup
		ready.Add(issuers)
		for g := range issuers {
			wg.Go(func() {
				started := sync.OnceFunc(ready.Done)
				defer started()
				for fresh := 0; fresh < 3; offsets[g]++ {
					a, err := own[g].Issue(all[g], offsets[g])
					if err != nil {
						t.Errorf("Issue(%d, %d) = %v", all[g], offsets[g], err)
						return
					}
					acks[g] = append(acks[g], a)
					if a.ID().Epoch == epoch {
						fresh++
					}
					started()
					if offsets[g]%64 == 63 {
						runtime.Gosched()
					}
				}
			})
		}
		ready.Wait()
		r.begin(epoch, all...)
		if wg.Wait(); t.Failed() {
			return
		}
		fresh, old := 0, 0
		var want []mark
		for g := range acks {
			mine := 0
			for _, a := range acks[g] {
				switch id := a.ID(); {
				case id.Epoch == epoch && id.Seq != uint64(mine):
					t.Fatalf("batch %d of partition %d in epoch %d is %v", mine, all[g], epoch, id)
				case id.Epoch == epoch:
					mine++
				case mine > 0 || id.Epoch != epoch-1:
					t.Fatalf("a batch issued around BeginEpoch(%d) is %v, after %d of that epoch", epoch, id, mine)
				default:
					old++
				}
				a.Release()
			}
			fresh += mine
			want = append(want, at(all[g], acks[g][len(acks[g])-1].LastOffset()+1))
		}
		r.drain(stats{Applied: fresh, StaleEpoch: 2 * old})
		r.take(want...)
	}
}

// stressExtendPublished: a partition is admitted while its issuer already
// issues for it. From the return of ExtendEpoch on every batch is tracked.
func stressExtendPublished(t testing.TB, s Subject) {
	r := newRig(t, s, 1)
	for range scale(4000, 400) {
		var extended atomic.Bool
		var acks []Ack
		certain := 0
		ready := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			started := sync.OnceFunc(func() { close(ready) })
			defer started()
			for k := int64(0); certain < 3; k++ {
				sure := extended.Load()
				a, err := r.i.Issue(0, k)
				if err != nil {
					t.Errorf("Issue(0, %d) = %v", k, err)
					return
				}
				acks = append(acks, a)
				if sure {
					certain++
				}
				started()
				if k%16 == 15 {
					runtime.Gosched()
				}
			}
		})
		<-ready
		r.extend(0)
		extended.Store(true)
		if wg.Wait(); t.Failed() {
			return
		}
		if got := r.c.Pending(0); s.Lacks&LacksEagerPending == 0 && got < certain {
			t.Fatalf("Pending(0) = %d with %d batches issued after ExtendEpoch", got, certain)
		}
		releaseAll(acks)
		d := r.c.Drain()
		if d.Duplicates+d.Unknown != 0 || d.Applied < certain || d.Applied+d.StaleEpoch/2 != len(acks) || d.StaleEpoch%2 != 0 {
			t.Fatalf("Drain() = %+v of %d batches, %d of them issued after ExtendEpoch", d, len(acks), certain)
		}
		r.take(at(0, int64(len(acks))))
		r.pending(0, 0)
		r.c.Revoke(0)
	}
}
