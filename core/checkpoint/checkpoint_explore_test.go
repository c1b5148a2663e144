//go:build explore

package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/explore"
)

// pipeline is a checkpointer under exploration with what its control side saw.
type pipeline struct {
	c       *Checkpointer
	issuer  *Issuer
	stats   DrainStats
	marks   []Watermark
	stalled []Stall
}

// newPipeline returns a checkpointer with one shard whose first epoch admits
// the partitions, and an issuer.
func newPipeline(partitions ...PartitionID) *pipeline {
	c := New(WithShards(1), WithClock(func() time.Time { return time.Time{} }))
	if err := c.BeginEpoch(1, partitions...); err != nil {
		panic(err)
	}
	return &pipeline{c: c, issuer: c.Issuer()}
}

func (x *pipeline) issue(p PartitionID, offset int64) Ack {
	ack, err := x.issuer.Issue(p, offset)
	if err != nil {
		explore.Fail("Issue: %v", err)
	}
	return ack
}

func (x *pipeline) drain() {
	s := x.c.Drain()
	x.stats.Applied += s.Applied
	x.stats.StaleEpoch += s.StaleEpoch
	x.stats.Duplicates += s.Duplicates
	if x.stats.Unknown += s.Unknown; x.stats.Unknown != 0 {
		explore.Fail("unknown resolutions: %+v", s)
	}
}

// take drains and takes; watermarks of a partition must grow.
func (x *pipeline) take() {
	x.drain()
	for _, w := range x.c.TakeWatermarks(nil) {
		if before := x.mark(w.Partition); w.Offset <= before {
			explore.Fail("the watermark of %d goes from %d to %d", w.Partition, before, w.Offset)
		}
		x.marks = append(x.marks, w)
	}
	x.stalled = x.c.Stalled(nil)
}

// mark returns the last watermark of a partition, 0 if there is none.
func (x *pipeline) mark(p PartitionID) int64 {
	offset := int64(0)
	for _, w := range x.marks {
		if w.Partition == p {
			offset = w.Offset
		}
	}
	return offset
}

// end drains the rest and compares the sums of all drains.
func (x *pipeline) end(applied, stale, duplicates int) error {
	x.take()
	if want := (DrainStats{Applied: applied, StaleEpoch: stale, Duplicates: duplicates}); x.stats != want {
		return fmt.Errorf("all drains: %+v, want %+v", x.stats, want)
	}
	return nil
}

func TestExploreCheckpoint(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "checkpoint-release", Title: "2 batches are released, one with 2 holders, beside Issue, Drain and TakeWatermarks", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first, second := x.issue(0, 9), x.issue(0, 19)
			second.Retain()
			var released atomics.Bool
			return explore.Program{Threads: []func(){
				func() { second.Release(); first.Release(); released.Store(true) },
				func() { second.Release() },
				func() { x.issue(0, 29) },
				func() {
					before := released.Load()
					if x.take(); before && x.mark(0) < 10 {
						explore.Fail("the first batch was released before the drain, and the watermark is %d", x.mark(0))
					}
				},
			}, Check: func() error {
				if err := x.end(2, 0, 0); err != nil || x.mark(0) != 20 || x.c.Pending(0) != 1 {
					return fmt.Errorf("watermark %d, %d pending, want 20 and 1 (%v)", x.mark(0), x.c.Pending(0), err)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-fail", Title: "a holder fails and releases beside one that releases, twice, and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first, second := x.issue(0, 9), x.issue(0, 19)
			first.Release()
			second.Retain()
			return explore.Program{Threads: []func(){
				func() { second.Done(errors.New("no")) },
				func() { second.Release() },
				func() { first.Release() },
				x.take,
			}, Check: func() error {
				if err := x.end(2, 0, 1); err != nil || x.mark(0) != 10 || len(x.stalled) != 1 || x.stalled[0].LastOffset != 19 {
					return fmt.Errorf("watermark %d, stalled %v, want 10 and the second batch (%v)", x.mark(0), x.stalled, err)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-pending", Title: "Pending beside Issue, Release and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first := x.issue(0, 9)
			x.issue(0, 19)
			return explore.Program{Threads: []func(){
				func() { x.issue(0, 29) },
				func() { first.Release() },
				x.take,
				func() {
					if n := x.c.Pending(0); n < 1 || n > 3 {
						explore.Fail("%d pending, want 1 to 3", n)
					}
				},
			}, Check: func() error { return x.end(1, 0, 0) }}
		}},
	} {
		explore.Run(t, c)
	}
}

func TestExploreRebalance(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "checkpoint-epoch", Title: "BeginEpoch with one more partition against Issue and Release of it, and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			tracked := 0
			return explore.Program{Threads: []func(){
				func() {
					if err := x.c.BeginEpoch(2, 0, 1); err != nil {
						explore.Fail("%v", err)
					}
				},
				func() {
					ack := x.issue(1, 9)
					if ack.ID().Epoch == 2 {
						tracked = 1
					}
					ack.Release()
				},
				x.take,
			}, Check: func() error {
				// An issuer that has seen the epoch finds the partition admitted.
				if err := x.end(tracked, 2-2*tracked, 0); err != nil || x.mark(1) != int64(10*tracked) {
					return fmt.Errorf("watermark %d with %d tracked batches (%v)", x.mark(1), tracked, err)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-revoke", Title: "Revoke against Issue and Release of its partition, and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first := x.issue(0, 9)
			var gone atomics.Bool
			return explore.Program{Threads: []func(){
				func() { x.c.Revoke(0); gone.Store(true) },
				func() { first.Release(); x.issue(0, 19).Release() },
				func() {
					before := gone.Load()
					if x.take(); before && len(x.marks) > 0 {
						explore.Fail("the watermark moved after the partition was revoked: %v", x.marks)
					}
				},
			}, Check: func() error {
				marks := len(x.marks)
				x.take()
				// A batch is applied, or its resolution is stale; the registration
				// of the second is stale or was seen in time.
				all := 2*x.stats.Applied + x.stats.StaleEpoch
				if all < 2 || all > 4 || x.stats.Duplicates != 0 || len(x.marks) > marks {
					return fmt.Errorf("drained %+v, took %v", x.stats, x.marks)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-return", Title: "Revoke and return of a partition against a Release from before and an Issue after, and a take", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: func() explore.Program {
			x := newPipeline(0)
			old := x.issue(0, 9)
			fresh := x.c.Issuer()
			return explore.Program{Threads: []func(){
				func() {
					x.c.Revoke(0)
					if err := x.c.ExtendEpoch(0); err != nil {
						explore.Fail("%v", err)
					}
					if ack, err := fresh.Issue(0, 9); err != nil {
						explore.Fail("%v", err)
					} else if ack == old {
						explore.Fail("two batches have one handle")
					}
				},
				func() { old.Release() },
				x.take,
			}, Check: func() error {
				x.take()
				// The batch of the new admission is still out: the old handle moved
				// nothing but in the old admission, before its end.
				if n := x.c.Pending(0); n != 1 || len(x.marks) > x.stats.Applied {
					return fmt.Errorf("%d pending, drained %+v, took %v", n, x.stats, x.marks)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-fence", Title: "a fence, then IssueAfter and Release, against Revoke and return of the partition, and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			return explore.Program{Threads: []func(){
				func() {
					x.c.Revoke(0)
					if err := x.c.ExtendEpoch(0); err != nil {
						explore.Fail("%v", err)
					}
				},
				func() {
					f := x.issuer.Fence()
					ack, err := x.issuer.IssueAfter(f, 0, 9)
					if err != nil {
						explore.Fail("%v", err)
					}
					if at := ack.cell.Owner().admission; ack.Tracked() && at > f.admissions {
						explore.Fail("a batch from before an admission is tracked in it, its fence is older by %d", at-f.admissions)
					}
					ack.Release()
				},
				x.take,
			}, Check: func() error {
				x.take()
				if x.c.Pending(0) != 0 || x.stats.Duplicates != 0 {
					return fmt.Errorf("%d pending, drained %+v", x.c.Pending(0), x.stats)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-last-take", Title: "RevokeAndTake against 2 Releases and a take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first, second := x.issue(0, 9), x.issue(0, 19)
			var gone atomics.Bool
			return explore.Program{Threads: []func(){
				func() {
					list := x.c.RevokeAndTake(0)
					if gone.Store(true); len(list) != 1 {
						explore.Fail("revoked %v", list)
					}
					r := list[0]
					if left := r.Pending + r.Delivered + r.Failed; r.Watermark.Offset != int64(10*(2-left)) || r.Failed != 0 {
						explore.Fail("the revocation says %+v", r)
					}
				},
				func() { second.Release(); first.Release() },
				func() {
					before := gone.Load()
					if x.take(); before && len(x.marks) > 0 {
						explore.Fail("the watermark moved after the partition was revoked: %v", x.marks)
					}
				},
			}, Check: func() error {
				x.take()
				if all := x.stats.Applied + x.stats.StaleEpoch; x.stats.Applied > 2 || all < 2 || x.stats.Duplicates != 0 {
					return fmt.Errorf("drained %+v", x.stats)
				}
				return nil
			}}
		}},
		{Name: "checkpoint-owner", Title: "2 issuers issue the same partition beside ExtendEpoch of it", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(1)
			other := x.c.Issuer()
			owners, refused := 0, 0
			try := func(i *Issuer) func() {
				return func() {
					switch ack, err := i.Issue(0, 9); {
					case errors.Is(err, ErrPartitionOwned):
						refused++
					case err != nil:
						explore.Fail("%v", err)
					default:
						if ack.Release(); ack.cell.Owner().owner.Load() == i {
							owners++
						}
					}
				}
			}
			return explore.Program{Threads: []func(){try(x.issuer), try(other), func() {
				if err := x.c.ExtendEpoch(0); err != nil {
					explore.Fail("%v", err)
				}
			}}, Check: func() error {
				if owners > 1 || refused > 1 || refused == 1 && owners == 0 {
					return fmt.Errorf("%d owners, %d refused", owners, refused)
				}
				return x.end(owners, 2*(2-owners-refused), 0)
			}}
		}},
	} {
		explore.Run(t, c)
	}
}

// A goroutine in Wait is woken by whatever a Drain would find.
func TestExploreWait(t *testing.T) {
	waits := func(applied, duplicates int, threads func(x *pipeline, first Ack) []func()) func() explore.Program {
		return func() explore.Program {
			x := newPipeline(0)
			first := x.issue(0, 9)
			x.drain()
			x.drain()
			return explore.Program{Threads: append(threads(x, first), func() {
				for x.stats.Applied < applied || x.stats.Duplicates < duplicates {
					if err := x.c.Wait(context.Background()); err != nil {
						explore.Fail("Wait: %v", err)
					}
					x.take()
				}
			}), Check: func() error { return x.end(applied, 0, duplicates) }}
		}
	}
	for _, c := range []explore.Config{
		{Name: "wait-release", Title: "Wait against a Release", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: waits(1, 0, func(x *pipeline, first Ack) []func() {
			return []func(){first.Release}
		})},
		{Name: "wait-issue", Title: "Wait against Issue and Release, and a Release", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: waits(2, 0, func(x *pipeline, first Ack) []func() {
			return []func(){func() { x.issue(0, 19).Release() }, first.Release}
		})},
		{Name: "wait-late", Title: "Wait against a Release and one too many", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: waits(1, 1, func(x *pipeline, first Ack) []func() {
			return []func(){first.Release, first.Release}
		})},
		{Name: "wait-context", Title: "a Release, then the end of the context, against Wait", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first := x.issue(0, 9)
			x.drain()
			x.drain()
			ctx := explore.NewContext()
			return explore.Program{Threads: []func(){
				func() { first.Release(); ctx.Cancel() },
				func() {
					if err := x.c.Wait(ctx); err != nil {
						explore.Fail("Wait: %v", err)
					}
					x.take()
				},
			}, Check: func() error { return x.end(1, 0, 0) }}
		}},
		{Name: "wait-two", Title: "2 goroutines wait for a Release; one may be sent away", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first := x.issue(0, 9)
			x.drain()
			x.drain()
			away := 0
			wait := func() {
				switch err := x.c.Wait(context.Background()); {
				case errors.Is(err, ErrWaiting):
					away++
				case err != nil:
					explore.Fail("Wait: %v", err)
				}
			}
			return explore.Program{Threads: []func(){first.Release, wait, wait}, Check: func() error {
				if away > 1 {
					return errors.New("both were sent away")
				}
				return x.end(1, 0, 0)
			}}
		}},
	} {
		explore.Run(t, c)
	}
}

// A goroutine in WaitIdle is woken when nothing is unresolved any more, also
// if others drain and take, and Wait is told of what its drains have counted.
func TestExploreWaitIdle(t *testing.T) {
	idle := func(threads func(x *pipeline, first, second Ack) []func(), applied int) func() explore.Program {
		return func() explore.Program {
			x := newPipeline(0)
			first, second := x.issue(0, 9), x.issue(0, 19)
			x.drain()
			x.drain()
			return explore.Program{Threads: append(threads(x, first, second), func() {
				if err := x.c.WaitIdle(context.Background(), 0); err != nil {
					explore.Fail("WaitIdle: %v", err)
				}
			}), Check: func() error { return x.end(applied, 2-applied, 0) }}
		}
	}
	releasesAndTake := func(x *pipeline, first, second Ack) []func() {
		return []func(){first.Release, second.Release, x.take}
	}
	for _, c := range []explore.Config{
		{Name: "idle-release", Title: "WaitIdle against 2 Releases", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: idle(func(x *pipeline, first, second Ack) []func() {
			return []func(){func() { first.Release(); second.Release() }}
		}, 2)},
		{Name: "idle-take", Title: "WaitIdle against 2 goroutines that release, and a take", Level: explore.Usual, Search: explore.Bound(2, 1e6), Setup: idle(releasesAndTake, 2)},
		{Name: "idle-take-deep", Title: "WaitIdle against 2 goroutines that release, and a take", Level: explore.Full, Search: explore.Bound(3, 2e7), Setup: idle(releasesAndTake, 2)},
		{Name: "idle-revoke", Title: "WaitIdle against a Revoke", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newPipeline(0)
			x.issue(0, 9)
			return explore.Program{Threads: []func(){func() { x.c.Revoke(0) }, func() {
				if err := x.c.WaitIdle(context.Background()); err != nil {
					explore.Fail("WaitIdle: %v", err)
				}
			}}}
		}},
		{Name: "idle-wait", Title: "WaitIdle beside Wait, against 2 Releases", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: func() explore.Program {
			x := newPipeline(0)
			first, second := x.issue(0, 9), x.issue(0, 19)
			return explore.Program{Threads: []func(){
				func() { second.Release(); first.Release() },
				func() {
					if err := x.c.WaitIdle(context.Background()); err != nil {
						explore.Fail("WaitIdle: %v", err)
					}
				},
				func() {
					for x.stats.Applied < 2 {
						if err := x.c.Wait(context.Background()); err != nil {
							explore.Fail("Wait: %v", err)
						}
						x.take()
					}
				},
			}, Check: func() error { return x.end(2, 0, 0) }}
		}},
	} {
		explore.Run(t, c)
	}
}
