// Benchstat-report says what benchmark files tell: it summarises them, compares
// them, holds them against a gate and shows their history. "benchstat-report
// -help" lists its verbs and "benchstat-report VERB -help" teaches each.
//
// Exit codes: 0; 1 a regression (gate); 2 wrong use, or input that is missing or
// cannot be read; 3 nothing comparable, or undecided with -strict; 4 a benchmark
// failed; 130 interrupted. A report is written before the exit code is
// decided.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes.
const (
	exitRegression  = 1
	exitUsage       = 2
	exitNothing     = 3
	exitFailed      = 4
	exitInterrupted = 130
	program         = "benchstat-report"
)

// env is what a verb may touch.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// verb is one thing the program does. Its run parses args with newFlags, and
// returns nil, an exitError, or an error that means exit code 2.
type verb struct {
	name, short string
	run         func(ctx context.Context, e env, args []string) error
}

// verbs are in the order in which -help shows them.
func verbs() []verb {
	return []verb{
		{"run", "measures benchmarks, with what is compared interleaved", runRun},
		{"summary", "says of each benchmark its median, interval, spread and what may mislead", runSummary},
		{"compare", "says what is faster, slower or the same, and what is undecided", runCompare},
		{"gate", "compares, and exits with 1 if anything is slower", runGate},
		{"report", "compares, and writes one HTML file with charts", runReport},
		{"history", "shows the median of each benchmark at each commit, in commit order", runHistory},
	}
}

// exitError is an error with the exit code it means.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// fail makes an exitError.
func fail(code int, format string, args ...any) error {
	return exitError{code, fmt.Errorf(format, args...)}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, env{interruptible{ctx, os.Stdin}, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs a command line and returns its exit code.
func run(ctx context.Context, e env, args []string) int {
	err := dispatch(ctx, e, args)
	var coded exitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(e.stderr, "%s: interrupted\n", program)
		return exitInterrupted
	case errors.As(err, &coded):
		fmt.Fprintf(e.stderr, "%s: %v\n", program, err)
		return coded.code
	}
	fmt.Fprintf(e.stderr, "%s: %v\n", program, err)
	return exitUsage
}

func dispatch(ctx context.Context, e env, args []string) error {
	if len(args) == 0 {
		usage(e.stderr)
		return fail(exitUsage, "no verb: want one of %s", verbNames())
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help", "help":
		if len(args) > 1 && name == "help" {
			return dispatch(ctx, e, []string{args[1], "-help"})
		}
		usage(e.stdout)
		return nil
	}
	for _, v := range verbs() {
		if v.name == name {
			return v.run(ctx, e, args[1:])
		}
	}
	return fail(exitUsage, "unknown verb %q: want one of %s", name, verbNames())
}

func verbNames() string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

func usage(w io.Writer) {
	fmt.Fprintf(w, "Usage: %s VERB [flags] FILE…\n\nThe verbs, each with -help:\n\n", program)
	for _, v := range verbs() {
		fmt.Fprintf(w, "  %-9s %s\n", v.name, v.short)
	}
	fmt.Fprint(w, `
Files are in the format that "go test -bench" writes; - is standard input.

Exit codes: 0; 1 a regression (gate); 2 wrong use or unreadable input; 3 nothing
comparable, or undecided with -strict; 4 a benchmark failed; 130 interrupted.
`)
}
