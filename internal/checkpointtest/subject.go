package checkpointtest

import (
	"context"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Config is what a case asks of a new checkpointer. Zero fields mean the
// implementation's default.
type Config struct {
	Shards       int
	PendingLimit int
	Now          func() time.Time
}

// Lacks says what an implementation leaves out of the contract. The zero
// value is the whole contract.
type Lacks uint

const (
	// LacksWait: no Wait.
	LacksWait Lacks = 1 << iota
	// LacksDuplicates: a release of a resolved batch is misuse, or is not counted exactly.
	LacksDuplicates
	// LacksEagerPending: Pending counts a batch only from the drain that saw it.
	LacksEagerPending
	// LacksMemory: memory is not given back after a burst, or costs more than the contract allows.
	LacksMemory
	// LacksFlatCost: the cost of a drain grows with what waits behind a stuck
	// head or with the number of assigned partitions.
	LacksFlatCost
	// LacksSaturation: the number of holders of a batch is not bounded and does not saturate.
	LacksSaturation
	// LacksAckSet: no AckSet. Set by Adapt, cleared by WithAckSet.
	LacksAckSet
)

// Subject is one implementation under test.
type Subject struct {
	Name  string
	Lacks Lacks
	New   func(Config) Checkpointer
	// NewAckSet makes an empty bulk holder; nil with LacksAckSet.
	NewAckSet func() AckSet
	// Slow says that each batch costs a multiple of what it does elsewhere:
	// a run with -short leaves out the groups with long loops.
	Slow bool
}

// Checkpointer is the part of the contract that a control loop uses.
type Checkpointer interface {
	Issuer() Issuer
	BeginEpoch(epoch uint32, partitions ...checkpoint.PartitionID) error
	ExtendEpoch(partitions ...checkpoint.PartitionID) error
	Revoke(partitions ...checkpoint.PartitionID)
	Drain() checkpoint.DrainStats
	// Wait is never called on a subject with LacksWait.
	Wait(ctx context.Context) error
	TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark
	Pending(p checkpoint.PartitionID) int
	MaxPending() int
	Stalled(dst []checkpoint.Stall) []checkpoint.Stall
}

// Issuer issues batches on one goroutine.
type Issuer interface {
	Issue(p checkpoint.PartitionID, lastOffset int64) (Ack, error)
	Clone() Issuer
}

// Ack is a handle. Two of them compare equal when the handles inside do.
type Ack interface {
	ID() checkpoint.BatchID
	LastOffset() int64
	Retain() Ack
	RetainN(n int)
	Fail()
	Release()
	Done(err error)
}

// AckSet is a bulk holder.
type AckSet interface {
	Add(a Ack)
	// Absorb takes a set of the same subject.
	Absorb(o AckSet)
	Len() int
	Deliver()
	Close() error
}

// ackLike, issuerLike and checkpointerLike are the shapes Adapt accepts: the
// contract's methods with the implementation's own types.
type ackLike[A any] interface {
	comparable
	ID() checkpoint.BatchID
	LastOffset() int64
	Retain() A
	RetainN(n int)
	Fail()
	Release()
	Done(err error)
}

type issuerLike[A, I any] interface {
	Issue(p checkpoint.PartitionID, lastOffset int64) (A, error)
	Clone() I
}

type checkpointerLike[I any] interface {
	Issuer() I
	BeginEpoch(epoch uint32, partitions ...checkpoint.PartitionID) error
	ExtendEpoch(partitions ...checkpoint.PartitionID) error
	Revoke(partitions ...checkpoint.PartitionID)
	Drain() checkpoint.DrainStats
	TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark
	Pending(p checkpoint.PartitionID) int
	MaxPending() int
	Stalled(dst []checkpoint.Stall) []checkpoint.Stall
}

type ackSetLike[A, S any] interface {
	Add(a A)
	Absorb(o S)
	Len() int
	Deliver()
	Close() error
}

// Adapt makes a subject of any implementation whose methods have the
// contract's names and shapes. Without a Wait method declare LacksWait.
func Adapt[C checkpointerLike[I], I issuerLike[A, I], A ackLike[A]](name string, lacks Lacks, create func(Config) C) Subject {
	return Subject{
		Name:  name,
		Lacks: lacks | LacksAckSet,
		New: func(cfg Config) Checkpointer {
			return checkpointerOf[C, I, A]{create(cfg)}
		},
	}
}

// WithAckSet adds the bulk holder of the implementation, whose Ack is A.
func WithAckSet[S ackSetLike[A, S], A ackLike[A]](s Subject, create func() S) Subject {
	s.Lacks &^= LacksAckSet
	s.NewAckSet = func() AckSet { return ackSetOf[S, A]{create()} }
	return s
}

type checkpointerOf[C checkpointerLike[I], I issuerLike[A, I], A ackLike[A]] struct{ c C }

func (x checkpointerOf[C, I, A]) Issuer() Issuer { return issuerOf[I, A]{x.c.Issuer()} }
func (x checkpointerOf[C, I, A]) BeginEpoch(e uint32, ps ...checkpoint.PartitionID) error {
	return x.c.BeginEpoch(e, ps...)
}
func (x checkpointerOf[C, I, A]) ExtendEpoch(ps ...checkpoint.PartitionID) error {
	return x.c.ExtendEpoch(ps...)
}
func (x checkpointerOf[C, I, A]) Revoke(ps ...checkpoint.PartitionID) { x.c.Revoke(ps...) }
func (x checkpointerOf[C, I, A]) Drain() checkpoint.DrainStats        { return x.c.Drain() }
func (x checkpointerOf[C, I, A]) Wait(ctx context.Context) error {
	return any(x.c).(interface{ Wait(context.Context) error }).Wait(ctx)
}

// TakeWatermarks reduces watermarks to what the contract says of them, so that
// they can be compared: an implementation may keep more in them.
func (x checkpointerOf[C, I, A]) TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark {
	start := len(dst)
	dst = x.c.TakeWatermarks(dst)
	for i, w := range dst[start:] {
		dst[start+i] = checkpoint.Watermark{Partition: w.Partition, Offset: w.Offset}
	}
	return dst
}

func (x checkpointerOf[C, I, A]) Pending(p checkpoint.PartitionID) int { return x.c.Pending(p) }
func (x checkpointerOf[C, I, A]) MaxPending() int                      { return x.c.MaxPending() }
func (x checkpointerOf[C, I, A]) Stalled(dst []checkpoint.Stall) []checkpoint.Stall {
	return x.c.Stalled(dst)
}

type issuerOf[I issuerLike[A, I], A ackLike[A]] struct{ i I }

func (x issuerOf[I, A]) Issue(p checkpoint.PartitionID, lastOffset int64) (Ack, error) {
	a, err := x.i.Issue(p, lastOffset)
	return ackOf[A]{a}, err
}
func (x issuerOf[I, A]) Clone() Issuer { return issuerOf[I, A]{x.i.Clone()} }

type ackOf[A ackLike[A]] struct{ a A }

func (x ackOf[A]) ID() checkpoint.BatchID { return x.a.ID() }
func (x ackOf[A]) LastOffset() int64      { return x.a.LastOffset() }
func (x ackOf[A]) Retain() Ack            { return ackOf[A]{x.a.Retain()} }
func (x ackOf[A]) RetainN(n int)          { x.a.RetainN(n) }
func (x ackOf[A]) Fail()                  { x.a.Fail() }
func (x ackOf[A]) Release()               { x.a.Release() }
func (x ackOf[A]) Done(err error)         { x.a.Done(err) }

type ackSetOf[S ackSetLike[A, S], A ackLike[A]] struct{ s S }

func (x ackSetOf[S, A]) Add(a Ack)       { x.s.Add(a.(ackOf[A]).a) }
func (x ackSetOf[S, A]) Absorb(o AckSet) { x.s.Absorb(o.(ackSetOf[S, A]).s) }
func (x ackSetOf[S, A]) Len() int        { return x.s.Len() }
func (x ackSetOf[S, A]) Deliver()        { x.s.Deliver() }
func (x ackSetOf[S, A]) Close() error    { return x.s.Close() }

// A case is one test of the suite. It fails through t alone, so that the
// suite can be run against implementations that are expected to fail.
type testCase struct {
	name string
	// needs lists what the case cannot do without.
	needs Lacks
	run   func(t testing.TB, s Subject)
}

// Run runs every case that s does not declare itself unable to pass.
func Run(t *testing.T, s Subject) {
	for _, g := range groups() {
		if s.Slow && g.long && testing.Short() {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				if c.needs&s.Lacks != 0 {
					continue
				}
				t.Run(c.name, func(t *testing.T) { c.run(t, s) })
			}
		})
	}
}

type group struct {
	name string
	// concurrent groups use several goroutines and clocks.
	concurrent bool
	// long groups loop over many batches.
	long  bool
	cases []testCase
}

func groups() []group {
	return []group{
		{name: "Example", cases: exampleCases()},
		{name: "Issue", cases: issueCases()},
		{name: "Ack", cases: ackCases()},
		{name: "Control", cases: controlCases()},
		{name: "Wait", concurrent: true, cases: waitCases()},
		{name: "Field", cases: fieldCases()},
		{name: "Checklist", cases: checklistCases()},
		{name: "Large", long: true, cases: largeCases()},
		{name: "Random", long: true, cases: randomCases()},
		{name: "Stress", concurrent: true, long: true, cases: stressCases()},
		{name: "Close", concurrent: true, long: true, cases: closeCases()},
	}
}
