package timing_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
)

func TestOpenGuardsAreListedWithTheirAge(t *testing.T) {
	inRig(t, func(r *rig) {
		l := r.ledger
		if open, unlisted := l.OpenGuards(); len(open) != 0 || unlisted != 0 {
			t.Fatalf("a new ledger has open guards: %v, %d", open, unlisted)
		}
		first := timing.StartGuard(l, timing.Histograms{}, time.Time{}, known)
		time.Sleep(3 * ms)
		second := timing.StartGuard(l, timing.Histograms{}, time.Time{}, nil)
		time.Sleep(2 * ms)
		open, _ := l.OpenGuards()
		want := []timing.OpenGuard{
			{Attempt: timing.CanonicalAttempt(7), Role: timing.Follower, Age: 5 * ms},
			{Age: 2 * ms},
		}
		if !slices.Equal(open, want) {
			t.Errorf("open: %+v, want %+v", open, want)
		}
		text, err := json.Marshal(open)
		if want := `[{"attempt":{"epoch":7,"checkpoint_id":7},"role":"follower","age_ns":5000000},` +
			`{"attempt":{"epoch":0,"checkpoint_id":0},"role":"unknown","age_ns":2000000}]`; err != nil || string(text) != want {
			t.Errorf("as JSON: %s, %v, want %s", text, err, want)
		}
		first.Close()
		first.Close()
		if open, _ := l.OpenGuards(); !slices.Equal(open, want[1:]) {
			t.Errorf("after one is closed: %+v", open)
		}
		second.Close()
		if open, _ := l.OpenGuards(); len(open) != 0 {
			t.Errorf("after both are closed: %+v", open)
		}
	})
}

// A context that hangs shows as a guard of unknown attempt that gets older.
func TestGuardIsListedWhileItsContextRuns(t *testing.T) {
	inRig(t, func(r *rig) {
		timing.StartGuard(r.ledger, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) {
			time.Sleep(9 * ms)
			if open, _ := r.ledger.OpenGuards(); !slices.Equal(open, []timing.OpenGuard{{Age: 9 * ms}}) {
				t.Errorf("open: %+v", open)
			}
			return known()
		}).Close()
	})
}

func TestMoreOpenGuardsThanAreListed(t *testing.T) {
	inRig(t, func(r *rig) {
		l := r.ledger
		var guards []*timing.Guard
		for range timing.MaxOpenGuards + 3 {
			guards = append(guards, timing.StartGuard(l, timing.Histograms{}, time.Time{}, known))
			time.Sleep(time.Nanosecond)
		}
		open, unlisted := l.OpenGuards()
		if len(open) != timing.MaxOpenGuards || unlisted != 3 {
			t.Errorf("%d listed and %d not, want %d and 3", len(open), unlisted, timing.MaxOpenGuards)
		}
		if !slices.IsSortedFunc(open, func(a, b timing.OpenGuard) int { return int(b.Age - a.Age) }) {
			t.Error("the oldest does not come first")
		}
		guards[5].Close() // its place is free for the next one
		guards = append(guards, timing.StartGuard(l, timing.Histograms{}, time.Time{}, nil))
		if open, unlisted := l.OpenGuards(); len(open) != timing.MaxOpenGuards || unlisted != 3 || open[len(open)-1].Age != 0 {
			t.Errorf("%d listed and %d not", len(open), unlisted)
		}
		for _, g := range guards {
			g.Close()
		}
		if open, unlisted := l.OpenGuards(); len(open) != 0 || unlisted != 0 {
			t.Errorf("%d listed and %d not after all are closed", len(open), unlisted)
		}
	})
}

func TestOpenGuardsWhileOthersComeAndGo(t *testing.T) {
	l := newLedger(t, 64)
	var wg sync.WaitGroup
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range 4 {
		wg.Go(func() {
			for range rounds {
				g := timing.StartGuard(l, timing.Histograms{}, time.Time{}, known)
				g.FinishLocalBarrierWithHandoff()
				g.Close()
			}
		})
	}
	for range rounds {
		open, unlisted := l.OpenGuards()
		if len(open) > 4 || unlisted != 0 {
			t.Errorf("%d guards are open, %d unlisted", len(open), unlisted)
		}
		for _, g := range open {
			if g.Age < 0 || g.Attempt != timing.CanonicalAttempt(7) && g.Attempt != (timing.Attempt{}) {
				t.Errorf("%+v", g)
			}
		}
	}
	wg.Wait()
	if s := snapshot(t, l, uint64(4*rounds), 1); s.RecordingLossCount != 0 {
		t.Errorf("%d losses", s.RecordingLossCount)
	}
	if open, unlisted := l.OpenGuards(); len(open) != 0 || unlisted != 0 {
		t.Errorf("%d listed and %d not at the end", len(open), unlisted)
	}
}
