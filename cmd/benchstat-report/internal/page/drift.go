package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// regimeOrder is the order of legends, and of colours.
var regimeOrder = []verdict.Regime{verdict.Near, verdict.Far, verdict.OneCore, verdict.Unknown}

func regimeName(r verdict.Regime) string {
	switch r {
	case verdict.Near:
		return "near cores"
	case verdict.Far:
		return "far cores"
	case verdict.OneCore:
		return "one core"
	}
	return "distance of cores unknown"
}

// placed is a sample of the drift chart.
type placed struct {
	seq    int
	ratio  float64
	regime verdict.Regime
	file   string
}

// drift draws every sample, as a multiple of its row's median, in the order in
// which they were taken: a machine that gets slower, or that changes its
// regime, shows as a step of everything at once. Each topic counts in one unit.
func drift(figures []figure, headline map[string]string, near float64) (Named, bool) {
	var all []placed
	for _, topic := range topics(figures) {
		of := only(figures, func(f *figure) bool { return f.topic == topic })
		unit := headline[topic]
		if !slices.ContainsFunc(of, func(f figure) bool { return f.unit == unit }) {
			unit = of[0].unit
		}
		for i := range of {
			if of[i].unit == unit {
				all = append(all, relative(&of[i], near)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.seq, b.seq) })
	p := chart.Plot{
		ID: "drift", Title: "All samples in run order, each by the median of its row",
		Desc: "Samples in the order they were taken, as multiples of their row's median, coloured by how far apart the cores were.",
		X:    chart.Axis{Label: "place in the run", Places: true, Far: true}, Y: chart.Axis{Label: "sample by median of its row", Far: true},
		Wide: true,
	}
	if every := (len(all) + maxPoints - 1) / maxPoints; every > 1 {
		p.Note = fmt.Sprintf("One of %d of the %d samples is drawn.", every, len(all))
		var kept []placed
		for i := 0; i < len(all); i += every {
			kept = append(kept, all[i])
		}
		all = kept
	}
	p.Series = byRegime(all)
	return Named{p.ID, p}, len(all) > 2
}

// relative divides the samples of a figure by their median. Files that say
// nothing but zero have no ratio.
func relative(f *figure, near float64) []placed {
	values := make([]float64, 0, len(f.samples))
	for _, s := range f.samples {
		values = append(values, s.Value)
	}
	if len(values) < 2 {
		return nil
	}
	slices.Sort(values)
	median := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	var out []placed
	for _, s := range f.samples {
		if ratio := s.Value / median; bounded(ratio, ratio) {
			out = append(out, placed{s.Seq, ratio, verdict.RegimeOf(s, near), s.File})
		}
	}
	return out
}

// byRegime makes a series for each regime of each file: the regime is the
// colour, the file the mark.
func byRegime(all []placed) []chart.Series {
	var files []string
	for _, p := range all {
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	if len(files) > 3 {
		files = []string{""}
	}
	var out []chart.Series
	for i, regime := range regimeOrder {
		for k, file := range files {
			s := chart.Series{Name: regimeName(regime), Dots: true, Look: chart.Look{Color: i, Mark: k}}
			if len(files) > 1 {
				s.Name += ", " + file
			}
			for _, p := range all {
				if p.regime == regime && (p.file == file || len(files) == 1) {
					s.Points = append(s.Points, chart.Point{X: float64(p.seq), Y: p.ratio, Lo: nan, Hi: nan})
				}
			}
			if len(s.Points) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// samplesPlot draws the samples of the two sides of one comparison.
func samplesPlot(j judged, near float64) (Named, bool) {
	p := chart.Plot{
		ID: slug("samples", j.row.Topic, j.name, j.table.Unit), Title: heading(j.row.Topic, j.name+", samples in run order"),
		Desc: "The samples of both sides of a row in the order they were taken, coloured by how far apart the cores were.",
		X:    chart.Axis{Label: "place in the run", Places: true, Far: true}, Y: chart.Axis{Unit: j.table.Tidy, Hint: direction(j.table.Better), Far: true},
	}
	n := 0
	for k, column := range []string{j.BaseColumn, j.Column} {
		at := slices.Index(j.table.Columns, column)
		if at < 0 || j.row.Cells[at] == nil {
			continue
		}
		f := newFigure(j.table.Table, j.row.Row, at, verdict.Summary{}, "")
		scale, _ := scaled(j.table.Unit)
		for i, regime := range regimeOrder {
			s := chart.Series{Name: column + ", " + regimeName(regime), Dots: true, Look: chart.Look{Color: i, Mark: k}}
			for _, sample := range f.samples {
				if verdict.RegimeOf(sample, near) == regime {
					s.Points = append(s.Points, chart.Point{X: float64(sample.Seq), Y: sample.Value * scale, Lo: nan, Hi: nan})
				}
			}
			if n += len(s.Points); len(s.Points) > 0 {
				p.Series = append(p.Series, s)
			}
		}
	}
	return Named{p.ID, p}, n > 1
}
