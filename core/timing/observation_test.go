package timing_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/timing"
)

func TestCanonicalObservations(t *testing.T) {
	type change = func(o *timing.Observation)
	for name, c := range map[string]struct {
		change change
		want   bool
	}{
		"as it is":                      {func(o *timing.Observation) {}, true},
		"leader":                        {func(o *timing.Observation) { o.Role = timing.Leader }, true},
		"deadline exhausted":            {func(o *timing.Observation) { o.DeadlineExhausted = true }, true},
		"nothing took time":             {func(o *timing.Observation) { o.PipelineStall, o.LocalBarrier, o.AlignedResume.Duration = 0, 0, 0 }, true},
		"parts fill the whole":          {func(o *timing.Observation) { o.PipelineStall = 9 * time.Millisecond }, true},
		"no aligned stage":              {func(o *timing.Observation) { o.AlignedResume = timing.NullDuration{} }, true},
		"no aligned stage, no handoff":  {func(o *timing.Observation) { o.AlignedResume.Valid, o.DurableTailHandoff = false, false }, true},
		"junk in an invalid duration":   {func(o *timing.Observation) { o.AlignedResume = timing.NullDuration{Duration: -5} }, true},
		"longest":                       {func(o *timing.Observation) { o.PipelineStall, o.LocalBarrier = math.MaxInt64, math.MaxInt64-5e6 }, true},
		"no node":                       {func(o *timing.Observation) { o.Process.Participant.NodeID = 0 }, false},
		"no boot incarnation":           {func(o *timing.Observation) { o.Process.Participant.BootIncarnation = uuid.Nil }, false},
		"no term":                       {func(o *timing.Observation) { o.Process.ProcessTerm = 0 }, false},
		"no epoch":                      {func(o *timing.Observation) { o.Attempt = timing.Attempt{} }, false},
		"epoch without checkpoint":      {func(o *timing.Observation) { o.Attempt.CheckpointID = 0 }, false},
		"epoch of another checkpoint":   {func(o *timing.Observation) { o.Attempt.Epoch++ }, false},
		"unknown role":                  {func(o *timing.Observation) { o.Role = 0 }, false},
		"role that is none":             {func(o *timing.Observation) { o.Role = 3 }, false},
		"no assignment version":         {func(o *timing.Observation) { o.AssignmentVersion = 0 }, false},
		"no assignment digest":          {func(o *timing.Observation) { o.AssignmentDigest = [32]byte{} }, false},
		"negative stall":                {func(o *timing.Observation) { o.PipelineStall = -1 }, false},
		"all negative":                  {func(o *timing.Observation) { o.PipelineStall, o.LocalBarrier, o.AlignedResume.Duration = -1, -2, -3 }, false},
		"negative local barrier":        {func(o *timing.Observation) { o.LocalBarrier = -1 }, false},
		"negative aligned resume":       {func(o *timing.Observation) { o.AlignedResume.Duration = -1 }, false},
		"local longer than the stall":   {func(o *timing.Observation) { o.LocalBarrier = o.PipelineStall + 1 }, false},
		"aligned longer than the stall": {func(o *timing.Observation) { o.AlignedResume.Duration = o.PipelineStall + 1 }, false},
		"parts longer than the whole":   {func(o *timing.Observation) { o.PipelineStall = 9*time.Millisecond - 1 }, false},
		"parts overflow": {func(o *timing.Observation) {
			o.PipelineStall, o.LocalBarrier, o.AlignedResume.Duration = math.MaxInt64, math.MaxInt64, math.MaxInt64
		}, false},
		"aligned without handoff": {func(o *timing.Observation) { o.DurableTailHandoff = false }, false},
	} {
		o := observation(1, 7)
		c.change(&o)
		if got := o.Canonical(); got != c.want {
			t.Errorf("%s: canonical is %t, want %t", name, got, c.want)
		}
		l := newLedger(t, 4)
		accepted := l.TryRecord(o)
		s := snapshot(t, l, 0, 64)
		if accepted != c.want || len(s.Records) == 1 != c.want || s.RecordingLossCount == 1 == c.want {
			t.Errorf("%s: accepted %t with %d records and %d losses, want %t", name, accepted, len(s.Records), s.RecordingLossCount, c.want)
		}
		if (s.Process != nil) != c.want {
			t.Errorf("%s: process is %v", name, s.Process)
		}
	}
}

func TestInvalidDurationIsStoredAsZero(t *testing.T) {
	l := newLedger(t, 1)
	o := observation(1, 1)
	o.AlignedResume = timing.NullDuration{Duration: 77}
	if !l.TryRecord(o) {
		t.Fatal("refused")
	}
	if got := snapshot(t, l, 0, 1).Records[0].AlignedResume; got != (timing.NullDuration{}) {
		t.Errorf("stored as %+v, want zero", got)
	}
}

func TestCanonicalIdentitiesAndAttempts(t *testing.T) {
	if !process(1).Canonical() || (timing.ProcessIdentity{}).Canonical() {
		t.Error("a process identity is canonical if all its parts are non-zero")
	}
	if got := timing.CanonicalAttempt(5); got != (timing.Attempt{Epoch: 5, CheckpointID: 5}) || !got.Canonical() {
		t.Errorf("attempt 5 is %+v", got)
	}
	if timing.CanonicalAttempt(0).Canonical() {
		t.Error("attempt 0 is canonical")
	}
}
