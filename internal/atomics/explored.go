//go:build explore

package atomics

import (
	"unsafe"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// The names as the interleaving checker knows them; their documentation is
// that of the ordinary build.
type (
	Bool   = explore.Cell[bool]
	Int32  = explore.Word[int32]
	Uint32 = explore.Word[uint32]
	Int64  = explore.Word[int64]
	Uint64 = explore.Word[uint64]
	Mutex  = explore.Mutex
	Parker = explore.Parker
)

// Pointer is an atomic pointer to a T.
type Pointer[T any] = explore.Cell[*T]

// NewParker returns a Parker with no wake-up pending.
func NewParker() Parker { return explore.NewParker() }

// Read declares a plain read of the cell at p.
func Read[T any](p *T) { explore.Read(unsafe.Pointer(p)) }

// Write declares a plain write of the cell at p.
func Write[T any](p *T) { explore.Write(unsafe.Pointer(p)) }

// Pause sleeps until something is written that the calling thread has read
// since it last paused or wrote.
func Pause() { explore.Pause() }

// Yield does nothing: the search gives every turn there is.
func Yield() {}
