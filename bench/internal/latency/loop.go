package latency

import (
	"runtime"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
)

// looks is how many readings of the clock a loop on one processor makes
// before it lets others run.
const looks = 32

// Loop runs operations on a schedule and records their latencies. It is not
// for concurrent use.
type Loop struct {
	clock *clock.Clock
	every clock.Ticks
	h     *Histogram
}

// NewLoop returns a loop with an operation due every so often, whose
// latencies go to h.
func NewLoop(c *clock.Clock, every time.Duration, h *Histogram) *Loop {
	return &Loop{c, c.Ticks(every), h}
}

// Run calls op n times, with 0…n-1. The first call is due at once, and each
// waits until it is due. One that is late begins immediately, and its
// latency still counts from the time it was due.
//
// While it waits it looks at the clock all the time, so it needs a processor
// of its own. Where there is but one it yields now and then.
func (l *Loop) Run(n int, op func(i int)) {
	yields := runtime.GOMAXPROCS(0) == 1
	due := l.clock.Now()
	looked := 0
	for i := range n {
		for l.clock.Now() < due {
			if looked++; yields && looked >= looks {
				looked = 0
				runtime.Gosched()
			}
		}
		op(i)
		l.h.Record(l.clock.Duration(l.clock.Now() - due))
		due += l.every
	}
}
