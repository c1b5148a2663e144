package explore

// History records the operations of one execution as its threads see them:
// which one ended before which other began. It is part of a program's state,
// made in Setup.
//
// That order is itself something threads do, so recording takes two steps per
// operation, and the search tells executions apart that differ in it alone.
// Recording adds no happens-before: two threads learn nothing from it.
type History struct {
	object Object
	Made   []Operation // in the order they began
	clock  int64
}

// Operation is one recorded operation.
type Operation struct {
	Thread       int
	Input        any
	Output       any
	Call, Return int64 // on one clock
}

// Do records f as an operation of the calling thread: its input, and as its
// output what f returns. In Setup it records nothing but the operation.
func (h *History) Do(input any, f func() any) {
	t := current
	thread := -1
	if t != nil {
		thread = t.id
		t.reach(op{kind: opCall, obj: &h.object})
	}
	i := len(h.Made)
	h.clock++
	h.Made = append(h.Made, Operation{Thread: thread, Input: input, Call: h.clock})
	output := f()
	if t != nil {
		t.reach(op{kind: opReturn, obj: &h.object})
	}
	h.clock++
	h.Made[i].Output, h.Made[i].Return = output, h.clock
}
