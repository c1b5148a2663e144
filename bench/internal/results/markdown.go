package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table describes one table of the benchmark document.
type table struct {
	section     string // the marker it stands under
	view        view
	topic, dims string
	units       string   // with spaces between them; several make a row each
	impls       []string // in column order
	ratios      bool     // to the first of them
}

var (
	whole   = []string{"channel", "tidemark"}
	queues  = []string{"channel", "mutex", "shared", "lane"}
	ledgers = []string{"mutex", "trylock", "ring"}
	foreign = []string{"channel", "mutex", "shared", "lane", "umpsc", "mpmc", "lscq"}

	rejectedCheckpoints = []string{"tidemark", "ackstack", "bitmap"}
	rejectedQueues      = []string{"shared", "lane", "ring", "ticket", "stack"}
)

// percentiles are the units of what a producer waits.
const percentiles = "p50-ns p99-ns p99.9-ns max-ns"

var tables = []table{
	{"cycle", shipped, "CheckpointCycle", "", "ns/batch", whole, true},
	{"cycle", shipped, "CheckpointPartitions", "", "ns/batch", whole, true},
	{"cycle", shipped, "CheckpointCycle", "", "allocs/batch", whole, false},
	{"live", shipped, "CheckpointLive", "", "ns/batch", whole, true},
	{"live", shipped, "CheckpointLive", "", "batches/drain", whole, false},
	{"live", shipped, "CheckpointCross", "", "ns/batch", whole, true},
	{"live", shipped, "CheckpointCores", "", "ns/batch", whole, true},
	{"latency", shipped, "LatencyIssue", "", percentiles, whole, true},
	{"latency", shipped, "LatencyRelease", "", percentiles, whole, true},
	{"latency", shipped, "LatencyPush", "", percentiles, queues, true},
	{"costs", shipped, "CheckpointFanout", "", "ns/batch", whole, true},
	{"costs", shipped, "CheckpointStuckHead", "", "ns/tick", whole, true},
	{"costs", shipped, "CheckpointSparse", "", "ns/batch", whole, true},
	{"costs", shipped, "CheckpointRebalance", "", "ns/rebalance", whole, true},
	{"memory", shipped, "CheckpointMemory", "", "B/partition", whole, true},
	{"memory", shipped, "CheckpointMemory", "", "B/batch", whole, true},
	{"queues", shipped, "QueuePushPop", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueBurst", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueProducers", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueBatches", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueCores", "", "ns/msg", queues, true},
	{"peers", others, "QueuePushPop", "", "ns/msg", foreign, true},
	{"peers", others, "QueueBurst", "batch=1", "ns/msg", foreign, true},
	{"peers", others, "QueueProducers", "consumer=poll", "ns/msg", foreign, true},
	{"peers", others, "QueueProducers", "consumer=wait", "ns/msg", foreign[:5], true},
	{"peers", others, "LatencyPush", "pause=10ms", percentiles, foreign, true},
	{"ledger", shipped, "LedgerAppend", "", "ns/record", ledgers, true},
	{"ledger", shipped, "LedgerAppend", "", "lost-%", ledgers, false},
	{"ledger", shipped, "LedgerLatency", "", "p99.9-ns", ledgers, true},
	{"ledger", shipped, "LedgerPage", "", "ns/page", ledgers, true},
	{"pipeline", shipped, "Pipeline", "", "ns/op", []string{"bare", "marks", "tidemark"}, true},
	{"rejected", rejected, "CheckpointCycle", "", "ns/batch", rejectedCheckpoints, true},
	{"rejected", rejected, "CheckpointLive", "", "ns/batch", rejectedCheckpoints, true},
	{"rejected", rejected, "QueueBurst", "batch=1", "ns/msg", rejectedQueues, true},
	{"rejected", rejected, "QueueProducers", "consumer=poll", "ns/msg", rejectedQueues, true},
}

// Sections returns the generated parts of the benchmark document, by marker.
// A chart, given by its name, stands below the tables of its topic.
func (s *Set) Sections(charts []string) (map[string]string, error) {
	parts := map[string]string{"machine": s.machineText()}
	outcomes, err := s.CheckAll()
	if err != nil {
		return nil, err
	}
	parts["targets"] = markdownTargets(outcomes)
	parts["headline"] = markdownHeadline(outcomes)
	topics := map[string][]string{} // of a section, in order
	var order []string
	for _, t := range tables {
		if topics[t.section] == nil {
			order = append(order, t.section)
		} else {
			parts[t.section] += "\n"
		}
		parts[t.section] += s.markdown(t)
		if !slices.Contains(topics[t.section], t.topic) {
			topics[t.section] = append(topics[t.section], t.topic)
		}
	}
	shown := map[string]bool{}
	for _, section := range order {
		for _, topic := range topics[section] {
			for _, c := range charts {
				if !shown[c] && strings.Contains(c+"-", "-"+topic+"-") {
					shown[c] = true
					parts[section] += fmt.Sprintf("\n![%s](%s/%s.svg)\n", strings.ReplaceAll(c, "-", " "), Charts, c)
				}
			}
		}
	}
	return parts, nil
}

// Charts is the folder of the charts, beside the document.
const Charts = "charts"

func (s *Set) machineText() string {
	var b strings.Builder
	for _, l := range [][2]string{
		{"cpu", "CPU"}, {"gomaxprocs", "GOMAXPROCS"}, {"cgroup-quota", "limit of the control group"}, {"clocksource", "clock"}, {"kernel", "kernel"},
		{"go", "Go"}, {"goarch", "GOARCH"}, {"goamd64", "GOAMD64"}, {"commit", "commit"}, {"dirty", "changed since that commit"},
	} {
		if v := s.machine[l[0]]; v != "" {
			fmt.Fprintf(&b, "- %s: %s\n", l[1], v)
		}
	}
	if s.Command != "" {
		fmt.Fprintf(&b, "- command: `%s`\n", s.Command)
	}
	return b.String()
}

func markdownTargets(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| target | at most | measured | samples | cores | |\n|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		if o.Verdict == NotMeasured {
			fmt.Fprintf(&b, "| %s | %s | – | 0 | – | %s |\n", o.Name, Number(o.Max), o.Verdict)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s | %d | %s | %s |\n", o.Name, Number(o.Max), Number(o.Value), interval(o.Lo, o.Hi), o.N,
			o.Regime, o.Verdict)
	}
	return b.String()
}

// headlines are the targets that a short table shows, with a text for those who
// do not know the rows.
var headlines = map[string]string{
	"life cycle, 1 goroutine":                      "a batch from issue to watermark, one goroutine",
	"life cycle, issuers: 4, a drain every 200 µs": "the same, 4 issuing goroutines, a drain every 200 µs",
	"life cycle, issuers: 4, a drainer that spins": "the same, a drainer that never pauses",
	"lane, burst, 1 goroutine":                     "a message in a burst, producer lane",
	"shared push, burst, 1 goroutine":              "a message in a burst, shared push",
	"lane, producers: 4":                           "a message, 4 producers with a lane each",
	"shared push, producers: 4":                    "a message, 4 producers, shared push",
	"shared push, producers: 4, consumer in Wait":  "the same, the consumer sleeps in Wait",
}

func markdownHeadline(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| nanoseconds, median | Go channel | Tidemark | ratio [95 %] | samples | cores |\n|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		text, ok := headlines[o.Name]
		if !ok {
			continue
		}
		if o.Verdict == NotMeasured {
			fmt.Fprintf(&b, "| %s | – | – | – | 0 | – |\n", text)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s%s | %d | %s |\n", text, Number(o.Against), Number(o.Own), Number(o.Value), interval(o.Lo, o.Hi), o.N, o.Regime)
	}
	return b.String()
}

// unitColumn is the column that tells rows of several units apart.
const unitColumn = "unit"

// markdown writes one table: a column for each dimension that varies and for
// each implementation, with its ratio to the first.
func (s *Set) markdown(t table) string {
	units := strings.Fields(t.units)
	title := t.topic
	if len(units) == 1 {
		title += ", " + t.units
	}
	var rows []*row
	var unitOf []string
	for _, u := range units {
		for _, r := range s.rows(t.view, t.topic, t.dims, u) {
			rows, unitOf = append(rows, r), append(unitOf, u)
		}
	}
	if len(rows) == 0 {
		return title + ": not measured.\n"
	}
	varying, fixed := split(rows)
	var b strings.Builder
	b.WriteString(title)
	if len(fixed) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(fixed, ", "))
	}
	columns := slices.Clone(varying)
	if len(units) > 1 {
		columns = append(columns, unitColumn)
	}
	for i, im := range t.impls {
		columns = append(columns, im)
		if t.ratios && i > 0 {
			columns = append(columns, "ratio")
		}
	}
	columns = append(columns, "samples", "cores")
	fmt.Fprintf(&b, "\n\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for i, r := range rows {
		var cells []string
		for _, k := range varying {
			cells = append(cells, r.dim(k))
		}
		if len(units) > 1 {
			cells = append(cells, unitOf[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(append(cells, r.cells(t)...), " | "))
	}
	return b.String()
}

// cells are those of the implementations, and what stands behind them.
func (r *row) cells(t table) (cells []string) {
	samples := 0
	var regimes []string
	for i, im := range t.impls {
		c, own, ok := r.of(im)
		if !ok {
			cells = append(cells, "–")
		} else {
			cells = append(cells, fmt.Sprintf("%s ± %s", Number(float64(own.Center)), own.spread()))
			if samples == 0 || own.N < samples {
				samples = own.N
			}
			if !slices.Contains(regimes, c.Regime) {
				regimes = append(regimes, c.Regime)
			}
		}
		switch {
		case !t.ratios || i == 0:
		case !ok || !c.Ratio.known():
			cells = append(cells, "–")
		default:
			cells = append(cells, Number(float64(c.Ratio))+interval(1+float64(c.Lo), 1+float64(c.Hi)))
		}
	}
	return append(cells, strconv.Itoa(samples), strings.Join(regimes, ", "))
}

// spread is how far the interval of a median reaches, in per cent of it.
func (s summary) spread() string {
	switch {
	case !s.Lo.known() || !s.Hi.known():
		return "∞" // too few samples
	case s.Lo == s.Hi:
		return "0%"
	case s.Center == 0:
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(max(s.Hi-s.Center, s.Center-s.Lo)/s.Center))
}

// columnar are the labels that are no dimension of a row: what is compared,
// which only a row with a single column has, and GOMAXPROCS, which is the same
// in all rows.
var columnar = []string{"impl", "gomaxprocs"}

// split tells the dimensions that vary over the rows, as keys, from those
// that do not, as key=value.
func split(rows []*row) (varying, fixed []string) {
	for _, l := range rows[0].Labels {
		switch {
		case slices.Contains(columnar, l.Key):
		case slices.ContainsFunc(rows, func(r *row) bool { return r.dim(l.Key) != l.Value }):
			varying = append(varying, l.Key)
		default:
			fixed = append(fixed, l.Key+"="+l.Value)
		}
	}
	return varying, fixed
}

// The marks of a generated part of a document, each on a line of its own.
const (
	beginMark = "<!-- figures: %s -->"
	endMark   = "<!-- end of figures -->"
)

// Fill replaces the generated parts of a document and keeps everything else.
// Every part must have its marks once, and every mark a part.
func Fill(document string, parts map[string]string) (string, error) {
	used := map[string]bool{}
	var out strings.Builder
	lines := strings.SplitAfter(document, "\n")
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		var name string
		if n, _ := fmt.Sscanf(lines[i], beginMark, &name); n != 1 {
			continue
		}
		part, ok := parts[name]
		if !ok || used[name] {
			return "", fmt.Errorf("results: line %d: no such part, or a second time: %q", i+1, name)
		}
		used[name] = true
		end := slices.IndexFunc(lines[i:], func(l string) bool { return strings.TrimSpace(l) == endMark })
		if end < 0 {
			return "", fmt.Errorf("results: line %d: %q has no line %q after it", i+1, name, endMark)
		}
		out.WriteString("\n" + part + "\n")
		i += end - 1
	}
	for name := range parts {
		if !used[name] {
			return "", fmt.Errorf("results: the document has no line %q", fmt.Sprintf(beginMark, name))
		}
	}
	return out.String(), nil
}
