package diagnose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-go/tidemark/core/timing"
)

// pageTries is how often Longest asks again for a page that was overwritten
// or is being written.
const pageTries = 1000

// Longest reads the whole ledger, page by page, and returns the n records
// with the longest pauses, the longest first, and the last page. It is made
// for a Source that is closed.
func (d *Diagnostics) Longest(n int) (longest []timing.Record, last timing.Snapshot, err error) {
	var after uint64
	for tries := 0; tries < pageTries; {
		page, err := d.ledger.SnapshotAfter(after, timing.MaxPageRecords)
		var gone *timing.CursorOverwrittenError
		if errors.As(err, &gone) {
			after = gone.OldestRetained - 1
			tries++
			continue
		}
		if err != nil {
			return nil, page, fmt.Errorf("diagnose: reading the ledger: %w", err)
		}
		longest = keep(longest, page.Records, n)
		if !page.HasMore {
			return longest, page, nil
		}
		if len(page.Records) == 0 {
			tries++ // a record is being written
			continue
		}
		after = page.Records[len(page.Records)-1].Sequence
	}
	return nil, last, fmt.Errorf("diagnose: reading the ledger: %w", timing.ErrBusy)
}

// keep adds records to the longest ones, which are in order, and keeps n.
func keep(longest, records []timing.Record, n int) []timing.Record {
	for _, r := range records {
		at := len(longest)
		for at > 0 && longest[at-1].PipelineStall < r.PipelineStall {
			at--
		}
		if at == n {
			continue
		}
		longest = slices.Insert(longest, at, r)
		longest = longest[:min(len(longest), n)]
	}
	return longest
}
