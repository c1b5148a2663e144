package explore

import (
	"fmt"
	"unsafe"
)

// MaxThreads is how many threads a program may have.
const MaxThreads = 8

// clock is a vector clock: for each thread, up to which of its times
// everything happened before. Times start at 1.
type clock [MaxThreads]uint16

func (c *clock) join(o *clock) {
	for i := range c {
		c[i] = max(c[i], o[i])
	}
}

// shadow is what is known of a plain (non-atomic) memory cell.
type shadow struct {
	writer  uint8
	written uint16 // the writer's time, 0 if no thread wrote
	reads   clock  // for each thread the time of its last read
}

// cells are the plain cells that the threads of one execution have declared.
// The keys keep the memory from being used again within the execution.
type cells map[unsafe.Pointer]*shadow

// Read declares a plain read of the cell at p.
func Read(p unsafe.Pointer) {
	if t := current; t != nil {
		t.run.access(t, p, false)
	}
}

// Write declares a plain write of the cell at p.
func Write(p unsafe.Pointer) {
	if t := current; t != nil {
		t.run.access(t, p, true)
	}
}

// access fails the execution if the access races with an earlier one: neither
// happens before the other.
func (r *run) access(t *thread, p unsafe.Pointer, write bool) {
	c := r.cells[p]
	if c == nil {
		c = r.newShadow()
		r.cells[p] = c
	}
	if c.written > t.clock[c.writer] {
		r.race(t, write, int(c.writer), true)
	}
	if !write {
		c.reads[t.id] = t.clock[t.id]
		return
	}
	for i, at := range c.reads {
		if at > t.clock[i] {
			r.race(t, true, i, false)
		}
	}
	c.writer, c.written = uint8(t.id), t.clock[t.id]
}

func (r *run) race(t *thread, write bool, other int, otherWrote bool) {
	verb := map[bool]string{false: "read", true: "write"}
	panic(failure(fmt.Sprintf("data race: the plain %s by thread %s and the %s by thread %s are not ordered",
		verb[write], name(t.id), verb[otherWrote], name(other))))
}

// newShadow returns a shadow of the run's store, which executions use again.
func (r *run) newShadow() *shadow {
	if r.used == len(r.shadows) {
		r.shadows = append(r.shadows, new(shadow))
	}
	c := r.shadows[r.used]
	r.used++
	*c = shadow{}
	return c
}
