package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// openRows is up to how many rows a table beside the main one is unfolded if
// something in it is slower.
const openRows = 40

// tables are the rows of a topic, the headline unit first, the others folded.
func tables(of []judged, main string) []table {
	var out []table
	var last *verdict.Table
	for _, j := range of {
		if j.table != last {
			out = append(out, comparisonTable(j.table, j.table.Unit == main))
			last = j.table
		}
		t := &out[len(out)-1]
		t.Rows = append(t.Rows, comparisonRow(j))
		t.Open = t.Open || j.Verdict == verdict.Slower
	}
	plainFirst(out)
	dropConfig(out)
	for i := range out {
		out[i].Open = out[i].Open && len(out[i].Rows) <= openRows
		out[i].Title = fmt.Sprintf("%s, %s", out[i].Title, plural(len(out[i].Rows), "row", "rows"))
	}
	return out
}

func plainFirst(list []table) {
	slices.SortStableFunc(list, func(a, b table) int { return boolRank(b.Plain) - boolRank(a.Plain) })
}

// dropConfig removes the configuration from tables that do not differ in it.
func dropConfig(list []table) {
	if slices.ContainsFunc(list, func(t table) bool { return t.Config != list[0].Config }) {
		return
	}
	for i := range list {
		list[i].Config = ""
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func comparisonTable(t *verdict.Table, main bool) table {
	title := t.Unit
	if d := direction(t.Better); d != "" {
		title += ", " + d
	}
	var bases, news []string
	for _, r := range t.Rows {
		for _, c := range r.Comparisons {
			if !slices.Contains(bases, c.BaseColumn) {
				bases = append(bases, c.BaseColumn)
			}
			if !slices.Contains(news, c.Column) {
				news = append(news, c.Column)
			}
		}
	}
	return table{
		Title: title, Config: config(t.Config), Plain: main,
		Heads: []head{{"row", false}, {sole(bases, "base"), true}, {sole(news, "new"), true}, {"change", true}, {"p", true}, {"n", true}, {"cores", false}, {"verdict", false}},
	}
}

// sole is the only name of a list, or what stands for all.
func sole(names []string, all string) string {
	if len(names) == 1 {
		return names[0]
	}
	return all
}

func config(list []pair.KeyValue) string {
	var parts []string
	for _, kv := range list {
		parts = append(parts, kv.Key+": "+kv.Value)
	}
	return strings.Join(parts, ", ")
}

// comparisonRow writes a comparison.
func comparisonRow(j judged) row {
	unit := j.table.Unit
	return row{Anchor: j.anchor, Class: class(j.Verdict), Cells: []cell{
		{Text: j.name, Title: j.row.Name},
		side(j.Base, unit, j.BaseColumn), side(j.New, unit, j.Column),
		{Text: changeText(j), Small: intervalText(j), Sort: number64(j.Ratio), Numeric: true, Title: "the change that counts is more than " + floorText(j.Floor)},
		{Text: probability(j.Adjusted), Sort: number64(j.Adjusted), Numeric: true, Title: "uncorrected: " + probability(j.P)},
		{Text: sizes(j), Sort: strconv.Itoa(min(j.Base.N, j.New.N)), Numeric: true, Title: fmt.Sprintf("near cores: %d and %d, far: %d and %d", j.Base.NearN, j.New.NearN, j.Base.FarN, j.New.FarN)},
		{Text: regimeText(j.Regime)},
		{Text: string(j.Verdict), Small: remark(j), Verdict: true},
	}}
}

// side writes one side of a comparison.
func side(s verdict.Summary, unit, column string) cell {
	if s.N == 0 {
		return cell{Text: "–", Numeric: true, Title: column + ": not measured"}
	}
	return cell{Text: value(s.Center, unit), Small: half(s), Sort: number64(s.Center), Numeric: true, Title: column + ": " + interval(s, unit)}
}

func changeText(j judged) string {
	text, _, _ := strings.Cut(figures(j), " [")
	if text == "no figure" {
		return "–"
	}
	return text
}

func intervalText(j judged) string {
	if _, text, ok := strings.Cut(figures(j), " ["); ok {
		return "[" + text
	}
	return ""
}

// sizes is the number of samples, once if both sides have as many.
func sizes(j judged) string {
	if j.Base.N == j.New.N {
		return strconv.Itoa(j.New.N)
	}
	return fmt.Sprintf("%d+%d", j.Base.N, j.New.N)
}

func regimeText(r verdict.Regime) string {
	if r == verdict.Unknown || r == "" {
		return "–"
	}
	return string(r)
}

// number64 is a figure for sorting; what has none is empty and goes last.
func number64(v float64) string {
	if v != v {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
