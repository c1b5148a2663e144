package kafka

import (
	"errors"
	"fmt"
)

// Errors of this package; match them with errors.Is. They come wrapped in a
// text that says what was found and what to do.
var (
	// ErrClosed: the Source is closed or closing.
	ErrClosed = errors.New("kafka: source is closed")
	// ErrUnreachable: no broker answered at Open.
	ErrUnreachable = errors.New("kafka: no broker is reachable")
	// ErrUnknownTopic: a topic does not exist, or this client may not see it.
	ErrUnknownTopic = errors.New("kafka: topic is unknown")
	// ErrUnresolved: Close gave up waiting for batches that were handed out.
	// They stay uncommitted and are delivered again to the next owner.
	ErrUnresolved = errors.New("kafka: handed-out batches are unresolved")
	// ErrUncommitted: Close could not commit everything acknowledged. It is
	// delivered again to the next owner.
	ErrUncommitted = errors.New("kafka: acknowledged batches are uncommitted")
)

// LossKind says how a partition's log changed under its reader.
type LossKind uint8

const (
	// LossTruncated: the log ends below what was already consumed, or was
	// rewritten there. Reading goes back, and so may the commit.
	LossTruncated LossKind = iota
	// LossRecreated: the topic was deleted; when one of that name exists, it
	// is read from its start.
	LossRecreated
	// LossExpired: the start of the log moved past the reading position;
	// retention or a deletion took records that were never consumed.
	LossExpired
)

// String returns "truncated", "recreated" or "expired".
func (k LossKind) String() string {
	switch k {
	case LossTruncated:
		return "truncated"
	case LossRecreated:
		return "recreated"
	case LossExpired:
		return "expired"
	}
	return fmt.Sprintf("LossKind(%d)", uint8(k))
}

// DataLoss describes one change of a partition's log that a reader cannot
// hide.
type DataLoss struct {
	// Kind says how the log changed.
	Kind LossKind
	// ConsumedTo is the position that was next to be read, -1 if this member
	// read nothing.
	ConsumedTo int64
	// ResetTo is the position that is read next.
	ResetTo int64
	// Committed is the last commit before the loss, -1 if unknown. When it is
	// above ResetTo, the next commit goes backwards.
	Committed int64
}
