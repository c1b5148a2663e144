package main

import (
	"context"
	"io"
)

const compareHelp = `[flags] OLD NEW…
       benchstat-report compare -col KEY [-baseline VALUE] [flags] FILE…

Says of each benchmark whether NEW is faster, slower or the same as OLD, or that
the samples cannot tell, and how many would. More files are each compared to
the first. A file may be label=path, and - is standard input.

  benchstat-report compare old.txt new.txt
  benchstat-report compare -format markdown before=a.txt after=b.txt
  benchstat-report compare -col /impl -baseline channel bench.txt
  benchstat-report compare -filter ".name:QueueBurst .unit:ns/msg" old.txt new.txt
  benchstat-report compare legs.txt        (a file of run -base, or run -aa)

A row is faster or slower only if the interval of its change excludes zero, the
change exceeds -floor and the noise of -noise, and p holds after the correction
for all rows of its unit. Which direction is better, Unit lines in the files
say ("Unit msgs/s better=higher"). Where a line carries bounce-ns, samples with
cores near to each other are never compared with samples of cores far apart.
It takes six samples a row to decide, and ten with a hundred rows: use -count 10.

What the forms csv and json hold is described by
go doc github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/render`

const gateHelp = `[flags] OLD NEW
       benchstat-report gate -col KEY [-baseline VALUE] [flags] FILE…

Compares as the verb compare does, and exits with 1 if any row is slower. What is
undecided passes, unless -strict is set: then it exits with 3.

  benchstat-report gate old.txt new.txt
  benchstat-report gate -floor 5% -noise aa.txt -strict legs.txt
  benchstat-report gate -format markdown -o comment.md old.txt new.txt

The noise file is an A/A run: benchstat-report run -aa -o aa.txt. A row whose two
equal legs may lie 7 % apart then needs more than 7 % to fail.
Exit codes: 0 nothing is slower; 1 a row is slower; 2 unreadable input; 3 nothing
comparable; 4 a benchmark failed, according to a file.`

// runCompare is the verb compare.
func runCompare(ctx context.Context, e env, args []string) error {
	return judge(ctx, e, "compare", compareHelp, args, false)
}

// runGate is the verb gate.
func runGate(ctx context.Context, e env, args []string) error {
	return judge(ctx, e, "gate", gateHelp, args, true)
}

func judge(ctx context.Context, e env, name, help string, args []string, gate bool) error {
	var a analysis
	f := newFlags(e, name, help)
	a.addFlags(f)
	a.addCompareFlags(f)
	files, err := a.files(f, args)
	if err != nil {
		return err
	}
	report, set, err := a.compare(e, files)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.write(e, func(w io.Writer) error { return a.chosen().report(w, report, set) }); err != nil {
		return err
	}
	return a.outcome(report, set, gate)
}
