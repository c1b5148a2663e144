package main

import (
	"context"
	"io"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
)

const summaryHelp = `[flags] FILE…

Says of each benchmark its median with an interval, how many samples there are and
how far they spread, whether the cores were near or far, and what may mislead:
too few samples, two regimes in one median, samples that fall in two clusters.

  benchstat-report summary bench.txt
  benchstat-report summary -filter .unit:ns/op -format csv bench.txt
  go test -bench . -count 10 | benchstat-report summary -`

const historyHelp = `[flags] FILE…

Sets the results of many commits in commit order: of each benchmark the median
and its interval at each commit. The commit is what the configuration line
"commit: …" of a file says, as the verb run writes it; a file without one stands
for itself. The order is git's where the repository in the current directory
knows all the commits, else that of the lines "commit-date: …", which
the verb run writes too, or "date: …", else that of the arguments; the report
says which.

  benchstat-report history bench/out/*.txt
  benchstat-report history -filter ".name:QueueBurst .unit:ns/msg" *.txt
  benchstat-report history -format json -o history.json *.txt`

// runSummary is the verb summary.
func runSummary(_ context.Context, e env, args []string) error {
	var a analysis
	f := newFlags(e, "summary", summaryHelp)
	a.addFlags(f)
	f.StringVar(&a.pair.Col, "col", ".file", "make a column of each value of `keys`")
	files, err := a.files(f, args)
	if err != nil {
		return err
	}
	set, tables, err := a.read(e, files)
	if err != nil {
		return err
	}
	o := overview.Of(tables, a.verdict)
	if err := a.write(e, func(w io.Writer) error { return a.chosen().summary(w, o) }); err != nil {
		return err
	}
	return inputVerdict(set)
}

// runHistory is the verb history.
func runHistory(ctx context.Context, e env, args []string) error {
	var a analysis
	f := newFlags(e, "history", historyHelp)
	a.addFlags(f)
	files, err := a.files(f, args)
	if err != nil {
		return err
	}
	a.pair.Col = ".file"
	// The legs of a run are told apart by their commits.
	a.pair.Ignore = strings.Trim(a.pair.Ignore+",leg", ",")
	set, tables, err := a.read(e, files)
	if err != nil {
		return err
	}
	h := history.Of(ctx, tables, a.verdict, "")
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.write(e, func(w io.Writer) error { return a.chosen().history(w, h) }); err != nil {
		return err
	}
	return inputVerdict(set)
}

// files parses the arguments of a verb that wants files.
func (a *analysis) files(f *flagSet, args []string) ([]string, error) {
	files, err := f.parse(args)
	if err != nil {
		return nil, err
	}
	if err := a.check(f); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fail(exitUsage, "%s: no files; - is standard input, and %s %s -help explains the rest", f.Name(), program, f.Name())
	}
	return files, nil
}
