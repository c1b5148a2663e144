package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/runner"
)

const runHelp = `[flags] [package ...]

Measures the benchmarks of any Go packages. Each arm runs in a process of its
own, round after round, and within a row the arms come in rotating order. An
arm is one implementation (the value of /impl in the benchmark's name) of one
leg (base and new, with -base or -aa). All arms of a row run the same number of
iterations, which a first, short pass finds out. The results are in the format
that "go test -bench" writes, at any time: Ctrl-C leaves a valid file.

A package is a folder, also one of a nested module, or what go list takes.
What holds for it alone follows after commas, as in

  ./adapters/kafka/internal/pipeline,benchtime=2x,rounds=6

Without a package it is ./bench if that has tests, else the current folder.
Flags of go build come from the environment, as in GOFLAGS=-tags=x.

  benchstat-report run -o r.txt ./queue
      10 rounds of every benchmark of a package
  benchstat-report run -time 5m -bench 'Queue/.*/producers=[48]$' -o r.txt
      as many rounds, and as long ones, as go into 5 minutes
  benchstat-report run -aa -time 5m -o aa.txt
      how much the sources differ from themselves: the noise of the machine
  benchstat-report run -base main -time 5m -o r.txt && benchstat-report gate r.txt
      two commits, and whether the second one is slower

How long a cache line takes from one core to another and back stands beside
each result, as bounce-ns. The samples of a row should be of one regime, near
cores or far ones: with -time or -extra a row that lacks them is measured again.

Exit codes: 0; 2 wrong use, a revision or a package that does not exist, sources
that do not build, nothing that matches; 4 a benchmark failed or did not end in
time, and all others are in the file; 130 interrupted.`

// runRun measures benchmarks.
func runRun(ctx context.Context, e env, args []string) error {
	fs := newFlags(e, "run", runHelp)
	flags := runner.NewFlags(fs.FlagSet)
	packages, err := fs.parse(args)
	if err != nil {
		return err
	}
	o, err := flags.Finish(packages)
	if err != nil {
		return err
	}
	o.Stdout, o.Progress, o.Terminal = e.stdout, e.stderr, isTerminal(e.stderr)
	err = runner.Run(ctx, o)
	if errors.Is(err, runner.ErrFailed) {
		return exitError{exitFailed, err}
	}
	return err
}

// isTerminal reports whether w is one, so that a line can be written over.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
