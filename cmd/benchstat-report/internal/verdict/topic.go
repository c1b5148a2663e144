package verdict

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// logs returns the logarithms of ratios, or nil if one has none.
func logs(ratios []float64) []float64 {
	list := make([]float64, len(ratios))
	for i, r := range ratios {
		if r <= 0 || math.IsInf(r, 0) || math.IsNaN(r) {
			return nil
		}
		list[i] = math.Log(r)
	}
	return list
}

// rank orders the units of a topic: the time per piece of work says most, then
// other times, then everything but allocations.
func rank(tidy string) int {
	switch {
	case strings.HasPrefix(tidy, "sec/"):
		return 0
	case strings.Contains(tidy, "sec"):
		return 1
	case strings.HasPrefix(tidy, "allocs/"), tidy == "B/op":
		return 3
	}
	return 2
}

// topics sums up each topic in its headline unit, in order of appearance.
func topics(r *Report) []*Topic {
	type place struct{ topic, config string }
	headline := map[place]*Table{}
	var places []place
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			p := place{row.Topic, configText(t.Config)}
			old := headline[p]
			if old == nil {
				places = append(places, p)
			}
			if old == nil || cmp.Or(cmp.Compare(rank(t.Tidy), rank(old.Tidy)), cmp.Compare(t.First, old.First)) < 0 {
				headline[p] = t
			}
		}
	}
	var list []*Topic
	for _, p := range places {
		list = append(list, headline[p].topic(p.topic, r.Options.Confidence)...)
	}
	return list
}

// topic sums up the rows of a topic, for each column.
func (t *Table) topic(name string, confidence float64) []*Topic {
	var list []*Topic
	parts := map[*Topic][]*rowLogs{}
	for _, row := range t.Rows {
		if row.Topic != name {
			continue
		}
		for _, c := range row.Comparisons {
			i := slices.IndexFunc(list, func(x *Topic) bool { return x.Column == c.Column && x.BaseColumn == c.BaseColumn })
			if i < 0 {
				i = len(list)
				list = append(list, &Topic{Name: name, Config: t.Config, Unit: t.Unit, Better: t.Better, Column: c.Column, BaseColumn: c.BaseColumn})
			}
			list[i].Counts.add(c.Verdict)
			if c.logs != nil && c.Verdict != NotComparable && c.Regime != Mixed {
				parts[list[i]] = append(parts[list[i]], &rowLogs{row.Name, math.Log(c.Ratio), c.logs})
			}
		}
	}
	for _, topic := range list {
		topic.mean(parts[topic], confidence)
	}
	return list
}

// rowLogs is the logarithm of a row's ratio, and of its resampled ones.
type rowLogs struct {
	name string
	own  float64
	logs []float64
}

// mean sets the geometric mean of the rows' ratios and its interval. The rows
// are added up in the order of their names, so that the last digit does not
// depend on the order of the input.
func (t *Topic) mean(rows []*rowLogs, confidence float64) {
	t.Rows = len(rows)
	t.Ratio, t.Lo, t.Hi = math.NaN(), math.NaN(), math.NaN()
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b *rowLogs) int { return cmp.Compare(a.name, b.name) })
	n := float64(len(rows))
	own, sums := 0.0, make([]float64, resamples)
	for _, r := range rows {
		own += r.own / n
		for i, l := range r.logs {
			sums[i] += l / n
		}
	}
	lo, hi := percentiles(sums, confidence)
	t.Ratio, t.Lo, t.Hi = rounded(math.Exp(own)), rounded(math.Exp(lo)), rounded(math.Exp(hi))
}

// rounded drops the digits in which platforms differ.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		panic("verdict: a formatted number does not parse: " + err.Error())
	}
	return r
}
