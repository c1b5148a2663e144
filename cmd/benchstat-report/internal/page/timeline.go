package page

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
)

// History writes the rows of many commits in commit order.
func History(w io.Writer, h *history.History) error {
	d, g := ordered(h)
	return d.write(w, g)
}

// HistoryCharts returns the charts of the page that [History] writes.
func HistoryCharts(h *history.History) []Named {
	_, g := ordered(h)
	return g.charts
}

// maxCommits is how many commits a table has: the last ones. Charts have all.
const maxCommits = 6

// timed is a history with what its names have in common at their end.
type timed struct {
	*history.History
	suffix string
}

func ordered(all *history.History) (*document, *gallery) {
	g := &gallery{}
	h := timed{all, suffixOf(all)}
	var names []string
	for _, s := range h.Series {
		if !slices.Contains(names, s.Topic) {
			names = append(names, s.Topic)
		}
	}
	d := &document{
		Title: "Benchmark history: " + plural(len(h.Commits), "commit", "commits"), Notes: h.Warnings,
		Lead:        fmt.Sprintf("%s of %s, commits ordered by %s.", plural(len(h.Series), "row", "rows"), plural(len(names), "benchmark", "benchmarks"), h.Order),
		Environment: newEnvironment(nil, h.Machine), Rules: commonRules(h.Options),
	}
	l := h.looks()
	for i, name := range names {
		var mine []*history.Series
		for _, s := range h.Series {
			if s.Topic == name {
				mine = append(mine, s)
			}
		}
		var units []string
		for _, m := range mine {
			if !slices.Contains(units, m.Unit) {
				units = append(units, m.Unit)
			}
		}
		lead := leadingUnit(units)
		s := section{ID: fmt.Sprintf("topic-%d", i+1), Name: name}
		s.Charts, s.ChartsLeft = g.addAll(h.timelines(mine, lead, l), maxTopicCharts)
		for _, unit := range units {
			s.Tables = append(s.Tables, h.table(mine, unit, unit == lead))
		}
		plainFirst(s.Tables)
		d.Sections = append(d.Sections, s)
	}
	return d, g
}

// split takes the implementation out of a row's name.
func (h timed) split(s *history.Series) (name, impl string) {
	parts := strings.Split(rest(s.Name, s.Topic, h.suffix), "/")
	parts = slices.DeleteFunc(parts, func(p string) bool {
		value, ok := strings.CutPrefix(p, implKey+"=")
		if ok {
			impl = value
		}
		return ok
	})
	if c := config(s.Config); c != "" {
		parts = append(parts, c)
	}
	name = strings.Join(parts, ", ")
	if name == s.Topic {
		name = ""
	}
	return name, impl
}

func suffixOf(h *history.History) string {
	var names []string
	for _, s := range h.Series {
		names = append(names, s.Name)
	}
	return processorsSuffix(names)
}

func (h timed) looks() looks {
	var figures []figure
	for _, s := range h.Series {
		_, impl := h.split(s)
		figures = append(figures, figure{topic: s.Topic, impl: impl})
	}
	return newLooks(figures, baselineName)
}

// timelines draws the rows of a topic in one unit: one plot for rows that
// differ in nothing but the implementation.
func (h timed) timelines(mine []*history.Series, unit string, l looks) []Named {
	var out []Named
	at := map[string]int{}
	for _, s := range mine {
		if s.Unit != unit {
			continue
		}
		name, impl := h.split(s)
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Named{slug("history", s.Topic, s.Unit, name), h.timeline(s, name)})
		}
		p := out[i].Chart.(chart.Plot)
		p.Series = append(p.Series, h.series(s, impl, l))
		out[i].Chart = p
	}
	return out
}

// timeline is a plot of one row without its series.
func (h timed) timeline(s *history.Series, name string) chart.Plot {
	_, tidy := benchunit.Tidy(1, s.Unit)
	p := chart.Plot{
		Title: heading(s.Topic, name), Desc: "Median and interval at each commit, ordered by " + string(h.Order) + ".",
		X: chart.Axis{Label: "commit"}, Y: chart.Axis{Unit: tidy, Hint: direction(s.Better)},
	}
	for i := range h.Commits {
		p.X.Ticks = append(p.X.Ticks, chart.Tick{At: float64(i), Text: commitName(h.Commits[i], 8)})
	}
	return p
}

// commitName is short, with a star if the tree was changed.
func commitName(c history.Commit, most int) string {
	name := c.ID
	if name == "" {
		name = c.Label
	} else if len(name) > most {
		name = name[:most]
	}
	if c.Dirty {
		name += "*"
	}
	return name
}

func (h timed) series(s *history.Series, impl string, l looks) chart.Series {
	scale, tidy := benchunit.Tidy(1, s.Unit)
	out := chart.Series{Name: impl, Look: l.of(&figure{impl: impl})}
	if impl == "" {
		out.Name = "median"
	}
	for _, p := range s.Points {
		f := figure{center: p.Summary.Center * scale, lo: p.Summary.Lo * scale, hi: p.Summary.Hi * scale, tidy: tidy, regime: p.Regime}
		out.Points = append(out.Points, point(&f, float64(p.Commit), out.Name+" at "+commitName(h.Commits[p.Commit], 12)))
	}
	return out
}

// timelineTable has the last commits as columns, and the first one where
// there are more.
func (h timed) table(mine []*history.Series, unit string, plain bool) table {
	t := table{Plain: plain, Heads: []head{{"row", false}}}
	var shown []int
	for i := max(0, len(h.Commits)-maxCommits); i < len(h.Commits); i++ {
		shown = append(shown, i)
	}
	if len(shown) > 0 && shown[0] > 0 {
		shown[0] = 0
	}
	for _, i := range shown {
		t.Heads = append(t.Heads, head{commitName(h.Commits[i], 8), true})
	}
	t.Heads = append(t.Heads, head{"last by first", true})
	better := 0
	for _, s := range mine {
		if s.Unit != unit {
			continue
		}
		better = s.Better
		r := row{Cells: []cell{{Text: rest(s.Name, s.Topic, h.suffix), Small: config(s.Config), Title: s.Name}}}
		for _, i := range shown {
			r.Cells = append(r.Cells, timelineCell(s, i, unit))
		}
		ratio := nan
		if n := len(s.Points); n > 1 {
			ratio = s.Points[n-1].Summary.Center / s.Points[0].Summary.Center
		}
		last := cell{Text: "–", Numeric: true}
		if bounded(ratio, ratio) {
			last = cell{Text: "×" + strconv.FormatFloat(ratio, 'f', 2, 64), Sort: number64(ratio), Numeric: true}
		}
		r.Cells = append(r.Cells, last)
		t.Rows = append(t.Rows, r)
	}
	t.Title = unit
	if d := direction(better); d != "" {
		t.Title += ", " + d
	}
	t.Title += ", " + plural(len(t.Rows), "row", "rows")
	if len(h.Commits) > maxCommits {
		t.Config = fmt.Sprintf("the first and the last %d of %d commits", maxCommits-1, len(h.Commits))
	}
	return t
}

func timelineCell(s *history.Series, commit int, unit string) cell {
	for _, p := range s.Points {
		if p.Commit == commit {
			return cell{Text: value(p.Summary.Center, unit), Small: half(p.Summary), Sort: number64(p.Summary.Center), Numeric: true,
				Title: fmt.Sprintf("%s of %s, cores: %s", interval(p.Summary, unit), plural(p.Summary.N, "sample", "samples"), regimeText(p.Regime))}
		}
	}
	return cell{Text: "–", Numeric: true}
}
