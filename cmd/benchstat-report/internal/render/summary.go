package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// summaryGrid sets the cells of a table, and the notes for below it.
func summaryGrid(t *overview.Table, o verdict.Options) (*grid, []string) {
	g := &grid{
		head:  []string{"benchmark", "of", "median", fmt.Sprintf("± %s", percent(o.Confidence)), "min", "max", "spread", "n", "near", "far", "cores"},
		right: []bool{false, false, true, true, true, true, true, true, true, true, false},
	}
	if t.Exact {
		g.head[2] = "value"
	}
	end := suffix(t.Table)
	many := len(t.Columns) > 1
	var notes []string
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			name := strings.TrimSuffix(row.Name, end)
			spread := none
			if c.Spread >= 0 {
				spread = fmt.Sprintf("%.0f%%", c.Spread*100)
			}
			g.add(name, short(c.Column), number(c.Summary.Center, t.Table), plusMinus(c.Summary), number(c.Min, t.Table), number(c.Max, t.Table),
				spread, strconv.Itoa(c.Summary.N), strconv.Itoa(c.Summary.NearN), strconv.Itoa(c.Summary.FarN), regime(c.Regime))
			if many {
				name += " (" + short(c.Column) + ")"
			}
			for _, text := range c.Warnings {
				notes = append(notes, name+": "+text)
			}
		}
	}
	if !slices.ContainsFunc(g.rows, func(r []string) bool { return r[10] != none }) {
		g.drop(10)
		g.drop(9)
		g.drop(8)
	}
	if !many {
		g.drop(1)
	}
	return g, notes
}

// SummaryText writes an overview for a terminal.
func SummaryText(w io.Writer, o *overview.Overview) error {
	var b strings.Builder
	head(&b, o.Machine, o.Warnings)
	for i, t := range o.Tables {
		if i > 0 {
			b.WriteString("\n")
		}
		g, notes := summaryGrid(t, o.Options)
		fmt.Fprintf(&b, "%s\n", title(t.Table))
		if err := g.text(&b); err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintf(&b, "%s! %s\n", indent, n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SummaryMarkdown writes an overview for a pull request.
func SummaryMarkdown(w io.Writer, o *overview.Overview) error {
	var b strings.Builder
	markdownHead(&b, o.Machine, o.Warnings)
	for i, t := range o.Tables {
		if i > 0 {
			b.WriteString("\n")
		}
		g, notes := summaryGrid(t, o.Options)
		fmt.Fprintf(&b, "### %s\n\n", escape(title(t.Table)))
		if err := g.markdown(&b); err != nil {
			return err
		}
		for i, n := range notes {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", escape(n))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SummaryCSV writes one record for each cell.
func SummaryCSV(w io.Writer, o *overview.Overview) error {
	var list [][]string
	for _, t := range o.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				s := c.Summary
				list = append(list, []string{
					configLine(t.Config, "=", "; "), t.Unit, better(t.Better), row.Topic, row.Name, c.Column,
					exact(s.Center), exact(s.Lo), exact(s.Hi), exact(c.Min), exact(c.Max), exact(c.Spread), strconv.Itoa(s.N),
					strconv.Itoa(s.NearN), strconv.Itoa(s.FarN), string(c.Regime), strings.Join(c.Warnings, "; "),
				})
			}
		}
	}
	return records(w, []string{"config", "unit", "better", "topic", "row", "column", "center", "lo", "hi", "min", "max", "spread", "n", "near", "far", "regime", "warnings"}, list)
}

type jsonCell struct {
	Column   string         `json:"column"`
	Summary  jsonSummary    `json:"summary"`
	Min      num            `json:"min"`
	Max      num            `json:"max"`
	Spread   num            `json:"spread"`
	Regime   verdict.Regime `json:"regime"`
	Warnings []string       `json:"warnings"`
}

// SummaryJSON writes an overview for a program.
func SummaryJSON(w io.Writer, o *overview.Overview) error {
	tables := []jsonTable{}
	for _, t := range o.Tables {
		jt := tableOf(t.Table)
		for _, row := range t.Rows {
			jr := jsonRow{Name: row.Name, Topic: row.Topic, Labels: labelsOf(row.Labels)}
			for _, c := range row.Cells {
				jr.Cells = append(jr.Cells, jsonCell{c.Column, summaryOf(c.Summary), num(c.Min), num(c.Max), num(c.Spread), c.Regime, append([]string{}, c.Warnings...)})
			}
			jt.Rows = append(jt.Rows, jr)
		}
		tables = append(tables, jt)
	}
	return emit(w, struct {
		Version  int               `json:"version"`
		Kind     string            `json:"kind"`
		Options  jsonOptions       `json:"options"`
		Machine  map[string]string `json:"machine"`
		Warnings []string          `json:"warnings"`
		Tables   []jsonTable       `json:"tables"`
	}{version, "summary", optionsOf(o.Options), configOf(o.Machine), append([]string{}, o.Warnings...), tables})
}
