package ringbuf

import (
	"errors"
	"fmt"
)

// ErrBusy says that a reader could not get hold of the record it asked for in
// a bounded number of tries, because more than a thousand readers were at it
// or each try met another one. Nothing was missed; ask again.
var ErrBusy = errors.New("ringbuf: the record after the cursor is in use by too many readers; ask again")

// CursorOverwrittenError says that the record after the cursor is no longer
// in the ring. A reader that goes on from OldestRetained-1 has missed exactly
// the records between AfterSequence and OldestRetained, both exclusive. With
// busy writers that record may be gone too before the next call: resume a
// little past the oldest.
type CursorOverwrittenError struct {
	AfterSequence  uint64 // the cursor that was given
	OldestRetained uint64 // the oldest sequence number still in the ring
}

func (e *CursorOverwrittenError) Error() string {
	return fmt.Sprintf("ringbuf: cursor %d: record %d was overwritten; the oldest retained is %d, so cursors from %d on are legal",
		e.AfterSequence, e.AfterSequence+1, e.OldestRetained, e.OldestRetained-1)
}

// CursorAheadError says that the cursor names a record that was not appended
// yet. On a ring without records 0 alone is legal: its next is 1.
type CursorAheadError struct {
	AfterSequence uint64 // the cursor that was given
	NextSequence  uint64 // the sequence number of the next record
}

func (e *CursorAheadError) Error() string {
	return fmt.Sprintf("ringbuf: cursor %d is ahead of the last record; the next is %d, so cursors below it are legal",
		e.AfterSequence, e.NextSequence)
}
