// Command demo runs the whole pipeline: it produces the lines of a file into
// a Kafka topic, consumes them as a group with workers that finish in any
// order, writes them durably and commits what is written without a gap.
//
// Run it with -help to learn what it reads, writes and prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
)

// Exit codes, as -help lists them.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitStall  = 3
	exitForced = 130
)

// memoryLimit keeps the heap small where the environment does not say
// otherwise: garbage is collected earlier when it comes near.
const memoryLimit = 192 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	screen := console.New(os.Stderr)
	os.Exit(run(os.Args[1:], os.Stdout, screen))
}

// run is the program without its process: it returns the exit code.
func run(args []string, out io.Writer, screen *console.Console) int {
	opts, err := parseOptions(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		screen.Printf("demo: %v\nRun it with -help to see every option.", err)
		return exitUsage
	}
	level := slog.LevelWarn
	if opts.verbose {
		level = slog.LevelInfo
	}
	log := console.NewLogger(screen, level)
	ctx, stop := interruptible(screen)
	defer stop()

	switch {
	case opts.brokerOnly:
		err = serveBroker(ctx, opts, out, log)
	case opts.verify:
		err = verify(ctx, opts, out)
	default:
		err = (&demo{opts: opts, out: out, screen: screen, log: log}).run(ctx)
	}
	if err == nil || (errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errInterrupted)) {
		return exitDone
	}
	screen.Printf("demo: %v", err)
	switch {
	case errors.Is(err, input.ErrUnusable):
		return exitUsage
	case errors.Is(err, errStalled):
		return exitStall
	}
	return exitFailed
}

func fprintf(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
