package tidemarkprom_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errSink = errors.New("sink is down")

// engine is a Checkpointer with the partitions 0 to n-1 admitted in epoch 1,
// and a clock of its own.
type engine struct {
	*checkpoint.Checkpointer
	issuer *checkpoint.Issuer
	now    time.Time
	tb     testing.TB
}

func start(tb testing.TB, n int) *engine {
	tb.Helper()
	e := &engine{now: time.Unix(1000, 0), tb: tb}
	e.Checkpointer = checkpoint.New(checkpoint.WithClock(func() time.Time { return e.now }))
	all := make([]checkpoint.PartitionID, n)
	for i := range all {
		all[i] = checkpoint.PartitionID(i)
	}
	if err := e.BeginEpoch(1, all...); err != nil {
		tb.Fatal(err)
	}
	e.issuer = e.Issuer()
	return e
}

func (e *engine) issue(p checkpoint.PartitionID, lastOffset int64) checkpoint.Ack {
	e.tb.Helper()
	a, err := e.issuer.Issue(p, lastOffset)
	if err != nil {
		e.tb.Fatal(err)
	}
	return a
}

func (e *engine) step() {
	e.Drain()
	e.Confirm(e.TakeWatermarks(nil))
}

func contextOf(attempt uint64) timing.Context {
	return timing.Context{
		Process: timing.ProcessIdentity{Participant: timing.Participant{NodeID: 7, BootIncarnation: uuid.UUID{0: 0xb0}}, ProcessTerm: 1},
		Attempt: timing.CanonicalAttempt(attempt), Role: timing.Leader,
		AssignmentVersion: 1, AssignmentDigest: [32]byte{1},
	}
}
