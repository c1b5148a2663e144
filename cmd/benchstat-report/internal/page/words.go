package page

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

var nan = math.NaN()

func pairOf(key, value string) pair.KeyValue { return pair.KeyValue{Key: key, Value: value} }

// bounded says whether an interval has two ends.
func bounded(lo, hi float64) bool { return lo-lo == 0 && hi-hi == 0 }

// value writes a figure of a table's unit. Latencies are times: which quantile
// they are stands above them.
func value(v float64, unit string) string {
	v, tidy := benchunit.Tidy(v, unit)
	if _, _, ok := quantile(tidy); ok {
		tidy = "sec"
	}
	return chart.Value(v, tidy)
}

// interval writes the bounds of a figure, or what is missing.
func interval(s verdict.Summary, unit string) string {
	if !bounded(s.Lo, s.Hi) {
		return "too few samples for an interval"
	}
	return fmt.Sprintf("[%s, %s]", value(s.Lo, unit), value(s.Hi, unit))
}

// half is the interval as the larger distance from the median, in percent of it.
func half(s verdict.Summary) string {
	if !bounded(s.Lo, s.Hi) || s.Center == 0 {
		return "±∞"
	}
	wide := max(s.Hi-s.Center, s.Center-s.Lo) / math.Abs(s.Center) * 100
	return "±" + strconv.FormatFloat(wide, 'f', 0, 64) + " %"
}

// probability writes a p-value.
func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 0.0005:
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// floorText writes a fraction as a percentage.
func floorText(v float64) string { return strconv.FormatFloat(v*100, 'f', 1, 64) + " %" }

// plural is "1 row", "2 rows".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// rest is a row's name without its topic, which stands above the table, and
// without the number of processors if all names end in the same.
func rest(name, topic, suffix string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "Benchmark"), suffix)
	if cut, ok := strings.CutPrefix(name, topic); ok && (cut == "" || cut[0] == '/' || cut[0] == '-' || cut[0] == ' ') {
		name = strings.TrimLeft(cut, "/ ")
	}
	if name == "" {
		return topic
	}
	return name
}

// processorsSuffix is the end "-2" that names have in common, or nothing.
func processorsSuffix(names []string) string {
	common := ""
	for i, name := range names {
		at := strings.LastIndexByte(name, '-')
		if at < 0 || strings.Trim(name[at+1:], "0123456789") != "" || at == len(name)-1 || i > 0 && name[at:] != common {
			return ""
		}
		common = name[at:]
	}
	return common
}

// slug makes a file name of parts. What it drops or cuts it replaces by a hash
// of all; names that come out alike all the same are numbered by the gallery.
func slug(parts ...string) string {
	const longest = 80
	whole := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "-")
	var b strings.Builder
	lossy := false
	for _, r := range whole {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-':
			b.WriteRune(r)
		case r == ' ' && strings.HasSuffix(b.String(), "-"):
		case strings.ContainsRune("=, /._", r):
			if !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
		default:
			lossy = true
		}
	}
	s := strings.Trim(b.String(), "-")
	if len(s) > longest {
		s, lossy = s[:longest], true
	}
	if lossy {
		h := fnv.New32a()
		h.Write([]byte(whole))
		s = strings.Trim(s, "-") + fmt.Sprintf("-%08x", h.Sum32())
	}
	return s
}

// scaled returns what turns a figure of a unit into base units.
func scaled(unit string) (float64, string) { return benchunit.Tidy(1, unit) }
