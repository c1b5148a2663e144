package main

import (
	"io"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/render"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// format is a form of output, and how each kind of document takes it.
type format struct {
	name    string
	report  func(io.Writer, *verdict.Report) error
	summary func(io.Writer, *overview.Overview) error
	history func(io.Writer, *history.History) error
}

// formats are in the order in which -help shows them; the first is the default.
func formats() []format {
	return []format{
		{"text", render.Text, render.SummaryText, render.HistoryText},
		{"markdown", render.Markdown, render.SummaryMarkdown, render.HistoryMarkdown},
		{"csv", render.CSV, render.SummaryCSV, render.HistoryCSV},
		{"json", render.JSON, render.SummaryJSON, render.HistoryJSON},
	}
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
