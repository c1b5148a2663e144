package channel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// registration and resolution are what the two channels carry. An admission
// of 0 belongs to a batch of a partition that was not admitted.
type registration struct {
	partition checkpoint.PartitionID
	admission uint32
	last      int64
}

type resolution struct {
	partition checkpoint.PartitionID
	admission uint32
	seq       uint64
	kind      status
}

// Checkpointer turns resolutions into watermarks, on two channels.
type Checkpointer struct {
	registrations chan registration
	resolutions   chan resolution
	buffer        int
	limit         uint64
	now           func() time.Time

	// epoch is written by BeginEpoch after the epoch's trackers exist and
	// read by issuers.
	epoch atomic.Uint32
	// duplicates counts releases of resolved batches since the last Drain. It
	// is not a message, because misuse would fill the channel. Written by
	// holders, taken by Drain.
	duplicates atomic.Int64
	// waiting is set by Wait while it looks and sleeps; senders read it
	// after they have sent.
	waiting atomic.Bool
	wake    chan struct{}

	// admissions guards trackers against issuers, which read it once per
	// admission. The control methods write under both locks.
	admissions sync.RWMutex
	trackers   map[checkpoint.PartitionID]*tracker

	mu        sync.Mutex // serialises the control methods and the probes
	begun     bool
	admission uint32
	touched   []*tracker
	deferred  []resolution
	early     []resolution // what Wait received while it looked
	earlyReg  []registration
}

// New returns a checkpointer with no epoch.
func New(opts ...Option) *Checkpointer {
	c := &Checkpointer{
		buffer:   DefaultBuffer,
		now:      time.Now,
		wake:     make(chan struct{}, 1),
		trackers: map[checkpoint.PartitionID]*tracker{},
	}
	for _, o := range opts {
		o(c)
	}
	c.registrations = make(chan registration, c.buffer)
	c.resolutions = make(chan resolution, c.buffer)
	return c
}

// Issuer returns an issuer for one goroutine.
func (c *Checkpointer) Issuer() *Issuer {
	return &Issuer{c: c, lanes: map[checkpoint.PartitionID]*lane{}}
}

// BeginEpoch starts an epoch that covers exactly the given partitions.
func (c *Checkpointer) BeginEpoch(epoch uint32, partitions ...checkpoint.PartitionID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if current := c.epoch.Load(); c.begun && epoch <= current {
		return fmt.Errorf("%w: got %d, want more than %d", checkpoint.ErrEpochNotIncreasing, epoch, current)
	}
	c.begun = true
	c.admission++
	next := make(map[checkpoint.PartitionID]*tracker, len(partitions))
	for _, p := range partitions {
		next[p] = &tracker{partition: p, epoch: epoch, admission: c.admission}
	}
	c.admissions.Lock()
	old := c.trackers
	c.trackers = next
	c.epoch.Store(epoch)
	c.admissions.Unlock()
	for _, t := range old {
		t.revoked.Store(true)
	}
	return nil
}

// ExtendEpoch adds partitions to the current epoch.
func (c *Checkpointer) ExtendEpoch(partitions ...checkpoint.PartitionID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun {
		return fmt.Errorf("%w: ExtendEpoch of %d partitions", checkpoint.ErrNoEpoch, len(partitions))
	}
	for _, p := range partitions {
		if c.trackers[p] != nil {
			return fmt.Errorf("%w: partition %d epoch %d", checkpoint.ErrPartitionAdmitted, p, c.epoch.Load())
		}
	}
	c.admission++
	c.admissions.Lock()
	defer c.admissions.Unlock()
	for _, p := range partitions {
		c.trackers[p] = &tracker{partition: p, epoch: c.epoch.Load(), admission: c.admission}
	}
	return nil
}

// Revoke ends the admission of partitions.
func (c *Checkpointer) Revoke(partitions ...checkpoint.PartitionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admissions.Lock()
	defer c.admissions.Unlock()
	for _, p := range partitions {
		if t := c.trackers[p]; t != nil {
			t.revoked.Store(true)
			delete(c.trackers, p)
		}
	}
}

// resolve sends a resolution.
func (c *Checkpointer) resolve(r resolution) {
	c.resolutions <- r
	c.notify()
}

// notify wakes a waiter, if there is one.
func (c *Checkpointer) notify() {
	if c.waiting.Load() {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// TakeWatermarks appends the watermarks that moved, sorted by partition.
func (c *Checkpointer) TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := len(dst)
	for _, t := range c.touched {
		t.touched = false
		if !t.revoked.Load() && t.advance(c.now) {
			dst = append(dst, checkpoint.Watermark{Partition: t.partition, Offset: t.watermark})
		}
	}
	clear(c.touched)
	c.touched = c.touched[:0]
	slices.SortFunc(dst[from:], func(a, b checkpoint.Watermark) int {
		return cmp.Compare(a.Partition, b.Partition)
	})
	return dst
}

// Pending returns the number of pending batches of p.
func (c *Checkpointer) Pending(p checkpoint.PartitionID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trackers[p]; t != nil {
		return t.pending()
	}
	return 0
}

// MaxPending returns the largest pending count of a partition.
func (c *Checkpointer) MaxPending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := 0
	for _, t := range c.trackers {
		most = max(most, t.pending())
	}
	return most
}

// Stalled appends the stalls, sorted by partition.
func (c *Checkpointer) Stalled(dst []checkpoint.Stall) []checkpoint.Stall {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := len(dst)
	for _, t := range c.trackers {
		if t.stalled {
			dst = append(dst, t.stall())
		}
	}
	slices.SortFunc(dst[from:], func(a, b checkpoint.Stall) int {
		return cmp.Compare(a.Partition, b.Partition)
	})
	return dst
}

// Wait parks until a drain would find something or ctx is done.
func (c *Checkpointer) Wait(ctx context.Context) error {
	if !c.waiting.CompareAndSwap(false, true) {
		return checkpoint.ErrWaiting
	}
	defer c.waiting.Store(false)
	for {
		// The context first: what comes before it is done must be found.
		err := ctx.Err()
		if c.look() {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
	}
}
