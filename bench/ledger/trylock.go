package ledger

import (
	"sync"

	"github.com/tidemark-go/tidemark/core/timing"
)

// TryLock is a ledger behind a lock that nobody waits for.
type TryLock struct {
	counters
	mu   sync.Mutex
	ring ring
}

// NewTryLock returns a ledger with at least that capacity.
func NewTryLock(capacity int) *TryLock { return &TryLock{ring: newRing(capacity)} }

// TryRecord records o, or counts a loss; also when it meets anybody.
func (l *TryLock) TryRecord(o timing.Observation) bool {
	if !canonical(&o) {
		return l.refuse(refused)
	}
	if !o.AlignedResume.Valid {
		o.AlignedResume.Duration = 0
	}
	if !l.mu.TryLock() {
		return l.refuse(refused)
	}
	r := l.ring.record(&o)
	l.mu.Unlock()
	if r != accepted {
		return l.refuse(r)
	}
	return true
}

// SnapshotAfter returns a page of records, or timing.ErrBusy when it meets
// anybody.
func (l *TryLock) SnapshotAfter(after uint64, limit int) (timing.Snapshot, error) {
	s, err := l.start(limit)
	if err != nil {
		return s, err
	}
	if !l.mu.TryLock() {
		return timing.Snapshot{}, timing.ErrBusy
	}
	err = l.ring.page(&s, after)
	l.mu.Unlock()
	if err != nil {
		return timing.Snapshot{}, err
	}
	l.end(&s)
	return s, nil
}
