package timing

import "fmt"

// IdentitySource tells who the live process is.
type IdentitySource interface {
	// LiveProcessIdentity returns the identity of the live process. It must
	// not wait, and may be called from any goroutine.
	LiveProcessIdentity() (ProcessIdentity, error)
}

// Page is a page of a ledger with the process that it is of.
type Page struct {
	Process  ProcessIdentity `json:"process"`  // the live process, before and after the page was read
	Snapshot Snapshot        `json:"snapshot"` // the page
}

// ReadPage returns a page as Ledger.SnapshotAfter does, after it has made
// sure that the cursor is one of this process generation: after a restart
// sequence numbers begin again, so an old cursor would silently hide records.
// A cursor other than 0 needs the identity of the process it comes from;
// expected may be nil with 0.
//
// It asks src before and after it reads. Its errors are, in this order,
// ErrProcessIdentityRequired, ErrProcessIdentityUnavailable for either answer,
// a *ProcessIdentityMismatchError, a *ProcessIdentityChangedError, a
// *LedgerProcessMismatchError, and those of SnapshotAfter. It panics without a
// source or a ledger.
func ReadPage(src IdentitySource, l *Ledger, expected *ProcessIdentity, afterSequence uint64, limit int) (Page, error) {
	if src == nil || l == nil {
		panic("timing: ReadPage needs an IdentitySource and a Ledger")
	}
	if afterSequence != 0 && expected == nil {
		return Page{}, ErrProcessIdentityRequired
	}
	live, err := src.LiveProcessIdentity()
	if err != nil {
		return Page{}, fmt.Errorf("%w: %w", ErrProcessIdentityUnavailable, err)
	}
	snapshot, snapshotErr := l.SnapshotAfter(afterSequence, limit)
	bound := snapshot.Process
	if snapshotErr != nil {
		bound = l.bound()
	}
	after, err := src.LiveProcessIdentity()
	if err != nil {
		return Page{}, fmt.Errorf("%w: %w", ErrProcessIdentityUnavailable, err)
	}
	if expected != nil && *expected != live {
		return Page{}, &ProcessIdentityMismatchError{Expected: *expected, Actual: live}
	}
	if after != live {
		return Page{}, &ProcessIdentityChangedError{Before: live, After: after}
	}
	if bound != nil && *bound != live {
		return Page{}, &LedgerProcessMismatchError{Expected: live, Actual: *bound}
	}
	if snapshotErr != nil {
		return Page{}, snapshotErr
	}
	return Page{Process: live, Snapshot: snapshot}, nil
}
