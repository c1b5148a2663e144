package timing

import (
	"errors"
	"fmt"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// The cursor errors are those of the ring.
type (
	// CursorOverwrittenError says that the record after the cursor is no
	// longer retained. Resume a little past the oldest retained.
	CursorOverwrittenError = ringbuf.CursorOverwrittenError
	// CursorAheadError says that the cursor names a record that does not exist
	// yet.
	CursorAheadError = ringbuf.CursorAheadError
)

var (
	// ErrBusy says that no consistent page could be had in a bounded number of
	// tries. Nothing was missed; ask again.
	ErrBusy = errors.New("timing: the ledger is too busy for a consistent page; ask again")
	// ErrProcessIdentityRequired says that a cursor other than 0 came without
	// the process identity that it belongs to.
	ErrProcessIdentityRequired = errors.New("timing: a cursor other than 0 needs the process identity it belongs to")
	// ErrProcessIdentityUnavailable says that the source of the live process
	// identity failed. The source's error is wrapped beside it.
	ErrProcessIdentityUnavailable = errors.New("timing: the live process identity is not available")
)

// InvalidLimitError says that a page of no or too many records was asked for.
type InvalidLimitError struct {
	Limit int // the limit that was given
}

func (e *InvalidLimitError) Error() string {
	return fmt.Sprintf("timing: limit is %d, legal are 1 to %d", e.Limit, MaxPageRecords)
}

// ProcessIdentityMismatchError says that a cursor belongs to another process
// than the live one. Start again from 0 with the live one.
type ProcessIdentityMismatchError struct {
	Expected ProcessIdentity // the identity that came with the cursor
	Actual   ProcessIdentity // the live one
}

func (e *ProcessIdentityMismatchError) Error() string {
	return fmt.Sprintf("timing: the cursor belongs to process %s, the live one is %s", text(e.Expected), text(e.Actual))
}

// ProcessIdentityChangedError says that the live process identity changed
// while a page was read.
type ProcessIdentityChangedError struct {
	Before ProcessIdentity // the live identity before the page was read
	After  ProcessIdentity // the live identity after it
}

func (e *ProcessIdentityChangedError) Error() string {
	return fmt.Sprintf("timing: the live process changed from %s to %s during the read; ask again", text(e.Before), text(e.After))
}

// LedgerProcessMismatchError says that the ledger's records are of another
// process than the live one: it outlived its process generation.
type LedgerProcessMismatchError struct {
	Expected ProcessIdentity // the live identity
	Actual   ProcessIdentity // the one the ledger is bound to
}

func (e *LedgerProcessMismatchError) Error() string {
	return fmt.Sprintf("timing: the ledger belongs to process %s, the live one is %s", text(e.Actual), text(e.Expected))
}

// text returns a process identity as node/boot/term.
func text(p ProcessIdentity) string {
	return fmt.Sprintf("%d/%s/%d", p.Participant.NodeID, p.Participant.BootIncarnation, p.ProcessTerm)
}
