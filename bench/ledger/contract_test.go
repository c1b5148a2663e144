package ledger_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/ledger"
	"github.com/tidemark-go/tidemark/core/timing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type subject interface {
	TryRecord(o timing.Observation) bool
	NoteLoss()
	SnapshotAfter(after uint64, limit int) (timing.Snapshot, error)
}

func observation(rng *rand.Rand) timing.Observation {
	o := timing.Observation{
		Context: timing.Context{
			Process: timing.ProcessIdentity{
				Participant: timing.Participant{NodeID: 1, BootIncarnation: uuid.UUID{1}},
				ProcessTerm: 1,
			},
			Attempt:           timing.CanonicalAttempt(1 + rng.Uint64N(9)),
			Role:              timing.Leader,
			AssignmentVersion: 1,
			AssignmentDigest:  [32]byte{1},
		},
		PipelineStall:      9,
		LocalBarrier:       4,
		AlignedResume:      timing.NullDuration{Duration: 5, Valid: rng.IntN(2) == 0},
		DurableTailHandoff: true,
	}
	// Break it in some way, now and then.
	switch rng.IntN(40) {
	case 0:
		o.Process.Participant.NodeID = 2
	case 1:
		o.Process.ProcessTerm = 0
	case 2:
		o.Attempt.Epoch++
	case 3:
		o.Role = 3
	case 4:
		o.AssignmentVersion = 0
	case 5:
		o.AssignmentDigest = [32]byte{}
	case 6:
		o.LocalBarrier = -1
	case 7:
		o.LocalBarrier = 10
	case 8:
		o.AlignedResume.Duration = 6
	case 9:
		o.AlignedResume.Duration = -1
	case 10:
		o.DurableTailHandoff = false
	}
	return o
}

// On one goroutine the baselines answer as timing.Ledger does.
func TestBaselinesKeepTheContractOfTheLedger(t *testing.T) {
	for name, create := range map[string]func(capacity int) subject{
		"mutex":   func(capacity int) subject { return ledger.NewMutex(capacity) },
		"trylock": func(capacity int) subject { return ledger.NewTryLock(capacity) },
	} {
		for seed := range uint64(50) {
			rng := rand.New(rand.NewPCG(seed, 1))
			capacity := 1 + rng.IntN(20)
			got := create(capacity)
			want, err := timing.NewLedger(capacity)
			if err != nil {
				t.Fatal(err)
			}
			next := uint64(1)
			for range 300 {
				switch rng.IntN(4) {
				case 0, 1:
					o := observation(rng)
					g, w := got.TryRecord(o), want.TryRecord(o)
					if g != w {
						t.Fatalf("%s, seed %d: %+v accepted %t, want %t", name, seed, o, g, w)
					}
					if w {
						next++
					}
				case 2:
					got.NoteLoss()
					want.NoteLoss()
				case 3:
					after, limit := next+2-rng.Uint64N(30), rng.IntN(67)
					g, gotErr := got.SnapshotAfter(after, limit)
					w, wantErr := want.SnapshotAfter(after, limit)
					if !reflect.DeepEqual(g, w) || !reflect.DeepEqual(gotErr, wantErr) {
						t.Fatalf("%s, seed %d: after %d, limit %d: %+v, %v\nwant %+v, %v", name, seed, after, limit, g, gotErr, w, wantErr)
					}
				}
			}
		}
	}
}

// With many goroutines the mutex ledger loses nothing, and the try-lock ledger
// accounts for what it loses.
func TestBaselinesAccountForEveryRecord(t *testing.T) {
	const writers, each = 4, 2000
	for name, l := range map[string]subject{"mutex": ledger.NewMutex(64), "trylock": ledger.NewTryLock(64)} {
		o := observation(rand.New(rand.NewPCG(1, 1)))
		o.AlignedResume.Valid = true
		var writing, reading sync.WaitGroup
		done := make(chan struct{})
		for range writers {
			writing.Go(func() {
				for range each {
					l.TryRecord(o)
				}
			})
		}
		reading.Go(func() {
			cursor := uint64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				s, err := l.SnapshotAfter(cursor, 64)
				var overwritten *timing.CursorOverwrittenError
				switch {
				case errors.As(err, &overwritten):
					cursor = overwritten.OldestRetained
				case err != nil && !errors.Is(err, timing.ErrBusy):
					t.Errorf("%s: %v", name, err)
					return
				}
				for _, r := range s.Records {
					cursor++
					if r.Sequence != cursor || r.Observation != o {
						t.Errorf("%s: record %d is %+v", name, cursor, r)
						return
					}
				}
			}
		})
		writing.Wait()
		close(done)
		reading.Wait()
		_, err := l.SnapshotAfter(1<<63, 1)
		var ahead *timing.CursorAheadError
		if !errors.As(err, &ahead) {
			t.Fatal(err)
		}
		s, err := l.SnapshotAfter(ahead.NextSequence-1, 1)
		if err != nil || s.NextSequence-1+s.RecordingLossCount != writers*each || name == "mutex" && s.RecordingLossCount != 0 {
			t.Errorf("%s: %d accepted and %d lost of %d, %v", name, s.NextSequence-1, s.RecordingLossCount, writers*each, err)
		}
	}
}
