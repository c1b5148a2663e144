//go:build explore

package timing

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// pauseOf returns a canonical observation of a process.
func pauseOf(node, attempt uint64) Observation {
	return Observation{Context: Context{
		Process:           ProcessIdentity{Participant: Participant{NodeID: node, BootIncarnation: uuid.UUID{1}}, ProcessTerm: 1},
		Attempt:           CanonicalAttempt(attempt),
		Role:              Leader,
		AssignmentVersion: 1,
		AssignmentDigest:  [32]byte{1},
	}}
}

func mustLedger(capacity int) *Ledger {
	l, err := NewLedger(capacity)
	if err != nil {
		panic(err)
	}
	return l
}

// page reads the ledger from its beginning; every record of it must be of the
// one process that the page names.
func page(l *Ledger) Snapshot {
	s, err := l.SnapshotAfter(0, 4)
	if err != nil {
		explore.Fail("a page: %v", err)
	}
	for i, r := range s.Records {
		if s.Process == nil || r.Process != *s.Process || r.Sequence != uint64(i+1) {
			explore.Fail("record %+v in a page of %+v", r, s.Process)
		}
	}
	return s
}

// Writers of two processes race for the first record: one process gets the
// ledger, whatever the other records is a loss.
func TestExploreBind(t *testing.T) {
	bind := func(writers, each int) func() explore.Program {
		return func() explore.Program {
			l := mustLedger(8)
			var accepted [3]int
			var threads []func()
			for w := range writers {
				threads = append(threads, func() {
					for i := range each {
						if l.TryRecord(pauseOf(uint64(w+1), uint64(i+1))) {
							accepted[w]++
						}
					}
				})
			}
			return explore.Program{Threads: append(threads, func() { page(l) }), Check: func() error {
				s, winners, all := page(l), 0, 0
				for w, n := range accepted {
					if n == 0 {
						continue
					}
					winners++
					all += n
					if s.Process.Participant.NodeID != uint64(w+1) || n != each {
						return fmt.Errorf("accepted %v, bound to %v", accepted, s.Process)
					}
				}
				if winners != 1 || int(s.NextSequence-1) != all || int(s.RecordingLossCount) != (writers-1)*each {
					return fmt.Errorf("accepted %v, next %d, %d losses", accepted, s.NextSequence, s.RecordingLossCount)
				}
				return nil
			}}
		}
	}
	for _, c := range []explore.Config{
		{Name: "ledger-bind", Title: "2 writers of different processes record first, beside a page", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: bind(2, 1)},
		{Name: "ledger-bind-2", Title: "2 writers of different processes record first, 2 records each, beside a page", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: bind(2, 2)},
		{Name: "ledger-bind-3", Title: "3 writers of different processes record first, beside a page", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: bind(3, 1)},
	} {
		explore.Run(t, c)
	}
}

// Losses are counted once each, up to the largest number, where the count
// stays and says so.
func TestExploreLosses(t *testing.T) {
	losses := func(before uint64, goroutines, each int) func() explore.Program {
		return func() explore.Program {
			l := mustLedger(1)
			l.losses.Store(before)
			lose := func() {
				for range each {
					l.NoteLoss()
				}
			}
			var threads []func()
			for range goroutines {
				threads = append(threads, lose)
			}
			return explore.Program{Threads: threads, Check: func() error {
				n := uint64(goroutines * each)
				counted := min(n, math.MaxUint64-before)
				s := page(l)
				if s.RecordingLossCount != before+counted || s.MetadataExhausted != (counted < n) {
					return fmt.Errorf("%d losses after %d are counted as %d, exhausted %v", n, before, s.RecordingLossCount, s.MetadataExhausted)
				}
				return nil
			}}
		}
	}
	for _, c := range []explore.Config{
		{Name: "losses-end", Title: "3 losses beside each other where 2 can be counted", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: losses(math.MaxUint64-2, 3, 1)},
		{Name: "losses-zone", Title: "2 goroutines lose 2 each where counting changes over", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: losses(math.MaxUint64-1<<32-1, 2, 2)},
	} {
		explore.Run(t, c)
	}
}

// A guard is open until its record is in the ledger: whoever looks at the open
// ones first and at the ledger then misses none.
func TestExploreGuard(t *testing.T) {
	guard := func(l *Ledger, attempt uint64) {
		g := StartGuard(l, Histograms{}, time.Time{}, func() (Context, bool) { return pauseOf(1, attempt).Context, true })
		g.FinishLocalBarrierWithHandoff()
		g.Close()
	}
	guards := func(goroutines, listed int) func() explore.Program {
		return func() explore.Program {
			l := mustLedger(4)
			for range MaxOpenGuards - listed {
				StartGuard(l, Histograms{}, time.Time{}, nil)
			}
			var threads []func()
			for n := range goroutines {
				threads = append(threads, func() { guard(l, uint64(n+1)) })
			}
			return explore.Program{Threads: append(threads, func() {
				open, unlisted := l.OpenGuards()
				for _, o := range open {
					if o.Role != 0 && (o.Role != Leader || !o.Attempt.Canonical()) || o.Age < 0 {
						explore.Fail("an open guard is %+v", o)
					}
				}
				if n := len(open) + unlisted - (MaxOpenGuards - listed); n < 0 || n > goroutines {
					explore.Fail("%d guards are open, want 0 to %d", n, goroutines)
				}
			}), Check: func() error {
				open, unlisted := l.OpenGuards()
				if s := page(l); len(open)+unlisted != MaxOpenGuards-listed || int(s.NextSequence-1) != goroutines || s.RecordingLossCount != 0 {
					return fmt.Errorf("%d and %d open at rest, next %d, %d losses", len(open), unlisted, s.NextSequence, s.RecordingLossCount)
				}
				return nil
			}}
		}
	}
	// seen looks for a guard that has started and is neither open nor recorded.
	seen := func() explore.Program {
		l := mustLedger(4)
		g := StartGuard(l, Histograms{}, time.Time{}, func() (Context, bool) { return pauseOf(1, 1).Context, true })
		return explore.Program{Threads: []func(){g.Close, func() {
			open, _ := l.OpenGuards()
			if len(open) == 0 && len(page(l).Records) == 0 {
				explore.Fail("a guard is neither open nor recorded")
			}
		}}}
	}
	// own starts guards side by side, each of which finds itself open.
	own := func() explore.Program {
		l := mustLedger(4)
		start := func(attempt uint64) func() {
			return func() {
				context := pauseOf(1, attempt).Context
				g := StartGuard(l, Histograms{}, time.Time{}, func() (Context, bool) { return context, true })
				open, _ := l.OpenGuards()
				if !slices.ContainsFunc(open, func(o OpenGuard) bool { return o.Attempt == context.Attempt }) {
					explore.Fail("guard %d is open and not in %+v", attempt, open)
				}
				g.Close()
			}
		}
		return explore.Program{Threads: []func(){start(1), start(2)}}
	}
	for _, c := range []explore.Config{
		{Name: "guard-own", Title: "2 guards start, look for themselves in OpenGuards, and close", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: own},
		{Name: "guard-close", Title: "Close of a guard beside OpenGuards, then a page", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: seen},
		{Name: "guard-life", Title: "2 guards start and close beside OpenGuards", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: guards(2, MaxOpenGuards)},
		{Name: "guard-last-place", Title: "2 guards start and close with one place left, beside OpenGuards", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: guards(2, 1)},
	} {
		explore.Run(t, c)
	}
}
