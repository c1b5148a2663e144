package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
)

var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first SIGINT or SIGTERM ends, with
// errInterrupted as its cause. The second one ends the process.
func interruptible(screen *console.Console) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		screen.Printf("demo: stopping; once more stops at once")
		cancel(errInterrupted)
		select {
		case <-signals:
			screen.Printf("demo: stopped; what was not committed is delivered again")
			os.Exit(exitForced)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
