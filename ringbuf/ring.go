package ringbuf

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/pad"
	"github.com/tidemark-go/tidemark/internal/pointers"
)

// MaxCapacity is the largest capacity of a ring.
const MaxCapacity = 1 << 24

// mostBytes is beyond what can be allocated: half of the 48 or 32 bits that
// addresses have.
const mostBytes = 1 << (31 + 16*(^uint(0)>>63))

// Ring is a ring of records of type T. Make one with New. All methods may be
// called from any goroutine at any time. A Ring must not be copied.
type Ring[T any] struct {
	layout // written by New alone
	slots  []slot[T]

	// expected is the buffer at each position, as far as is known. Every append
	// loads it; one that did not find it there stores what it left. It may be
	// wrong, which costs the next append at the position a second try.
	expected []atomics.Uint32

	// nearEnd is set, for good, by whoever takes a sequence number close to
	// the largest one. Every append loads it: from then on numbers are handed
	// out one by one instead of by fetch-and-add, which could wrap.
	nearEnd atomics.Bool

	_ pad.Line

	// next is the sequence number of the next record. Appends add one, or CAS
	// to the next value once nearEnd is set; readers and Next load it. It only
	// grows and stays at the largest uint64.
	next atomics.Uint64

	_ pad.Line

	spares spares[T]
}

// slot is a position with the buffer that it starts with. The buffer can end
// up at another position, by way of the spares.
type slot[T any] struct {
	// word is the position's stamp. Appends and readers load it and CAS it
	// along the transitions of the package comment; nobody stores it.
	word atomics.Uint64
	home buffer[T]
}

// buffer is the memory of one record.
type buffer[T any] struct {
	// holds counts the holders of an orphan. Whoever orphans the buffer adds
	// their number, each holder takes off one when it ends; the order is open,
	// so it can be negative for a while. It is zero whenever the buffer is at
	// a position or spare.
	holds atomics.Int32
	// link is the next spare buffer, plus one; zero ends the list. Whoever
	// puts this buffer among the spares stores it; whoever takes one loads it,
	// perhaps too late, which the CAS of the list's head finds out.
	link atomics.Uint32
	// cell is plain: the writer that claimed the position writes it, readers
	// that pinned the position read it, never both at a time.
	cell cell[T]
}

// cell is a record with its number.
type cell[T any] struct {
	seq   uint64
	value T
}

// New returns a ring that retains the newest records, as many as capacity
// rounded up to a power of two. It fails if capacity is not within 1 to
// MaxCapacity, if the ring would not fit the address space, or if T holds
// pointers: records stay in the ring until they are overwritten, and would
// keep alive what they point to. It allocates all memory that the ring needs
// in the ordinary way.
func New[T any](capacity int) (*Ring[T], error) { return newAt[T](capacity, 1) }

// newAt returns a ring as New does, in the state after next-1 appends of
// zero records.
func newAt[T any](capacity int, next uint64) (*Ring[T], error) {
	if capacity < 1 || capacity > MaxCapacity {
		return nil, fmt.Errorf("ringbuf: capacity is %d, legal are 1 to %d", capacity, MaxCapacity)
	}
	if t := reflect.TypeFor[T](); pointers.In(t) {
		return nil, fmt.Errorf("ringbuf: a record of type %v holds pointers; legal are types without any, such as numbers, arrays and structs of them", t)
	}
	capacityBits := bits.Len(uint(capacity - 1))
	size, spare := uint64(unsafe.Sizeof(slot[T]{})), uint64(unsafe.Sizeof(buffer[T]{}))
	if high, low := bits.Mul64(size, 1<<capacityBits); high != 0 || low > mostBytes || spare > (mostBytes-low)/firstSpares {
		return nil, fmt.Errorf("ringbuf: %d records with %d bytes each are beyond the address space", 1<<capacityBits, size)
	}
	r := &Ring[T]{layout: layoutOf(capacityBits), slots: make([]slot[T], 1<<capacityBits), expected: make([]atomics.Uint32, 1<<capacityBits)}
	for i := range r.slots {
		// The newest records are those of the last lap below next. Before the
		// first record their numbers wrap to the lap before the first.
		seq := next - 1 - uint64(i)
		p := r.at(seq)
		p.word.Store(r.lap(seq) | r.index(seq)*bufferOne)
		r.expected[r.index(seq)].Store(uint32(r.index(seq)))
		p.home.cell.seq = seq
	}
	r.next.Store(next)
	r.nearEnd.Store(next >= endZone)
	r.spares.init(uint32(len(r.slots)))
	return r, nil
}

// Capacity returns how many records the ring retains: a power of two.
func (r *Ring[T]) Capacity() int { return len(r.slots) }

// Next returns the sequence number of the next record. One less is the number
// of records that were appended. The oldest record retained is the larger of
// 1 and Next - Capacity; the records before it are overwritten.
func (r *Ring[T]) Next() uint64 { return r.next.Load() }

// oldest returns the oldest record retained when next comes next, or next
// itself when there is none.
func (r *Ring[T]) oldest(next uint64) uint64 {
	if capacity := r.mask + 1; next > capacity {
		return next - capacity
	}
	return 1
}

// at returns the position of a sequence number.
func (r *Ring[T]) at(seq uint64) *slot[T] {
	i := r.index(seq)
	if i >= uint64(len(r.slots)) {
		panic("ringbuf: this Ring was not made with New")
	}
	return &r.slots[i]
}

// buffer returns a buffer by its number: those that positions started with
// come first, then the spares.
func (r *Ring[T]) buffer(id uint32) *buffer[T] {
	if int(id) < len(r.slots) {
		return &r.slots[id].home
	}
	return r.spares.buffer(int(id) - len(r.slots) + firstSpares)
}
