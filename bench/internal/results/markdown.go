package results

import (
	"fmt"
	"slices"
	"strings"
)

// table describes one table of the benchmark document.
type table struct {
	section  string // the marker it stands under
	filter   string
	unit     string
	impls    []string // in column order
	baseline string
}

var (
	whole  = []string{"channel", "tidemark"}
	queues = []string{"channel", "mutex", "shared", "lane"}

	ledgers = []string{"mutex", "trylock", "ring"}

	rejectedCheckpoints = []string{"tidemark", "ackstack", "bitmap"}
	rejectedQueues      = []string{"shared", "lane", "ring", "ticket", "stack"}
)

var tables = []table{
	{"cycle", ".name:CheckpointCycle", "ns/batch", whole, "channel"},
	{"cycle", ".name:CheckpointPartitions", "ns/batch", whole, "channel"},
	{"cycle", ".name:CheckpointCycle", "allocs/batch", whole, ""},
	{"live", ".name:CheckpointLive", "ns/batch", whole, "channel"},
	{"live", ".name:CheckpointLive", "batches/drain", whole, ""},
	{"live", ".name:CheckpointCross", "ns/batch", whole, "channel"},
	{"costs", ".name:CheckpointFanout", "ns/batch", whole, "channel"},
	{"costs", ".name:CheckpointStuckHead", "ns/tick", whole, "channel"},
	{"costs", ".name:CheckpointSparse", "ns/batch", whole, "channel"},
	{"costs", ".name:CheckpointRebalance", "ns/rebalance", whole, "channel"},
	{"memory", ".name:CheckpointMemory", "B/partition", whole, "channel"},
	{"memory", ".name:CheckpointMemory", "B/batch", whole, "channel"},
	{"queues", ".name:QueueBurst", "ns/msg", queues, "channel"},
	{"queues", ".name:QueueProducers", "ns/msg", queues, "channel"},
	{"queues", ".name:QueueBatches", "ns/msg", queues, "channel"},
	{"ledger", ".name:LedgerAppend", "ns/record", ledgers, "mutex"},
	{"ledger", ".name:LedgerAppend", "lost-%", ledgers, ""},
	{"ledger", ".name:LedgerLatency", "p99.9-ns", ledgers, "mutex"},
	{"ledger", ".name:LedgerPage", "ns/page", ledgers, "mutex"},
	{"pipeline", ".name:Pipeline", "ns/op", []string{"bare", "marks", "tidemark"}, "bare"},
	{"rejected", ".name:CheckpointCycle", "ns/batch", rejectedCheckpoints, "tidemark"},
	{"rejected", ".name:CheckpointLive", "ns/batch", rejectedCheckpoints, "tidemark"},
	{"rejected", ".name:QueueBurst /batch:1", "ns/msg", rejectedQueues, "shared"},
	{"rejected", ".name:QueueProducers /consumer:poll", "ns/msg", rejectedQueues, "shared"},
}

// Sections returns the generated parts of the benchmark document, by marker.
func (s *Set) Sections() (map[string]string, error) {
	parts := map[string]string{"machine": s.machine()}
	outcomes, err := s.CheckAll()
	if err != nil {
		return nil, err
	}
	parts["targets"] = markdownTargets(outcomes)
	parts["headline"] = markdownHeadline(outcomes)
	for _, t := range tables {
		text, err := s.markdown(t)
		if err != nil {
			return nil, err
		}
		if parts[t.section] != "" {
			parts[t.section] += "\n"
		}
		parts[t.section] += text
	}
	return parts, nil
}

func (s *Set) machine() string {
	var b strings.Builder
	for _, l := range [][2]string{
		{"cpu", "CPU"}, {"gomaxprocs", "GOMAXPROCS"}, {"kernel", "kernel"}, {"go", "Go"},
		{"goarch", "GOARCH"}, {"goamd64", "GOAMD64"}, {"commit", "commit"}, {"dirty", "changed since that commit"},
	} {
		if v := s.Config(l[0]); len(v) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", l[1], strings.Join(v, ", "))
		}
	}
	if s.Command != "" {
		fmt.Fprintf(&b, "- command: `%s`\n", s.Command)
	}
	return b.String()
}

func markdownTargets(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| target | at most | measured | samples | bounce | cores | |\n|---|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		if o.Verdict == NotMeasured {
			fmt.Fprintf(&b, "| %s | %s | – | 0 | – | – | %s |\n", o.Name, Number(o.Max), o.Verdict)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | %s |\n", o.Name, Number(o.Max), Number(o.Value), o.N,
			bounceText(o.Bounce), o.Regime, o.Verdict)
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
	b.WriteString("| nanoseconds, median | Go channel | Tidemark | ratio | samples | cores |\n|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		text, ok := headlines[o.Name]
		if !ok {
			continue
		}
		if o.Verdict == NotMeasured {
			fmt.Fprintf(&b, "| %s | – | – | – | 0 | – |\n", text)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s |\n", text, Number(o.Against), Number(o.Own), Number(o.Value), o.N, o.Regime)
	}
	return b.String()
}

func bounceText(ns float64) string {
	if ns == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// markdown writes one table: a column for each dimension that varies and for
// each implementation, with its ratio to the baseline.
func (s *Set) markdown(t table) (string, error) {
	rows, err := s.Rows(t.filter, t.unit)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		name, _, _ := strings.Cut(strings.TrimPrefix(t.filter, ".name:"), " ")
		return fmt.Sprintf("%s, %s: not measured.\n", name, t.unit), nil
	}
	varying, fixed := split(rows)
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s", rows[0].Topic, t.unit)
	if len(fixed) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(fixed, ", "))
	}
	b.WriteString("\n\n|")
	columns := slices.Clone(varying)
	for _, im := range t.impls {
		columns = append(columns, im)
		if t.baseline != "" && im != t.baseline {
			columns = append(columns, "ratio")
		}
	}
	columns = append(columns, "samples", "bounce", "cores")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, r := range rows {
		b.WriteString(r.markdown(t, varying))
	}
	return b.String(), nil
}

func (r *Row) markdown(t table, varying []string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, k := range varying {
		fmt.Fprintf(&b, " %s |", r.dim(k))
	}
	regime, cells := r.Compare(t.impls, t.baseline)
	samples, bounce := 0, 0.0
	for _, im := range t.impls {
		i := slices.IndexFunc(cells, func(c Cell) bool { return c.Impl == im })
		if i < 0 {
			b.WriteString(" – |")
		} else {
			c := cells[i]
			fmt.Fprintf(&b, " %s ± %s |", Number(c.Center), c.PctRangeString())
			bounce = max(bounce, c.Bounce)
			if samples == 0 || c.N < samples {
				samples = c.N
			}
		}
		if t.baseline == "" || im == t.baseline {
			continue
		}
		if i < 0 || cells[i].Ratio == 0 {
			b.WriteString(" – |")
		} else {
			fmt.Fprintf(&b, " %s |", Number(cells[i].Ratio))
		}
	}
	fmt.Fprintf(&b, " %d | %s | %s |\n", samples, bounceText(bounce), regime)
	return b.String()
}

// dim returns the value of a dimension, "" if the row does not have it.
func (r *Row) dim(key string) string {
	for _, d := range r.Dims {
		if k, v, _ := strings.Cut(d, "="); k == key {
			return v
		}
	}
	return ""
}

// split tells the dimensions that vary over the rows, as keys, from those
// that do not, as key=value.
func split(rows []*Row) (varying, fixed []string) {
	for _, d := range rows[0].Dims {
		key, value, _ := strings.Cut(d, "=")
		if slices.ContainsFunc(rows, func(r *Row) bool { return r.dim(key) != value }) {
			varying = append(varying, key)
		} else {
			fixed = append(fixed, d)
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
