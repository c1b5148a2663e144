package checkpointtest

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type (
	part  = checkpoint.PartitionID
	mark  = checkpoint.Watermark
	stats = checkpoint.DrainStats
)

// errSink is what a failing sink would report.
var errSink = errors.New("sink refused the batch")

// clock is a clock that only moves when told.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1000, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// rig is one checkpointer with one issuer in epoch 1, and the checks that
// most cases are made of. Each check fails the case at the caller's line.
type rig struct {
	t testing.TB
	s Subject
	c Checkpointer
	i Issuer
}

func newRig(t testing.TB, s Subject, partitions ...part) *rig {
	t.Helper()
	return newRigWith(t, s, Config{}, partitions...)
}

func newRigWith(t testing.TB, s Subject, cfg Config, partitions ...part) *rig {
	t.Helper()
	c := s.New(cfg)
	r := &rig{t: t, s: s, c: c, i: c.Issuer()}
	r.begin(1, partitions...)
	return r
}

func (r *rig) begin(epoch uint32, partitions ...part) {
	r.t.Helper()
	if err := r.c.BeginEpoch(epoch, partitions...); err != nil {
		r.t.Fatalf("BeginEpoch(%d, %v) = %v, want nil", epoch, partitions, err)
	}
}

func (r *rig) extend(partitions ...part) {
	r.t.Helper()
	if err := r.c.ExtendEpoch(partitions...); err != nil {
		r.t.Fatalf("ExtendEpoch(%v) = %v, want nil", partitions, err)
	}
}

func (r *rig) issue(p part, last int64) Ack {
	r.t.Helper()
	return r.issueFrom(r.i, p, last)
}

func (r *rig) issueFrom(i Issuer, p part, last int64) Ack {
	r.t.Helper()
	a, err := i.Issue(p, last)
	if err != nil {
		r.t.Fatalf("Issue(%d, %d) = %v, want nil", p, last, err)
	}
	return a
}

// issueAll issues one batch per offset.
func (r *rig) issueAll(p part, lasts ...int64) []Ack {
	r.t.Helper()
	acks := make([]Ack, 0, len(lasts))
	for _, l := range lasts {
		acks = append(acks, r.issue(p, l))
	}
	return acks
}

func (r *rig) refuse(i Issuer, p part, last int64, want error) {
	r.t.Helper()
	if _, err := i.Issue(p, last); !errors.Is(err, want) {
		r.t.Fatalf("Issue(%d, %d) = %v, want %v", p, last, err, want)
	}
}

func (r *rig) drain(want stats) {
	r.t.Helper()
	if got := r.c.Drain(); got != want {
		r.t.Fatalf("Drain() = %+v, want %+v", got, want)
	}
}

func (r *rig) take(want ...mark) {
	r.t.Helper()
	got := r.c.TakeWatermarks(nil)
	if !slices.Equal(got, want) {
		r.t.Fatalf("TakeWatermarks() = %v, want %v", got, want)
	}
}

// settle drains and takes, whatever the drain counted.
func (r *rig) settle(want ...mark) {
	r.t.Helper()
	r.c.Drain()
	r.take(want...)
}

func (r *rig) pending(p part, want int) {
	r.t.Helper()
	if got := r.c.Pending(p); got != want {
		r.t.Fatalf("Pending(%d) = %d, want %d", p, got, want)
	}
}

func (r *rig) maxPending(want int) {
	r.t.Helper()
	if got := r.c.MaxPending(); got != want {
		r.t.Fatalf("MaxPending() = %d, want %d", got, want)
	}
}

// stalled checks which batches are reported, not since when.
func (r *rig) stalled(want ...Ack) {
	r.t.Helper()
	got := r.c.Stalled(nil)
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		id := want[i].ID()
		ok = got[i].Partition == id.Partition && got[i].Batch == id && got[i].LastOffset == want[i].LastOffset()
	}
	if !ok {
		ids := make([]string, 0, len(want))
		for _, a := range want {
			ids = append(ids, a.ID().String())
		}
		r.t.Fatalf("Stalled() = %+v, want the batches %v", got, ids)
	}
}

func releaseAll(acks []Ack) {
	for _, a := range acks {
		a.Release()
	}
}

// fail fails and releases.
func fail(a Ack) {
	a.Fail()
	a.Release()
}

// upTo returns 0, 1, … n-1.
func upTo(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(i)
	}
	return s
}

func parts(n int) []part {
	ps := make([]part, n)
	for i := range ps {
		ps[i] = part(i)
	}
	return ps
}

// permutations calls f with every order of 0…n-1; f must not keep the slice.
func permutations(n int, f func([]int)) {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	var walk func(k int)
	walk = func(k int) {
		if k == n {
			f(p)
			return
		}
		for i := k; i < n; i++ {
			p[k], p[i] = p[i], p[k]
			walk(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	walk(0)
}

// scale is the size of a stress case: less with -short, and CHECKPOINT_STRESS
// times as much when that is set.
func scale(full, short int) int {
	if testing.Short() {
		return short
	}
	if n, err := strconv.Atoi(os.Getenv("CHECKPOINT_STRESS")); err == nil && n > 0 {
		return full * n
	}
	return full
}

// RaceBuild says whether this is a race-detector build. One goroutine has no
// races and runs ten times slower there, so that single-threaded cases shrink.
var RaceBuild = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
})

// less is n when a single-threaded case should be smaller, and 0 otherwise.
func less(n int) int {
	if testing.Short() || RaceBuild() {
		return n
	}
	return 0
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s = %v, want %v", what, err, want)
	}
}

func at(p part, offset int64) mark { return mark{Partition: p, Offset: offset} }

// pendingIfEager checks Pending before the drain that sees the batches.
func (r *rig) pendingIfEager(p part, want int) {
	r.t.Helper()
	if r.s.Lacks&LacksEagerPending == 0 {
		r.pending(p, want)
	}
}

// upFrom returns start, start+1, … of n offsets.
func upFrom(start int64, n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = start + int64(i)
	}
	return s
}

// settleAny drains and takes, whatever comes.
func (r *rig) settleAny() {
	r.c.Drain()
	r.c.TakeWatermarks(nil)
}
