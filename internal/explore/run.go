package explore

import (
	"fmt"
	"math/bits"
	"runtime/debug"
	"strings"
)

// maxSteps is how many shared operations one execution may make. Bodies that
// make more do not end, or wait without a Pause.
const maxSteps = 20000

// Program is one execution's worth of a configuration: all of its state is
// made by the Setup that returns it.
type Program struct {
	// Threads are the bodies, at most MaxThreads. They must not start
	// goroutines, block but in what this package instruments, or depend on
	// anything that differs from one execution to the next.
	Threads []func()
	// Check, if not nil, is called after all threads have ended and says what
	// is wrong with what they left. Nothing that it does is scheduled.
	Check func() error
}

// Fail ends the execution with a failure. For the bodies of threads.
func Fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// set is a set of threads.
type set uint8

func (s set) has(id int) bool { return s>>id&1 != 0 }
func (s set) first() int      { return bits.TrailingZeros8(uint8(s)) }
func one(id int) set          { return 1 << id }

// policy decides which thread goes next.
type policy interface {
	// pick returns one of the enabled threads, or -1 to give the execution up.
	pick(r *run, enabled set) int
	// end is called when the execution is over, before its threads are unwound.
	end(r *run)
}

// run makes executions of programs, one after the other.
type run struct {
	policy  policy
	threads []*thread
	nobody  [MaxThreads]Object // what no operation but a thread's own Pause is about

	// Of the present execution.
	program  Program
	live     set // threads that have not ended
	waiting  set // those of them whose operation may be disabled
	kinds    [MaxThreads]kind
	starting bool // threads run to their first operation
	aborting bool // threads are unwound
	tracing  bool // threads note where in the source they stand
	next     int  // who goes next, -1 if the driver is to look
	last     int  // who went last, -1 at first
	schedule []uint8
	failed   string // what is wrong
	complete bool   // all threads have ended
	cells    cells
	shadows  []*shadow
	used     int
	steps    int // of all executions
}

func newRun(p policy) *run { return &run{policy: p, cells: cells{}} }

// close ends the coroutines.
func (r *run) close() {
	for _, t := range r.threads {
		t.stop()
	}
}

// execute makes one execution of a program made by setup, and returns how it
// came out.
func (r *run) execute(setup func() Program) outcome {
	current = nil
	r.program = setup()
	if n := len(r.program.Threads); n == 0 || n > MaxThreads {
		panic(fmt.Sprintf("explore: a program has %d threads, legal are 1 to %d", n, MaxThreads))
	}
	r.live, r.waiting, r.last = 0, 0, -1
	r.failed, r.complete = "", false
	r.nobody = [MaxThreads]Object{}
	r.schedule = r.schedule[:0]
	clear(r.cells)
	r.used = 0
	r.start()
	for r.next = r.choose(); r.next >= 0; {
		r.let(r.threads[r.next])
	}
	r.policy.end(r)
	r.unwind()
	r.steps += len(r.schedule)
	if r.complete && r.program.Check != nil {
		r.check()
	}
	switch {
	case r.failed != "":
		return failed
	case r.complete:
		return completed
	}
	return abandoned
}

// check asks the program whether what the threads left is right.
func (r *run) check() {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			r.fail(string(p))
		default:
			r.fail(fmt.Sprintf("the check panicked: %v\n%s", p, debug.Stack()))
		}
	}()
	if err := r.program.Check(); err != nil {
		r.fail(err.Error())
	}
}

// outcome says how an execution ended.
type outcome uint8

const (
	completed outcome = iota // all threads ended
	abandoned                // the policy gave it up
	failed                   // see run.failed
)

// start brings every thread to its first operation.
func (r *run) start() {
	r.starting = true
	for id, body := range r.program.Threads {
		if id == len(r.threads) {
			r.threads = append(r.threads, newThread(r, id))
		}
		r.live |= one(id)
		r.threads[id].start(body)
		r.let(r.threads[id])
	}
	r.starting = false
}

// let runs a thread until the driver has to act.
func (r *run) let(t *thread) {
	current = t
	t.resume()
	current = nil
}

// unwind ends the threads that have not ended.
func (r *run) unwind() {
	r.aborting = true
	for _, t := range r.threads[:len(r.program.Threads)] {
		for !t.done {
			r.let(t)
		}
	}
	r.aborting = false
}

// reached notes that a thread stands before its operation.
func (r *run) reached(t *thread) {
	r.kinds[t.id] = t.op.kind
	if t.op.kind.waits() {
		r.waiting |= one(t.id)
	} else {
		r.waiting &^= one(t.id)
	}
}

// ended notes that a thread is through with its body.
func (r *run) ended(t *thread) {
	r.live &^= one(t.id)
	r.waiting &^= one(t.id)
	r.kinds[t.id] = opNone
}

// fail notes what is wrong with the execution; what comes first counts.
func (r *run) fail(text string) {
	if r.failed == "" {
		r.failed = text
	}
}

// choose returns the thread that goes next, or -1 if the execution is over.
// It runs on the coroutine of whoever got here, so that a thread that is
// chosen again just goes on.
func (r *run) choose() int {
	switch {
	case r.failed != "":
		return -1
	case r.live == 0:
		r.complete = true
		return -1
	}
	enabled := r.live
	for waiting := r.waiting; waiting != 0; waiting &= waiting - 1 {
		if t := r.threads[waiting.first()]; !t.op.enabled(t) {
			enabled &^= one(t.id)
		}
	}
	if enabled == 0 {
		r.fail("deadlock: " + r.state())
		return -1
	}
	if len(r.schedule) == maxSteps {
		r.fail(fmt.Sprintf("no end after %d operations: %s", maxSteps, r.state()))
		return -1
	}
	next := r.policy.pick(r, enabled)
	if r.failed != "" {
		return -1
	}
	if next >= 0 {
		r.schedule = append(r.schedule, uint8(next))
		r.last = next
	}
	return next
}

// state tells where the threads stand.
func (r *run) state() string {
	var list []string
	for live := r.live; live != 0; live &= live - 1 {
		id := live.first()
		list = append(list, fmt.Sprintf("thread %s stands before %s", name(id), r.kinds[id]))
	}
	return strings.Join(list, ", ")
}
