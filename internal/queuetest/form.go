// Package queuetest is the conformance suite of the module's queues. A Form
// describes one kind of queue, or one way to use it; Run puts it through every
// case that its capabilities cover. A capability a form lacks is a nil
// function or an unset flag, never a case that passes without looking.
//
// The same suite drives the baselines the benchmarks compare with, so that
// what is compared does the same work.
package queuetest

import "context"

// Form is one kind of queue. Ints is required; it makes a queue of integers,
// which most cases use. The rest declares capabilities.
type Form struct {
	Ints     func(Config) Queue[uint64]
	Empty    func(Config) Queue[struct{}] // a zero-size element
	Pointers func(Config) Queue[*Payload] // an element that holds memory alive

	// SingleProducer: one producer at a time, so cases with several are left out.
	SingleProducer bool
	// Unordered: no order is promised, also not within a producer.
	Unordered bool
	// GapBlocks: nothing behind an unfinished push is popped before it.
	GapBlocks bool
	// Lazy is how many Drain or DrainTo calls may leave an element that lies
	// behind an unfinished push.
	Lazy int

	// Segmented: Config.SegmentSize matters.
	Segmented bool
	// Wraps: Config.NearWrap is honoured.
	Wraps bool
	// Exclusive: a consumer call within another's window panics.
	Exclusive bool
	// PanicSafe: a callback that panics or exits has consumed its element alone.
	PanicSafe bool
	// ExactLen: Len is exact when nothing else runs, 0 ≤ Len ≤ pushed always.
	ExactLen bool
}

// Config is what a case asks of a new queue.
type Config struct {
	// SegmentSize is the number of elements of a segment, 0 for the default.
	SegmentSize int
	// NearWrap starts every index of the queue three below its maximum.
	NearWrap bool
	// Buffer is the largest number of elements that the case pushes without
	// popping; a bounded queue must hold as many.
	Buffer int
}

// Queue is one queue under test. Nil functions are capabilities it lacks;
// Producer and one of TryPop, Drain and DrainTo are required.
type Queue[T any] struct {
	// Producer returns what one goroutine pushes with.
	Producer func() Producer[T]

	TryPop  func() (T, bool)
	Drain   func(func(T)) int
	DrainTo func([]T) int
	Wait    func(context.Context) error
	Len     func() int
	Close   func()

	// Claim begins a push and stops between the claim of a place and its
	// publication, which the returned function makes. It stands for a
	// producer of its own.
	Claim func() (publish func(T))
	// Closed is the error of Wait on a closed and empty queue.
	Closed error
}

// Producer is one goroutine's way to push. Close may be nil.
type Producer[T any] struct {
	Push      func(T) bool
	PushBatch func([]T) int
	Close     func()
}

// Payload is an element whose collection can be observed.
type Payload struct {
	ID   uint64
	Body [48]byte
}
