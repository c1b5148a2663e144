package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// Checkpointer turns the resolutions of batches into watermarks per
// partition. Make one with New. See the package documentation for what is
// safe to call from where.
type Checkpointer struct {
	shards []shard
	limit  int
	now    func() time.Time
	leaks  *leakWatch // nil without leak reports

	// assignment is replaced under mu by BeginEpoch, ExtendEpoch and Revoke,
	// after the shards' tables are; issuers load it to see that something
	// changed.
	assignment atomics.Pointer[assignment]
	// duplicates counts late releases until a Drain takes them: releasers
	// add, Drain swaps to 0.
	duplicates atomics.Uint64
	// waiting counts the goroutines in Wait and WaitIdle, which add and
	// subtract; whoever makes news loads it and wakes them.
	waiting atomics.Int32
	// inWait is set while a goroutine is in Wait; each that comes swaps true in.
	inWait atomics.Bool
	parker atomics.Parker // of the goroutine in Wait
	// idlers are those of the goroutines in WaitIdle, an immutable list. They
	// replace it under mu; whoever wakes them loads it.
	idlers atomics.Pointer[[]*atomics.Parker]
	// stalls is the sorted, immutable list of stalled partitions. Control
	// methods replace it under mu; Stalled loads it.
	stalls atomics.Pointer[[]Stall]

	mu      atomics.Mutex // serialises the control methods
	touched []*lane       // lanes to look at in the next TakeWatermarks
	watched []*lane       // lanes in which a drain sees something unresolved, while it runs
	sorting []Watermark   // the second array of sortByPartition
	// totals is what drains have counted since New, reported what of it Drain
	// has returned; unreported says that a drain has seen anything at all since.
	totals, reported DrainTotals
	unreported       bool
	see              func(q *queue, registered, resolved int) // seen, made once

	skipped int // failed batches let pass, over all partitions and admissions
	// foldFrom is the number of batches that must wait behind a head before
	// their memory is folded.
	foldFrom int
}

// foldFrom is more than what is issued without an allocation in steady
// state, so that folding never takes part in that.
const foldFrom = 8192

// assignment names one state of the set of admitted partitions. A new one is
// made for every change, so that comparing pointers tells issuers of it.
type assignment struct {
	epoch uint32
	begun bool // false before the first BeginEpoch
	// admissions is the number of the last admission. It is published with
	// the assignment, after the tables that hold its lanes.
	admissions uint64
}

// nextAdmission returns the number of the admission after a. One BeginEpoch
// or ExtendEpoch is one admission of all its partitions. A number whose low
// half is 0 is left out, see Watermark.
func (a *assignment) nextAdmission() uint64 {
	n := a.admissions + 1
	if uint32(n) == 0 {
		n++
	}
	return n
}

// New returns a Checkpointer with no partitions admitted.
func New(opts ...Option) *Checkpointer {
	c := &Checkpointer{now: time.Now, parker: atomics.NewParker(), foldFrom: foldFrom}
	c.see = c.seen
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	if c.shards == nil {
		WithShards(0)(c)
	}
	empty := newTable(nil)
	for i := range c.shards {
		c.shards[i].table.Store(empty)
		c.shards[i].inbox = newInbox(c)
	}
	// The numbers of admissions begin anywhere, so that a watermark of another
	// Checkpointer does not fit.
	c.assignment.Store(&assignment{admissions: uint64(rand.Uint32())})
	return c
}

// lock serialises the control methods. A Checkpointer that New did not make
// is found here.
func (c *Checkpointer) lock() {
	c.mustBeMade()
	c.mu.Lock()
}

func (c *Checkpointer) mustBeMade() {
	if c == nil || c.shards == nil {
		panic("checkpoint: a Checkpointer must be made with New")
	}
}

// BeginEpoch starts an epoch with exactly the given partitions (a set:
// repeats are ignored). The first call takes any epoch; after that epochs
// strictly increase, else the error is ErrEpochNotIncreasing and nothing
// changes. Everything of earlier epochs is stale from here on: pending
// batches, watermarks that were not taken, stalls. An issuer that sees the
// new epoch finds its partitions admitted. MaxUint32 is the last epoch.
func (c *Checkpointer) BeginEpoch(epoch uint32, partitions ...PartitionID) error {
	c.lock()
	defer c.mu.Unlock()
	a := c.assignment.Load()
	if a.begun && epoch <= a.epoch {
		return fmt.Errorf("%w: epoch %d after %d, legal are higher ones", ErrEpochNotIncreasing, epoch, a.epoch)
	}
	for i := range c.shards {
		for _, l := range c.shards[i].table.Load().lanes {
			c.retire(l)
		}
	}
	c.forgetRetired()
	groups := c.group(partitions)
	next := &assignment{epoch: epoch, begun: true, admissions: a.nextAdmission()}
	for i := range c.shards {
		lanes := make([]*lane, 0, len(groups[i]))
		for _, p := range groups[i] {
			lanes = append(lanes, newLane(c, p, next))
		}
		c.shards[i].table.Store(newTable(lanes))
	}
	c.assignment.Store(next)
	c.wake() // whoever waits for an earlier admission
	return nil
}

// ExtendEpoch admits more partitions in the current epoch and leaves the
// others undisturbed: a cooperative rebalance. A partition that was revoked
// earlier in the epoch may return and is tracked afresh. If one of them is
// admitted now, the error is ErrPartitionAdmitted and none is added. Before
// the first BeginEpoch it is ErrNoEpoch. No partitions: nil.
func (c *Checkpointer) ExtendEpoch(partitions ...PartitionID) error {
	if len(partitions) == 0 {
		return nil
	}
	c.lock()
	defer c.mu.Unlock()
	a := c.assignment.Load()
	if !a.begun {
		return fmt.Errorf("%w: cannot extend it by partitions %v; call BeginEpoch first", ErrNoEpoch, partitions)
	}
	var admitted []PartitionID
	groups := c.group(partitions)
	for i, ps := range groups {
		for _, p := range ps {
			if c.shards[i].find(p) != nil {
				admitted = append(admitted, p)
			}
		}
	}
	if admitted != nil {
		slices.Sort(admitted)
		return fmt.Errorf("%w: partitions %v in epoch %d; revoke them first if they are to start afresh", ErrPartitionAdmitted, admitted, a.epoch)
	}
	next := &assignment{epoch: a.epoch, begun: true, admissions: a.nextAdmission()}
	for i, ps := range groups {
		if len(ps) == 0 {
			continue
		}
		lanes := slices.Clone(c.shards[i].table.Load().lanes)
		for _, p := range ps {
			lanes = append(lanes, newLane(c, p, next))
		}
		c.shards[i].table.Store(newTable(lanes))
	}
	c.assignment.Store(next)
	return nil
}

// group sorts partitions out by shard, each once.
func (c *Checkpointer) group(partitions []PartitionID) [][]PartitionID {
	groups := make([][]PartitionID, len(c.shards))
	for _, p := range partitions {
		i := c.shardIndex(p)
		groups[i] = append(groups[i], p)
	}
	for i := range groups {
		slices.Sort(groups[i])
		groups[i] = slices.Compact(groups[i])
	}
	return groups
}
