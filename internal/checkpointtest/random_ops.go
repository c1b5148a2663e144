package checkpointtest

import (
	"math"
	"slices"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// step does one operation. The weights keep tens to hundreds of batches in
// flight, so that holes, limits and recycling all happen.
func (h *history) step(op byte) {
	rare := op >= 94 && op < 98 || op >= 236 && op < 249
	if h.calm && rare && h.byte() >= 16 {
		return
	}
	switch {
	case op < 70:
		p := h.partition()
		h.issue(int(p)%historyIssuers, p, h.next[p]+int64(h.byte()%4))
	case op < 74:
		h.burst()
	case op < 78:
		p := h.partition()
		h.issue(h.byte()%historyIssuers, p, h.next[p]+int64(h.byte()%5)-2)
	case op < 80:
		p := h.partition()
		bad := []int64{-1, math.MaxInt64, math.MinInt64, 0}
		h.issue(h.byte()%historyIssuers, p, bad[h.byte()%4])
	case op < 82:
		h.clone()
	case op < 94:
		h.retain()
	case op < 98:
		h.failOne()
	case op < 130:
		h.releaseOldest()
	case op < 164:
		h.releaseRandom()
	case op < 168:
		h.releaseMany()
	case op < 178:
		h.misuse()
	case op < 190:
		h.bulk()
	case op < 206:
		h.drain()
	case op < 218:
		h.take()
	case op < 236:
		h.drain()
		h.take()
	case op < 239:
		h.beginEpoch()
	case op < 243:
		h.extend()
	case op < 247:
		h.revoke()
	case op < 249:
		h.comeBack()
	case op < 253:
		h.ck.advance(time.Duration(h.byte()) * time.Millisecond)
	default:
		h.probeOld()
	}
}

func (h *history) partition() part { return part(h.byte() % historyPartitions) }

// set picks some partitions, at times with a repeat.
func (h *history) set() []part {
	bits := h.byte()
	var ps []part
	for p := range part(historyPartitions) {
		if bits&(1<<p) != 0 {
			ps = append(ps, p)
		}
	}
	if bits&0x80 != 0 && len(ps) > 0 {
		ps = append(ps, ps[0])
	}
	return ps
}

func bitsOf(ps []part) int64 {
	var b int64
	for _, p := range ps {
		b |= 1 << p
	}
	return b
}

func (h *history) issue(i int, p part, last int64) {
	h.record("issue", int64(i), int64(p), last)
	sut, sutErr := h.sutIssuers[i].Issue(p, last)
	ref, refErr := h.refIssuers[i].Issue(p, last)
	h.sameError("Issue", sutErr, refErr)
	if refErr != nil {
		h.outcome(refErr.Error())
		return
	}
	if last > h.next[p] && last < math.MaxInt64/2 {
		h.next[p] = last
	}
	x := held{h.n, sut, ref}
	h.n++
	h.checkIdentity(x)
	h.live = append(h.live, x)
}

// checkIdentity compares what the two handles say of themselves.
func (h *history) checkIdentity(x held) {
	got, want := x.sut.ID(), x.ref.ID()
	if !x.ref.tracked() {
		got.Seq, want.Seq = 0, 0
	}
	if got != want || x.sut.LastOffset() != x.ref.LastOffset() {
		h.failf("batch %d: handle says %v with offset %d, want %v with offset %d",
			x.n, x.sut.ID(), x.sut.LastOffset(), x.ref.ID(), x.ref.LastOffset())
	}
}

// burst issues enough for one partition to cross any internal border.
func (h *history) burst() {
	p := h.partition()
	for range h.byte() {
		h.issue(int(p)%historyIssuers, p, h.next[p]+1)
	}
}

func (h *history) clone() {
	from, to := h.byte()%historyIssuers, h.byte()%historyIssuers
	h.record("clone", int64(from), int64(to), 0)
	h.sutIssuers[to], h.refIssuers[to] = h.sutIssuers[from].Clone(), h.refIssuers[from].Clone()
}

func (h *history) retain() {
	if len(h.live) == 0 {
		return
	}
	x := h.live[h.pick(len(h.live))]
	if n := h.byte() % 8; n < 4 {
		h.record("retain", int64(x.n), 0, 0)
		if x.sut.Retain() != x.sut {
			h.failf("Retain of batch %d returned another value", x.n)
		}
		x.ref.Retain()
	} else {
		h.record("retainN", int64(x.n), int64(n-5), 0)
		x.sut.RetainN(n - 5)
		x.ref.RetainN(n - 5)
	}
}

func (h *history) failOne() {
	if len(h.live) == 0 {
		return
	}
	x := h.live[h.pick(len(h.live))]
	h.record("fail", int64(x.n), 0, 0)
	x.sut.Fail()
	x.ref.Fail()
}

// release drops one hold of live[k], as the plain release or as Done.
func (h *history) release(k int, err error) {
	x := h.live[k]
	h.record("release", int64(x.n), 0, 0)
	if err != nil {
		h.outcome("failed")
		x.sut.Done(err)
		x.ref.Done(err)
	} else {
		x.sut.Release()
		x.ref.Release()
	}
	if x.ref.resolved() {
		h.bury(k)
	}
}

// bury moves live[k] to the resolved ones, of which some old ones stay.
func (h *history) bury(k int) {
	x := h.live[k]
	h.live = slices.Delete(h.live, k, k+1)
	if len(h.dead) < 200 {
		h.dead = append(h.dead, x)
	} else {
		h.dead[x.n*7%200] = x
	}
}

func (h *history) releaseOldest() {
	if len(h.live) > 0 {
		h.release(0, nil)
	}
}

func (h *history) releaseRandom() {
	if len(h.live) == 0 {
		return
	}
	k := h.pick(len(h.live))
	var err error
	if bad := h.byte(); bad < 1 || bad < 12 && !h.calm {
		err = errSink
	}
	h.release(k, err)
}

func (h *history) releaseMany() {
	for n := h.byte(); n > 0 && len(h.live) > 0; n-- {
		h.release((n*13)%len(h.live), nil)
	}
}

// misuse uses a handle whose batch is resolved.
func (h *history) misuse() {
	if len(h.dead) == 0 || h.s.Lacks&LacksDuplicates != 0 {
		return
	}
	x := h.dead[h.pick(len(h.dead))]
	switch h.byte() % 5 {
	case 0:
		h.record("fail-resolved", int64(x.n), 0, 0)
		x.sut.Fail()
		x.ref.Fail()
	case 1:
		h.record("retain-resolved", int64(x.n), 0, 0)
		x.sut.Retain()
		x.sut.RetainN(3)
		x.ref.Retain()
	case 2:
		h.record("done-resolved", int64(x.n), 0, 0)
		x.sut.Done(errSink)
		x.ref.Done(errSink)
	default:
		h.record("release-resolved", int64(x.n), 0, 0)
		x.sut.Release()
		x.ref.Release()
	}
}

// bulk moves a hold into a set, or empties one.
func (h *history) bulk() {
	// Holds of a set may be taken by an early release of the batch, which
	// makes the set's own release a misuse.
	if len(h.sutSets) == 0 || h.s.Lacks&LacksDuplicates != 0 {
		return
	}
	a, b := h.byte(), h.byte()
	k := a % 2
	switch {
	case b < 200:
		if len(h.live) == 0 {
			return
		}
		// The set gets a hold of its own, so that live and set stay independent.
		x := h.live[h.pick(len(h.live))]
		h.record("set-add", int64(k), int64(x.n), 0)
		h.sutSets[k].Add(x.sut.Retain())
		h.refSets[k].Add(x.ref.Retain())
	case b < 225:
		h.record("set-deliver", int64(k), 0, 0)
		h.sutSets[k].Deliver()
		h.refSets[k].Deliver()
	case b < 235:
		h.record("set-close", int64(k), 0, 0)
		if err := h.sutSets[k].Close(); err != nil {
			h.failf("AckSet.Close() = %v, want nil", err)
		}
		_ = h.refSets[k].Close()
	default:
		o := a / 2 % 2
		h.record("set-absorb", int64(k), int64(o), 0)
		h.sutSets[k].Absorb(h.sutSets[o])
		h.refSets[k].Absorb(h.refSets[o])
	}
	for k := range h.sutSets {
		if got, want := h.sutSets[k].Len(), h.refSets[k].Len(); got != want {
			h.failf("Len of set %d = %d, want %d", k, got, want)
		}
	}
}

func (h *history) drain() {
	h.record("drain", 0, 0, 0)
	if got, want := h.sut.Drain(), h.ref.Drain(); got != want {
		h.failf("Drain() = %+v, want %+v", got, want)
	}
}

func (h *history) take() {
	h.record("take", 0, 0, 0)
	h.sutMarks, h.refMarks = h.sut.TakeWatermarks(h.sutMarks[:0]), h.ref.TakeWatermarks(h.refMarks[:0])
	if !slices.Equal(h.sutMarks, h.refMarks) {
		h.failf("TakeWatermarks() = %v, want %v", h.sutMarks, h.refMarks)
	}
}

// restart lets offsets of an admission begin lower than those before it.
func (h *history) restart(ps []part) {
	for _, p := range ps {
		h.next[p] = int64(h.byte() % 8)
	}
}

func (h *history) beginEpoch() {
	b, ps := h.byte(), h.set()
	h.ref.mu.Lock()
	epoch := h.ref.epoch
	h.ref.mu.Unlock()
	switch {
	case b < 200:
		epoch += uint32(b%3) + 1
	case b < 230:
		epoch -= uint32(b % 3)
	}
	h.record("begin", int64(epoch), bitsOf(ps), 0)
	err := h.sut.BeginEpoch(epoch, ps...)
	want := h.ref.BeginEpoch(epoch, ps...)
	h.sameError("BeginEpoch", err, want)
	if want == nil {
		h.restart(ps)
	}
}

func (h *history) extend() {
	ps := h.set()
	if len(ps) == 0 {
		return
	}
	h.record("extend", bitsOf(ps), 0, 0)
	err := h.sut.ExtendEpoch(ps...)
	want := h.ref.ExtendEpoch(ps...)
	h.sameError("ExtendEpoch", err, want)
	if want == nil {
		h.restart(ps)
	}
}

func (h *history) revoke() {
	ps := h.set()
	h.record("revoke", bitsOf(ps), 0, 0)
	h.sut.Revoke(ps...)
	h.ref.Revoke(ps...)
}

// comeBack revokes one partition and admits it again.
func (h *history) comeBack() {
	ps := []part{h.partition()}
	h.record("return", int64(ps[0]), 0, 0)
	h.sut.Revoke(ps...)
	h.ref.Revoke(ps...)
	h.sameError("ExtendEpoch", h.sut.ExtendEpoch(ps...), h.ref.ExtendEpoch(ps...))
	h.restart(ps)
}

// probeOld asks an old handle who it is.
func (h *history) probeOld() {
	if len(h.dead) > 0 {
		h.checkIdentity(h.dead[h.pick(len(h.dead))])
	}
	if got := h.sut.Pending(checkpoint.PartitionID(math.MaxUint32)); got != 0 {
		h.failf("Pending of an unknown partition = %d, want 0", got)
	}
}
