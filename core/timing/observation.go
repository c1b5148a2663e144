package timing

import "time"

// Context says which pause is observed: everything but the times.
type Context struct {
	Process           ProcessIdentity // the process that pauses
	Attempt           Attempt         // the checkpoint it pauses for
	Role              Role            // what it does in that attempt
	AssignmentVersion uint64          // version of the assignment admitted for the attempt, not zero
	AssignmentDigest  [32]byte        // digest of that whole assignment, not zero
}

// Observation is one pause of the pipeline for a checkpoint barrier.
type Observation struct {
	Context
	PipelineStall time.Duration // from the start of the pause to its end
	LocalBarrier  time.Duration // the part that was local work
	AlignedResume NullDuration  // the part that was waiting for an aligned resume, if that stage ran

	DurableTailHandoff bool // whether the local work ended with the handoff of a durable tail
	DeadlineExhausted  bool // whether the attempt's deadline had passed when the pause closed
}

// Canonical reports whether a ledger takes o: process and attempt are
// canonical, the role is known, assignment version and digest are not zero,
// no duration is negative, the two parts do not exceed the whole, each alone
// and together, and there is an aligned resume only after a durable-tail
// handoff.
func (o Observation) Canonical() bool { return o.canonical() }

// canonical is Canonical without the copy.
func (o *Observation) canonical() bool {
	if !o.Process.Canonical() || !o.Attempt.Canonical() ||
		(o.Role != Leader && o.Role != Follower) ||
		o.AssignmentVersion == 0 || o.AssignmentDigest == [32]byte{} {
		return false
	}
	if o.LocalBarrier < 0 || o.LocalBarrier > o.PipelineStall {
		return false
	}
	if !o.AlignedResume.Valid {
		return true
	}
	aligned := o.AlignedResume.Duration
	return o.DurableTailHandoff && aligned >= 0 && aligned <= o.PipelineStall-o.LocalBarrier
}

// Record is an observation that a ledger took, with its number.
type Record struct {
	Sequence uint64 // 1, 2, 3, … in its ledger
	Observation
}
