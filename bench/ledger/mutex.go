package ledger

import (
	"sync"

	"github.com/tidemark-go/tidemark/core/timing"
)

// Mutex is a ledger behind a mutex.
type Mutex struct {
	counters
	mu   sync.Mutex
	ring ring
}

// NewMutex returns a ledger with at least that capacity.
func NewMutex(capacity int) *Mutex { return &Mutex{ring: newRing(capacity)} }

// TryRecord records o, or counts a loss.
func (l *Mutex) TryRecord(o timing.Observation) bool {
	if !canonical(&o) {
		return l.refuse(refused)
	}
	if !o.AlignedResume.Valid {
		o.AlignedResume.Duration = 0
	}
	l.mu.Lock()
	r := l.ring.record(&o)
	l.mu.Unlock()
	if r != accepted {
		return l.refuse(r)
	}
	return true
}

// SnapshotAfter returns a page of records.
func (l *Mutex) SnapshotAfter(after uint64, limit int) (timing.Snapshot, error) {
	s, err := l.start(limit)
	if err != nil {
		return s, err
	}
	l.mu.Lock()
	err = l.ring.page(&s, after)
	l.mu.Unlock()
	if err != nil {
		return timing.Snapshot{}, err
	}
	l.end(&s)
	return s, nil
}
