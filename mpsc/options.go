package mpsc

import (
	"fmt"
	"reflect"
)

const (
	// maxSegmentSize is the largest number of cells of a segment. The claim
	// word counts cells, and claims that come too late, in 24 bits.
	maxSegmentSize = 1 << 20
	// firstSegmentSize is the number of cells of a queue's first segment, and
	// of a lane's first: most queues of a program stay short.
	firstSegmentSize = 32
	laneFirstSize    = 16

	// The default segment takes about this many bytes, within these sizes.
	defaultSegmentBytes = 8 << 10
	defaultSegmentMin   = 32
	defaultSegmentMax   = 512
	// defaultMaxFree keeps at most 16 segments: 128 KiB for 8-byte elements,
	// which is a backlog of 8192 elements without an allocation.
	defaultMaxFree = 16
	// defaultPoolTries is how often a producer that needs a segment looks into
	// the pool if it meets others there.
	defaultPoolTries = 4
)

// Option configures a Queue; see WithSegmentSize and WithMaxFree.
type Option func(*queueConfig)

type queueConfig struct {
	segmentSize int
	maxFree     int
	poolTries   int
	start       uint64 // index of the first element; tests start near the wrap-around
	firstGen    uint32 // stamp of fresh segments, not 0; tests start near the wrap-around
}

// WithSegmentSize sets the number of elements of a segment, at least 1.
// Sizes above 1048576 count as 1048576. The default is what fits into 8 KiB,
// between 32 and 512: 512 for 8-byte elements. The first segment of a queue
// and of a lane is smaller. WithSegmentSize panics if n is less than 1.
func WithSegmentSize(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("mpsc: WithSegmentSize(%d): the size must be in 1..%d", n, maxSegmentSize))
	}
	return func(c *queueConfig) { c.segmentSize = min(n, maxSegmentSize) }
}

// WithMaxFree sets how many emptied segments a queue keeps for reuse, 0 or
// more; the rest is left to the garbage collector. The default is 16 (128 KiB
// for 8-byte elements). WithMaxFree panics if n is negative.
func WithMaxFree(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("mpsc: WithMaxFree(%d): the number must be 0 or more", n))
	}
	return func(c *queueConfig) { c.maxFree = n }
}

// defaultSegmentSize returns the size used for elements of a type.
func defaultSegmentSize(element reflect.Type) int {
	const stamp = 8
	return min(max(defaultSegmentBytes/(int(element.Size())+stamp), defaultSegmentMin), defaultSegmentMax)
}
