package explore

import "unsafe"

// Object is the checker's side of one shared location. It lies within the
// instrumented types; its zero value is right for a new location.
type Object struct {
	// clock is what a thread learns that reads the location: the time of the
	// last write and of what that had learned.
	clock clock
	// version counts the writes. A paused thread waits for it to change.
	version uint32
	trace   *trace // what the present execution did to it, for the search
}

// kind says what a thread is about to do.
type kind uint8

const (
	opNone    kind = iota
	opLoad         // reads
	opStore        // writes, and learns nothing
	opUpdate       // reads and writes: Add, Swap, And, Or
	opCompare      // writes if the location holds what is expected, else reads
	opLock         // waits until the mutex is free
	opUnlock       //
	opTryPark      // consumes a wake-up if one is pending
	opPark         // waits for a wake-up or for the end of a context
	opUnpark       //
	opPause        // waits until something that was read changes
	opCall         // an operation of a history begins
	opReturn       // an operation of a history has ended
)

var kindNames = [...]string{
	"nothing", "load", "store", "update", "compare-and-swap", "lock", "unlock",
	"look for a wake-up", "park", "unpark", "pause", "call", "return",
}

func (k kind) String() string { return kindNames[k] }

// op is one shared operation that a thread is about to make.
type op struct {
	kind kind
	size uint8   // of the location, for opCompare
	obj  *Object // what it is about
	also *Object // a second object it reads, or nil
	// For opCompare: where the value is and what it must be.
	value unsafe.Pointer
	want  uint64
	// For opLock, opTryPark and opPark: what they wait for.
	mutex  *Mutex
	parker *Parker
	ctx    *Context
}

// succeeds reports whether a compare-and-swap would succeed now.
func (o *op) succeeds() bool {
	switch o.size {
	case 8:
		return *(*uint64)(o.value) == o.want
	case 4:
		return uint64(*(*uint32)(o.value)) == o.want
	default:
		return uint64(*(*uint8)(o.value)) == o.want
	}
}

// writes reports whether the operation would change its object, now. A
// compare-and-swap that fails counts as a load.
func (o *op) writes() bool {
	switch o.kind {
	case opLoad:
		return false
	case opCompare:
		return o.succeeds()
	}
	return true
}

// enabled reports whether the operation can be made now.
func (o *op) enabled(t *thread) bool {
	switch o.kind {
	case opLock:
		return !o.mutex.held
	case opPark:
		return o.parker.pending || o.ctx != nil && o.ctx.err != nil
	case opPause:
		return t.news()
	}
	return true
}

// waits reports whether operations of a kind can be disabled.
func (k kind) waits() bool { return k == opLock || k == opPark || k == opPause }

// relation tells whether the order of two operations of different threads,
// both enabled in the present state, can matter.
type relation func(a, b *op) bool

// dependent is the relation that searches use. Two operations commute unless
// they meet at an object that one of them changes. Calls and returns of a
// history matter to each other, but neither calls among themselves nor
// returns: only "this ended before that began" is what a history says.
func dependent(a, b *op) bool {
	if a.obj == b.obj {
		if a.kind >= opCall && b.kind >= opCall {
			return a.kind != b.kind
		}
		return a.writes() || b.writes()
	}
	return a.also == b.obj && a.also != nil && b.writes() ||
		b.also == a.obj && b.also != nil && a.writes()
}
