// Run measures the benchmarks of package bench with the arms interleaved, so
// that what the machine does in the meantime meets all of them alike.
//
//	go run ./bench/cmd/run [-rounds 6] [-benchtime 100ms] [-bench REGEXP] [-impl REGEXP] [-o FILE]
//
// It is started in the root of the module. It builds the test binary once,
// lists its rows, and runs every row of every implementation as a process of
// its own, one round after the other; within a row the implementations come
// in rotating order. The file is in the Go benchmark format and is valid at
// any time: on Ctrl-C the row that runs is dropped and what was measured
// stays. At the end the comparison and the targets are printed.
//
// Exit codes: 0; 1 a benchmark failed; 2 usage; 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

type options struct {
	rounds    int
	benchtime string
	bench     *regexp.Regexp
	impl      *regexp.Regexp
	out       string
	pipeline  string
	limit     time.Duration
}

// errUsage marks what the caller did wrong.
var errUsage = errors.New("run: usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "run: interrupted")
		os.Exit(130)
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse(args []string, errOut io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	fs.SetOutput(errOut)
	fs.IntVar(&o.rounds, "rounds", 6, "how often each arm is measured")
	fs.StringVar(&o.benchtime, "benchtime", "100ms", "how long an arm runs, or how often (10x)")
	bench := fs.String("bench", ".", "`regexp` of the rows to run, by full name")
	impl := fs.String("impl", ".", "`regexp` of the implementations to run")
	fs.StringVar(&o.out, "o", "", "result `file` (default bench/out/TIME-COMMIT.txt)")
	fs.StringVar(&o.pipeline, "pipeline", filepath.Join("adapters", "kafka"), "`folder` of the pipeline benchmark, the last leg; empty for none")
	fs.DurationVar(&o.limit, "timeout", 2*time.Minute, "how long one arm may take")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if fs.NArg() > 0 || o.rounds < 1 {
		return o, fmt.Errorf("%w: got %d rounds and the arguments %q, want 1 round or more and no arguments", errUsage, o.rounds, fs.Args())
	}
	var err error
	if o.bench, err = regexp.Compile(*bench); err != nil {
		return o, fmt.Errorf("%w: -bench: %w", errUsage, err)
	}
	if o.impl, err = regexp.Compile(*impl); err != nil {
		return o, fmt.Errorf("%w: -impl: %w", errUsage, err)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join("bench", "bounce.go")); err != nil {
		return fmt.Errorf("%w: start it in the root of the module: %w", errUsage, err)
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	defer os.RemoveAll(dir)
	arms, err := collect(ctx, o, dir, progress)
	if err != nil {
		return err
	}
	config := environment(ctx)
	if o.out == "" {
		o.out = filepath.Join("bench", "out", time.Now().UTC().Format("20060102T150405Z")+"-"+commitOf(config)+".txt")
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	file, err := os.Create(o.out)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if _, err := fmt.Fprintf(file, "%s%s\n", results.CommandMark, o.command()); err != nil {
		return errors.Join(fmt.Errorf("run: %w", err), file.Close())
	}
	runErr := measure(ctx, o, arms, newWriter(file, config), progress)
	if err := file.Close(); err != nil {
		return errors.Join(runErr, fmt.Errorf("run: %w", err))
	}
	return errors.Join(runErr, report(o.out, out, progress))
}

// command returns the command line that measures the same, whatever the file.
func (o options) command() string {
	line := fmt.Sprintf("go run ./bench/cmd/run -rounds %d -benchtime %s", o.rounds, o.benchtime)
	if o.bench.String() != "." {
		line += fmt.Sprintf(" -bench '%s'", o.bench)
	}
	if o.impl.String() != "." {
		line += fmt.Sprintf(" -impl '%s'", o.impl)
	}
	return line
}

// comparisons are the implementations that are compared, the baseline first.
var comparisons = []string{
	"/impl@(channel tidemark)",
	"/impl@(channel mutex shared lane)",
	"/impl@(bare marks tidemark)",
}

// headline leaves out the units that say the same again.
const headline = ".unit:(ns/op OR ns/msg OR ns/batch OR ns/tick OR ns/rebalance OR B/partition OR B/batch OR allocs/msg OR allocs/batch)"

// topics are the benchmarks of each comparison.
var topics = []string{".name:/^Checkpoint/", ".name:/^Queue/", ".name:/^Pipeline/"}

// report prints the comparisons and the targets of a result file.
func report(path string, out, progress io.Writer) error {
	set, err := results.Load(path)
	if err != nil {
		return err
	}
	for i, col := range comparisons {
		rows, err := set.Rows(topics[i], results.BounceUnit)
		if err != nil {
			return err
		}
		filter := topics[i]
		if len(rows) > 0 {
			filter += " " + headline
		} else if rows, err = set.Rows(topics[i], "ns/op"); err != nil || len(rows) == 0 {
			continue
		}
		args := []string{"tool", "-modfile=" + filepath.Join("tools", "go.mod"), "benchstat", "-filter", filter, "-col", col, path}
		stat := exec.Command("go", args...)
		stat.Stdout, stat.Stderr = out, progress
		if err := stat.Run(); err != nil {
			return fmt.Errorf("run: benchstat: %w", err)
		}
	}
	outcomes, err := set.CheckAll()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\nresults: %s\n", results.Text(outcomes), path)
	return nil
}
