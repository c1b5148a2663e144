package ledger

import "github.com/tidemark-go/tidemark/core/timing"

// canonical is timing.Observation.Canonical without the copy of the
// observation, which timing.Ledger does not make either.
func canonical(o *timing.Observation) bool {
	if !o.Process.Canonical() || !o.Attempt.Canonical() ||
		(o.Role != timing.Leader && o.Role != timing.Follower) ||
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
