package page

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// figure is what one column measured of one row: what charts are made of.
type figure struct {
	topic, unit, tidy string
	better            int
	// labels are the dimensions that place the figure, without the
	// implementation and the column, which name the series.
	labels []pair.KeyValue
	// around are the number of processors and the configuration. They become
	// labels where the figures of a topic differ in them.
	around         []pair.KeyValue
	impl, column   string
	columnIndex    int
	center, lo, hi float64 // in base units
	regime         verdict.Regime
	samples        []pair.Sample // all of them, in run order
}

// implKey is the dimension that names what is measured.
const implKey = "impl"

// newFigure places the figure of a column of a row.
func newFigure(t *pair.Table, r *pair.Row, column int, s verdict.Summary, regime verdict.Regime) figure {
	f := figure{topic: r.Topic, unit: t.Unit, tidy: t.Tidy, better: t.Better, regime: regime, columnIndex: column}
	for i, l := range slices.Concat(r.Labels, t.Config) {
		switch {
		case l.Key == implKey:
			f.impl = l.Value
		case l.Key == processors || i >= len(r.Labels):
			f.around = append(f.around, l)
		default:
			f.labels = append(f.labels, l)
		}
	}
	if len(t.Columns) > 1 {
		f.column = t.Columns[column]
	}
	if r.Cells[column] != nil {
		f.samples = r.Cells[column].Samples
	}
	scale, tidy := benchunit.Tidy(1, t.Unit)
	f.tidy = tidy
	f.center, f.lo, f.hi = s.Center*scale, s.Lo*scale, s.Hi*scale
	return f
}

// series names the line of a chart that the figure belongs to.
func (f *figure) series() string {
	switch {
	case f.impl == "" && f.column == "":
		return "median"
	case f.impl == "":
		return f.column
	case f.column == "":
		return f.impl
	}
	return f.impl + ", " + f.column
}

// label returns the value of a dimension, and whether there is one.
func (f *figure) label(key string) (string, bool) {
	for _, l := range f.labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// others are the dimensions but one, as a name.
func (f *figure) others(but string) string {
	var parts []string
	for _, l := range f.labels {
		if l.Key != but {
			parts = append(parts, keyValue(l))
		}
	}
	return strings.Join(parts, ", ")
}

func keyValue(l pair.KeyValue) string {
	if l.Key == "" {
		return l.Value
	}
	return l.Key + "=" + l.Value
}

// comparedFigures are those of a comparison, in the order of its tables.
func comparedFigures(r *verdict.Report) []figure {
	var out []figure
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			based := false
			for _, c := range row.Comparisons {
				if base := slices.Index(t.Columns, c.BaseColumn); !based && base >= 0 && c.Base.N > 0 {
					out, based = append(out, newFigure(t.Table, row.Row, base, c.Base, c.Regime)), true
				}
				if column := slices.Index(t.Columns, c.Column); column >= 0 && c.New.N > 0 {
					out = append(out, newFigure(t.Table, row.Row, column, c.New, c.Regime))
				}
			}
		}
	}
	return placeFigures(out)
}

// measuredFigures are those of a summary.
func measuredFigures(o *overview.Overview) []figure {
	var out []figure
	for _, t := range o.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				if column := slices.Index(t.Columns, c.Column); column >= 0 {
					out = append(out, newFigure(t.Table, row.Row, column, c.Summary, c.Regime))
				}
			}
		}
	}
	return placeFigures(out)
}

// placeFigures makes what figures of one topic differ in part of their labels.
func placeFigures(figures []figure) []figure {
	type place struct{ topic, key string }
	value, count, total := map[place]string{}, map[place]int{}, map[string]int{}
	differ := map[place]bool{}
	for _, f := range figures {
		total[f.topic]++
		for _, l := range f.around {
			p := place{f.topic, l.Key}
			if count[p]++; count[p] == 1 {
				value[p] = l.Value
			}
			differ[p] = differ[p] || value[p] != l.Value
		}
	}
	for i := range figures {
		f := &figures[i]
		for _, l := range f.around {
			if p := (place{f.topic, l.Key}); differ[p] || count[p] < total[f.topic] {
				f.labels = append(f.labels, l)
			}
		}
	}
	return figures
}

// topics returns the benchmarks' names in order of appearance.
func topics(figures []figure) []string {
	return distinct(figures, func(f *figure) string { return f.topic })
}

// distinct returns the values of key in order of appearance.
func distinct(figures []figure, key func(*figure) string) []string {
	var out []string
	seen := map[string]bool{}
	for i := range figures {
		if k := key(&figures[i]); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

func only(figures []figure, keep func(*figure) bool) []figure {
	var out []figure
	for i := range figures {
		if keep(&figures[i]) {
			out = append(out, figures[i])
		}
	}
	return out
}

// looks gives each implementation a colour and a mark of its own, and each
// column a dash. The baseline has the first look. If there are more
// implementations than colours, those that no benchmark has in common share
// looks, so that lines of one chart differ.
type looks struct{ number map[string]int }

func newLooks(figures []figure, base string) looks {
	impls := distinct(figures, (*figure).lead)
	count, topics := map[string]int{base: len(figures) + 1}, map[string]map[string]bool{}
	for i := range figures {
		lead := figures[i].lead()
		if count[lead]++; topics[lead] == nil {
			topics[lead] = map[string]bool{}
		}
		topics[lead][figures[i].topic] = true
	}
	slices.SortStableFunc(impls, func(a, b string) int { return count[b] - count[a] })
	l := looks{map[string]int{}}
	for i, impl := range impls {
		l.number[impl] = i
		if len(impls) > chart.Colors {
			l.number[impl] = l.free(impls[:i], topics, topics[impl])
		}
	}
	return l
}

// free is the first look that nothing has which is in one of the topics.
func (l looks) free(earlier []string, topics map[string]map[string]bool, own map[string]bool) int {
	taken := map[int]bool{}
	for _, other := range earlier {
		for topic := range own {
			if topics[other][topic] {
				taken[l.number[other]] = true
			}
		}
	}
	n := 0
	for taken[n] {
		n++
	}
	return n
}

// lead is what a series is coloured by.
func (f *figure) lead() string {
	if f.impl != "" {
		return f.impl
	}
	return f.column
}

func (l looks) of(f *figure) chart.Look {
	look := chart.LookOf(l.number[f.lead()])
	if f.impl != "" && f.column != "" {
		look.Dash = f.columnIndex
	}
	return look
}

// number reads the value of a dimension.
func number(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v-v == 0
}
