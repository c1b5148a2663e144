package timing_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
)

const ms = time.Millisecond

// rig is a ledger and three histograms for one guard, with a clock that
// tests move by sleeping.
type rig struct {
	t                     *testing.T
	ledger                *timing.Ledger
	local, stall, aligned samples
}

// samples is an Observer; it panics after taking a sample if told to.
type samples struct {
	taken []time.Duration
	panic any
}

func (s *samples) Observe(seconds float64) {
	s.taken = append(s.taken, time.Duration(seconds*1e9+0.5))
	if s.panic != nil {
		panic(s.panic)
	}
}

// inRig runs a test on a clock of its own.
func inRig(t *testing.T, run func(r *rig)) {
	synctest.Test(t, func(t *testing.T) { run(&rig{t: t, ledger: newLedger(t, 8)}) })
}

func (r *rig) histograms() timing.Histograms {
	return timing.Histograms{PipelineStall: &r.stall, LocalBarrier: &r.local, AlignedResume: &r.aligned}
}

func known() (timing.Context, bool) { return contextOf(1, 7), true }

func (r *rig) start() *timing.Guard {
	return timing.StartGuard(r.ledger, r.histograms(), time.Time{}, known)
}

// expect compares what was published. A negative duration is none.
func (r *rig) expect(local, aligned, stall time.Duration, records int, losses uint64) timing.Snapshot {
	r.t.Helper()
	for name, c := range map[string]struct {
		got  []time.Duration
		want time.Duration
	}{"local": {r.local.taken, local}, "aligned": {r.aligned.taken, aligned}, "stall": {r.stall.taken, stall}} {
		want := []time.Duration{c.want}
		if c.want < 0 {
			want = nil
		}
		if !slices.Equal(c.got, want) {
			r.t.Errorf("%s histogram got %v, want %v", name, c.got, want)
		}
	}
	s := snapshot(r.t, r.ledger, 0, 64)
	if len(s.Records) != records || s.RecordingLossCount != losses {
		r.t.Errorf("%d records and %d losses, want %d and %d", len(s.Records), s.RecordingLossCount, records, losses)
	}
	for _, rec := range s.Records {
		want := timing.NullDuration{Duration: max(aligned, 0), Valid: aligned >= 0}
		if rec.LocalBarrier != local || rec.PipelineStall != stall || rec.AlignedResume != want || rec.Context != contextOf(1, 7) {
			r.t.Errorf("record %+v, want %v, %v, %v", rec, local, aligned, stall)
		}
	}
	return s
}

func TestStagesOfAGuard(t *testing.T) {
	for name, c := range map[string]struct {
		stages                func(g *timing.Guard)
		local, aligned, stall time.Duration
		handoff               bool
		lost                  bool
	}{
		"closed at once":                         {func(g *timing.Guard) {}, 0, -1, 0, false, false},
		"local barrier unfinished ends at Close": {func(g *timing.Guard) { time.Sleep(5 * ms) }, 5 * ms, -1, 5 * ms, false, false},
		"local barrier with handoff": {func(g *timing.Guard) {
			time.Sleep(2 * ms)
			g.FinishLocalBarrierWithHandoff()
			time.Sleep(3 * ms)
		}, 2 * ms, -1, 5 * ms, true, false},
		"the first finish of the local barrier counts": {func(g *timing.Guard) {
			time.Sleep(2 * ms)
			g.FinishLocalBarrierWithHandoff()
			time.Sleep(3 * ms)
			g.FinishLocalBarrierWithHandoff()
		}, 2 * ms, -1, 5 * ms, true, false},
		"every stage": {func(g *timing.Guard) {
			time.Sleep(2 * ms)
			g.FinishLocalBarrierWithHandoff()
			time.Sleep(1 * ms)
			g.BeginAlignedResume()
			time.Sleep(4 * ms)
			g.FinishAlignedResume()
			time.Sleep(8 * ms)
		}, 2 * ms, 4 * ms, 15 * ms, true, false},
		"aligned stage unfinished ends at Close": {func(g *timing.Guard) {
			g.FinishLocalBarrierWithHandoff()
			time.Sleep(1 * ms)
			g.BeginAlignedResume()
			time.Sleep(4 * ms)
		}, 0, 4 * ms, 5 * ms, true, false},
		"aligned begun twice": {func(g *timing.Guard) {
			g.FinishLocalBarrierWithHandoff()
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.BeginAlignedResume()
			time.Sleep(2 * ms)
			g.FinishAlignedResume()
		}, 0, 3 * ms, 3 * ms, true, true},
		"aligned begun again after its end": {func(g *timing.Guard) {
			g.FinishLocalBarrierWithHandoff()
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.FinishAlignedResume()
			g.BeginAlignedResume()
			time.Sleep(2 * ms)
		}, 0, 1 * ms, 3 * ms, true, true},
		"aligned finished and not begun": {func(g *timing.Guard) {
			g.FinishLocalBarrierWithHandoff()
			g.FinishAlignedResume()
			time.Sleep(1 * ms)
		}, 0, -1, 1 * ms, true, true},
		"aligned finished twice": {func(g *timing.Guard) {
			g.FinishLocalBarrierWithHandoff()
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.FinishAlignedResume()
			time.Sleep(1 * ms)
			g.FinishAlignedResume()
		}, 0, 1 * ms, 2 * ms, true, true},
		"aligned without handoff": {func(g *timing.Guard) {
			time.Sleep(1 * ms)
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.FinishAlignedResume()
		}, 2 * ms, 1 * ms, 2 * ms, false, true},
		"aligned begun within the local barrier": {func(g *timing.Guard) {
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.FinishLocalBarrierWithHandoff()
			time.Sleep(1 * ms)
		}, 1 * ms, 2 * ms, 2 * ms, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, func(r *rig) {
				g := r.start()
				c.stages(g)
				r.expect(-1, -1, -1, 0, 0) // nothing is published before Close
				g.Close()
				records, losses := 1, uint64(0)
				if c.lost {
					records, losses = 0, 1
				}
				s := r.expect(c.local, c.aligned, c.stall, records, losses)
				if records == 1 && s.Records[0].DurableTailHandoff != c.handoff {
					t.Errorf("handoff is %t, want %t", !c.handoff, c.handoff)
				}
			})
		})
	}
}

func TestNothingHappensAfterClose(t *testing.T) {
	inRig(t, func(r *rig) {
		g := r.start()
		time.Sleep(2 * ms)
		g.Close()
		for range 2 {
			time.Sleep(1 * ms)
			g.FinishLocalBarrierWithHandoff()
			g.BeginAlignedResume()
			g.FinishAlignedResume()
			g.FinishAlignedResume()
			g.Close()
		}
		s := r.expect(2*ms, -1, 2*ms, 1, 0)
		if s.Records[0].DurableTailHandoff {
			t.Error("a handoff after Close counted")
		}
	})
}

func TestDeadlineOfAGuard(t *testing.T) {
	for name, c := range map[string]struct {
		deadline func(now time.Time) time.Time
		want     bool
	}{
		"none":                       {func(time.Time) time.Time { return time.Time{} }, false},
		"not reached":                {func(now time.Time) time.Time { return now.Add(5*ms + 1) }, false},
		"reached":                    {func(now time.Time) time.Time { return now.Add(5 * ms) }, true},
		"passed during the pause":    {func(now time.Time) time.Time { return now.Add(1 * ms) }, true},
		"passed before":              {func(now time.Time) time.Time { return now.Add(-time.Hour) }, true},
		"without monotonic reading":  {func(now time.Time) time.Time { return now.Add(5*ms + 1).Round(0) }, false},
		"passed, without monotonic":  {func(now time.Time) time.Time { return now.Add(5 * ms).Round(0) }, true},
		"further than durations go":  {func(now time.Time) time.Time { return now.AddDate(5000, 0, 0) }, false},
		"longer ago than they go":    {func(now time.Time) time.Time { return now.AddDate(-1500, 0, 0) }, true},
		"in another place":           {func(now time.Time) time.Time { return now.Add(6 * ms).In(time.FixedZone("far", 14*3600)) }, false},
		"zero time in another place": {func(time.Time) time.Time { return time.Time{}.In(time.FixedZone("far", 3600)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, func(r *rig) {
				g := timing.StartGuard(r.ledger, r.histograms(), c.deadline(time.Now()), known)
				time.Sleep(5 * ms)
				g.Close()
				if s := r.expect(5*ms, -1, 5*ms, 1, 0); s.Records[0].DeadlineExhausted != c.want {
					t.Errorf("deadline exhausted is %t, want %t", !c.want, c.want)
				}
			})
		})
	}
}

func TestGuardClosedAtOnceBehindItsDeadline(t *testing.T) {
	inRig(t, func(r *rig) {
		timing.StartGuard(r.ledger, r.histograms(), time.Now().Add(-1), known).Close()
		s := r.expect(0, -1, 0, 1, 0)
		if rec := s.Records[0]; rec.DurableTailHandoff || rec.AlignedResume.Valid || !rec.DeadlineExhausted {
			t.Errorf("%+v", rec)
		}
	})
}

// Steps of the wall clock change neither durations nor the deadline. This
// runs on the real clock: the one that tests move has no monotonic reading.
func TestWallClockStepsDoNotMatter(t *testing.T) {
	for _, step := range []int64{-86400, 86400} {
		for name, exhausted := range map[string]bool{"deadline ahead": false, "deadline passed": true} {
			r := &rig{t: t, ledger: newLedger(t, 8)}
			before := time.Now()
			deadline := before.Add(time.Hour)
			if exhausted {
				deadline = before.Add(1 * ms)
			}
			g := timing.StartGuard(r.ledger, r.histograms(), deadline.Round(0), known)
			if got := g.StepWallClock(uint64(step)).Sub(before.Round(0)).Round(time.Minute); got != time.Duration(step)*time.Second {
				t.Fatalf("the clock was moved by %v, want %d s", got, step)
			}
			time.Sleep(1 * ms)
			g.FinishLocalBarrierWithHandoff()
			g.BeginAlignedResume()
			time.Sleep(1 * ms)
			g.FinishAlignedResume()
			if open, _ := r.ledger.OpenGuards(); len(open) != 1 || open[0].Age < 2*ms || open[0].Age > time.Hour {
				t.Errorf("open guards %v, want one of some milliseconds", open)
			}
			g.Close()
			s := snapshot(t, r.ledger, 0, 1)
			if len(s.Records) != 1 {
				t.Fatalf("%s, clock moved by %d s: no record, %d lost", name, step, s.RecordingLossCount)
			}
			rec := s.Records[0]
			if rec.DeadlineExhausted != exhausted || rec.LocalBarrier < 1*ms || rec.AlignedResume.Duration < 1*ms || rec.PipelineStall > time.Hour {
				t.Errorf("%s, clock moved by %d s: %+v", name, step, rec)
			}
		}
	}
}

func TestGuardWithoutContext(t *testing.T) {
	for name, context := range map[string]func() (timing.Context, bool){
		"no function": nil,
		"no context":  func() (timing.Context, bool) { return contextOf(1, 7), false },
		"not canonical": func() (timing.Context, bool) {
			c := contextOf(1, 7)
			c.Role = 0
			return c, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, func(r *rig) {
				g := timing.StartGuard(r.ledger, r.histograms(), time.Time{}, context)
				time.Sleep(1 * ms)
				g.Close()
				r.expect(1*ms, -1, 1*ms, 0, 1)
			})
		})
	}
}

func TestCostOfTheContextCounts(t *testing.T) {
	inRig(t, func(r *rig) {
		g := timing.StartGuard(r.ledger, r.histograms(), time.Time{}, func() (timing.Context, bool) {
			time.Sleep(3 * ms)
			return known()
		})
		g.Close()
		r.expect(3*ms, -1, 3*ms, 1, 0)
	})
}

func TestHistogramsThatAreNilAreSkipped(t *testing.T) {
	inRig(t, func(r *rig) {
		g := timing.StartGuard(r.ledger, timing.Histograms{}, time.Time{}, known)
		g.FinishLocalBarrierWithHandoff()
		g.BeginAlignedResume()
		time.Sleep(1 * ms)
		g.Close()
		if s := snapshot(t, r.ledger, 0, 64); len(s.Records) != 1 || s.Records[0].AlignedResume.Duration != 1*ms {
			t.Errorf("%+v", s)
		}
	})
}

// Whatever panics, everything else is published and the panic goes on.
func TestPanicsKeepNothingFromBeingPublished(t *testing.T) {
	for mask := 1; mask < 8; mask++ {
		t.Run(fmt.Sprintf("observers=%03b", mask), func(t *testing.T) {
			inRig(t, func(r *rig) {
				names := []string{"local", "aligned", "stall"}
				var thrown []any
				for i, s := range []*samples{&r.local, &r.aligned, &r.stall} {
					if mask>>i&1 == 1 {
						s.panic = names[i]
						thrown = append(thrown, names[i])
					}
				}
				func() {
					defer func() {
						if v := recover(); !slices.Contains(thrown, v) {
							t.Errorf("recovered %v, want one of %v", v, thrown)
						}
					}()
					g := r.start()
					defer g.Close()
					time.Sleep(1 * ms)
					g.FinishLocalBarrierWithHandoff()
					g.BeginAlignedResume()
					time.Sleep(1 * ms)
				}()
				r.expect(1*ms, 1*ms, 2*ms, 1, 0)
				if open, unlisted := r.ledger.OpenGuards(); len(open) != 0 || unlisted != 0 {
					t.Errorf("still open: %v, %d", open, unlisted)
				}
			})
		})
	}
}

// A panic in the pause itself goes through a deferred Close.
func TestGuardIsClosedWhileItsPausePanics(t *testing.T) {
	inRig(t, func(r *rig) {
		defer func() {
			if v := recover(); v != "barrier failed" {
				t.Errorf("recovered %v", v)
			}
			r.expect(1*ms, -1, 1*ms, 1, 0)
		}()
		defer r.start().Close()
		time.Sleep(1 * ms)
		panic("barrier failed")
	})
}

func TestContextThatDoesNotReturn(t *testing.T) {
	leave := map[string]func(){"panic": func() { panic("no assignment") }, "Goexit": runtime.Goexit}
	for name, f := range leave {
		t.Run(name, func(t *testing.T) {
			inRig(t, func(r *rig) {
				var recovered any
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { recovered = recover() }()
					timing.StartGuard(r.ledger, r.histograms(), time.Time{}, func() (timing.Context, bool) {
						time.Sleep(2 * ms)
						f()
						return known()
					})
				}()
				<-done
				if name == "panic" && recovered != "no assignment" {
					t.Errorf("recovered %v", recovered)
				}
				r.expect(2*ms, -1, 2*ms, 0, 1)
				if open, unlisted := r.ledger.OpenGuards(); len(open) != 0 || unlisted != 0 {
					t.Errorf("still open: %v, %d", open, unlisted)
				}
			})
		})
	}
}

// An observer that ends its goroutine is no different from one that panics.
func TestObserverThatEndsTheGoroutine(t *testing.T) {
	inRig(t, func(r *rig) {
		h := r.histograms()
		h.LocalBarrier = exiting{&r.local}
		done := make(chan struct{})
		go func() {
			defer close(done)
			timing.StartGuard(r.ledger, h, time.Time{}, known).Close()
		}()
		<-done
		r.expect(0, -1, 0, 1, 0)
	})
}

type exiting struct{ *samples }

func (e exiting) Observe(seconds float64) {
	e.samples.Observe(seconds)
	runtime.Goexit()
}

// A guard is in the list or in the ledger, never in neither: the record comes
// after the histograms, and the guard leaves the list after that.
func TestGuardIsListedUntilItIsPublished(t *testing.T) {
	inRig(t, func(r *rig) {
		looks := 0
		look := observerFunc(func(float64) {
			looks++
			open, _ := r.ledger.OpenGuards()
			if n := len(snapshot(t, r.ledger, 0, 1).Records); len(open) != 1 || n != 0 {
				t.Errorf("while histograms are told %d guards are open and %d records are there", len(open), n)
			}
		})
		g := timing.StartGuard(r.ledger, timing.Histograms{PipelineStall: look, LocalBarrier: look, AlignedResume: look}, time.Time{}, known)
		g.FinishLocalBarrierWithHandoff()
		g.BeginAlignedResume()
		g.Close()
		if looks != 3 {
			t.Errorf("%d samples, want 3", looks)
		}
	})
}

type observerFunc func(float64)

func (f observerFunc) Observe(seconds float64) { f(seconds) }

func TestGuardNeedsALedger(t *testing.T) {
	defer func() {
		if s, ok := recover().(string); !ok || !strings.Contains(s, "NewLedger") {
			t.Errorf("panicked with %v, want a message that names NewLedger", s)
		}
	}()
	timing.StartGuard(nil, timing.Histograms{}, time.Time{}, known)
}
