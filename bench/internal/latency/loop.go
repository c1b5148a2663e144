package latency

import (
	"runtime"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
)

const (
	// looks is how many readings of the clock a loop on one processor makes
	// before it lets others run.
	looks = 32

	// Hiccup is the shortest time between two readings of the clock, with no
	// operation between them, in which the loop counts as not having run.
	Hiccup = 10 * time.Microsecond
)

// Loop runs operations on a schedule and records their latencies. It is not
// for concurrent use.
type Loop struct {
	clock  *clock.Clock
	every  clock.Ticks
	hiccup clock.Ticks
	h      *Histogram
	lost   clock.Ticks
}

// NewLoop returns a loop with an operation due every so often, whose
// latencies go to h.
func NewLoop(c *clock.Clock, every time.Duration, h *Histogram) *Loop {
	return &Loop{clock: c, every: c.Ticks(every), hiccup: c.Ticks(Hiccup), h: h}
}

// Run calls op n times, with 0…n-1. The first call is due at once, and each
// waits until it is due. One that is late begins immediately, and its
// latency still counts from the time it was due.
//
// While it waits it looks at the clock all the time, so it needs a processor
// of its own. Where there is but one it yields now and then. When the system
// takes its processor away between two operations, no load is made, and the
// schedule moves by that time: it says nothing of the subject. Within an
// operation it counts, whatever was the reason.
func (l *Loop) Run(n int, op func(i int)) {
	yields := runtime.GOMAXPROCS(0) == 1
	last := l.clock.Now()
	due := last
	looked := 0
	for i := range n {
		for {
			now := l.clock.Now()
			if gap := now - last; gap >= l.hiccup {
				due += gap
				l.lost += gap
			}
			if last = now; now >= due {
				break
			}
			if looked++; yields && looked >= looks {
				looked = 0
				runtime.Gosched()
			}
		}
		op(i)
		last = l.clock.Now()
		l.h.Record(l.clock.Duration(last - due))
		due += l.every
	}
}

// Lost returns by how much the schedules of all runs have moved.
func (l *Loop) Lost() time.Duration { return l.clock.Duration(l.lost) }
