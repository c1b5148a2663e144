// Command with-broker runs a command beside a one-node Apache Kafka:
//
//	with-broker [-jars directory] [-addr host:port] [command argument...]
//
// The command finds the broker's address in the environment variable
// TIDEMARK_TEST_BROKERS, and leaves its temporary files with the broker's. When it
// has ended, the broker is stopped and its data removed; the exit code is the command's. Ctrl-C is passed on to the command and
// to what it started, and the broker stops after them. Without a command, the broker runs until Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/process"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/realbroker"
)

// addrVariable tells the command where the broker is.
const addrVariable = "TIDEMARK_TEST_BROKERS"

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], signals))
}

func run(args []string, signals <-chan os.Signal) int {
	flags := flag.NewFlagSet("with-broker", flag.ContinueOnError)
	cache := flags.String("jars", "", "`directory` that keeps the broker's jars; empty is one in the user's cache")
	addr := flags.String("addr", "", "`host:port` for clients, on the loopback interface; empty is a free port")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return exitUsage
	}
	b, err := start(*cache, *addr, signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-broker:", err)
		return exitFailed
	}
	code := exitFailed
	if flags.NArg() == 0 {
		code = serve(b, signals)
	} else if code, err = command(flags.Args(), b, signals); err != nil {
		fmt.Fprintln(os.Stderr, "with-broker:", err)
	}
	if err := b.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "with-broker:", err)
		return exitFailed
	}
	return code
}

// start brings the broker up, or ends with the first signal.
func start(cache, addr string, signals <-chan os.Signal) (*realbroker.Broker, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := realbroker.CheckTools(ctx); err != nil {
		return nil, err
	}
	var err error
	if cache == "" {
		if cache, err = realbroker.DefaultCache(); err != nil {
			return nil, err
		}
	}
	begin := time.Now()
	jars, err := realbroker.Jars(ctx, cache)
	if err != nil {
		return nil, err
	}
	fetched := time.Now()
	b, err := realbroker.Start(ctx, realbroker.Config{Jars: jars, Addr: addr})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "with-broker: Apache Kafka on %s, process %d; jars in %.1f s, start in %.1f s\n",
		b.Addr(), b.Pid(), fetched.Sub(begin).Seconds(), time.Since(fetched).Seconds())
	return b, nil
}

// serve waits for a signal.
func serve(b *realbroker.Broker, signals <-chan os.Signal) int {
	fmt.Fprintf(os.Stderr, "with-broker: until Ctrl-C\n")
	select {
	case <-signals:
		return 0
	case <-b.Done():
		fmt.Fprintf(os.Stderr, "with-broker: the broker ended by itself; its log:\n%s", b.Log())
		return exitFailed
	}
}

// command runs the command to its end. The first signal is passed on, the
// second one kills.
func command(args []string, b *realbroker.Broker, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), addrVariable+"="+b.Addr(), "TMPDIR="+b.TempDir())
	p, err := process.Start(cmd)
	if err != nil {
		return exitFailed, fmt.Errorf("starting %s: %w", strings.Join(args, " "), err)
	}
	pass := syscall.SIGTERM
	broker := b.Done()
	for {
		select {
		case <-signals:
			p.Signal(pass)
			pass = syscall.SIGKILL
		case <-broker:
			broker = nil
			fmt.Fprintf(os.Stderr, "with-broker: the broker ended under the command; its log:\n%s", b.Log())
		case <-p.Done():
			if code := p.State().ExitCode(); code >= 0 && broker != nil {
				return code, nil
			}
			return exitFailed, nil
		}
	}
}
