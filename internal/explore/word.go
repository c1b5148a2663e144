package explore

import "unsafe"

// Cell is an atomic location for a V whose size is 1, 4 or 8 bytes. Its methods
// are those of the atomic types it stands for. Threads meet the search before
// each; outside of threads, in Setup and Check, it is a plain variable.
type Cell[V comparable] struct {
	object Object
	v      V
}

// Load returns the value.
func (c *Cell[V]) Load() V {
	if t := current; t != nil {
		t.reach(op{kind: opLoad, obj: &c.object})
		t.learn(&c.object)
	}
	return c.v
}

// Store sets the value.
func (c *Cell[V]) Store(v V) {
	if t := current; t != nil {
		t.reach(op{kind: opStore, obj: &c.object})
		t.tell(&c.object)
	}
	c.v = v
}

// Swap sets the value and returns the old one.
func (c *Cell[V]) Swap(v V) V {
	c.update()
	old := c.v
	c.v = v
	return old
}

// CompareAndSwap sets the value if it is old, and reports whether it was.
func (c *Cell[V]) CompareAndSwap(old, v V) bool {
	if t := current; t != nil {
		t.reach(op{kind: opCompare, size: uint8(unsafe.Sizeof(old)), obj: &c.object, value: unsafe.Pointer(&c.v), want: bytes(&old)})
		t.learn(&c.object)
		if c.v == old {
			t.tell(&c.object)
		}
	}
	if c.v != old {
		return false
	}
	c.v = v
	return true
}

// update is what comes before an operation that reads and writes.
func (c *Cell[V]) update() {
	if t := current; t != nil {
		t.reach(op{kind: opUpdate, obj: &c.object})
		t.learn(&c.object)
		t.tell(&c.object)
	}
}

// bytes returns the bytes of a value as a number.
func bytes[V comparable](v *V) uint64 {
	switch unsafe.Sizeof(*v) {
	case 8:
		return *(*uint64)(unsafe.Pointer(v))
	case 4:
		return uint64(*(*uint32)(unsafe.Pointer(v)))
	case 1:
		return uint64(*(*uint8)(unsafe.Pointer(v)))
	}
	panic("explore: a Cell holds values of 1, 4 or 8 bytes")
}

// Word is an atomic integer.
type Word[V int32 | uint32 | int64 | uint64] struct{ Cell[V] }

// Add adds d and returns the sum.
func (w *Word[V]) Add(d V) V {
	w.update()
	w.v += d
	return w.v
}

// Sub subtracts d and returns the difference.
func (w *Word[V]) Sub(d V) V { return w.Add(-d) }

// And clears the bits that are not in mask and returns the old value.
func (w *Word[V]) And(mask V) V {
	w.update()
	old := w.v
	w.v &= mask
	return old
}

// Or sets the bits of mask and returns the old value.
func (w *Word[V]) Or(mask V) V {
	w.update()
	old := w.v
	w.v |= mask
	return old
}
