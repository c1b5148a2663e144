package results

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Target is a figure that the shipped packages are held to on two cores.
type Target struct {
	Name string
	// Row and Base select one row and implementation each, as benchproc
	// filters. Without Base the value itself is the figure.
	Row, Base string
	Unit      string
	Max       float64
}

func ratio(name, topic, dims, impl, unit string, limit float64) Target {
	row := ".name:" + topic
	for d := range strings.FieldsSeq(dims) {
		row += " /" + strings.Replace(d, "=", ":", 1)
	}
	return Target{name, row + " /impl:" + impl, row + " /impl:channel", unit, limit}
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
	return slices.Concat(list, queueTargets(), costTargets(), ledgerTargets())
}

// ledgerTargets are ratios to a ledger behind a mutex.
func ledgerTargets() []Target {
	var list []Target
	add := func(name, topic, dims, unit string, limit float64) {
		t := ratio(name, topic, dims, "ring", unit, limit)
		t.Base = strings.Replace(t.Base, "/impl:channel", "/impl:mutex", 1)
		list = append(list, t)
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
	const own = ".name:LedgerAppend /writers:4 /impl:ring"
	return append(list,
		Target{"records lost, writers: 4, 2 readers, in %", own + " /readers:2", "", "lost-%", 0},
		Target{"allocations per record", own + " /readers:0", "", "allocs/record", 0.001})
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
	const own = " /impl:tidemark"
	const pipeline = ".name:Pipeline"
	const sparse, stuck, memory = ".name:CheckpointSparse", ".name:CheckpointStuckHead", ".name:CheckpointMemory"
	return []Target{
		{"allocations per batch", ".name:CheckpointCycle /tick:256 /order:scrambled" + own, "", "allocs/batch", 0.001},
		{"allocations per push", ".name:QueueBurst /batch:1 /impl:shared", "", "allocs/msg", 0.001},
		{"allocations per push of a lane", ".name:QueueBurst /batch:1 /impl:lane", "", "allocs/msg", 0.001},
		{"bytes per idle assigned partition", memory + " /state:used" + own, "", "B/partition", 1024},
		{"bytes per pending batch", memory + " /state:pending" + own, "", "B/batch", 64},
		{"10 of 10,000 partitions touched, against 10 of 10", sparse + " /assigned:10000" + own, sparse + " /assigned:10" + own, "ns/batch", 1.5},
		{"pipeline: time against a poll loop that marks (0.95 of its speed)", pipeline + own, pipeline + " /impl:bare", "ns/op", 1 / 0.95},
		{"drain with 250,000 behind a stuck head, against none", stuck + " /behind:250000" + own, stuck + " /behind:0" + own, "ns/tick", 2},
	}
}

// Verdict is what became of a target.
type Verdict string

// A target without measurements is not measured.
const (
	OK          Verdict = "ok"
	Missed      Verdict = "missed"
	NotMeasured Verdict = "not measured"
)

// Outcome is a target with what was measured.
type Outcome struct {
	Target
	Value   float64
	Own     float64 // the median of Row
	Against float64 // that of Base, if there is one
	N       int     // samples on the smaller side
	Regime  Regime
	Bounce  float64
	Verdict Verdict
}

// Check measures the set by a target.
func (s *Set) Check(t Target) (Outcome, error) {
	o := Outcome{Target: t, Verdict: NotMeasured}
	topic, own, err := s.points(t.Row, t.Unit)
	if err != nil || len(own) == 0 {
		return o, err
	}
	sides := [][]Point{own}
	if t.Base != "" {
		_, base, err := s.points(t.Base, t.Unit)
		if err != nil || len(base) == 0 {
			return o, err
		}
		sides = append(sides, base)
	}
	o.Regime, sides = pick(topic, sides...)
	sum := summarise(sides[0])
	o.Value, o.Own, o.N, o.Bounce = sum.Center, sum.Center, sum.N, sum.Bounce
	if t.Base != "" {
		base := summarise(sides[1])
		o.Against = base.Center
		o.Value /= base.Center
		o.N = min(o.N, base.N)
		o.Bounce = max(o.Bounce, base.Bounce)
	}
	o.Verdict = Missed
	if o.Value <= t.Max {
		o.Verdict = OK
	}
	return o, nil
}

// points returns the measurements of what must be one row and implementation,
// and its topic.
func (s *Set) points(filter, unit string) (topic string, points []Point, err error) {
	rows, err := s.Rows(filter, unit)
	if err != nil || len(rows) == 0 {
		return "", nil, err
	}
	if len(rows) > 1 || len(rows[0].Points) != 1 {
		return "", nil, fmt.Errorf("results: filter %q selects %d rows, want one row of one implementation", filter, len(rows))
	}
	for _, p := range rows[0].Points {
		points = p
	}
	return rows[0].Topic, points, nil
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

// Text sets outcomes as a table for a terminal.
func Text(outcomes []Outcome) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "target\tat most\tmeasured\tsamples\tbounce\tregime\tverdict")
	for _, o := range outcomes {
		if o.Verdict == NotMeasured {
			fmt.Fprintf(w, "%s\t%s\t–\t0\t–\t–\t%s\n", o.Name, Number(o.Max), o.Verdict)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f ns\t%s\t%s\n",
			o.Name, Number(o.Max), Number(o.Value), o.N, o.Bounce, o.Regime, o.Verdict)
	}
	w.Flush()
	return b.String()
}
