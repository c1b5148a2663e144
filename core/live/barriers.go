package live

import (
	"errors"

	"github.com/tidemark-go/tidemark/core/timing"
)

// Barriers is what a ledger says: the barriers that are open, and records of
// those that ended.
type Barriers struct {
	// Process is whose barriers they are, null before the first record.
	Process *timing.ProcessIdentity `json:"process"`
	// Capacity, NextSequence, OverwrittenCount, RecordingLossCount and
	// MetadataExhausted are those of a timing.Snapshot.
	Capacity           int    `json:"capacity"`
	NextSequence       uint64 `json:"next_sequence"`
	OverwrittenCount   uint64 `json:"overwritten_record_count"`
	RecordingLossCount uint64 `json:"recording_loss_count"`
	MetadataExhausted  bool   `json:"metadata_exhausted"`
	// Open are the open barriers, the oldest first; Unlisted tells how many
	// more there are.
	Open     []timing.OpenGuard `json:"open"`
	Unlisted int                `json:"unlisted"`
	// Records are the newest ones after the request's cursor, oldest first, at
	// most MaxRecords. Missed counts those between the cursor and the first
	// of them: there were more, or they are overwritten.
	Records []timing.Record `json:"records"`
	Missed  uint64          `json:"missed"`
	// Fresh says that the records do not follow the request's cursor, because
	// it had none or that of another process. Forget what came before.
	Fresh bool `json:"fresh"`
	// Cursor is for the next request. It is empty before the first record.
	Cursor string `json:"cursor"`
	// Error says why there are no records, if that could not be told.
	Error string `json:"error,omitempty"`
}

// pageTries is how often a page is asked for again because its first record
// was overwritten meanwhile. Few ledgers lose a lap in the time of one try.
const pageTries = 100

// readBarriers reads what follows a cursor, which is nil for the newest.
func readBarriers(l *timing.Ledger, from *cursor) *Barriers {
	b := &Barriers{Open: []timing.OpenGuard{}, Records: []timing.Record{}, Fresh: true}
	open, unlisted := l.OpenGuards()
	b.Open, b.Unlisted = append(b.Open, open...), unlisted

	// The first page tells how far the ledger is, and whose it is.
	first, err := pageFrom(l, 0)
	if err != nil {
		b.Error = err.Error()
		return b
	}
	b.take(&first)
	last := first.NextSequence - 1
	var after uint64
	if from != nil && b.Process != nil && from.process == *b.Process && from.sequence <= last {
		after, b.Fresh = from.sequence, false
	}
	begin := after
	if last-after > MaxRecords {
		after = last - MaxRecords
	}
	for after < last && len(b.Records) < MaxRecords {
		page, err := pageFrom(l, after)
		if err != nil {
			b.Error = err.Error()
			break
		}
		if len(page.Records) == 0 {
			break // it is being written
		}
		records := page.Records[:min(len(page.Records), MaxRecords-len(b.Records))]
		if len(b.Records) > 0 && records[0].Sequence != b.Records[len(b.Records)-1].Sequence+1 {
			b.Records = b.Records[:0] // it was lapped meanwhile: what is left is all newer
		}
		b.Records = append(b.Records, records...)
		after = records[len(records)-1].Sequence
		b.take(&page)
	}
	if len(b.Records) > 0 && !b.Fresh {
		b.Missed = b.Records[0].Sequence - 1 - begin
	}
	if b.Process != nil {
		if len(b.Records) == 0 {
			after = begin // ask for the same again
		}
		b.Cursor = cursor{*b.Process, after}.String()
	}
	return b
}

// take notes what a page says besides its records.
func (b *Barriers) take(s *timing.Snapshot) {
	if s.Process != nil {
		process := *s.Process // not the page's, which would keep its records alive
		b.Process = &process
	}
	b.Capacity, b.NextSequence, b.OverwrittenCount = s.Capacity, s.NextSequence, s.OverwrittenCount
	b.RecordingLossCount, b.MetadataExhausted = s.RecordingLossCount, s.MetadataExhausted
}

// pageFrom returns the page after a cursor, or the oldest one if the records
// after it were overwritten.
func pageFrom(l *timing.Ledger, after uint64) (s timing.Snapshot, err error) {
	for try := range uint64(pageTries) {
		s, err = l.SnapshotAfter(after, timing.MaxPageRecords)
		var gone *timing.CursorOverwrittenError
		if !errors.As(err, &gone) {
			return s, err
		}
		after = gone.OldestRetained - 1 + try // further past the oldest each time: that one is the next to go
	}
	return s, err
}
