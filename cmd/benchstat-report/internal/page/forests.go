package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// marks are how charts show verdicts.
var marks = map[verdict.Verdict]chart.Verdict{
	verdict.Faster: chart.Faster, verdict.Slower: chart.Slower, verdict.Same: chart.Same,
	verdict.Undecided: chart.Undecided, verdict.NotComparable: chart.NotComparable,
}

// judged is a comparison with the places it is from.
type judged struct {
	*verdict.Comparison
	table *verdict.Table
	row   *verdict.Row
	// name is the row's without its topic, with the column if there are
	// several.
	name string
	// anchor is the row's place in the page.
	anchor string
}

// judgements are all comparisons of a report in order.
func judgements(r *verdict.Report) []judged {
	var out []judged
	several := severalColumns(r)
	var names []string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			names = append(names, row.Name)
		}
	}
	suffix := processorsSuffix(names)
	configs := topicConfigs(r)
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Comparisons {
				j := judged{Comparison: c, table: t, row: row, name: rest(row.Name, row.Topic, suffix), anchor: fmt.Sprintf("row-%d", len(out)+1)}
				if several {
					j.name += ", " + c.Column
				}
				if len(configs[row.Topic]) > 1 {
					j.name += ", " + config(t.Config)
				}
				out = append(out, j)
			}
		}
	}
	return out
}

// topicConfigs returns the configurations in which each topic was measured. A
// topic with several needs them in the names of its rows.
func topicConfigs(r *verdict.Report) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			if out[row.Topic] == nil {
				out[row.Topic] = map[string]bool{}
			}
			out[row.Topic][config(t.Config)] = true
		}
	}
	return out
}

// change is a judgement as a line of a forest plot.
func (j judged) change(name string) chart.Change {
	return chart.Change{Name: name, Ratio: j.Ratio, Lo: 1 + j.Lo, Hi: 1 + j.Hi, Floor: j.Floor, Verdict: marks[j.Verdict]}
}

// forest draws the changes of one topic in one unit. If they are too many,
// those that count for most are drawn. It is not ok if no row has a change.
func forest(list []judged, topic string, t *verdict.Table) (Named, bool) {
	f := chart.Forest{
		ID: slug("changes", topic, t.Unit), Title: heading(topic, "change of "+t.Unit),
		Desc: fmt.Sprintf("The change of %s of each row of %s with its interval.", t.Unit, topic),
	}
	f.Left, f.Right = sides(t.Better)
	kept, note := mostTelling(list)
	for _, j := range kept {
		f.Changes = append(f.Changes, j.change(j.name))
	}
	f.Note = note
	return Named{f.ID, f}, slices.ContainsFunc(list, func(j judged) bool { return !math.IsNaN(j.Ratio) })
}

// sides name the two sides of no change.
func sides(better int) (left, right string) {
	switch {
	case better < 0:
		return "better", "worse"
	case better > 0:
		return "worse", "better"
	}
	return "less", "more"
}

// mostTelling keeps at most maxForest comparisons, in their order: those with
// the largest changes among the decided, then the others.
func mostTelling(list []judged) ([]judged, string) {
	if len(list) <= maxForest {
		return list, ""
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(list[a]), weight(list[b])), cmp.Compare(effect(list[b]), effect(list[a])))
	})
	order = order[:maxForest]
	slices.Sort(order)
	kept := make([]judged, 0, maxForest)
	for _, i := range order {
		kept = append(kept, list[i])
	}
	return kept, fmt.Sprintf("%d of %d rows are drawn: slower and faster ones first, by the size of the change. The table holds all.", maxForest, len(list))
}

func weight(j judged) int {
	return slices.Index([]verdict.Verdict{verdict.Slower, verdict.Faster, verdict.Undecided, verdict.Same, verdict.NotComparable}, j.Verdict)
}

// effect is the size of a change, the same for a half and a double.
func effect(j judged) float64 {
	e := math.Abs(math.Log(j.Ratio))
	if math.IsNaN(e) {
		return -1
	}
	return e
}

// topicForest shows the mean ratio of every topic at once.
func topicForest(r *verdict.Report) (Named, bool) {
	f := chart.Forest{
		ID: "topics", Title: "Each benchmark as a whole: mean of its rows' ratios", Left: "less", Right: "more",
		Desc: "The geometric mean of the ratios of each benchmark's rows with its interval.",
		Note: "A mean of rows has an interval and no verdict. Less is better for times, more for throughput.",
	}
	down, up := 0, 0
	several, configs := severalColumns(r), topicConfigs(r)
	for _, t := range r.Topics {
		if math.IsNaN(t.Ratio) {
			continue
		}
		name := t.Name + ", " + t.Unit
		if several {
			name += ", " + t.Column
		}
		if len(configs[t.Name]) > 1 {
			name += ", " + config(t.Config)
		}
		if t.Better > 0 {
			up++
		} else {
			down++
		}
		f.Changes = append(f.Changes, chart.Change{Name: name, Ratio: t.Ratio, Lo: t.Lo, Hi: t.Hi, Verdict: chart.Plain})
	}
	if up == 0 {
		f.Left, f.Right = sides(-1)
	} else if down == 0 {
		f.Left, f.Right = sides(1)
	}
	if n := len(f.Changes); n > maxForest {
		f.Changes = f.Changes[:maxForest]
		f.Note += fmt.Sprintf(" The first %d of %d are drawn.", maxForest, n)
	}
	return Named{f.ID, f}, len(f.Changes) > 1
}

// severalColumns says whether rows are compared with more than one column.
func severalColumns(r *verdict.Report) bool {
	return slices.ContainsFunc(r.Tables, func(t *verdict.Table) bool { return len(t.Columns) > 2 })
}
