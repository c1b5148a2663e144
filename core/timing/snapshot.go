package timing

import (
	"errors"
	"fmt"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// MaxPageRecords is the largest number of records in one page.
const MaxPageRecords = 64

// Snapshot is one page of a ledger. Everything about sequence numbers in it
// was true at one moment during the call that made it.
type Snapshot struct {
	Process            *ProcessIdentity // whose pauses these are; nil before the first record
	Capacity           int              // how many records the ledger retains
	OldestRetained     uint64           // oldest sequence number retained; 0 before the first record
	NextSequence       uint64           // sequence number of the next record; those before it were accepted
	OverwrittenCount   uint64           // accepted records that are no longer retained
	RecordingLossCount uint64           // observations that left no record
	MetadataExhausted  bool             // sequence numbers or the count of losses are used up
	HasMore            bool             // records after those of the page were accepted
	Records            []Record         // consecutive, oldest first; not nil
}

// SnapshotAfter returns the page of at most limit records that follow the
// cursor afterSequence, oldest first. A cursor is the last sequence number
// that the caller has, or 0.
//
// A record that is being written ends the page; an empty page with HasMore
// set means ask again. SnapshotAfter never waits and makes no writer wait. It
// allocates the page, in one piece, or an error.
//
// Its errors are, in this order, an *InvalidLimitError, a *CursorAheadError,
// a *CursorOverwrittenError and, only if no consistent page could be had in a
// bounded number of tries, ErrBusy.
func (l *Ledger) SnapshotAfter(afterSequence uint64, limit int) (Snapshot, error) {
	if limit < 1 || limit > MaxPageRecords {
		return Snapshot{}, &InvalidLimitError{Limit: limit}
	}
	l.mustBeMade()
	next := l.ring.Next() // the sample: everything about sequence numbers is derived from it
	if afterSequence >= next {
		return Snapshot{}, &CursorAheadError{AfterSequence: afterSequence, NextSequence: next}
	}
	retained := min(next-1, uint64(l.ring.Capacity()))
	if oldest := next - retained; afterSequence+1 < oldest { // before a page is allocated
		return Snapshot{}, &CursorOverwrittenError{AfterSequence: afterSequence, OldestRetained: oldest}
	}
	want := int(min(uint64(limit), next-1-afterSequence))
	records, process, err := l.page(afterSequence, want, next != l.unbound)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{
		Process:            process,
		Capacity:           l.ring.Capacity(),
		NextSequence:       next,
		OverwrittenCount:   next - 1 - retained,
		RecordingLossCount: l.losses.Load(),
		MetadataExhausted:  l.exhausted.Load(),
		HasMore:            afterSequence+uint64(len(records)) < next-1,
		Records:            records,
	}
	if retained > 0 {
		s.OldestRetained = next - retained
	}
	return s, nil
}

// page reads up to n records and, if bound is set, the process. Both lie in
// one allocation: the process is that of an extra record behind the last.
func (l *Ledger) page(after uint64, n int, bound bool) ([]Record, *ProcessIdentity, error) {
	all := make([]Record, n+1)
	records := all[:0:n]
	var chunk [8]Observation
	for len(records) < n {
		want := min(n-len(records), len(chunk))
		got, err := l.ring.ReadAfter(after+uint64(len(records)), chunk[:want])
		if err != nil && len(records) == 0 {
			return nil, nil, pageError(err)
		}
		for i := range got {
			records = append(records, Record{Sequence: after + uint64(len(records)) + 1, Observation: chunk[i]})
		}
		if got < want {
			break // being written, or overwritten meanwhile: the page ends here
		}
	}
	if !bound {
		return records, nil, nil
	}
	process := &all[n].Process
	*process = *l.process.Load()
	return records, process, nil
}

// pageError returns what the ledger says for an error of the ring. Errors of
// the cursor are the same.
func pageError(err error) error {
	if errors.Is(err, ringbuf.ErrBusy) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// bound returns the process that the ledger's records are of, or nil if there
// is none yet.
func (l *Ledger) bound() *ProcessIdentity {
	if l.ring.Next() == l.unbound {
		return nil
	}
	return l.process.Load()
}
