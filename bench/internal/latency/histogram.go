// Package latency measures how long operations take, as those who wait for
// them see it.
//
// A Loop is open: operations are due at fixed times, whatever became of the
// ones before, and a latency counts from the time at which the operation was
// due. A subject that stalls delays all operations that were due in the
// meantime, and all of them count. Timing each from its own begin would make
// one sample of the whole stall (coordinated omission).
package latency

import (
	"math"
	"strconv"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Longest is the largest latency that is told apart; longer ones count as
// this long.
const Longest = time.Minute

// beyond is how many samples must lie beyond a percentile for it to say
// something.
const beyond = 10

// digits is the precision of a histogram.
const digits = 3

var percentiles = []float64{50, 90, 99, 99.9}

const maxUnit = "max-ns"

func unit(percentile float64) string {
	return "p" + strconv.FormatFloat(percentile, 'g', -1, 64) + "-ns"
}

// Units lists the units of latency rows. Less is better in all of them.
func Units() []string {
	var list []string
	for _, p := range percentiles {
		list = append(list, unit(p))
	}
	return append(list, maxUnit)
}

// Histogram counts latencies with three significant digits. It is not for
// concurrent use.
type Histogram struct{ h *hdrhistogram.Histogram }

// NewHistogram returns an empty histogram. It takes 200 KiB and does not grow.
func NewHistogram() *Histogram {
	return &Histogram{hdrhistogram.New(1, int64(Longest), digits)}
}

// Record counts one latency. It does not allocate.
func (h *Histogram) Record(d time.Duration) {
	if err := h.h.RecordValue(int64(min(max(d, 0), Longest))); err != nil {
		panic("latency: a value within the range was refused: " + err.Error())
	}
}

// Reset forgets all samples.
func (h *Histogram) Reset() { h.h.Reset() }

// Count returns the number of samples.
func (h *Histogram) Count() int { return int(h.h.TotalCount()) }

// Max returns the longest latency.
func (h *Histogram) Max() time.Duration { return time.Duration(h.h.Max()) }

// Percentile returns the latency that p per cent of the samples do not
// exceed, and false where fewer than ten samples lie beyond it. p has at most
// three decimals.
func (h *Histogram) Percentile(p float64) (time.Duration, bool) {
	const parts = 1000 // of one per cent: whole numbers, because 100-99.9 is not quite 0.1
	if share := int64(math.Round((100 - p) * parts)); h.h.TotalCount()*share < beyond*100*parts {
		return 0, false
	}
	return time.Duration(h.h.ValueAtPercentile(p)), true
}

// Report calls metric, which may be testing.B's ReportMetric, with each
// percentile that enough samples lie beyond, and with the longest latency.
func (h *Histogram) Report(metric func(value float64, unit string)) {
	if h.Count() == 0 {
		return
	}
	for _, p := range percentiles {
		if d, ok := h.Percentile(p); ok {
			metric(float64(d), unit(p))
		}
	}
	metric(float64(h.Max()), maxUnit)
}
