package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/page"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

const reportHelp = `-o FILE [flags] OLD NEW…
       benchstat-report report -o FILE -col KEY [-baseline VALUE] [flags] FILE…

Compares as the verb compare does, and writes the comparison as one HTML file with
charts: the verdicts, what is undecided and what it would take, the machine on
either side, throughput against every dimension that has three numbers or more,
latency curves, and all samples in run order. The file needs nothing else and
fetches nothing, and the same input gives the same bytes.

  benchstat-report report -o report.html old.txt new.txt
  benchstat-report report -o report.html -col /impl -baseline channel bench.txt
  benchstat-report report -o report.html -svg charts legs.txt

With -svg each chart is also a file NAME.svg in that directory, for documents that
show it as an image. Names depend on what the chart shows, not on its place.`

// reportFormat is the only form that the verb report writes.
const reportFormat = "html"

// runReport is the verb report.
func runReport(ctx context.Context, e env, args []string) error {
	var a analysis
	f := newFlags(e, "report", reportHelp)
	a.addFlags(f)
	a.addCompareFlags(f)
	a.format = reportFormat
	f.Lookup("format").DefValue = reportFormat
	svg := f.String("svg", "", "also write each chart as an SVG file into `directory`")
	files, err := a.files(f, args)
	if err != nil {
		return err
	}
	if a.format != reportFormat {
		return fail(exitUsage, "report: -format %q: want %s; the verb compare writes the other forms", a.format, reportFormat)
	}
	report, set, err := a.compare(e, files)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.write(e, func(w io.Writer) error { return writePage(w, report, set) }); err != nil {
		return err
	}
	if *svg != "" {
		n, err := writeCharts(*svg, page.ReportCharts(report))
		if err != nil {
			return fail(exitUsage, "-svg: %w", err)
		}
		fmt.Fprintf(e.stderr, "%s: %s in %s\n", program, plural(n, "chart is", "charts are"), *svg)
	}
	return a.outcome(report, set, false)
}

// writePage writes a comparison with the configuration of either side.
func writePage(w io.Writer, r *verdict.Report, set *parse.Set) error {
	return page.Report(w, r, page.Sides(r, set.Results))
}

// writeCharts writes each chart into a directory and returns how many.
func writeCharts(dir string, charts []page.Named) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	for i, c := range charts {
		file, err := os.Create(filepath.Join(dir, c.Name+".svg"))
		if err != nil {
			return i, err
		}
		if err := errors.Join(c.WriteFile(file), file.Close()); err != nil {
			return i, err
		}
	}
	return len(charts), nil
}
