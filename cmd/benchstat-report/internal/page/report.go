package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// Report writes a comparison. Sides may be nil; then the configuration that
// all results agree on is shown.
func Report(w io.Writer, r *verdict.Report, sides []Side) error {
	d, g := compared(r, sides)
	return d.write(w, g)
}

// ReportCharts returns the charts of the page that [Report] writes.
func ReportCharts(r *verdict.Report) []Named {
	_, g := compared(r, nil)
	return g.charts
}

// compared builds the page of a comparison and its charts.
func compared(r *verdict.Report, sides []Side) (*document, *gallery) {
	g := &gallery{}
	js := judgements(r)
	figures := comparedFigures(r)
	l := newLooks(figures, base(r))
	d := &document{
		Title: "Benchmark report: " + versus(r), Lead: lead(r, js), Notes: r.Warnings,
		Counts: counts(r.Counts, true), Lists: lists(js, headlines(r)), Environment: newEnvironment(sides, r.Machine),
		Regime: regimeNote(js), Rules: rules(r.Options),
	}
	if n, ok := topicForest(r); ok {
		d.Overall = append(d.Overall, g.add(n))
	}
	d.latency(g, figures, l, base(r))
	if n, ok := drift(figures, headlines(r), r.Options.Near); ok {
		d.Drift = append(d.Drift, g.add(n))
	}
	d.suspects(g, js, r.Options.Near)
	d.sections(g, r, js, figures, l)
	return d, g
}

// versus names what is compared with what.
func versus(r *verdict.Report) string {
	var bases, others []string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Comparisons {
				if !slices.Contains(bases, c.BaseColumn) && c.BaseColumn != "" {
					bases = append(bases, c.BaseColumn)
				}
				if !slices.Contains(others, c.Column) {
					others = append(others, c.Column)
				}
			}
		}
	}
	if len(bases) == 0 || len(others) == 0 {
		return "nothing to compare"
	}
	return few(others) + " against " + few(bases)
}

// few joins names, of many the first.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func lead(r *verdict.Report, js []judged) string {
	units := map[string]bool{}
	names := map[string]bool{}
	for _, j := range js {
		units[j.table.Unit], names[j.row.Topic] = true, true
	}
	by := ""
	if r.ColumnKey != "" {
		by = " by " + r.ColumnKey
	}
	return fmt.Sprintf("%s%s: %s in %s.", plural(len(js), "comparison", "comparisons"), by,
		plural(len(names), "benchmark", "benchmarks"), plural(len(units), "unit", "units"))
}

// base is the baseline of most comparisons.
func base(r *verdict.Report) string {
	most, count := "", map[string]int{}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Comparisons {
				if count[c.BaseColumn]++; c.Base.N > 0 && count[c.BaseColumn] > count[most] {
					most = c.BaseColumn
				}
			}
		}
	}
	return most
}

// headlines are the units that topics are summed up in.
func headlines(r *verdict.Report) map[string]string {
	out := map[string]string{}
	for _, t := range r.Topics {
		if out[t.Name] == "" {
			out[t.Name] = t.Unit
		}
	}
	return out
}

// lists are the rows to read first: what got worse, what is not decided, what
// got better. Headline units come before others, large changes before small.
func lists(js []judged, headline map[string]string) []list {
	var out []list
	for _, of := range []struct {
		v     verdict.Verdict
		title string
		most  int
	}{{verdict.Slower, "Slower", maxListed}, {verdict.Undecided, "Undecided, and what it would take", maxListed / 3}, {verdict.Faster, "Faster", maxListed}} {
		picked := slices.DeleteFunc(slices.Clone(js), func(j judged) bool { return j.Verdict != of.v })
		if len(picked) == 0 {
			continue
		}
		slices.SortStableFunc(picked, func(a, b judged) int {
			return cmp.Or(boolRank(b.headlined(headline))-boolRank(a.headlined(headline)), cmp.Compare(effect(b), effect(a)))
		})
		l := list{Title: of.title, Class: class(of.v), LeftOut: max(len(picked)-of.most, 0)}
		if of.v == verdict.Undecided {
			l.Remark = demand(picked)
		}
		for _, j := range picked[:len(picked)-l.LeftOut] {
			l.Rows = append(l.Rows, listed{j.anchor, j.row.Topic, j.name, j.table.Unit, figures(j), remark(j)})
		}
		out = append(out, l)
	}
	return out
}

func (j judged) headlined(headline map[string]string) bool {
	return headline[j.row.Topic] == j.table.Unit
}

// demand says how many samples the undecided rows need: what would do for half
// of them, and for all.
func demand(undecided []judged) string {
	var needed []int
	for _, j := range undecided {
		if j.Needed > 0 {
			needed = append(needed, j.Needed)
		}
	}
	if len(needed) == 0 {
		return "More samples alone would not decide them."
	}
	slices.Sort(needed)
	half, all := needed[(len(needed)-1)/2], needed[len(needed)-1]
	text := fmt.Sprintf("%s on each side would let %s decide", plural(all, "sample", "samples"), plural(len(needed), "row", "rows"))
	if half < all {
		text += fmt.Sprintf(", %d half of them", half)
	}
	return text + "."
}

// figures writes the change of a comparison with its interval.
func figures(j judged) string {
	return strings.TrimSpace(chart.Percent(j.Ratio) + " " + chart.Interval(1+j.Lo, 1+j.Hi))
}

// remark is what a row says beside its figures.
func remark(j judged) string {
	if j.Needed > 0 && !strings.Contains(j.Reason, strconv.Itoa(j.Needed)) {
		return strings.TrimPrefix(j.Reason+", ", ", ") + fmt.Sprintf("needs %d samples on each side", j.Needed)
	}
	return j.Reason
}

// regimeNote says how far apart the cores were where it matters.
func regimeNote(js []judged) []string {
	n := map[verdict.Regime]int{}
	near, far := 0, 0
	for _, j := range js {
		if j.Verdict != verdict.NotComparable {
			n[j.Regime]++
			near += j.Base.NearN + j.New.NearN
			far += j.Base.FarN + j.New.FarN
		}
	}
	var parts []string
	for _, of := range []struct {
		r    verdict.Regime
		text string
	}{
		{verdict.Near, "with near cores"}, {verdict.Far, "with far cores"}, {verdict.Mixed, "with too few samples of either"},
		{verdict.OneCore, "on one core, where it does not matter"}, {verdict.Unknown, "without the distance measured"},
	} {
		if n[of.r] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", plural(n[of.r], "row was compared", "rows were compared"), of.text))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	notes := []string{strings.Join(parts, "; ") + "."}
	if near > 0 && far > 0 {
		notes = append(notes, fmt.Sprintf("%s taken with near cores and %s with far ones: the machine moved the program between cores. Ratios are taken within one of the two, never across.",
			plural(near, "sample was", "samples were"), plural(far, "sample", "samples")))
	}
	return notes
}

// latency fills the part on latencies.
func (d *document) latency(g *gallery, figures []figure, l looks, base string) {
	list := curves(figures)
	d.Tail = tails(list, base)
	var charts []Named
	for _, c := range list {
		if n, ok := c.plot(l); ok {
			charts = append(charts, n)
		}
	}
	d.Latency, d.LatencyLeft = g.addAll(charts, maxTopicCharts)
}

// suspects draws the samples of rows that may have been disturbed: slower ones
// first, then undecided ones.
func (d *document) suspects(g *gallery, js []judged, near float64) {
	const most = 6
	var charts []Named
	for _, v := range []verdict.Verdict{verdict.Slower, verdict.Undecided} {
		picked := slices.DeleteFunc(slices.Clone(js), func(j judged) bool { return j.Verdict != v })
		slices.SortStableFunc(picked, func(a, b judged) int { return cmp.Compare(effect(b), effect(a)) })
		for _, j := range picked {
			if n, ok := samplesPlot(j, near); ok {
				charts = append(charts, n)
			}
		}
	}
	d.Samples, d.SamplesLeft = g.addAll(charts, most)
}

// mainUnit is the unit of a topic's first table and forest plot.
func mainUnit(of []judged, headline string) string {
	var units []string
	for _, j := range of {
		if !slices.Contains(units, j.table.Unit) {
			units = append(units, j.table.Unit)
		}
	}
	if !slices.Contains(units, headline) {
		headline = units[0]
	}
	return tailUnit(units, headline)
}

// sections adds one part for each topic.
func (d *document) sections(g *gallery, r *verdict.Report, js []judged, figures []figure, l looks) {
	headline := headlines(r)
	var names []string
	byTopic := map[string][]judged{}
	for _, j := range js {
		if byTopic[j.row.Topic] == nil {
			names = append(names, j.row.Topic)
		}
		byTopic[j.row.Topic] = append(byTopic[j.row.Topic], j)
	}
	for i, name := range names {
		of := byTopic[name]
		s := section{ID: fmt.Sprintf("topic-%d", i+1), Name: name, Counts: counts(tally(of), false)}
		main := mainUnit(of, headline[name])
		drawn := slices.DeleteFunc(slices.Clone(of), func(j judged) bool { return j.table.Unit != main })
		if n, ok := forest(drawn, name, drawn[0].table); ok {
			if f := g.add(n); f != "" {
				s.Charts = append(s.Charts, f)
			}
		}
		mine := only(figures, func(f *figure) bool { return f.topic == name })
		unit := chosenUnit(mine, main)
		lines, left := g.addAll(against(only(mine, func(f *figure) bool { return f.unit == unit }), l), maxTopicCharts)
		s.Charts, s.ChartsLeft = append(s.Charts, lines...), left
		s.Tables = tables(of, main)
		d.Sections = append(d.Sections, s)
	}
}
