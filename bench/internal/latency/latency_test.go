package latency

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reported returns what a histogram reports, by unit.
func reported(h *Histogram) map[string]float64 {
	got := map[string]float64{}
	h.Report(func(v float64, unit string) { got[unit] = v })
	return got
}

func TestPercentilesNeedTenSamplesBeyondThem(t *testing.T) {
	for n, want := range map[int][]string{
		1:      {"max-ns"},
		19:     {"max-ns"},
		20:     {"max-ns", "p50-ns"},
		99:     {"max-ns", "p50-ns"},
		100:    {"max-ns", "p50-ns", "p90-ns"},
		999:    {"max-ns", "p50-ns", "p90-ns"},
		1000:   {"max-ns", "p50-ns", "p90-ns", "p99-ns"},
		9999:   {"max-ns", "p50-ns", "p90-ns", "p99-ns"},
		10_000: {"max-ns", "p50-ns", "p90-ns", "p99-ns", "p99.9-ns"},
	} {
		h := NewHistogram()
		for range n {
			h.Record(100)
		}
		if got := slices.Sorted(maps.Keys(reported(h))); !slices.Equal(got, want) {
			t.Errorf("with %d samples: %v, want %v", n, got, want)
		}
	}
	if got := reported(NewHistogram()); len(got) != 0 {
		t.Errorf("without samples: %v, want nothing", got)
	}
}

func TestPercentilesAreThoseOfTheSamples(t *testing.T) {
	h := NewHistogram()
	for i := range 100_000 {
		h.Record(time.Duration(i + 1))
	}
	for unit, want := range map[string]float64{"p50-ns": 50_000, "p90-ns": 90_000, "p99-ns": 99_000, "p99.9-ns": 99_900, "max-ns": 100_000} {
		if got := reported(h)[unit]; math.Abs(got/want-1) > 0.002 {
			t.Errorf("%s is %v, want %v within 0.2 %%", unit, got, want)
		}
	}
	if n := h.Count(); n != 100_000 {
		t.Errorf("count is %d, want 100000", n)
	}
	h.Reset()
	if n := h.Count(); n != 0 {
		t.Errorf("count after a reset is %d, want 0", n)
	}
}

func TestSamplesOutOfRangeCountAtItsEnds(t *testing.T) {
	h := NewHistogram()
	for range 10 {
		h.Record(-time.Hour)
		h.Record(time.Hour)
	}
	got := reported(h)
	if h.Count() != 20 || got["p50-ns"] != 0 || math.Abs(got["max-ns"]/float64(Longest)-1) > 0.002 {
		t.Errorf("%d samples, %v; want 20, p50 0, max %d", h.Count(), got, Longest)
	}
}

func TestRowsReportTheDeclaredUnits(t *testing.T) {
	var f fake
	l := NewLoop(f.clock(), time.Microsecond, NewHistogram())
	r := testing.Benchmark(func(b *testing.B) {
		l.Run(10_000, func(int) {})
		l.Report(b)
	})
	if got, want := slices.Sorted(maps.Keys(r.Extra)), slices.Sorted(slices.Values(append(Units(), "ns/op"))); !slices.Equal(got, want) {
		t.Errorf("reports %v, declares %v", got, want)
	}
}

// fake is a clock that goes on by itself a little with each reading, as the
// reading takes time, and otherwise when it is told to.
type fake struct{ now uint64 }

const reading = 10 // nanoseconds

func (f *fake) clock() *clock.Clock {
	return clock.New("fake", func() uint64 { f.now += reading; return f.now }, 1)
}

// above returns how many samples of h are longer than d.
func above(h *Histogram, d time.Duration) int {
	n := int64(0)
	for _, bar := range h.h.Distribution() {
		if bar.From > int64(d) {
			n += bar.Count
		}
	}
	return int(n)
}

// The time in which a subject stalls counts for all operations that were to
// begin in it, not for the one that stalled alone. Timing each operation from
// its own begin hides it: there a stall of 10 ms in 20 ms is one sample.
func TestAStallCountsForEveryOperationItDelays(t *testing.T) {
	const (
		every = time.Microsecond
		stall = 10 * time.Millisecond
		cost  = 100
		n     = 20_000
		at    = 5000
	)
	var f fake
	fromIntended, fromBegin := NewHistogram(), NewHistogram()
	l := NewLoop(f.clock(), every, fromIntended)
	l.Run(n, func(i int) {
		began := f.now
		f.now += cost
		if i == at {
			f.now += uint64(stall)
		}
		fromBegin.Record(time.Duration(f.now - began))
	})
	if fromIntended.Count() != n {
		t.Fatalf("%d samples, want %d", fromIntended.Count(), n)
	}
	// Behind the stall each operation takes cost and three readings at most,
	// and gains the rest of its microsecond.
	gained := float64(every - cost - 3*reading)
	atLeast := float64(stall) / float64(every) / n // the share that was to begin in the stall
	p50, _ := fromIntended.Percentile(50)
	p99, _ := fromIntended.Percentile(99)
	p999, _ := fromIntended.Percentile(99.9)
	if atLeast != 0.5 || p50 < time.Duration(0.05*float64(stall)) {
		t.Errorf("from the intended time the median is %v, want a good part of the stall of %v: it delays half of all", p50, stall)
	}
	if lowest := float64(stall) - 0.01*n*float64(every); float64(p99) < lowest || p99 > stall {
		t.Errorf("from the intended time p99 is %v, want %v to %v", p99, time.Duration(lowest), stall)
	}
	if longest := fromIntended.Max(); longest < stall || longest > stall+stall/100 {
		t.Errorf("from the intended time the longest is %v, want %v", longest, stall)
	}
	if hidden, _ := fromBegin.Percentile(99.9); hidden > 2*cost || p999 < 1000*hidden {
		t.Errorf("from the begin p99.9 is %v, from the intended time %v: want the first blind to the stall", hidden, p999)
	}
	delayed := 0
	for us := range n {
		if float64(stall)-float64(us)*gained > 0 {
			delayed++
		}
	}
	if got := above(fromIntended, 2*cost); got < delayed*98/100 || got > delayed*105/100 {
		t.Errorf("%d operations were late, want %d", got, delayed)
	}
}

func TestOperationsBeginNoEarlierThanIntended(t *testing.T) {
	var f fake
	h := NewHistogram()
	l := NewLoop(f.clock(), time.Microsecond, h)
	var began []uint64
	l.Run(1000, func(int) { began = append(began, f.now) })
	for i, at := range began {
		if intended := began[0] + uint64(i)*1000; at+reading < intended || at > intended+2*reading {
			t.Fatalf("operation %d began at %d, want %d", i, at, intended)
		}
	}
	// A second run has a schedule of its own: the time between counts not.
	f.now += uint64(time.Hour)
	l.Run(1000, func(int) {})
	if h.Count() != 2000 || h.Max() > 5*reading || l.Lost() != 0 {
		t.Errorf("%d samples up to %v, %v lost; want 2000 up to %d ns, none lost", h.Count(), h.Max(), l.Lost(), 5*reading)
	}
}

// While the loop does not run it makes no load: the schedule waits for it.
func TestAHiccupOfTheLoopCountsForNoOperation(t *testing.T) {
	const every, hiccup, n, at = 1000, uint64(5 * time.Millisecond), 10_000, 3000
	var f fake
	readings := 0
	c := clock.New("fake", func() uint64 {
		f.now += reading
		// In an operation there are no readings, so this one is outside.
		if readings++; readings == at {
			f.now += hiccup
		}
		return f.now
	}, 1)
	h := NewHistogram()
	l := NewLoop(c, every, h)
	l.Run(n, func(int) { f.now += 100 })
	if h.Count() != n || h.Max() > 200 {
		t.Errorf("%d operations took up to %v, want %d up to 200 ns", h.Count(), h.Max(), n)
	}
	if got := l.Lost(); got < time.Duration(hiccup) || got > time.Duration(hiccup)+2*reading {
		t.Errorf("lost is %v, want %v", got, time.Duration(hiccup))
	}
	if got := l.lostShare(); got < 0.33 || got > 0.34 {
		t.Errorf("the share of lost time is %v, want 5 ms of 15 ms", got)
	}
}

// The same gap in an operation counts, and moves nothing.
func TestAHiccupInAnOperationCounts(t *testing.T) {
	var f fake
	h := NewHistogram()
	l := NewLoop(f.clock(), time.Microsecond, h)
	l.Run(100, func(i int) {
		if i == 7 {
			f.now += uint64(5 * time.Millisecond)
		}
	})
	if h.Max() < 5*time.Millisecond || l.Lost() != 0 {
		t.Errorf("the longest is %v and %v are lost, want 5 ms and 0", h.Max(), l.Lost())
	}
}

func TestTheMeasuredPathDoesNotAllocate(t *testing.T) {
	l := NewLoop(clock.System(), 100*time.Nanosecond, NewHistogram())
	sum := 0
	if n := testing.AllocsPerRun(10, func() { l.Run(1000, func(i int) { sum += i }) }); n != 0 {
		t.Errorf("1000 operations allocate %v times", n)
	}
}

// A round has the pause at its begin, in which the consumer does nothing.
func TestARoundPausesTheConsumerFirst(t *testing.T) {
	const pause = 20 * time.Millisecond
	var log []string
	ops := 0
	// The producer's first look at the clock begins its schedule, and comes
	// before anybody knows that it has begun.
	var first time.Time
	looking := clock.New("looking", func() uint64 {
		if first.IsZero() {
			first = time.Now()
		}
		return uint64(time.Since(first))
	}, 1)
	l := NewLoop(looking, 10*time.Nanosecond, NewHistogram())
	Stall{
		Pause:   pause,
		Prepare: func() { log = append(log, "prepare") },
		Op:      func(int) { ops++ },
		Consume: func(done <-chan struct{}) {
			if took := time.Since(first); first.IsZero() || took < pause {
				t.Errorf("the consumer began %v after the producer, want %v", took, pause)
			}
			<-done
			log = append(log, "consume")
		},
		Finish: func() { log = append(log, "finish") },
	}.Round(l)
	if want := []string{"prepare", "consume", "finish"}; ops != StallOps || !slices.Equal(log, want) {
		t.Errorf("%d operations, %v; want %d, %v", ops, log, StallOps, want)
	}
	if l.h.Count() != StallOps {
		t.Errorf("%d samples, want %d", l.h.Count(), StallOps)
	}
}

// On one processor whoever waits for the schedule lets others run, or the
// consumer would never come to its end.
func TestWaitingLetsOthersRunOnOneProcessor(t *testing.T) {
	onProcessors(t, 1)
	l := NewLoop(clock.System(), 100*time.Microsecond, NewHistogram())
	other := make(chan int)
	turns := 0
	go func() {
		for range 20 {
			time.Sleep(time.Microsecond)
			turns++
		}
		other <- turns
	}()
	l.Run(200, func(int) {}) // 20 ms; the scheduler would take 10 ms a turn
	if n := <-other; n != 20 {
		t.Errorf("%d turns, want 20", n)
	}
}

func onProcessors(t *testing.T, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}
