package main

import (
	"io"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/page"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/render"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// format is a form of output, and how each kind of document takes it.
type format struct {
	name    string
	report  func(io.Writer, *verdict.Report, *parse.Set) error
	summary func(io.Writer, *overview.Overview) error
	history func(io.Writer, *history.History) error
}

// formats are in the order in which -help shows them; the first is the default.
func formats() []format {
	return []format{
		{"text", plain(render.Text), render.SummaryText, render.HistoryText},
		{"markdown", plain(render.Markdown), render.SummaryMarkdown, render.HistoryMarkdown},
		{"csv", plain(render.CSV), render.SummaryCSV, render.HistoryCSV},
		{"json", plain(render.JSON), render.SummaryJSON, render.HistoryJSON},
		{reportFormat, writePage, page.Overview, page.History},
	}
}

// plain makes a form of one that shows nothing of the input but the report.
func plain(write func(io.Writer, *verdict.Report) error) func(io.Writer, *verdict.Report, *parse.Set) error {
	return func(w io.Writer, r *verdict.Report, _ *parse.Set) error { return write(w, r) }
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
