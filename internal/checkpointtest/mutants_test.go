package checkpointtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// A mutant is the model with one rule broken. The suite is worth something
// only if it fails on each of them.
type mutant struct {
	name string
	// bend returns the subject's checkpointer for a new model.
	bend func(m *Model, b *bent)
	// cfg changes the configuration before the model is made.
	cfg func(*Config)
	// waits mutants can only be told apart by the concurrent groups.
	waits bool
}

// bent is a model whose operations can be replaced one by one.
type bent struct {
	Checkpointer
	m       *Model
	drain   func() stats
	take    func(dst []mark) []mark
	begin   func(epoch uint32, ps ...part) error
	extend  func(ps ...part) error
	revoke  func(ps ...part)
	pending func(p part) int
	most    func() int
	stalled func(dst []checkpoint.Stall) []checkpoint.Stall
	wait    func(ctx context.Context) error
	issue   func(i *ModelIssuer, p part, last int64) (ModelAck, error)
	clone   func(i *ModelIssuer) *ModelIssuer
	ack     bentAckOps
}

func (b *bent) Issuer() Issuer { return bentIssuer{b.m.Issuer(), b} }
func (b *bent) Drain() stats   { return b.drain() }
func (b *bent) TakeWatermarks(dst []mark) []mark {
	return b.take(dst)
}
func (b *bent) BeginEpoch(e uint32, ps ...part) error { return b.begin(e, ps...) }
func (b *bent) ExtendEpoch(ps ...part) error          { return b.extend(ps...) }
func (b *bent) Revoke(ps ...part)                     { b.revoke(ps...) }
func (b *bent) Pending(p part) int                    { return b.pending(p) }
func (b *bent) MaxPending() int                       { return b.most() }
func (b *bent) Stalled(dst []checkpoint.Stall) []checkpoint.Stall {
	return b.stalled(dst)
}
func (b *bent) Wait(ctx context.Context) error { return b.wait(ctx) }

type bentIssuer struct {
	i *ModelIssuer
	b *bent
}

func (i bentIssuer) Issue(p part, last int64) (Ack, error) {
	a, err := i.b.issue(i.i, p, last)
	return bentAck{a, i.b}, err
}
func (i bentIssuer) Clone() Issuer { return bentIssuer{i.b.clone(i.i), i.b} }

type bentAckOps struct {
	release, fail func(ModelAck)
	retain        func(a ModelAck, n int)
	id            func(ModelAck) checkpoint.BatchID
	last          func(ModelAck) int64
}

type bentAck struct {
	a ModelAck
	b *bent
}

func (x bentAck) ID() checkpoint.BatchID { return x.b.ack.id(x.a) }
func (x bentAck) LastOffset() int64      { return x.b.ack.last(x.a) }
func (x bentAck) Retain() Ack            { x.b.ack.retain(x.a, 1); return x }
func (x bentAck) RetainN(n int)          { x.b.ack.retain(x.a, n) }
func (x bentAck) Fail()                  { x.b.ack.fail(x.a) }
func (x bentAck) Release()               { x.b.ack.release(x.a) }
func (x bentAck) Done(err error) {
	if err != nil {
		x.Fail()
	}
	x.Release()
}

type bentSet struct{ holds []bentAck }

func (s *bentSet) Add(a Ack) {
	if x := a.(bentAck); x.a.b != nil {
		s.holds = append(s.holds, x)
	}
}
func (s *bentSet) Absorb(o AckSet) {
	if x := o.(*bentSet); x != s {
		s.holds, x.holds = append(s.holds, x.holds...), nil
	}
}
func (s *bentSet) Len() int { return len(s.holds) }
func (s *bentSet) Deliver() {
	for _, a := range s.holds {
		a.Release()
	}
	s.holds = nil
}
func (s *bentSet) Close() error {
	for _, a := range s.holds {
		a.Fail()
	}
	s.Deliver()
	return nil
}

func (mu mutant) subject() Subject {
	return Subject{
		Name:      mu.name,
		Lacks:     LacksMemory | LacksFlatCost,
		NewAckSet: func() AckSet { return new(bentSet) },
		New: func(cfg Config) Checkpointer {
			if mu.cfg != nil {
				mu.cfg(&cfg)
			}
			m := NewModel(cfg)
			b := &bent{
				m: m, drain: m.Drain, take: m.TakeWatermarks, begin: m.BeginEpoch, extend: m.ExtendEpoch, revoke: m.Revoke,
				pending: m.Pending, most: m.MaxPending, stalled: m.Stalled, wait: m.Wait,
				issue: (*ModelIssuer).Issue, clone: (*ModelIssuer).Clone,
				ack: bentAckOps{
					release: ModelAck.Release, fail: ModelAck.Fail, retain: ModelAck.RetainN,
					id: ModelAck.ID, last: ModelAck.LastOffset,
				},
			}
			if mu.bend != nil {
				mu.bend(m, b)
			}
			return b
		},
	}
}

// verdict collects what a case says of a subject that is expected to fail.
type verdict struct {
	testing.TB
	mu    sync.Mutex
	first string
}

func (v *verdict) Helper()             {}
func (v *verdict) Log(...any)          {}
func (v *verdict) Logf(string, ...any) {}
func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.first == "" {
		v.first = fmt.Sprintf(format, args...)
	}
}
func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}
func (v *verdict) Fatal(args ...any) { v.Fatalf("%s", fmt.Sprint(args...)) }
func (v *verdict) Failed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.first != ""
}

// judge runs one case and returns its first complaint, or "".
func judge(t *testing.T, c testCase, s Subject) string {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				v.Errorf("panic: %v", r)
			}
		}()
		c.run(v, s)
	}()
	<-done
	return v.first
}

// TestSuiteCatchesMutants runs the suite on every mutant until a case fails.
func TestSuiteCatchesMutants(t *testing.T) {
	if longtest.LeftOut(t, "it is the suite that is tested, not what the suite tests") {
		return
	}
	defer func(d time.Duration) { patience = d }(patience)
	patience = 300 * time.Millisecond
	for _, mu := range append(mutants(), waitMutants()...) {
		t.Run(mu.name, func(t *testing.T) {
			cases := 0
			for _, g := range groups() {
				if g.concurrent != mu.waits || g.name == "Random" {
					continue
				}
				for _, c := range g.cases {
					if c.needs&mu.subject().Lacks != 0 {
						continue
					}
					cases++
					if complaint := judge(t, c, mu.subject()); complaint != "" {
						t.Logf("caught by %s/%s (case %d): %.120s", g.name, c.name, cases, complaint)
						return
					}
				}
			}
			t.Errorf("none of %d cases failed", cases)
		})
	}
}

// TestRandomOperationsCatchMutants wants the comparison with the model alone
// to find each of them too: it knows nothing of what the cases look for.
func TestRandomOperationsCatchMutants(t *testing.T) {
	if longtest.LeftOut(t, "it is the suite that is tested, not what the suite tests") {
		return
	}
	for _, mu := range mutants() {
		t.Run(mu.name, func(t *testing.T) {
			if notByOperations[mu.name] {
				return
			}
			// Each history has a seed of its own; a rare fault may need several.
			complaint := ""
			for range 10 {
				if complaint = judge(t, testCase{name: mu.name, run: randomAgainstModel}, mu.subject()); complaint != "" {
					break
				}
			}
			if complaint == "" {
				t.Error("the random operations found no difference")
			}
		})
	}
}

// TestBentModelIsSound: the scaffolding itself breaks nothing.
func TestBentModelIsSound(t *testing.T) {
	s := mutant{name: "none"}.subject()
	for _, g := range groups() {
		for _, c := range g.cases {
			if c.needs&s.Lacks != 0 || g.name == "Stress" || g.name == "Random" {
				continue
			}
			if complaint := judge(t, c, s); complaint != "" {
				t.Errorf("%s/%s: %s", g.name, c.name, complaint)
			}
		}
	}
}
