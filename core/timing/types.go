package timing

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Role is what a process did in a checkpoint attempt. The zero Role is
// unknown and not canonical.
type Role uint8

// The roles.
const (
	Leader   Role = 1 // coordinated the attempt
	Follower Role = 2 // followed another process's announcement
)

// String returns "leader", "follower", "unknown" for the zero Role, or
// "Role(n)".
func (r Role) String() string {
	switch r {
	case Leader:
		return "leader"
	case Follower:
		return "follower"
	case 0:
		return "unknown"
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// MarshalText returns String. It fails for values that are no roles.
func (r Role) MarshalText() ([]byte, error) {
	if r > Follower {
		return nil, fmt.Errorf("timing: role is %d, legal are 1 (leader), 2 (follower) and 0 (unknown)", uint8(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText sets r to the role of that name.
func (r *Role) UnmarshalText(text []byte) error {
	for _, role := range []Role{Leader, Follower, 0} {
		if string(text) == role.String() {
			*r = role
			return nil
		}
	}
	return fmt.Errorf("timing: role is %q, legal are leader, follower and unknown", text)
}

// Participant is one boot of one node.
type Participant struct {
	NodeID          uint64    `json:"node_id"`          // not zero
	BootIncarnation uuid.UUID `json:"boot_incarnation"` // new at each boot, not zero
}

// ProcessIdentity is one process generation. Sequence numbers of a ledger
// mean nothing outside it.
type ProcessIdentity struct {
	Participant Participant `json:"participant"`  // the node that it runs on
	ProcessTerm uint64      `json:"process_term"` // counts the process's starts, not zero
}

// Canonical reports whether node id, boot incarnation and term are all
// non-zero.
func (p ProcessIdentity) Canonical() bool {
	return p.Participant.NodeID != 0 && p.Participant.BootIncarnation != uuid.Nil && p.ProcessTerm != 0
}

// Attempt is one try to take a checkpoint.
type Attempt struct {
	Epoch        uint64 `json:"epoch"`         // the epoch that the barrier opens
	CheckpointID uint64 `json:"checkpoint_id"` // the checkpoint that it is for
}

// CanonicalAttempt returns the attempt whose epoch and checkpoint are id.
func CanonicalAttempt(id uint64) Attempt { return Attempt{Epoch: id, CheckpointID: id} }

// Canonical reports whether the epoch is not zero and equals the checkpoint's
// id.
func (a Attempt) Canonical() bool { return a.Epoch != 0 && a.Epoch == a.CheckpointID }

// NullDuration is a duration that may be missing. In JSON it is a number of
// nanoseconds or null.
type NullDuration struct {
	Duration time.Duration // means nothing unless Valid
	Valid    bool          // whether there is a duration
}

// MarshalJSON returns the nanoseconds, or null if d is not valid.
func (d NullDuration) MarshalJSON() ([]byte, error) {
	if !d.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(int64(d.Duration))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *NullDuration) UnmarshalJSON(text []byte) error {
	var ns *int64
	if err := json.Unmarshal(text, &ns); err != nil {
		return fmt.Errorf("timing: a duration is nanoseconds or null: %w", err)
	}
	*d = NullDuration{}
	if ns != nil {
		*d = NullDuration{Duration: time.Duration(*ns), Valid: true}
	}
	return nil
}
