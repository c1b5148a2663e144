package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// Named is a chart with the name of the file it may be written to, which has
// no extension and is its id in a page.
type Named struct {
	Name  string
	Chart chart.Chart
}

// processors is the number of processors that Go puts at the end of a name, or
// that a file configures.
const processors = "gomaxprocs"

// ofProcessors says whether a dimension is a number of processors, which is
// compared with an ideal.
func ofProcessors(key string) bool { return key == processors || key == "procs" }

// least is how many different numbers make a dimension an axis. Two will do for
// processors, because the ideal says what to expect of the second.
func least(key string) int {
	if ofProcessors(key) {
		return 2
	}
	return 3
}

// chosenUnit is the unit that the charts of a topic show: throughput where
// it was reported, else the headline unit.
func chosenUnit(figures []figure, headline string) string {
	units := distinct(figures, func(f *figure) string { return f.unit })
	for _, u := range units {
		if strings.HasSuffix(u, "/s") && slices.ContainsFunc(figures, func(f figure) bool { return f.unit == u && f.better >= 0 }) {
			return u
		}
	}
	if !slices.Contains(units, headline) && len(units) > 0 {
		return units[0]
	}
	return headline
}

// against draws the figures of one topic and unit against every dimension
// that has enough numbers, once for each combination of the others.
func against(figures []figure, l looks) []Named {
	figures = withProcessors(figures)
	var out []Named
	for _, key := range axes(figures) {
		groups := distinct(figures, func(f *figure) string { return f.others(key) })
		for _, group := range groups {
			members := only(figures, func(f *figure) bool { _, ok := f.label(key); return ok && f.others(key) == group })
			if p, ok := againstPlot(members, key, group, l); ok {
				out = append(out, Named{p.ID, p})
			}
		}
	}
	return out
}

// withProcessors gives figures without a number of processors the number 1 if
// others of the topic have one: Go leaves it out of the names then.
func withProcessors(figures []figure) []figure {
	has := func(f figure) bool { _, ok := f.label(processors); return ok }
	if !slices.ContainsFunc(figures, has) {
		return figures
	}
	out := slices.Clone(figures)
	for i := range out {
		if !has(out[i]) {
			out[i].labels = append(slices.Clone(out[i].labels), pairOf(processors, "1"))
		}
	}
	return out
}

// axes are the dimensions with enough different numbers and nothing else.
func axes(figures []figure) []string {
	var keys []string
	values := map[string]map[float64]bool{}
	other := map[string]bool{}
	for i := range figures {
		for _, l := range figures[i].labels {
			if values[l.Key] == nil {
				values[l.Key] = map[float64]bool{}
				keys = append(keys, l.Key)
			}
			v, ok := number(l.Value)
			values[l.Key][v] = true
			other[l.Key] = other[l.Key] || !ok || l.Key == ""
		}
	}
	return slices.DeleteFunc(keys, func(k string) bool { return other[k] || len(values[k]) < least(k) })
}

// againstPlot draws one combination. It is not ok if no series has enough
// points.
func againstPlot(members []figure, key, group string, l looks) (chart.Plot, bool) {
	topic, unit := members[0].topic, members[0].unit
	name := key
	if ofProcessors(key) {
		name = "GOMAXPROCS"
	}
	p := chart.Plot{
		ID:    slug("against-"+key, topic, unit, group),
		Title: heading(topic, group),
		Desc:  fmt.Sprintf("%s of %s against %s: medians with their intervals, one line for each series.", unit, heading(topic, group), name),
		X:     chart.Axis{Label: name, Chosen: true},
		Y:     chart.Axis{Unit: members[0].tidy, Hint: direction(members[0].better)},
		Note:  regimes(members),
	}
	longest := 0
	for _, series := range distinct(members, (*figure).series) {
		s := chart.Series{Name: series}
		for i := range members {
			f := &members[i]
			if f.series() != series {
				continue
			}
			text, _ := f.label(key)
			x, _ := number(text)
			s.Look = l.of(f)
			s.Points = append(s.Points, point(f, x, fmt.Sprintf("%s, %s=%s", series, name, text)))
		}
		slices.SortStableFunc(s.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		s.Points = slices.CompactFunc(s.Points, func(a, b chart.Point) bool { return a.X == b.X })
		longest = max(longest, len(s.Points))
		p.Series = append(p.Series, s)
	}
	if ofProcessors(key) && members[0].better != 0 {
		ideal(&p, members[0].better)
	}
	return p, longest >= least(key)
}

// point is a figure with a title that tells everything.
func point(f *figure, x float64, name string) chart.Point {
	title := fmt.Sprintf("%s: %s", name, chart.Value(f.center, f.tidy))
	if bounded(f.lo, f.hi) {
		title += fmt.Sprintf(" [%s, %s]", chart.Value(f.lo, f.tidy), chart.Value(f.hi, f.tidy))
	}
	if f.regime != "" && f.regime != verdict.Unknown {
		title += ", cores: " + string(f.regime)
	}
	p := chart.Point{X: x, Y: f.center, Lo: f.lo, Hi: f.hi, Title: title}
	if !bounded(f.lo, f.hi) { // too few samples for an interval
		p.Lo, p.Hi = nan, nan
	}
	return p
}

// ideal adds what the best series would do if each processor did as much as
// its first ones.
func ideal(p *chart.Plot, better int) {
	var best *chart.Series
	for i := range p.Series {
		s := &p.Series[i]
		if len(s.Points) < 2 || s.Points[0].X <= 0 {
			continue
		}
		if best == nil || s.Points[0].X < best.Points[0].X || s.Points[0].X == best.Points[0].X && (s.Points[0].Y > best.Points[0].Y) == (better > 0) {
			best = s
		}
	}
	if best == nil {
		return
	}
	from := best.Points[0]
	p.IdealName = fmt.Sprintf("ideal from %s at %v", best.Name, from.X)
	for _, q := range best.Points {
		times := q.X / from.X
		if better < 0 {
			times = 1 / times
		}
		p.Ideal = append(p.Ideal, chart.Point{X: q.X, Y: from.Y * times})
	}
}

// direction tells which way is good.
func direction(better int) string {
	switch {
	case better > 0:
		return "higher is better"
	case better < 0:
		return "lower is better"
	}
	return ""
}

// regimes warns if the figures are not all of one regime.
func regimes(members []figure) string {
	near, far := 0, 0
	for _, f := range members {
		switch f.regime {
		case verdict.Near:
			near++
		case verdict.Far:
			far++
		case verdict.Mixed:
			near, far = near+1, far+1
		}
	}
	if near > 0 && far > 0 {
		return "Points of near and of far cores are in this chart: compare those of one regime. What a point is shows when the pointer rests on it."
	}
	return ""
}

// heading is a topic with what singles a chart out of it.
func heading(topic, group string) string {
	if group == "" {
		return topic
	}
	return topic + ": " + group
}
