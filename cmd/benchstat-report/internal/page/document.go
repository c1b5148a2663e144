package page

import (
	_ "embed" // for the template, the style sheet and the script
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	styleText string
	//go:embed page.js
	scriptText string

	// The style sheet and the script hold no data, so they are part of the
	// template's text.
	pageTemplate = template.Must(template.New("page").Parse(strings.NewReplacer(
		"/* page.css */", styleText, "/* page.js */", scriptText).Replace(pageText)))
)

// document is what the template writes.
type document struct {
	Title, Lead string
	ChartCSS    template.CSS
	Counts      []count
	Lists       []list
	Notes       []string
	Overall     []template.HTML
	Environment *environment
	Regime      []string
	Tail        *tail
	Latency     []template.HTML
	LatencyLeft int
	Drift       []template.HTML
	Samples     []template.HTML
	SamplesLeft int
	Sections    []section
	LeftOut     int
	Rules       []string
}

// count is one number of the verdict's head.
type count struct {
	Class, Text string
	N           int
}

// list is rows worth reading first.
type list struct {
	Title, Class, Remark string
	Rows                 []listed
	LeftOut              int
}

type listed struct {
	Anchor, Topic, Name, Unit, Figures, Remark string
}

// section is one topic.
type section struct {
	ID, Name   string
	Counts     []count
	Charts     []template.HTML
	ChartsLeft int
	Tables     []table
}

// table is the rows of one unit and configuration.
type table struct {
	Title, Config string
	Heads         []head
	Rows          []row
	Open          bool
	Plain         bool // not in a fold
}

type head struct {
	Text    string
	Numeric bool
}

type row struct {
	Anchor, Class string
	Cells         []cell
}

// cell is a figure or a word. Sort is what sorting compares.
type cell struct {
	Text, Small, Title, Sort string
	Numeric, Verdict         bool
}

func (d *document) write(w io.Writer, g *gallery) error {
	if g.err != nil {
		return fmt.Errorf("page: %w", g.err)
	}
	d.ChartCSS, d.LeftOut = chart.CSS(), g.leftOut
	if err := pageTemplate.Execute(w, d); err != nil {
		return fmt.Errorf("page: writing %q: %w", d.Title, err)
	}
	return nil
}

// counts writes how many rows came to each verdict. Those without rows are
// left out of a section, not of the page.
func counts(c verdict.Counts, all bool) []count {
	var out []count
	for _, n := range []count{
		{"slower", "slower", c.Slower}, {"faster", "faster", c.Faster}, {"same", "same", c.Same},
		{"undecided", "undecided", c.Undecided}, {"not-comparable", "not comparable", c.NotComparable},
	} {
		if all || n.N > 0 {
			out = append(out, n)
		}
	}
	return out
}

// tally counts verdicts.
func tally(list []judged) verdict.Counts {
	var c verdict.Counts
	for _, j := range list {
		switch j.Verdict {
		case verdict.Slower:
			c.Slower++
		case verdict.Faster:
			c.Faster++
		case verdict.Same:
			c.Same++
		case verdict.Undecided:
			c.Undecided++
		default:
			c.NotComparable++
		}
	}
	return c
}

// class is a verdict as a class of the style sheet.
func class(v verdict.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") }
