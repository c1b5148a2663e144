package timing_test

import (
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/core/timing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// process returns a canonical identity.
func process(node uint64) timing.ProcessIdentity {
	return timing.ProcessIdentity{
		Participant: timing.Participant{NodeID: node, BootIncarnation: uuid.UUID{15: byte(node), 0: 0xb0}},
		ProcessTerm: 3,
	}
}

func contextOf(node, attempt uint64) timing.Context {
	return timing.Context{
		Process:           process(node),
		Attempt:           timing.CanonicalAttempt(attempt),
		Role:              timing.Follower,
		AssignmentVersion: 9,
		AssignmentDigest:  [32]byte{0: 0xd1, 31: 0x9e},
	}
}

// observation returns a canonical one.
func observation(node, attempt uint64) timing.Observation {
	return timing.Observation{
		Context:            contextOf(node, attempt),
		PipelineStall:      10 * time.Millisecond,
		LocalBarrier:       4 * time.Millisecond,
		AlignedResume:      timing.NullDuration{Duration: 5 * time.Millisecond, Valid: true},
		DurableTailHandoff: true,
	}
}

func newLedger(t testing.TB, capacity int) *timing.Ledger {
	t.Helper()
	l, err := timing.NewLedger(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func snapshot(t testing.TB, l *timing.Ledger, after uint64, limit int) timing.Snapshot {
	t.Helper()
	s, err := l.SnapshotAfter(after, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sequences returns the records' numbers.
func sequences(s timing.Snapshot) []uint64 {
	list := []uint64{}
	for _, r := range s.Records {
		list = append(list, r.Sequence)
	}
	return list
}

// as returns the error in err's chain that has type E, or fails.
func as[E error](t testing.TB, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("error is %v (%T), want a %T", err, err, e)
	}
	return e
}

func TestRecordIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(timing.Record{}); size > 192 {
		t.Errorf("a record has %d bytes, at most 192 are allowed", size)
	}
}
