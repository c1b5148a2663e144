package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
)

// quantileUnit matches p99.9-sec and max-sec, with or without more before.
var quantileUnit = regexp.MustCompile(`^(?:(.+)-)?(?:p(\d+(?:\.\d+)?)|(max))-sec$`)

// quantile reads a unit of a latency: what was measured, and the quantile, 1
// for the largest.
func quantile(tidy string) (what string, q float64, ok bool) {
	m := quantileUnit.FindStringSubmatch(tidy)
	if m == nil {
		return "", 0, false
	}
	if m[3] != "" {
		return m[1], 1, true
	}
	q, err := strconv.ParseFloat(m[2], 64)
	return m[1], q / 100, err == nil && q > 0 && q < 100
}

// curve is all quantiles of one kind of work.
type curve struct {
	topic, group, what string
	members            []figure
}

// curves collects the latencies of a page, one for each combination of
// dimensions.
func curves(figures []figure) []*curve {
	var out []*curve
	byName := map[string]*curve{}
	for _, f := range figures {
		what, _, ok := quantile(f.tidy)
		if !ok {
			continue
		}
		group := f.others("")
		id := strings.Join([]string{f.topic, group, what}, "\x00")
		if byName[id] == nil {
			byName[id] = &curve{topic: f.topic, group: group, what: what}
			out = append(out, byName[id])
		}
		byName[id].members = append(byName[id].members, f)
	}
	// What stalls is what latencies are measured for.
	slices.SortStableFunc(out, func(a, b *curve) int { return cmp.Compare(b.stalls(), a.stalls()) })
	return out
}

// stalls is 1 if something is paused in this work.
func (c *curve) stalls() int {
	for _, l := range c.members[0].labels {
		key := strings.ToLower(l.Key)
		named := strings.Contains(key, "pause") || strings.Contains(key, "stall")
		if named && !slices.Contains([]string{"none", "no", "false", "0", "0s", "0ms"}, l.Value) {
			return 1
		}
	}
	return 0
}

func (c *curve) name() string {
	name := heading(c.topic, c.group)
	if c.what != "" {
		name += ", " + c.what
	}
	return name
}

// plot draws the quantiles of each series. It is not ok with less than two.
func (c *curve) plot(l looks) (Named, bool) {
	var quantiles []float64
	largest := false
	for _, f := range c.members {
		_, q, _ := quantile(f.tidy)
		if q < 1 {
			quantiles = append(quantiles, q)
		}
		largest = largest || q == 1
	}
	axis, all := chart.QuantileAxis(quantiles, largest)
	p := chart.Plot{
		ID: slug("latency", c.topic, c.what, c.group), Title: c.name(),
		Desc: "Latency against the part of the samples that took at most as long, one line for each series, medians of the runs with their intervals.",
		X:    axis, Y: chart.Axis{Unit: "sec", Hint: "lower is better"}, Note: regimes(c.members),
	}
	longest := 0
	for _, name := range distinct(c.members, (*figure).series) {
		s := chart.Series{Name: name}
		for i := range c.members {
			f := &c.members[i]
			if f.series() != name {
				continue
			}
			_, q, _ := quantile(f.tidy)
			x := chart.QuantileAt(q)
			if q == 1 {
				x = all
			}
			s.Look = l.of(f)
			s.Points = append(s.Points, point(f, x, name+", "+f.unit))
		}
		slices.SortStableFunc(s.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		s.Points = slices.CompactFunc(s.Points, func(a, b chart.Point) bool { return a.X == b.X })
		longest = max(longest, len(s.Points))
		p.Series = append(p.Series, s)
	}
	return Named{p.ID, p}, longest > 1
}

// tail is the table of one quantile, the highest that is usual: rows of work,
// columns of series.
type tail struct {
	Unit    string
	Series  []string
	Rows    []tailRow
	LeftOut int
}

type tailRow struct {
	Name  string
	Cells []tailCell
}

// tailCell is a latency and its ratio to the first series.
type tailCell struct{ Value, Interval, Ratio string }

// baselineName is the series that others are set against where no column is.
const baselineName = "channel"

// tails sets the series side by side in the highest quantile up to 99.9 % that
// there is.
func tails(list []*curve, base string) *tail {
	best := 0.0
	for _, c := range list {
		for _, f := range c.members {
			if _, q, _ := quantile(f.tidy); q <= 0.999+1e-9 {
				best = max(best, q)
			}
		}
	}
	if best == 0 {
		return nil
	}
	t := &tail{Unit: "p" + strconv.FormatFloat(rounded(best*100), 'f', -1, 64)}
	var all []figure
	for _, c := range list {
		all = append(all, c.at(best)...)
	}
	t.Series = distinct(all, (*figure).series)
	slices.SortStableFunc(t.Series, func(a, b string) int { return cmp.Compare(first(b, base), first(a, base)) })
	for _, c := range list {
		members := c.at(best)
		if len(members) == 0 {
			continue
		}
		if len(t.Rows) >= maxListed {
			t.LeftOut++
			continue
		}
		t.Rows = append(t.Rows, tailRow{c.name(), tailCells(members, t.Series)})
	}
	return t
}

// first is 1 for the series that is the baseline.
func first(series, base string) int {
	if series == base || series == baselineName || strings.HasPrefix(series, baselineName+", ") {
		return 1
	}
	return 0
}

func (c *curve) at(q float64) []figure {
	return only(c.members, func(f *figure) bool { _, have, _ := quantile(f.tidy); return have == q })
}

func tailCells(members []figure, series []string) []tailCell {
	cells := make([]tailCell, len(series))
	base := nan
	for i, name := range series {
		for k := range members {
			f := &members[k]
			if f.series() != name || cells[i].Value != "" {
				continue
			}
			cells[i].Value = chart.Value(f.center, "sec")
			if bounded(f.lo, f.hi) {
				cells[i].Interval = fmt.Sprintf("[%s, %s]", chart.Value(f.lo, "sec"), chart.Value(f.hi, "sec"))
			}
			if i == 0 {
				base = f.center
			} else if ratio := f.center / base; bounded(ratio, ratio) && ratio > 0 {
				cells[i].Ratio = multiple(ratio)
			}
		}
	}
	return cells
}

// multiple writes a ratio as a multiple, or as a part if it is a small one.
func multiple(ratio float64) string {
	if ratio < 0.1 {
		return "1/" + strconv.FormatFloat(1/ratio, 'f', 0, 64)
	}
	return "×" + strconv.FormatFloat(rounded3(ratio), 'f', -1, 64)
}

func rounded3(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

// tailUnit is the unit among those of a topic that says most of its latencies:
// the highest quantile up to 99.9 %. A topic without latencies keeps the other.
func tailUnit(units []string, other string) string {
	if _, tidy := scaled(other); !isQuantile(tidy) {
		return other
	}
	best, unit := 0.0, other
	for _, u := range units {
		_, tidy := scaled(u)
		if _, q, ok := quantile(tidy); ok && q <= 0.999+1e-9 && q > best {
			best, unit = q, u
		}
	}
	return unit
}

// leadingUnit is the unit that says most of a topic: the time per piece of
// work, else the tail of its latencies, else any time, else what it reports
// first.
func leadingUnit(units []string) string {
	for _, fits := range []func(tidy string) bool{
		func(tidy string) bool { return strings.HasPrefix(tidy, "sec/") }, isQuantile,
		func(tidy string) bool { return strings.Contains(tidy, "sec") && tidy != "bounce-sec" },
	} {
		for _, u := range units {
			if _, tidy := scaled(u); fits(tidy) {
				return tailUnit(units, u)
			}
		}
	}
	return units[0]
}

func isQuantile(tidy string) bool {
	_, _, ok := quantile(tidy)
	return ok
}

// rounded removes the noise of binary fractions from a percentage.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	return r
}
