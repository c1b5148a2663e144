// Package clock reads the time for latencies of nanoseconds.
//
// Where the processor has a time-stamp counter of constant rate, the clock is
// that counter, calibrated once against the monotonic clock; elsewhere, and
// where the counter turns out not to be a clock, it is the monotonic clock
// itself. hrtime.Now is not used because it reads the wall clock on most
// systems, which can be set back.
//
// The counter is read with RDTSCP, which waits for the instructions before it:
// what is measured has ended when the end is read.
package clock

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/loov/hrtime"
)

// CalibrationTime is for how long a counter is compared with the monotonic
// clock.
const CalibrationTime = 100 * time.Millisecond

// maxUneven is by how much the rates of the two halves of a calibration may
// differ.
const maxUneven = 0.005

// Ticks is a reading of a clock, or the difference of two.
type Ticks int64

// Clock is a source of readings. It does not change after its creation, so
// that any goroutine may read it.
type Clock struct {
	read   func() uint64
	nanos  float64 // nanoseconds of a tick
	source string
}

// New returns a clock that reads read, with so many nanoseconds a tick.
func New(source string, read func() uint64, nanos float64) *Clock {
	return &Clock{read: read, nanos: nanos, source: source}
}

// System returns the clock of this machine. The first call takes
// CalibrationTime where there is a counter.
var System = sync.OnceValue(func() *Clock { return choose(hrtime.TSCSupported(), hrtime.RDTSCP) })

func choose(supported bool, counter func() uint64) *Clock {
	if supported {
		if c, err := Calibrated("tsc", counter); err == nil {
			return c
		}
	}
	return Monotonic()
}

// Monotonic returns a clock that reads the runtime's monotonic clock.
func Monotonic() *Clock {
	epoch := time.Now()
	return New("monotonic", func() uint64 { return uint64(time.Since(epoch)) }, 1)
}

// Calibrated returns a clock that reads a counter, after comparing it with the
// monotonic clock for CalibrationTime. A counter that does not advance, or
// not evenly, is refused.
func Calibrated(source string, counter func() uint64) (*Clock, error) {
	begin := read(counter)
	time.Sleep(CalibrationTime / 2)
	middle := read(counter)
	time.Sleep(CalibrationTime / 2)
	end := read(counter)
	first, second := rate(begin, middle), rate(middle, end)
	if first <= 0 || second <= 0 || math.Abs(first/second-1) > maxUneven {
		return nil, fmt.Errorf("clock: %s took %.4g and then %.4g nanoseconds a tick, want two equal figures above 0", source, first, second)
	}
	return New(source, counter, rate(begin, end)), nil
}

// pair is a reading of the monotonic clock and of a counter at one time.
type pair struct {
	at    time.Time
	ticks uint64
}

// read takes the pair whose two readings of the monotonic clock are closest
// to each other: another process may run in between.
func read(counter func() uint64) pair {
	const tries = 32
	var best pair
	closest := time.Duration(math.MaxInt64)
	for range tries {
		before := time.Now()
		ticks := counter()
		if d := time.Since(before); d < closest {
			closest = d
			best = pair{before.Add(d / 2), ticks}
		}
	}
	return best
}

// rate returns the nanoseconds of a tick between two pairs, 0 if there was no
// tick.
func rate(from, to pair) float64 {
	ticks := int64(to.ticks - from.ticks)
	if ticks == 0 {
		return 0
	}
	return float64(to.at.Sub(from.at)) / float64(ticks)
}

// Now reads the clock.
func (c *Clock) Now() Ticks { return Ticks(c.read()) }

// Duration converts a difference of readings.
func (c *Clock) Duration(t Ticks) time.Duration {
	return time.Duration(math.Round(float64(t) * c.nanos))
}

// Ticks converts a duration to a difference of readings.
func (c *Clock) Ticks(d time.Duration) Ticks { return Ticks(math.Round(float64(d) / c.nanos)) }

// Source names what the clock reads: "tsc" or "monotonic" for those of this
// package.
func (c *Clock) Source() string { return c.source }
