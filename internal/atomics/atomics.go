//go:build !explore

// Package atomics is the one door through which the lock-free packages of
// this module reach shared memory.
//
// Every atomic word, mutex, parking place and plain cell that two goroutines
// share is named through this package, so that a build of the same source can
// put an interleaving checker behind these names: the build tag explore does,
// see package explore. In an ordinary build the names are aliases: they compile
// to the same code as the types they stand for, and the hooks compile to nothing.
//
// 64-bit words are sync/atomic's, because go.uber.org/atomic does not align
// its 64-bit types to eight bytes and they panic on 32-bit platforms. The
// 32-bit words, flags and pointers are go.uber.org/atomic's.
package atomics

import (
	"runtime"
	"sync"
	"sync/atomic"

	uatomic "go.uber.org/atomic"
)

type (
	// Bool is an atomic flag.
	Bool = uatomic.Bool
	// Int32 is an atomic 32-bit signed word.
	Int32 = uatomic.Int32
	// Uint32 is an atomic 32-bit word.
	Uint32 = uatomic.Uint32
	// Int64 is an atomic 64-bit signed word, aligned to 8 bytes everywhere.
	Int64 = atomic.Int64
	// Uint64 is an atomic 64-bit word, aligned to 8 bytes everywhere.
	Uint64 = atomic.Uint64
	// Mutex is a mutual exclusion lock; only control paths use it.
	Mutex = sync.Mutex
)

// Pointer is an atomic pointer to a T.
type Pointer[T any] = uatomic.Pointer[T]

// Read declares a plain (non-atomic) read of the cell at p by the calling
// goroutine. It is called just before the read and does nothing in an
// ordinary build.
func Read[T any](p *T) {}

// Write declares a plain (non-atomic) write of the cell at p by the calling
// goroutine. It is called just before the write and does nothing in an
// ordinary build.
func Write[T any](p *T) {}

// Pause is called in each round of a loop that waits for another goroutine to
// change what the round has read. It yields the processor. The round must
// have no side effects.
func Pause() { runtime.Gosched() }

// Yield gives other goroutines a turn. Nothing may depend on what they do with
// it.
func Yield() { runtime.Gosched() }
