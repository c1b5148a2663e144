package checkpoint

import (
	"math/bits"
	"runtime"
	"time"
)

// Option configures a Checkpointer.
type Option func(*Checkpointer)

const maxShards = 1024

// WithShards sets the number of shards that the partitions are spread over by
// their xxhash, rounded up to a power of two, at most 1024. More shards make a
// rebalance of a few among many partitions cheaper and part the goroutines
// that have news; fewer make an empty Drain cheaper. n < 1 and the default:
// twice GOMAXPROCS, at least 4.
func WithShards(n int) Option {
	return func(c *Checkpointer) {
		if n < 1 {
			n = defaultShards()
		}
		n = min(n, maxShards)
		c.shards = make([]shard, 1<<bits.Len(uint(n-1)))
	}
}

func defaultShards() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// WithPendingLimit sets how many batches a partition can have pending before
// Issue returns ErrPendingLimit. n <= 0 and the default: no limit.
func WithPendingLimit(n int) Option {
	return func(c *Checkpointer) { c.limit = max(n, 0) }
}

// WithClock sets the clock that tells since when a partition is stalled or held
// back. It is called by TakeWatermarks when it reaches a failed batch, by drains
// (see Drain), and by Heads, SkipFailed and Snapshot; it must not call the
// Checkpointer. nil and the default: time.Now.
func WithClock(now func() time.Time) Option {
	return func(c *Checkpointer) {
		if now != nil {
			c.now = now
		}
	}
}
