package kafka_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/core/timing"
)

// evidence is what a Source's barriers leave.
type evidence struct {
	ledger                *timing.Ledger
	stall, local, aligned samples
}

// samples is a histogram that keeps everything.
type samples struct {
	mu      sync.Mutex
	seconds []float64
}

func (s *samples) Observe(seconds float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seconds = append(s.seconds, seconds)
}

func (s *samples) all() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]float64(nil), s.seconds...)
}

// record makes a configuration record its barriers.
func record(t testing.TB, cfg *kafka.Config) *evidence {
	t.Helper()
	e := new(evidence)
	var err error
	if e.ledger, err = timing.NewLedger(timing.DefaultCapacity); err != nil {
		t.Fatal(err)
	}
	cfg.Barriers = kafka.Barriers{Ledger: e.ledger, Histograms: timing.Histograms{
		PipelineStall: &e.stall, LocalBarrier: &e.local, AlignedResume: &e.aligned,
	}}
	return e
}

// records returns all of them, and fails the test if one was lost.
func (e *evidence) records(t testing.TB) (all []timing.Record) {
	t.Helper()
	for after := uint64(0); ; {
		page, err := e.ledger.SnapshotAfter(after, timing.MaxPageRecords)
		if err != nil || page.RecordingLossCount != 0 {
			t.Fatalf("page after %d: %v, %d losses", after, err, page.RecordingLossCount)
		}
		all = append(all, page.Records...)
		after = uint64(len(all))
		if !page.HasMore {
			return all
		}
	}
}

// wait returns the records, once there are n of them.
func (e *evidence) wait(t testing.TB, n int) (all []timing.Record) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d records", n), func() bool {
		all = e.records(t)
		return len(all) >= n
	})
	if len(all) > n {
		t.Fatalf("%d records, want %d: %+v", len(all), n, all[n:])
	}
	return all
}

// open waits for the one barrier that is open, and returns it.
func (e *evidence) open(t testing.TB) (g timing.OpenGuard) {
	t.Helper()
	eventually(t, "an open barrier", func() bool {
		open, _ := e.ledger.OpenGuards()
		if len(open) == 1 {
			g = open[0]
		}
		return len(open) == 1
	})
	return g
}

// agrees checks what holds for all records of a Source that is closed: they
// are of it, add up, and each is in the histograms.
func (e *evidence) agrees(t testing.TB, s *kafka.Source) {
	t.Helper()
	id, err := s.LiveProcessIdentity()
	if err != nil {
		t.Fatal(err)
	}
	all := e.records(t)
	stall, local, aligned := e.stall.all(), e.local.all(), e.aligned.all()
	if len(stall) != len(all) || len(local) != len(all) {
		t.Fatalf("%d and %d samples of %d records", len(stall), len(local), len(all))
	}
	attempts := map[uint64]bool{}
	for i, r := range all {
		attempts[r.Attempt.Epoch] = true
		if r.Process != id || !r.Observation.Canonical() || r.Attempt.Epoch > uint64(len(all)) {
			t.Fatalf("record %+v of %d, want one of %+v", r, len(all), id)
		}
		if stall[i] != r.PipelineStall.Seconds() || local[i] != r.LocalBarrier.Seconds() {
			t.Fatalf("samples %v and %v of record %+v", stall[i], local[i], r)
		}
		if r.AlignedResume.Valid != r.DurableTailHandoff {
			t.Fatalf("record %+v has an aligned stage without a handoff, or the other way round", r)
		}
		if r.AlignedResume.Valid {
			if len(aligned) == 0 || aligned[0] != r.AlignedResume.Duration.Seconds() {
				t.Fatalf("samples %v, the next should be of record %+v", aligned, r)
			}
			aligned = aligned[1:]
		}
	}
	if len(aligned) > 0 || len(attempts) != len(all) {
		t.Fatalf("%d samples too many; attempts %v of %d records", len(aligned), attempts, len(all))
	}
	if open, unlisted := e.ledger.OpenGuards(); len(open)+unlisted > 0 {
		t.Fatalf("open after Close: %v and %d more", open, unlisted)
	}
}

// digestOf is the digest of these partitions, given in order.
func digestOf(partitions ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(partitions, "\n") + "\n"))
}

// close closes s and checks what is left of it.
func (e *evidence) close(t testing.TB, s *kafka.Source) {
	t.Helper()
	if err := s.Close(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	e.agrees(t, s)
}

// rest is what neither stage of a barrier accounts for.
func rest(r timing.Record) time.Duration {
	return r.PipelineStall - r.LocalBarrier - r.AlignedResume.Duration
}
