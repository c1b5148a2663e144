package channel

import (
	"fmt"
	"time"
)

// DefaultBuffer is the capacity of each channel without WithBuffer.
const DefaultBuffer = 16384

// Option configures a Checkpointer.
type Option func(*Checkpointer)

// WithPendingLimit bounds the pending batches of a partition; n <= 0 is no
// limit.
func WithPendingLimit(n int) Option {
	return func(c *Checkpointer) { c.limit = uint64(max(n, 0)) }
}

// WithClock sets the clock that dates stalls.
func WithClock(now func() time.Time) Option {
	return func(c *Checkpointer) { c.now = now }
}

// WithBuffer sets the capacity of the registration and of the resolution
// channel. A burst that is larger between two drains blocks.
func WithBuffer(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("channel: WithBuffer(%d): want 1 or more", n))
	}
	return func(c *Checkpointer) { c.buffer = n }
}
