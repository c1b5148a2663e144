// Package results holds the figures of a result file of the benchmarks: what
// the documents show of them, and the targets that the shipped packages are
// held to. The statistics are benchstat-report's, which is run for them: a
// figure of a document and one on the terminal cannot differ.
package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// commandMark begins the first line of a result file, which holds the command.
const commandMark = "# "

// peers is the package that measures queues of other projects. It has rows of
// the same names as the bench package, and its own baseline.
const peers = "github.com/tidemark-go/tidemark/bench/peers"

// view is one way to compare the results of a file: what is compared, and
// with what. Of several baselines a row takes the first that it has.
type view struct{ filter, col, baseline string }

var (
	shipped  = view{`-pkg:"` + peers + `"`, "/impl", "channel,mutex,bare"}
	rejected = view{`-pkg:"` + peers + `" .name:(/^Checkpoint/ OR /^Queue/) -/impl:(channel OR mutex)`, "/impl", "tidemark,shared"}
	others   = view{`pkg:"` + peers + `"`, "/impl", "channel"}
	sparse   = view{".name:CheckpointSparse /impl:tidemark", "/assigned", "10"}
	stuck    = view{".name:CheckpointStuckHead /impl:tidemark", "/behind", "0"}
)

// CompareFlags are the flags with which benchstat-report compares what is
// shipped with what one would use without it.
func CompareFlags() []string { return shipped.flags() }

func (v view) flags() []string {
	return []string{"-filter", v.filter, "-col", v.col, "-baseline", v.baseline}
}

// number is a figure that may not exist: infinite, or of nothing.
type number float64

// UnmarshalJSON reads null as NaN.
func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

func (n number) known() bool { return !math.IsNaN(float64(n)) }

// report is what is needed of the JSON that benchstat-report writes.
type report struct {
	Machine map[string]string `json:"machine"`
	Tables  []struct {
		Unit string `json:"unit"`
		Rows []*row `json:"rows"`
	} `json:"tables"`
}

// row is a benchmark, with its implementations compared.
type row struct {
	Topic       string       `json:"topic"`
	Labels      []label      `json:"labels"`
	Comparisons []comparison `json:"comparisons"`
}

type label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type comparison struct {
	Column   string  `json:"column"`
	Baseline string  `json:"baseline"`
	Base     summary `json:"base"`
	New      summary `json:"new"`
	Regime   string  `json:"regime"`
	Ratio    number  `json:"ratio"`
	Lo       number  `json:"change_lo"`
	Hi       number  `json:"change_hi"`
	Verdict  string  `json:"verdict"`
}

// summary is the median of one side, and its interval.
type summary struct {
	Center number `json:"center"`
	Lo     number `json:"lo"`
	Hi     number `json:"hi"`
	N      int    `json:"n"`
}

// Set is the figures of a file.
type Set struct {
	// Command is what made the file, as its first line says.
	Command string
	machine map[string]string
	views   map[view]*report
}

// Load reads a result file with benchstat-report, which tool starts.
func Load(ctx context.Context, tool []string, path string) (*Set, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	s := &Set{views: map[view]*report{}}
	first, _, _ := strings.Cut(string(text), "\n")
	if command, ok := strings.CutPrefix(first, commandMark); ok {
		s.Command = command
	}
	all, err := ask(ctx, tool, "summary", path)
	if err != nil {
		return nil, err
	}
	s.machine = all.Machine
	for _, v := range []view{shipped, rejected, others, sparse, stuck} {
		r, err := ask(ctx, tool, "compare", append(v.flags(), path)...)
		var exit *exec.ExitError
		if errors.As(err, &exit) && (exit.ExitCode() == exitUsage || exit.ExitCode() == exitNothing) {
			r, err = &report{}, nil // the file has no such rows, or nothing to compare with
		}
		if err != nil {
			return nil, err
		}
		s.views[v] = r
	}
	return s, nil
}

// The exit codes of benchstat-report for files that lack what a view needs.
const (
	exitUsage   = 2
	exitNothing = 3
)

// ask runs benchstat-report.
func ask(ctx context.Context, tool []string, verb string, args ...string) (*report, error) {
	args = slices.Concat(tool[1:], []string{verb, "-format", "json"}, args)
	cmd := exec.CommandContext(ctx, tool[0], args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitNothing && len(out) > 0 {
		err = nil // none of its rows can be judged, but they have figures
	}
	if err != nil {
		return nil, fmt.Errorf("results: %s: %w\n%s", strings.Join(append(tool[:1:1], args...), " "), err, &complaint)
	}
	r := &report{}
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("results: %s %s: %w", tool[0], verb, err)
	}
	return r, nil
}

// rows returns the rows of a topic that have the unit and the dimensions,
// which are key=value with spaces between them.
func (s *Set) rows(v view, topic, dims, unit string) (rows []*row) {
	for _, t := range s.views[v].Tables {
		for _, r := range t.Rows {
			if t.Unit == unit && r.Topic == topic && r.has(dims) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func (r *row) has(dims string) bool {
	for d := range strings.FieldsSeq(dims) {
		key, value, _ := strings.Cut(d, "=")
		if r.dim(key) != value {
			return false
		}
	}
	return true
}

// dim returns the value of a dimension, "" if the row does not have it.
func (r *row) dim(key string) string {
	for _, l := range r.Labels {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// of returns the comparison of an implementation, and its own side. The
// baseline's own is that of any.
func (r *row) of(impl string) (c comparison, own summary, ok bool) {
	for _, c := range r.Comparisons {
		if c.Column == impl && c.New.N > 0 {
			return c, c.New, true
		}
	}
	for _, c := range r.Comparisons {
		if c.Baseline == impl && c.Base.N > 0 {
			return comparison{Ratio: number(math.NaN()), Regime: c.Regime}, c.Base, true
		}
	}
	return comparison{}, summary{}, false
}
