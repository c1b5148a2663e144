package timing

import (
	"time"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// Observer takes samples in seconds. A Prometheus histogram is one.
type Observer interface {
	Observe(seconds float64) // called by Guard.Close on its goroutine
}

// Histograms are where a guard's durations go besides the ledger. Nil fields
// are skipped.
type Histograms struct {
	PipelineStall Observer // gets every pause
	LocalBarrier  Observer // gets every pause
	AlignedResume Observer // gets the pauses with an aligned stage
}

// Guard measures one pause and publishes it, as a whole, when it is closed.
// It belongs to one goroutine. Durations are of the monotonic clock: steps of
// the wall clock do not matter. Make one with StartGuard and defer its Close.
type Guard struct {
	ledger     *Ledger
	histograms Histograms
	start      time.Time     // with a monotonic reading
	budget     time.Duration // from start to the deadline
	deadline   bool          // there is a deadline

	local   NullDuration  // the local barrier, once it is finished
	begun   bool          // the aligned stage has begun
	aligned NullDuration  // the aligned stage, once it is finished
	since   time.Duration // when the aligned stage began, from start
	handoff bool
	invalid bool // stages were begun or finished out of turn
	closed  bool

	place   int     // in the ledger's list of open guards, -1 if not there
	context Context // written once by StartGuard, before known is set
	// known says that context is there: false → true, once, by StartGuard.
	// Ledger.OpenGuards loads it before it reads context.
	known atomics.Bool
}

// StartGuard starts to measure a pause. The clock is read before context
// runs, so what context costs counts. The deadline is that of the attempt;
// the zero time never passes. If context is nil, returns false, or panics,
// the pause counts as one loss in the ledger; histograms get its samples all
// the same. If context panics, the pause ends at once and the panic goes on.
//
// It allocates the guard and never waits for anything but context.
func StartGuard(l *Ledger, h Histograms, deadline time.Time, context func() (Context, bool)) *Guard {
	if l == nil {
		panic("timing: StartGuard needs a Ledger; make one with NewLedger")
	}
	start := time.Now()
	g := &Guard{ledger: l, histograms: h, start: start}
	if !deadline.IsZero() {
		g.budget, g.deadline = deadline.Sub(start), true
	}
	g.place = l.open.add(g)
	if context == nil {
		return g
	}
	returned := false
	defer func() {
		if !returned {
			g.Close() // context panicked: nobody else has the guard
		}
	}()
	c, ok := context()
	returned = true
	if ok {
		atomics.Write(&g.context)
		g.context = c
		g.known.Store(true) // from here on OpenGuards reads context
	}
	return g
}

// FinishLocalBarrierWithHandoff ends the local barrier, which has produced a
// durable-tail handoff. Only the first call counts.
func (g *Guard) FinishLocalBarrierWithHandoff() {
	if g.closed {
		return
	}
	g.handoff = true
	if !g.local.Valid {
		g.local = NullDuration{Duration: time.Since(g.start), Valid: true}
	}
}

// BeginAlignedResume begins the wait for an aligned resume. To begin it a
// second time makes the durations invalid: the ledger will count a loss.
func (g *Guard) BeginAlignedResume() {
	if g.closed {
		return
	}
	if g.begun {
		g.invalid = true
		return
	}
	g.begun = true
	g.since = time.Since(g.start)
}

// FinishAlignedResume ends the wait for an aligned resume. To end one that
// was not begun, or to end it twice, makes the durations invalid: the ledger
// will count a loss.
func (g *Guard) FinishAlignedResume() {
	if g.closed {
		return
	}
	if !g.begun || g.aligned.Valid {
		g.invalid = true
		return
	}
	g.aligned = NullDuration{Duration: time.Since(g.start) - g.since, Valid: true}
}

// Close ends the pause, with the stages that are unfinished, and publishes
// it: the local and stall histograms get a sample each, the aligned one if
// that stage ran, and the ledger gets a record or counts a loss. Nothing is
// published before. Later calls do nothing. Close is made for defer, also
// while the goroutine panics. A panic of an observer keeps nothing else from
// being published; it goes on afterwards.
func (g *Guard) Close() {
	if g.closed {
		return
	}
	g.closed = true
	stall := time.Since(g.start) // the one reading that serves all
	if !g.local.Valid {
		g.local = NullDuration{Duration: stall, Valid: true}
	}
	if g.begun && !g.aligned.Valid {
		g.aligned = NullDuration{Duration: stall - g.since, Valid: true}
	}
	// Deferred calls run in reverse order, and each runs even if the one
	// before it panics.
	defer g.ledger.open.remove(g)
	defer g.record(stall)
	defer observe(g.histograms.PipelineStall, stall)
	if g.aligned.Valid {
		defer observe(g.histograms.AlignedResume, g.aligned.Duration)
	}
	observe(g.histograms.LocalBarrier, g.local.Duration)
}

func observe(o Observer, d time.Duration) {
	if o != nil {
		o.Observe(d.Seconds())
	}
}

// record gives the pause to the ledger.
func (g *Guard) record(stall time.Duration) {
	if g.invalid || !g.known.Load() {
		g.ledger.NoteLoss()
		return
	}
	g.ledger.TryRecord(Observation{
		Context:            g.context,
		PipelineStall:      stall,
		LocalBarrier:       g.local.Duration,
		AlignedResume:      g.aligned,
		DurableTailHandoff: g.handoff,
		DeadlineExhausted:  g.deadline && stall >= g.budget,
	})
}
