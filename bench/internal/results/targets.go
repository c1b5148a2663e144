package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Target is a figure that the shipped packages are held to on two cores.
type Target struct {
	Name string
	// The row, and the column of it whose ratio to the baseline is the
	// figure.
	view         view
	topic, dims  string
	column, unit string
	// absolute says that the median itself is the figure.
	absolute bool
	Max      float64
}

func ratio(name, topic, dims, impl, unit string, limit float64) Target {
	return Target{name, shipped, topic, dims, impl, unit, false, limit}
}

func absolute(name, topic, dims, impl, unit string, limit float64) Target {
	return Target{name, shipped, topic, dims, impl, unit, true, limit}
}

// Targets lists the targets in the order in which they are reported.
func Targets() []Target {
	list := []Target{
		ratio("life cycle, 1 goroutine", "CheckpointCycle", "tick=256 order=scrambled", "tidemark", "ns/batch", 0.20),
	}
	for i, n := range []int{1, 2, 4, 8} {
		list = append(list, ratio(fmt.Sprintf("life cycle, issuers: %d, a drain every 200 µs", n), "CheckpointLive",
			fmt.Sprintf("issuers=%d drain=tick", n), "tidemark", "ns/batch", []float64{0.20, 0.14, 0.14, 0.14}[i]))
	}
	for i, n := range []int{1, 2, 4, 8} {
		list = append(list, ratio(fmt.Sprintf("life cycle, issuers: %d, a drainer that spins", n), "CheckpointLive",
			fmt.Sprintf("issuers=%d drain=spin", n), "tidemark", "ns/batch", []float64{0.50, 0.35, 0.22, 0.20}[i]))
	}
	for _, n := range []int{16, 256, 4096} {
		list = append(list, ratio(fmt.Sprintf("life cycle, %d partitions with one batch a tick", n), "CheckpointPartitions",
			fmt.Sprintf("partitions=%d", n), "tidemark", "ns/batch", 0.35))
	}
	return slices.Concat(list, queueTargets(), latencyTargets(), costTargets(), ledgerTargets())
}

// latencyTargets are about producers beside a consumer that pauses: a channel
// is full after a while, and blocks.
func latencyTargets() []Target {
	const dims, unit, limit = "pause=10ms", "p99.9-ns", 0.1
	return []Target{
		ratio("issue, p99.9, the consumer paused for 10 ms", "LatencyIssue", dims, "tidemark", unit, limit),
		ratio("release, p99.9, the consumer paused for 10 ms", "LatencyRelease", dims, "tidemark", unit, limit),
		ratio("shared push, p99.9, the consumer paused for 10 ms", "LatencyPush", dims, "shared", unit, limit),
		ratio("push of a lane, p99.9, the consumer paused for 10 ms", "LatencyPush", dims, "lane", unit, limit),
	}
}

// ledgerTargets are ratios to a ledger behind a mutex.
func ledgerTargets() []Target {
	var list []Target
	add := func(name, topic, dims, unit string, limit float64) {
		list = append(list, ratio(name, topic, dims, "ring", unit, limit))
	}
	for i, n := range []int{1, 2, 4} {
		add(fmt.Sprintf("ledger append, writers: %d, against a mutex", n), "LedgerAppend",
			fmt.Sprintf("writers=%d readers=0", n), "ns/record", []float64{1.5, 2.4, 1.3}[i])
	}
	for _, n := range []int{1, 2, 4} {
		add(fmt.Sprintf("ledger append, writers: %d, 2 readers, against a mutex", n), "LedgerAppend",
			fmt.Sprintf("writers=%d readers=2", n), "ns/record", 1.5)
	}
	add("ledger append, p99.9, 2 readers, against a mutex", "LedgerLatency", "readers=2", "p99.9-ns", 0.3)
	return append(list,
		absolute("records lost, writers: 4, 2 readers, in %", "LedgerAppend", "writers=4 readers=2", "ring", "lost-%", 0),
		absolute("allocations per record", "LedgerAppend", "writers=4 readers=0", "ring", "allocs/record", 0.001))
}

func queueTargets() []Target {
	list := []Target{
		ratio("lane, burst, 1 goroutine", "QueueBurst", "batch=1", "lane", "ns/msg", 0.30),
	}
	for i, n := range []int{1, 2, 4, 8} {
		list = append(list, ratio(fmt.Sprintf("lane, producers: %d", n), "QueueProducers",
			fmt.Sprintf("producers=%d consumer=poll", n), "lane", "ns/msg", []float64{0.70, 0.35, 0.30, 0.28}[i]))
	}
	list = append(list,
		ratio("lane, batches of 16, 8 producers", "QueueBatches", "producers=8", "lane", "ns/msg", 0.12),
		ratio("shared push, burst, 1 goroutine", "QueueBurst", "batch=1", "shared", "ns/msg", 0.50))
	for _, n := range []int{1, 2, 4, 8} {
		list = append(list, ratio(fmt.Sprintf("shared push, producers: %d", n), "QueueProducers",
			fmt.Sprintf("producers=%d consumer=poll", n), "shared", "ns/msg", 0.75))
	}
	list = append(list, ratio("shared push, 512 goroutines", "QueueProducers",
		"producers=512 consumer=poll", "shared", "ns/msg", 0.80))
	for _, n := range []int{1, 2, 4, 8} {
		list = append(list, ratio(fmt.Sprintf("shared push, producers: %d, consumer in Wait", n), "QueueProducers",
			fmt.Sprintf("producers=%d consumer=wait", n), "shared", "ns/msg", 0.80))
	}
	return list
}

func costTargets() []Target {
	return []Target{
		absolute("allocations per batch", "CheckpointCycle", "tick=256 order=scrambled", "tidemark", "allocs/batch", 0.001),
		absolute("allocations per push", "QueueBurst", "batch=1", "shared", "allocs/msg", 0.001),
		absolute("allocations per push of a lane", "QueueBurst", "batch=1", "lane", "allocs/msg", 0.001),
		absolute("bytes per idle assigned partition", "CheckpointMemory", "state=used", "tidemark", "B/partition", 1024),
		absolute("bytes per pending batch", "CheckpointMemory", "state=pending", "tidemark", "B/batch", 64),
		{"10 of 10,000 partitions touched, against 10 of 10", sparse, "CheckpointSparse", "", "10000", "ns/batch", false, 1.5},
		ratio("pipeline: time against a poll loop that marks (0.95 of its speed)", "Pipeline", "", "tidemark", "ns/op", 1/0.95),
		{"drain with 250,000 behind a stuck head, against none", stuck, "CheckpointStuckHead", "", "250000", "ns/tick", false, 2},
	}
}

// Verdict is what became of a target.
type Verdict string

// A target is undecided if its limit lies within the interval of the figure,
// so that another run may come out on the other side, or if the samples are of
// two regimes. A figure without an interval is judged by itself.
const (
	OK          Verdict = "ok"
	Missed      Verdict = "missed"
	Undecided   Verdict = "undecided"
	NotMeasured Verdict = "not measured"
)

// mixed is the regime of samples that cannot be compared.
const mixed = "mixed"

// Outcome is a target with what was measured.
type Outcome struct {
	Target
	Value   float64
	Lo, Hi  float64 // the interval of Value, NaN if there is none
	Own     float64 // the median of the column
	Against float64 // that of the baseline
	N       int     // samples on the smaller side
	Regime  string
	Verdict Verdict
}

// Check measures the set by a target.
func (s *Set) Check(t Target) (Outcome, error) {
	o := Outcome{Target: t, Verdict: NotMeasured}
	rows := s.rows(t.view, t.topic, t.dims, t.unit)
	if len(rows) == 0 {
		return o, nil
	}
	if len(rows) > 1 {
		return o, fmt.Errorf("results: target %q selects %d rows, want one", t.Name, len(rows))
	}
	c, own, ok := rows[0].of(t.column)
	if !ok || !t.absolute && (!c.Ratio.known() || c.Base.N == 0) {
		return o, nil
	}
	o.Own, o.N, o.Regime = float64(own.Center), own.N, c.Regime
	o.Value, o.Lo, o.Hi = o.Own, bound(own.Lo), bound(own.Hi)
	if !t.absolute {
		o.Against, o.N = float64(c.Base.Center), min(own.N, c.Base.N)
		o.Value, o.Lo, o.Hi = float64(c.Ratio), 1+float64(c.Lo), 1+float64(c.Hi)
	}
	o.Verdict = o.judge()
	return o, nil
}

func (o *Outcome) judge() Verdict {
	lo, hi := o.Lo, o.Hi
	if math.IsNaN(lo) || math.IsNaN(hi) {
		lo, hi = o.Value, o.Value
	}
	switch {
	case !o.absolute && o.Regime == mixed:
		return Undecided
	case hi <= o.Max:
		return OK
	case lo > o.Max:
		return Missed
	}
	return Undecided
}

// bound is an end of an interval; one that is open is not known.
func bound(n number) float64 {
	if math.IsInf(float64(n), 0) {
		return math.NaN()
	}
	return float64(n)
}

// CheckAll measures the set by all targets.
func (s *Set) CheckAll() ([]Outcome, error) {
	var list []Outcome
	for _, t := range Targets() {
		o, err := s.Check(t)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// Text sets outcomes as a table for a terminal. Targets without measurements
// are only counted.
func Text(outcomes []Outcome) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "target\tat most\tmeasured [95%]\tsamples\tcores\tverdict")
	missing := 0
	for _, o := range outcomes {
		if o.Verdict == NotMeasured {
			missing++
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s\t%d\t%s\t%s\n",
			o.Name, Number(o.Max), Number(o.Value), interval(o.Lo, o.Hi), o.N, o.Regime, o.Verdict)
	}
	w.Flush()
	if missing > 0 {
		fmt.Fprintf(&b, "not measured: %d of %d targets\n", missing, len(outcomes))
	}
	return b.String()
}

// interval is an interval for behind a figure, "" if there is none.
func interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", Number(lo), Number(hi))
}
