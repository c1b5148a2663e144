package results

import (
	"fmt"
	"slices"
	"strings"
)

// table describes one table of the benchmark document.
type table struct {
	section     string // the marker it stands under
	view        view
	topic, dims string
	unit        string
	impls       []string // in column order
	ratios      bool     // to the first of them
}

var (
	whole   = []string{"channel", "tidemark"}
	queues  = []string{"channel", "mutex", "shared", "lane"}
	ledgers = []string{"mutex", "trylock", "ring"}

	rejectedCheckpoints = []string{"tidemark", "ackstack", "bitmap"}
	rejectedQueues      = []string{"shared", "lane", "ring", "ticket", "stack"}
)

var tables = []table{
	{"cycle", shipped, "CheckpointCycle", "", "ns/batch", whole, true},
	{"cycle", shipped, "CheckpointPartitions", "", "ns/batch", whole, true},
	{"cycle", shipped, "CheckpointCycle", "", "allocs/batch", whole, false},
	{"live", shipped, "CheckpointLive", "", "ns/batch", whole, true},
	{"live", shipped, "CheckpointLive", "", "batches/drain", whole, false},
	{"live", shipped, "CheckpointCross", "", "ns/batch", whole, true},
	{"costs", shipped, "CheckpointFanout", "", "ns/batch", whole, true},
	{"costs", shipped, "CheckpointStuckHead", "", "ns/tick", whole, true},
	{"costs", shipped, "CheckpointSparse", "", "ns/batch", whole, true},
	{"costs", shipped, "CheckpointRebalance", "", "ns/rebalance", whole, true},
	{"memory", shipped, "CheckpointMemory", "", "B/partition", whole, true},
	{"memory", shipped, "CheckpointMemory", "", "B/batch", whole, true},
	{"queues", shipped, "QueueBurst", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueProducers", "", "ns/msg", queues, true},
	{"queues", shipped, "QueueBatches", "", "ns/msg", queues, true},
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
func (s *Set) Sections() (map[string]string, error) {
	parts := map[string]string{"machine": s.machineText()}
	outcomes, err := s.CheckAll()
	if err != nil {
		return nil, err
	}
	parts["targets"] = markdownTargets(outcomes)
	parts["headline"] = markdownHeadline(outcomes)
	for _, t := range tables {
		text := s.markdown(t)
		if parts[t.section] != "" {
			parts[t.section] += "\n"
		}
		parts[t.section] += text
	}
	return parts, nil
}

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

// markdown writes one table: a column for each dimension that varies and for
// each implementation, with its ratio to the first.
func (s *Set) markdown(t table) string {
	rows := s.rows(t.view, t.topic, t.dims, t.unit)
	if len(rows) == 0 {
		return fmt.Sprintf("%s, %s: not measured.\n", t.topic, t.unit)
	}
	varying, fixed := split(rows)
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s", t.topic, t.unit)
	if len(fixed) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(fixed, ", "))
	}
	b.WriteString("\n\n|")
	columns := slices.Clone(varying)
	for i, im := range t.impls {
		columns = append(columns, im)
		if t.ratios && i > 0 {
			columns = append(columns, "ratio")
		}
	}
	columns = append(columns, "samples", "cores")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, r := range rows {
		b.WriteString(r.markdown(t, varying))
	}
	return b.String()
}

func (r *row) markdown(t table, varying []string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, k := range varying {
		fmt.Fprintf(&b, " %s |", r.dim(k))
	}
	samples := 0
	var regimes []string
	for i, im := range t.impls {
		c, own, ok := r.of(im)
		if !ok {
			b.WriteString(" – |")
		} else {
			fmt.Fprintf(&b, " %s ± %s |", Number(float64(own.Center)), own.spread())
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
			b.WriteString(" – |")
		default:
			fmt.Fprintf(&b, " %s%s |", Number(float64(c.Ratio)), interval(1+float64(c.Lo), 1+float64(c.Hi)))
		}
	}
	fmt.Fprintf(&b, " %d | %s |\n", samples, strings.Join(regimes, ", "))
	return b.String()
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
