package timing

import (
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/ringbuf"
)

const (
	// DefaultCapacity is a capacity that holds the pauses of hours: one every
	// ten seconds fills it in almost three.
	DefaultCapacity = 1024
	// MaxCapacity is the largest capacity of a ledger.
	MaxCapacity = 1 << 20
)

// Ledger retains the newest barrier pauses of one process, as many as its
// capacity. Make one with NewLedger. All methods may be called from any
// goroutine at any time; none waits. A Ledger must not be copied.
type Ledger struct {
	ring *ringbuf.Ring[Observation]

	// process is whose pauses these are. The first canonical observation binds
	// it: nil → identity, once, by CAS. TryRecord and readers load it; the
	// identity it points to never changes.
	process atomics.Pointer[ProcessIdentity]
	// losses counts observations that left no record. Whoever loses one adds
	// one, or CASes to the next value near the largest, where it stays;
	// readers load it.
	losses atomics.Uint64
	// exhausted is set, for good, by whoever is refused a sequence number or
	// cannot count a loss; readers load it.
	exhausted atomics.Bool

	// unbound is the ring's next sequence number before the first record.
	unbound uint64

	open openGuards
}

// NewLedger returns a ledger that retains the newest records, as many as
// capacity rounded up to a power of two. It fails if capacity is not within 1
// to MaxCapacity. It allocates all the memory that records need.
func NewLedger(capacity int) (*Ledger, error) {
	if capacity < 1 || capacity > MaxCapacity {
		return nil, fmt.Errorf("timing: capacity is %d, legal are 1 to %d", capacity, MaxCapacity)
	}
	ring, err := ringbuf.New[Observation](capacity)
	if err != nil {
		return nil, fmt.Errorf("timing: cannot make a ledger: %w", err)
	}
	return &Ledger{ring: ring, unbound: ring.Next()}, nil
}

// mustBeMade panics if NewLedger did not make l.
func (l *Ledger) mustBeMade() {
	if l.ring == nil {
		panic("timing: a Ledger must be made with NewLedger")
	}
}

// Capacity returns how many records the ledger retains: a power of two.
func (l *Ledger) Capacity() int {
	l.mustBeMade()
	return l.ring.Capacity()
}

// TryRecord records o and reports whether it was accepted. Otherwise exactly
// one loss was counted: o is not canonical, it names another process than the
// one the ledger is bound to, or the sequence numbers are used up (the last
// is 2^64-2).
//
// It never waits, allocates nothing but for the very first observation, and
// its cost does not depend on the capacity. No number of writers and readers,
// running or stalled, makes it lose a record. If others record a whole
// capacity of observations while it is stalled, its own counts as accepted
// and overwritten.
func (l *Ledger) TryRecord(o Observation) bool {
	l.mustBeMade()
	if !o.canonical() {
		l.NoteLoss()
		return false
	}
	if p := l.process.Load(); (p == nil || *p != o.Process) && !l.bind(o.Process) {
		l.NoteLoss()
		return false
	}
	if !o.AlignedResume.Valid {
		o.AlignedResume.Duration = 0
	}
	if _, ok := l.ring.Append(&o); !ok {
		l.exhausted.Store(true)
		l.NoteLoss()
		return false
	}
	return true
}

// bind binds the ledger to a process unless it is bound, and reports whether
// it is bound to that one.
func (l *Ledger) bind(process ProcessIdentity) bool {
	if l.process.Load() == nil {
		first := process
		l.process.CompareAndSwap(nil, &first)
	}
	return *l.process.Load() == process
}

// NoteLoss counts one observation that left no record. It never waits. The
// count stops at the largest uint64; a loss beyond that marks the metadata as
// exhausted.
func (l *Ledger) NoteLoss() {
	// As long as the count is further from its end than there can be
	// goroutines, adding cannot wrap.
	if l.losses.Load() < math.MaxUint64-1<<32 {
		l.losses.Add(1)
		return
	}
	for {
		n := l.losses.Load()
		if n == math.MaxUint64 {
			l.exhausted.Store(true)
			return
		}
		if l.losses.CompareAndSwap(n, n+1) {
			return
		}
	}
}
