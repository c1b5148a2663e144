package timing

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// NewLedgerAt returns a ledger in the state after next-1 records of an
// unknown process and the given number of losses. It reaches into the ring,
// which has no such constructor outside its own tests, and panics if the
// ring's fields are not what it expects.
func NewLedgerAt(capacity int, next, losses uint64) *Ledger {
	l, err := NewLedger(capacity)
	if err != nil {
		panic(err)
	}
	ring := reflect.ValueOf(l.ring).Elem()
	mask, shift := ring.FieldByName("mask").Uint(), ring.FieldByName("lapShift").Uint()
	slots := ring.FieldByName("slots")
	for i := range slots.Len() {
		seq := next - 1 - uint64(i)
		slot := slots.Index(indexOf(ring, seq))
		word := (*atomics.Uint64)(slot.FieldByName("word").Addr().UnsafePointer())
		buffer := word.Load() & ring.FieldByName("bufferMask").Uint()
		word.Store(seq&^mask<<shift | buffer)
		cell := slot.FieldByName("home").FieldByName("cell")
		*(*uint64)(cell.FieldByName("seq").Addr().UnsafePointer()) = seq
	}
	(*atomics.Uint64)(ring.FieldByName("next").Addr().UnsafePointer()).Store(next)
	(*atomics.Bool)(ring.FieldByName("nearEnd").Addr().UnsafePointer()).Store(true)
	l.unbound = next
	l.losses.Store(losses)
	return l
}

// indexOf returns where the ring keeps a record.
func indexOf(ring reflect.Value, seq uint64) int {
	mask, within, stream := ring.FieldByName("mask").Uint(), ring.FieldByName("within").Uint(), ring.FieldByName("stream").Uint()
	return int(seq&mask>>within | seq<<stream&mask)
}

// HoldNext makes the ledger's position for the next record look as if its
// writer were stalled in the middle of it: accepted, not published. It only
// works before the first lap.
func (l *Ledger) HoldNext() {
	ring := reflect.ValueOf(l.ring).Elem()
	next := (*atomics.Uint64)(ring.FieldByName("next").Addr().UnsafePointer())
	next.Add(1)
}

// FillWithReaders makes the position of a record look as if as many readers
// as fit were at it.
func (l *Ledger) FillWithReaders(seq uint64) {
	ring := reflect.ValueOf(l.ring).Elem()
	slot := ring.FieldByName("slots").Index(indexOf(ring, seq))
	word := (*atomics.Uint64)(slot.FieldByName("word").Addr().UnsafePointer())
	word.Store(word.Load() | 1<<11 - 2)
}

// StepWallClock moves the wall-clock reading of the guard's start by some
// seconds and leaves its monotonic reading, as if the wall clock had been
// set. It returns the start with the wall-clock reading alone.
func (g *Guard) StepWallClock(seconds uint64) time.Time {
	(*struct {
		wall uint64 // 1 bit, 33 bits of seconds, 30 bits of nanoseconds
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&g.start)).wall += seconds << 30
	return g.start.Round(0)
}

// ProblemOf is the handler's answer to an error.
func ProblemOf(err error) int {
	status, _ := problemOf(err)
	return status
}
