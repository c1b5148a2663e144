package explore

import "math/bits"

// A search without a bound would still begin most executions in vain if it
// tried every thread at every choice: sleep sets see only late that an order
// was seen before. So a choice starts with one thread, and another is added
// only where an execution shows a race: two dependent operations that nothing
// between them orders. Then the second must also be tried first. Which thread
// leads there with the least repetition is told by source sets (P. Abdulla,
// S. Aronis, B. Jonsson and K. Sagonas, Optimal Dynamic Partial Order
// Reduction, POPL 2014).

// event is an operation that was made in the present execution.
type event struct {
	thread int
	kind   kind
	number uint16 // it is the thread's number-th event
	prev   int    // the write of its object before it, -1 if there is none
	// clock tells for each thread how many of its events come before this one
	// in every order that is equal, this one included.
	clock clock
}

// trace is what the present execution did to an object, as places in the list
// of events.
type trace struct {
	of        *Object
	execution int
	write     int             // the last write, -1 if there is none
	reads     [MaxThreads]int // each thread's last read since, or last call of a history
	has       set             // threads with a read
	ends      [MaxThreads]int // each thread's last return of a history
	ended     set             // threads with a return
}

// sources finds the races of executions.
type sources struct {
	events []event
	now    [MaxThreads]clock // of each thread's last event
	traces []*trace          // in use again in each execution
	used   int
	number int   // of the execution
	stale  bool  // an object was met that an earlier execution has used
	before []int // what the operation at hand depends on
}

func (s *sources) reset() {
	s.events, s.used = s.events[:0], 0
	s.number++
	s.now = [MaxThreads]clock{}
}

// of returns the trace of an object. State that is not made anew by Setup would
// take executions for others, so it is noted.
func (s *sources) of(o *Object) *trace {
	if o.trace != nil {
		if o.trace.of == o && o.trace.execution == s.number {
			return o.trace
		}
		s.stale = true
	}
	if s.used == len(s.traces) {
		s.traces = append(s.traces, new(trace))
	}
	o.trace = s.traces[s.used]
	s.used++
	*o.trace = trace{of: o, execution: s.number, write: -1}
	return o.trace
}

// happen notes that thread id makes its operation now and, if the execution
// was not seen up to here before, adds what its races ask for.
func (d *tree) happen(r *run, id int, fresh bool) {
	s := &d.sources
	o := &r.threads[id].op
	e := s.next(id, o, d.writes)
	if fresh {
		d.races(id, o, &e)
	}
	at := len(s.events)
	s.events = append(s.events, e)
	s.now[id] = e.clock
	t := s.of(o.obj)
	switch {
	case o.kind == opReturn:
		t.ends[id], t.ended = at, t.ended|one(id)
	case o.kind == opCall || !d.writes(o):
		t.reads[id], t.has = at, t.has|one(id)
	default:
		t.write, t.has = at, 0
	}
	if o.also != nil {
		t := s.of(o.also)
		t.reads[id], t.has = at, t.has|one(id)
	}
}

// next returns the event that the operation of a thread would be, and leaves
// in s.before the events that it directly depends on.
func (s *sources) next(id int, o *op, writes func(*op) bool) event {
	s.before = s.before[:0]
	t := s.of(o.obj)
	e := event{thread: id, kind: o.kind, number: s.now[id][id] + 1, prev: t.write, clock: s.now[id]}
	each := func(of set, at *[MaxThreads]int) {
		for of &^= one(id); of != 0; of &= of - 1 {
			s.before = append(s.before, at[of.first()])
		}
	}
	switch {
	case o.kind == opCall:
		each(t.ended, &t.ends)
	case o.kind == opReturn:
		each(t.has, &t.reads)
	case t.has != 0 && writes(o):
		each(t.has, &t.reads)
	case t.write >= 0:
		s.before = append(s.before, t.write)
	}
	if o.also != nil {
		if t := s.of(o.also); t.write >= 0 {
			s.before = append(s.before, t.write)
		}
	}
	for _, at := range s.before {
		e.clock.join(&s.events[at].clock)
	}
	e.clock[id] = e.number
	return e
}

// races adds to earlier choices what is needed to make the event e of thread
// id before events that it depends on.
func (d *tree) races(id int, o *op, e *event) {
	for _, at := range d.before {
		d.race(at, id, o, e)
	}
}

// race sees to it that e is also made before event number at, unless that
// happens before it through what the thread did earlier.
func (d *tree) race(at, id int, o *op, e *event) {
	known := &d.now[id]
	for ; at >= 0; at = d.events[at].prev {
		first := &d.events[at]
		if first.thread == id || known[first.thread] >= first.number {
			return
		}
		// A lock cannot be had before the unlock that it waited for. What it
		// races with comes before that: the lock that was unlocked.
		if o.kind != opLock || d.events[at].kind != opUnlock {
			d.want(&d.path[at], at, e)
		}
		// A park may be impossible before the wake-up that it got. Then it
		// races with whoever got the wake-up before. To try too much is
		// harmless.
		if !o.kind.waits() || o.kind == opLock && d.events[at].kind == opLock {
			return
		}
	}
}

// want adds to the choice n, where event number at was made, a thread that
// leads to e before that: one that can go first in what came since, without
// what depends on the event. If one of them is tried or sleeps there already,
// that is enough.
func (d *tree) want(n *node, at int, e *event) {
	var firsts clock // the number of each thread's first event in the part
	var seen, initials set
	leads := func(x *event) {
		if seen.has(x.thread) {
			return
		}
		seen |= one(x.thread)
		for id, f := range firsts {
			if f != 0 && x.clock[id] >= f {
				return
			}
		}
		initials |= one(x.thread)
	}
	made := &d.events[at]
	for i := at + 1; i < len(d.events); i++ {
		x := &d.events[i]
		if x.clock[made.thread] >= made.number {
			continue
		}
		leads(x)
		if firsts[x.thread] == 0 {
			firsts[x.thread] = x.number
		}
	}
	leads(e)
	switch {
	case initials&^n.enabled != 0:
		n.wanted |= n.enabled // somebody has to be let go first; try all
	case initials&(n.wanted|n.sleep) == 0:
		n.wanted |= one(bits.TrailingZeros8(uint8(initials)))
	}
}

// stuck finds the races of operations that were never made because their
// threads wait for ever.
func (d *tree) stuck(r *run) {
	for waiting := r.waiting; waiting != 0; waiting &= waiting - 1 {
		id := waiting.first()
		o := &r.threads[id].op
		e := d.sources.next(id, o, d.writes)
		d.races(id, o, &e)
	}
}
