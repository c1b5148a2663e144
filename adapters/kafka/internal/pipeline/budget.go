package pipeline

import "sync"

// budget bounds what is in flight, in bytes: batches differ too much in size
// for a number of batches to bound memory.
type budget struct {
	mu    sync.Mutex
	freed sync.Cond
	// free may fall below zero, by one batch that was larger than what was
	// left. limit is what it starts with.
	free, limit int64
}

func newBudget(limit int64) *budget {
	b := &budget{free: limit, limit: limit}
	b.freed.L = &b.mu
	return b
}

// take waits until n bytes are free, or all of them for a batch above the
// limit. The writer gives back whatever happens, so the wait always ends.
func (b *budget) take(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.free < min(n, b.limit) {
		b.freed.Wait()
	}
	b.free -= n
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.free += n
	b.mu.Unlock()
	b.freed.Signal() // only the polling goroutine waits
}
