//go:build !explore

package atomics

import "context"

// Parker lets one goroutine sleep until another wakes it. A wake-up that
// comes before the sleep is kept (one, not more), so the order "announce,
// look again, Park" on one side and "publish, see the announcement, Unpark"
// on the other loses none.
//
// Make one with NewParker. Unpark may be called by any number of goroutines;
// Park by one at a time.
type Parker struct {
	slot chan struct{}
}

// NewParker returns a Parker with no wake-up pending.
func NewParker() Parker { return Parker{slot: make(chan struct{}, 1)} }

// Park blocks until a wake-up is pending, which it consumes, or until ctx is
// done, in which case it returns the context's error. A pending wake-up wins
// over a context that is done.
func (p *Parker) Park(ctx context.Context) error {
	select {
	case <-p.slot:
		return nil
	default:
	}
	select {
	case <-p.slot:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Unpark makes one wake-up pending. It never blocks.
func (p *Parker) Unpark() {
	select {
	case p.slot <- struct{}{}:
	default:
	}
}
