package checkpoint

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/mpsc"
)

// LeakKind says what was done wrong with the handles of a batch.
type LeakKind uint8

const (
	// LeakUnreachable: every handle of the batch is gone and it was never
	// resolved. It would hold its partition back for ever.
	LeakUnreachable LeakKind = iota
	// LeakOverReleased: the batch was released more often than it was held.
	LeakOverReleased
)

// String returns unreachable or over-released.
func (k LeakKind) String() string {
	switch k {
	case LeakUnreachable:
		return "unreachable"
	case LeakOverReleased:
		return "over-released"
	}
	return fmt.Sprintf("LeakKind(%d)", uint8(k))
}

// Leak is one mistake with the handles of a batch.
type Leak struct {
	// Kind is what was done wrong.
	Kind LeakKind
	// Batch is the batch it was done with, LastOffset its highest offset.
	Batch      BatchID
	LastOffset int64
	// Holds is the number of holds that nobody will release, or that of
	// the releases that were too many in one call.
	Holds int
	// Site is where the batch was issued.
	Site Site
	// Label is what Issuer.SetLabel said when it was issued.
	Label string
	// Failed says that the batch was failed for being lost, see
	// WithLeakedFailed.
	Failed bool
}

// Site is a place in the source of the program.
type Site struct {
	Function string // with its package path
	File     string // as the compiler was given it
	Line     int    // in that file
}

// String returns the form file:line (function).
func (s Site) String() string { return fmt.Sprintf("%s:%d (%s)", s.File, s.Line, s.Function) }

// String returns one line for people.
func (l Leak) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v batch %v with last offset %d: ", l.Kind, l.Batch, l.LastOffset)
	if l.Kind == LeakUnreachable {
		fmt.Fprintf(&b, "%d holds lost", l.Holds)
	} else {
		fmt.Fprintf(&b, "%d releases too many", l.Holds)
	}
	fmt.Fprintf(&b, ", issued at %v", l.Site)
	if l.Label != "" {
		fmt.Fprintf(&b, ", label %q", l.Label)
	}
	if l.Failed {
		b.WriteString(", failed")
	}
	return b.String()
}

// WithLeakReport has report called for every batch whose handles became
// unreachable before it was resolved, and for every release of a batch that
// was resolved already, each with the place that issued the batch: the first
// caller outside of this package. Untracked batches are watched as well. nil
// and the default: no reports, which costs nothing.
//
// With it each Issue allocates, takes a mutex for a moment and notes its
// callers, which makes it many times as expensive; a handle that is done costs
// memory until the garbage collector has found it. It is for tests, and for
// finding out in production.
//
// A lost handle is reported after the garbage collector has found it, which can
// take long in an idle program. report runs on a goroutine of the runtime that
// runs the cleanups of the whole program, or, for a release that was too many,
// on the goroutine that released. It must not block, and several goroutines
// may call it at once. It may call any method of the Checkpointer.
func WithLeakReport(report func(Leak)) Option {
	return func(c *Checkpointer) {
		if report != nil {
			c.watchLeaks().report = report
		}
	}
}

// WithLeakedFailed fails and releases a batch whose handles became unreachable:
// it becomes a failed head, which Stalled reports and SkipFailed can let pass,
// instead of one that is pending for ever. A batch whose holds are saturated
// stays as it is. It costs what WithLeakReport costs, with which it goes well
// together; the batch is failed before it is reported.
func WithLeakedFailed() Option {
	return func(c *Checkpointer) { c.watchLeaks().fail = true }
}

func (c *Checkpointer) watchLeaks() *leakWatch {
	if c.leaks == nil {
		c.leaks = &leakWatch{report: func(Leak) {}, issued: map[leakKey]origin{}}
	}
	return c.leaks
}

// leakWatch knows where the batches were issued of which there are handles.
type leakWatch struct {
	report func(Leak)
	fail   bool
	// unreachable and over count leaks. Whoever finds one adds; Snapshot loads.
	unreachable, over atomics.Uint64

	mu     atomics.Mutex // guards issued
	issued map[leakKey]origin
}

// leakKey names a batch among all admissions.
type leakKey struct {
	lane *lane
	seq  uint64
}

// origin is where a batch comes from.
type origin struct {
	label   string
	offset  int64      // the last one of the batch
	callers [8]uintptr // from this package's own on, far enough to leave it
}

// watch returns a reservation of the same cell that is missed when it is lost.
func (w *leakWatch) watch(cell mpsc.Reservation[int64, lane], lastOffset int64, label string) mpsc.Reservation[int64, lane] {
	o := origin{label: label, offset: lastOffset}
	runtime.Callers(3, o.callers[:]) // without Callers, watch and Issuer.ack
	w.mu.Lock()
	w.issued[leakKey{cell.Owner(), cell.Seq()}] = o
	w.mu.Unlock()
	return cell.Watched(w.lost)
}

// lost runs when no handle of the batch is left.
func (w *leakWatch) lost(cell mpsc.Reservation[int64, lane]) {
	key := leakKey{cell.Owner(), cell.Seq()}
	w.mu.Lock()
	o := w.issued[key]
	delete(w.issued, key)
	w.mu.Unlock()
	l := Leak{Kind: LeakUnreachable, Batch: key.lane.id(key.seq), LastOffset: o.offset, Holds: cell.Holds(), Label: o.label}
	if l.Holds == 0 {
		return
	}
	if w.fail {
		cell.ReleaseN(l.Holds, true)
		l.Failed = cell.Holds() == 0
	}
	l.Site = o.site()
	w.unreachable.Add(1)
	w.report(l)
}

// overReleased runs when n releases of a batch were too many.
func (w *leakWatch) overReleased(key leakKey, n int) {
	w.mu.Lock()
	o := w.issued[key]
	w.mu.Unlock()
	w.over.Add(uint64(n))
	w.report(Leak{Kind: LeakOverReleased, Batch: key.lane.id(key.seq), LastOffset: o.offset, Holds: n, Site: o.site(), Label: o.label})
}

// ownPrefix begins the names of this package's functions.
var ownPrefix = reflect.TypeFor[Ack]().PkgPath() + "."

// site returns the first caller outside of this package.
func (o *origin) site() Site {
	n := 0
	for n < len(o.callers) && o.callers[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(o.callers[:n])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, ownPrefix) || !more {
			return Site{Function: f.Function, File: f.File, Line: f.Line}
		}
	}
}
