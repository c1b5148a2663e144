package page

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
)

// Overview writes a summary: each row by itself.
func Overview(w io.Writer, o *overview.Overview) error {
	d, g := summarised(o)
	return d.write(w, g)
}

func summarised(o *overview.Overview) (*document, *gallery) {
	g := &gallery{}
	figures := measuredFigures(o)
	l := newLooks(figures, baselineName)
	names := topics(figures)
	d := &document{
		Title: "Benchmark summary", Notes: o.Warnings, Environment: newEnvironment(nil, o.Machine), Rules: commonRules(o.Options),
		Lead: fmt.Sprintf("%s of %s.", plural(len(figures), "figure", "figures"), plural(len(names), "benchmark", "benchmarks")),
	}
	d.latency(g, figures, l, baselineName)
	if n, ok := drift(figures, nil, o.Options.Near); ok {
		d.Drift = append(d.Drift, g.add(n))
	}
	var rows []string
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			rows = append(rows, r.Name)
		}
	}
	suffix := processorsSuffix(rows)
	for i, name := range names {
		mine := only(figures, func(f *figure) bool { return f.topic == name })
		lead := leadingUnit(distinct(mine, func(f *figure) string { return f.unit }))
		unit := chosenUnit(mine, lead)
		s := section{ID: fmt.Sprintf("topic-%d", i+1), Name: name}
		s.Charts, s.ChartsLeft = g.addAll(against(only(mine, func(f *figure) bool { return f.unit == unit }), l), maxTopicCharts)
		for _, t := range o.Tables {
			if rows := summaryTable(t, name, suffix); len(rows.Rows) > 0 {
				rows.Plain = t.Unit == lead
				s.Tables = append(s.Tables, rows)
			}
		}
		plainFirst(s.Tables)
		dropConfig(s.Tables)
		d.Sections = append(d.Sections, s)
	}
	return d, g
}

// summaryTable is the rows of a table that are of one topic.
func summaryTable(t *overview.Table, topic, suffix string) table {
	out := table{Config: config(t.Config), Heads: []head{{"row", false}, {"median", true}, {"lowest", true}, {"highest", true}, {"spread", true}, {"n", true}, {"cores", false}, {"remarks", false}}}
	for _, r := range t.Rows {
		if r.Topic != topic {
			continue
		}
		for _, c := range r.Cells {
			name := rest(r.Name, topic, suffix)
			if len(t.Columns) > 1 {
				name += ", " + c.Column
			}
			out.Rows = append(out.Rows, row{Cells: []cell{
				{Text: name, Title: r.Name},
				{Text: value(c.Summary.Center, t.Unit), Small: half(c.Summary), Sort: number64(c.Summary.Center), Numeric: true, Title: interval(c.Summary, t.Unit)},
				{Text: value(c.Min, t.Unit), Sort: number64(c.Min), Numeric: true},
				{Text: value(c.Max, t.Unit), Sort: number64(c.Max), Numeric: true},
				{Text: spread(c.Spread), Sort: number64(c.Spread), Numeric: true},
				{Text: strconv.Itoa(c.Summary.N), Sort: strconv.Itoa(c.Summary.N), Numeric: true, Title: fmt.Sprintf("near cores: %d, far: %d", c.Summary.NearN, c.Summary.FarN)},
				{Text: regimeText(c.Regime)},
				{Text: strings.Join(c.Warnings, "; ")},
			}})
		}
	}
	if !slices.ContainsFunc(out.Rows, func(r row) bool { return r.Cells[len(r.Cells)-1].Text != "" }) {
		out.Heads = out.Heads[:len(out.Heads)-1]
		for i := range out.Rows {
			out.Rows[i].Cells = out.Rows[i].Cells[:len(out.Heads)]
		}
	}
	out.Title = t.Unit
	if d := direction(t.Better); d != "" {
		out.Title += ", " + d
	}
	out.Title += ", " + plural(len(out.Rows), "row", "rows")
	return out
}

func spread(v float64) string {
	if !bounded(v, v) {
		return "–"
	}
	return strconv.FormatFloat(v*100, 'f', 0, 64) + " %"
}
