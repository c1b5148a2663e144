// Package results reads benchmark files of package bench and compares the
// implementations in them, row by row and within one regime.
package results

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/tidemark-go/tidemark/bench"
)

// BounceUnit is the metric that carries the cache-line transfer time of a row,
// as the benchmarks write it.
const BounceUnit = "bounce-ns"

// CommandMark begins the line of a result file that holds the command. Readers
// of the benchmark format pass over it.
const CommandMark = "# "

// minSamples is how many samples of a regime each side of a comparison needs.
const minSamples = 3

// Set is the results of a file.
type Set struct {
	// Command is what made the file, as its first line says.
	Command string
	results []*benchfmt.Result
}

// Load reads the results of a file.
func Load(path string) (*Set, error) {
	files := benchfmt.Files{Paths: []string{path}}
	s := &Set{}
	for files.Scan() {
		switch r := files.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, fmt.Errorf("results: %w", r)
		case *benchfmt.Result:
			s.results = append(s.results, r.Clone())
		}
	}
	if err := files.Err(); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(s.results) == 0 {
		return nil, fmt.Errorf("results: %s holds no results", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, CommandMark) {
		s.Command = strings.TrimPrefix(first, CommandMark)
	}
	return s, nil
}

// Config returns the values of a configuration key, in order of appearance.
func (s *Set) Config(key string) []string {
	var all []string
	for _, r := range s.results {
		if v := r.GetConfig(key); v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Point is one measurement and the bounce beside it, both as they were
// written. A Bounce of 0 was not measured.
type Point struct{ Value, Bounce float64 }

func (p Point) near() bool { return p.Bounce < bench.NearBounce }

// Row is all measurements of one row, by implementation.
type Row struct {
	Topic string // the benchmark's base name
	// Dims are the dimensions without impl, as key=value.
	Dims   []string
	Points map[string][]Point
}

// Rows returns the rows that filter (benchproc's syntax) selects and that
// have the unit, in order of appearance.
func (s *Set) Rows(filter, unit string) ([]*Row, error) {
	f, err := benchproc.NewFilter(filter)
	if err != nil {
		return nil, fmt.Errorf("results: filter %q: %w", filter, err)
	}
	var parser benchproc.ProjectionParser
	rows, err := parser.Parse(".fullname", f)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	impls, err := parser.Parse("/impl", f)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	byKey := map[benchproc.Key]*Row{}
	var list []*Row
	for _, r := range s.results {
		// A match, not Apply: the bounce must stay beside the unit.
		m, err := f.Match(r)
		value, ok := original(r, unit)
		if err != nil || !m.Any() || !ok {
			continue
		}
		bounce, _ := original(r, BounceUnit)
		key := rows.Project(r)
		row := byKey[key]
		if row == nil {
			row = &Row{Topic: string(r.Name.Base()), Dims: dims(r.Name), Points: map[string][]Point{}}
			byKey[key] = row
			list = append(list, row)
		}
		impl := impls.Project(r).Get(impls.Fields()[0])
		row.Points[impl] = append(row.Points[impl], Point{value, bounce})
	}
	return list, nil
}

// dims returns the key=value parts of a name but impl.
func dims(name benchfmt.Name) []string {
	_, parts := name.Parts()
	var list []string
	for _, p := range parts {
		if k := strings.TrimPrefix(string(p), "/"); k != string(p) && !strings.HasPrefix(k, "impl=") {
			list = append(list, k)
		}
	}
	return list
}

// original returns the value with the unit that was written, which the reader
// may have turned into seconds.
func original(r *benchfmt.Result, unit string) (float64, bool) {
	for _, v := range r.Values {
		if v.OrigUnit == unit {
			return v.OrigValue, true
		}
		if v.OrigUnit == "" && v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}

// Regime says how far apart the cores were in what was compared.
type Regime string

// The regimes. Mixed means that too few samples of either were there, so that
// all of them count; OneCore that one goroutine did the work, so that the
// distance does not matter; Unknown that no bounce was measured.
const (
	Near    Regime = "near"
	Far     Regime = "far"
	Mixed   Regime = "mixed"
	OneCore Regime = "one core"
	Unknown Regime = "unknown"
)

// crossCore are the topics with more than one goroutine.
var crossCore = []string{"CheckpointLive", "CheckpointCross", "QueueProducers", "QueueBatches", "LedgerAppend", "LedgerLatency", "Pipeline"}

// pick returns the samples of one regime, if all sides have enough in it:
// near rather than far.
func pick(topic string, sides ...[]Point) (Regime, [][]Point) {
	if !slices.Contains(crossCore, topic) {
		return OneCore, sides
	}
	measured := false
	for _, side := range sides {
		for _, p := range side {
			measured = measured || p.Bounce > 0
		}
	}
	if !measured {
		return Unknown, sides
	}
	for _, regime := range []Regime{Near, Far} {
		var kept [][]Point
		enough := true
		for _, side := range sides {
			var in []Point
			for _, p := range side {
				if p.near() == (regime == Near) {
					in = append(in, p)
				}
			}
			enough = enough && len(in) >= min(minSamples, len(side)) && len(in) > 0
			kept = append(kept, in)
		}
		if enough {
			return regime, kept
		}
	}
	return Mixed, sides
}

// Summary is the median of some points, with its interval, and their bounce.
type Summary struct {
	benchmath.Summary
	N      int
	Bounce float64 // median
}

const confidence = 0.95

func summarise(points []Point) Summary {
	var values, bounces []float64
	for _, p := range points {
		values = append(values, p.Value)
		bounces = append(bounces, p.Bounce)
	}
	return Summary{
		Summary: median(values),
		N:       len(points),
		Bounce:  median(bounces).Center,
	}
}

func median(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
}

// Cell is one implementation's part of a row.
type Cell struct {
	Impl string
	Summary
	// Ratio is to the baseline's median; 0 without a baseline.
	Ratio float64
}

// Compare summarises the implementations of a row, in the given order, within
// one regime. Implementations without measurements are left out.
func (r *Row) Compare(impls []string, baseline string) (Regime, []Cell) {
	var names []string
	var sides [][]Point
	for _, im := range impls {
		if p := r.Points[im]; len(p) > 0 {
			names = append(names, im)
			sides = append(sides, p)
		}
	}
	regime, sides := pick(r.Topic, sides...)
	cells := make([]Cell, len(names))
	base := 0.0
	for i, name := range names {
		cells[i] = Cell{Impl: name, Summary: summarise(sides[i])}
		if name == baseline {
			base = cells[i].Center
		}
	}
	for i := range cells {
		if base > 0 {
			cells[i].Ratio = cells[i].Center / base
		}
	}
	return regime, cells
}
