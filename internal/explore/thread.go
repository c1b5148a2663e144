package explore

import (
	"fmt"
	"iter"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
)

// current is the thread that is running, nil outside of threads. There is one
// driver in a process and it runs one coroutine at a time, so nothing guards
// it.
var current *thread

// thread is a coroutine that runs one body per execution.
type thread struct {
	id    int
	run   *run
	op    op // what it is about to do
	clock clock
	// reads are the locations that the thread has loaded since it last wrote
	// or paused. wrote says that it has written since it last paused.
	reads []reading
	wrote bool
	body  func()
	done  bool
	where string // in the source, when the run is traced

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

type reading struct {
	obj     *Object
	version uint32
}

// abort unwinds a thread whose execution is over. It is raised again by every
// later operation, so deferred calls end as well.
type abort struct{}

// failure is raised by a thread that found something wrong.
type failure string

func newThread(r *run, id int) *thread {
	t := &thread{id: id, run: r}
	t.resume, t.stop = iter.Pull(t.loop)
	t.resume()
	return t
}

// loop runs bodies for ever: making a coroutine costs more than most
// executions.
func (t *thread) loop(yield func(struct{}) bool) {
	t.yield = yield
	for yield(struct{}{}) {
		t.perform()
		if r := t.run; !r.starting && !r.aborting {
			r.next = r.choose()
		}
	}
}

// start makes the thread ready to run a body from its beginning.
func (t *thread) start(body func()) {
	t.body, t.done, t.wrote = body, false, false
	t.reads = t.reads[:0]
	t.op = op{}
	t.clock = clock{}
	t.clock[t.id] = 1
}

// perform runs the body to its end, whatever that is.
func (t *thread) perform() {
	returned := false
	defer func() {
		current = nil
		t.done = true
		t.run.ended(t)
		p := recover()
		if _, aborted := p.(abort); aborted || returned || t.run.aborting {
			return
		}
		switch p := p.(type) {
		case nil:
			t.run.fail(fmt.Sprintf("thread %s called runtime.Goexit, which a body must not", name(t.id)))
		case failure:
			t.run.fail(string(p))
		default:
			t.run.fail(fmt.Sprintf("thread %s panicked: %v\n%s", name(t.id), p, debug.Stack()))
		}
	}()
	t.body()
	returned = true
}

// reach stops the thread before an operation until the search lets it go on.
func (t *thread) reach(o op) {
	r := t.run
	if r.aborting {
		panic(abort{})
	}
	t.op = o
	if r.tracing {
		t.where = caller()
	}
	r.reached(t)
	if !r.starting {
		r.next = r.choose()
		if r.next == t.id {
			return
		}
	}
	if !t.yield(struct{}{}) || r.aborting {
		panic(abort{})
	}
}

// learn is what a thread that reads a location gets to know.
func (t *thread) learn(o *Object) {
	t.clock.join(&o.clock)
	t.reads = append(t.reads, reading{o, o.version})
}

// tell leaves word of the thread at a location that it writes. What the
// location told before is gone unless the thread has learned it.
func (t *thread) tell(o *Object) {
	o.clock = t.clock
	o.version++
	t.clock[t.id]++
	t.wrote = true
	t.reads = t.reads[:0]
}

// news reports whether a paused thread has a reason to go on.
func (t *thread) news() bool {
	for _, r := range t.reads {
		if r.obj.version != r.version {
			return true
		}
	}
	return t.wrote
}

// Pause is called in each round of a loop that waits for others. The thread
// sleeps until a location that it has read in the round is written. It goes
// on at once if one was, or if the round itself has written: only rounds
// without side effects are equal to each other. A thread that nobody wakes is
// deadlocked.
func Pause() {
	t := current
	if t == nil {
		panic("explore: Pause outside of a thread would wait for ever")
	}
	t.reach(op{kind: opPause, obj: &t.run.nobody[t.id]})
	t.wrote = false
	t.reads = t.reads[:0]
}

// name returns the letter of a thread.
func name(id int) string { return string(rune('a' + id)) }

// caller returns the function and line, outside of this package and of
// internal/atomics, that makes an operation.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		own := strings.Contains(f.File, "/internal/explore/") && !strings.HasSuffix(f.File, "_test.go")
		if !own && !strings.Contains(f.File, "/internal/atomics/") || !more {
			return fmt.Sprintf("%s %s:%d", path.Base(f.Function), path.Base(f.File), f.Line)
		}
	}
}

// describe says what the thread is about to do, and where.
func (t *thread) describe() string {
	text := t.op.kind.String()
	if t.op.kind == opCompare && !t.op.succeeds() {
		text += " that fails"
	}
	return fmt.Sprintf("%s %-28s %s", name(t.id), text, t.where)
}
