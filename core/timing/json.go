package timing

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// recordJSON is a Record's form in JSON.
type recordJSON struct {
	Sequence           uint64          `json:"sequence"`
	Process            ProcessIdentity `json:"process"`
	Attempt            Attempt         `json:"attempt"`
	Role               Role            `json:"role"`
	AssignmentVersion  uint64          `json:"assignment_version"`
	AssignmentDigest   digest          `json:"assignment_digest"`
	PipelineStall      int64           `json:"pipeline_stall_ns"`
	LocalBarrier       int64           `json:"local_barrier_ns"`
	AlignedResume      NullDuration    `json:"aligned_resume_ns"`
	DurableTailHandoff bool            `json:"durable_tail_handoff"`
	DeadlineExhausted  bool            `json:"deadline_exhausted"`
}

// digest is 32 bytes that are 64 lower-case hexadecimal digits in text.
type digest [32]byte

func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("timing: an assignment digest has %d hexadecimal digits, got %d", hex.EncodedLen(len(d)), len(text))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return fmt.Errorf("timing: an assignment digest is hexadecimal: %w", err)
	}
	return nil
}

// MarshalJSON returns an object with sequence, process, attempt, role,
// assignment_version, assignment_digest (hexadecimal), pipeline_stall_ns,
// local_barrier_ns, aligned_resume_ns (null if that stage did not run),
// durable_tail_handoff and deadline_exhausted.
func (r Record) MarshalJSON() ([]byte, error) {
	return json.Marshal(recordJSON{
		Sequence:           r.Sequence,
		Process:            r.Process,
		Attempt:            r.Attempt,
		Role:               r.Role,
		AssignmentVersion:  r.AssignmentVersion,
		AssignmentDigest:   r.AssignmentDigest,
		PipelineStall:      int64(r.PipelineStall),
		LocalBarrier:       int64(r.LocalBarrier),
		AlignedResume:      r.AlignedResume,
		DurableTailHandoff: r.DurableTailHandoff,
		DeadlineExhausted:  r.DeadlineExhausted,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Record) UnmarshalJSON(text []byte) error {
	var j recordJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("timing: not a record: %w", err)
	}
	*r = Record{Sequence: j.Sequence, Observation: Observation{
		Context: Context{
			Process:           j.Process,
			Attempt:           j.Attempt,
			Role:              j.Role,
			AssignmentVersion: j.AssignmentVersion,
			AssignmentDigest:  j.AssignmentDigest,
		},
		PipelineStall:      time.Duration(j.PipelineStall),
		LocalBarrier:       time.Duration(j.LocalBarrier),
		AlignedResume:      j.AlignedResume,
		DurableTailHandoff: j.DurableTailHandoff,
		DeadlineExhausted:  j.DeadlineExhausted,
	}}
	return nil
}

// snapshotJSON is a Snapshot's form in JSON.
type snapshotJSON struct {
	Process            *ProcessIdentity `json:"process"`
	Capacity           int              `json:"capacity"`
	OldestRetained     *uint64          `json:"oldest_retained_sequence"`
	NextSequence       uint64           `json:"next_sequence"`
	OverwrittenCount   uint64           `json:"overwritten_record_count"`
	RecordingLossCount uint64           `json:"recording_loss_count"`
	MetadataExhausted  bool             `json:"metadata_exhausted"`
	HasMore            bool             `json:"has_more"`
	Records            []Record         `json:"records"`
}

// MarshalJSON returns an object with process (null before the first record),
// capacity, oldest_retained_sequence (null before the first record),
// next_sequence, overwritten_record_count, recording_loss_count,
// metadata_exhausted, has_more and records (never null).
func (s Snapshot) MarshalJSON() ([]byte, error) {
	j := snapshotJSON{
		Process:            s.Process,
		Capacity:           s.Capacity,
		NextSequence:       s.NextSequence,
		OverwrittenCount:   s.OverwrittenCount,
		RecordingLossCount: s.RecordingLossCount,
		MetadataExhausted:  s.MetadataExhausted,
		HasMore:            s.HasMore,
		Records:            s.Records,
	}
	if s.OldestRetained != 0 {
		j.OldestRetained = &s.OldestRetained
	}
	if j.Records == nil {
		j.Records = []Record{}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Snapshot) UnmarshalJSON(text []byte) error {
	var j snapshotJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("timing: not a snapshot: %w", err)
	}
	*s = Snapshot{
		Process:            j.Process,
		Capacity:           j.Capacity,
		NextSequence:       j.NextSequence,
		OverwrittenCount:   j.OverwrittenCount,
		RecordingLossCount: j.RecordingLossCount,
		MetadataExhausted:  j.MetadataExhausted,
		HasMore:            j.HasMore,
		Records:            j.Records,
	}
	if j.OldestRetained != nil {
		s.OldestRetained = *j.OldestRetained
	}
	return nil
}
