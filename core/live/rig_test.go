package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/live"
	"github.com/tidemark-go/tidemark/core/timing"
)

// engine is a pipeline that a test drives by hand, with a clock of its own.
type engine struct {
	*checkpoint.Checkpointer
	issuer *checkpoint.Issuer
	now    time.Time
	tb     testing.TB
}

// start admits the partitions 0 to n-1 in epoch 1. A zero clock is the real one.
func start(tb testing.TB, n int, clock time.Time) *engine {
	tb.Helper()
	e := &engine{now: clock, tb: tb}
	var opts []checkpoint.Option
	if !clock.IsZero() {
		opts = append(opts, checkpoint.WithClock(func() time.Time { return e.now }))
	}
	e.Checkpointer = checkpoint.New(opts...)
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

// step is what the loop of an engine does over and over.
func (e *engine) step() {
	e.Drain()
	e.Confirm(e.TakeWatermarks(nil))
}

func topicName(p checkpoint.PartitionID) string { return fmt.Sprintf("orders/%d", p) }

func process(node uint64) timing.ProcessIdentity {
	return timing.ProcessIdentity{
		Participant: timing.Participant{NodeID: node, BootIncarnation: uuid.UUID{15: byte(node), 0: 0xb0}},
		ProcessTerm: 3,
	}
}

func contextOf(node, attempt uint64) timing.Context {
	return timing.Context{
		Process: process(node), Attempt: timing.CanonicalAttempt(attempt), Role: timing.Leader,
		AssignmentVersion: 9, AssignmentDigest: [32]byte{0: 0xd1, 31: 0x9e},
	}
}

func newLedger(tb testing.TB, capacity int) *timing.Ledger {
	tb.Helper()
	l, err := timing.NewLedger(capacity)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// record adds barriers of one process whose attempts are from … to.
func record(tb testing.TB, l *timing.Ledger, node, from, to uint64) {
	tb.Helper()
	for attempt := from; attempt <= to; attempt++ {
		if !l.TryRecord(timing.Observation{
			Context: contextOf(node, attempt), PipelineStall: 10 * time.Millisecond, LocalBarrier: 4 * time.Millisecond,
			AlignedResume: timing.NullDuration{Duration: 5 * time.Millisecond, Valid: true}, DurableTailHandoff: true,
		}) {
			tb.Fatalf("attempt %d of node %d left no record", attempt, node)
		}
	}
}

// get asks a handler and returns status, headers and body.
func get(h http.Handler, method, target string) (int, http.Header, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Code, w.Header(), w.Body.String()
}

// state asks for JSON.
func state(tb testing.TB, h http.Handler, parameters string) live.State {
	tb.Helper()
	code, header, body := get(h, http.MethodGet, "/live?format=json"+parameters)
	if code != http.StatusOK || header.Get("Content-Type") != "application/json" {
		tb.Fatalf("%s: status %d, %s", parameters, code, body)
	}
	var s live.State
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		tb.Fatal(err)
	}
	return s
}
