package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
	"github.com/tidemark-go/tidemark/core/timing"
)

// options are the flags, checked.
type options struct {
	input, group, data string
	brokers            []string
	out                sink.Paths

	workers, batch, pending, maxLine int
	partitions                       int
	commitEvery                      time.Duration
	protocol                         kafka.Protocol

	brokerOnly, verify, verbose bool
	listen                      string

	http   string
	ledger int

	failLine   int64
	skipFailed bool
}

// Defaults of the flags.
const (
	defaultGroup      = "tidemark-demo"
	defaultData       = "data"
	defaultOut        = "out"
	defaultPartitions = 6
	defaultWorkers    = 4
	defaultBatch      = 100
	defaultPending    = 100
	defaultMaxLine    = 64 << 10
	defaultCommit     = 25 * time.Millisecond
)

// largestLine still fits into a record of a broker with default settings.
const largestLine = 900 << 10

func parseOptions(args []string, help io.Writer) (options, error) {
	var o options
	var brokers, out, protocol string
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.input, "input", "", "text `file` to read, one record a line; empty is a bundled access log")
	fs.StringVar(&brokers, "brokers", "", "`host:port`[,host:port...] of a Kafka cluster; empty runs a broker in this process")
	fs.StringVar(&o.group, "group", defaultGroup, "consumer group; what a group has committed it never reads again")
	fs.StringVar(&o.data, "data", defaultData, "`directory` of the broker in this process; it is kept")
	fs.StringVar(&out, "out", defaultOut, "`directory` of the output, or its file of events when it ends in .ndjson; it is appended to")
	fs.IntVar(&o.workers, "workers", defaultWorkers, "goroutines that parse")
	fs.IntVar(&o.partitions, "partitions", defaultPartitions, "partitions of the topic, when it is created")
	fs.IntVar(&o.batch, "batch", defaultBatch, "most `lines` in a batch, which is acknowledged as one")
	fs.IntVar(&o.pending, "pending", defaultPending, "most `batches` of a partition that are read and not committed")
	fs.IntVar(&o.maxLine, "max-line", defaultMaxLine, "longest line that is parsed, in `bytes`")
	fs.DurationVar(&o.commitEvery, "commit-interval", defaultCommit, "time between commits")
	fs.StringVar(&protocol, "protocol", kafka.Cooperative.String(), "how the group shares out partitions: cooperative, eager or kip848")
	fs.StringVar(&o.http, "http", "", "`host:port` that serves a live page, barriers and metrics, and goes on after the work until Ctrl-C; empty is off")
	fs.IntVar(&o.ledger, "ledger-capacity", timing.DefaultCapacity, "`barriers` that the ledger retains, rounded up to a power of two")
	fs.Int64Var(&o.failLine, "fail-line", 0, "`line` of the input, from 1, whose batch the sink refuses, to see what then happens; 0 is none")
	fs.BoolVar(&o.skipFailed, "skip-failed", false, "let a batch that failed pass once it was reported; its lines are not written")
	fs.BoolVar(&o.brokerOnly, "broker-only", false, "run nothing but the broker, until Ctrl-C")
	fs.StringVar(&o.listen, "listen", "", "`host:port` the broker listens on; empty is a free port on this machine")
	fs.BoolVar(&o.verify, "verify", false, "check that the output holds every line of the input, and do nothing else")
	fs.BoolVar(&o.verbose, "v", false, "log what the broker, the client and the source do")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			printHelp(help, fs)
		}
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; a file to read is named with -input", fs.Arg(0))
	}
	// A variable of the make target that is empty means its default.
	o.group = orDefault(o.group, defaultGroup)
	o.data = orDefault(o.data, defaultData)
	o.out = sink.PathsFor(orDefault(out, defaultOut))
	var err error
	if o.protocol, err = kafka.ParseProtocol(orDefault(protocol, kafka.Cooperative.String())); err != nil {
		return o, fmt.Errorf("-protocol: %w", err)
	}
	if o.brokers, err = splitBrokers(brokers); err != nil {
		return o, err
	}
	return o, o.check()
}

func (o *options) check() error {
	for _, c := range []struct {
		name           string
		got, low, high int
	}{
		{"workers", o.workers, 1, 1024},
		{"partitions", o.partitions, 1, 1000},
		{"batch", o.batch, 1, 100_000},
		{"pending", o.pending, 1, 100_000},
		{"max-line", o.maxLine, 1, largestLine},
		{"ledger-capacity", o.ledger, 1, timing.MaxCapacity},
	} {
		if c.got < c.low || c.got > c.high {
			return fmt.Errorf("-%s is %d, want %d to %d", c.name, c.got, c.low, c.high)
		}
	}
	if o.commitEvery < time.Millisecond || o.commitEvery > time.Minute {
		return fmt.Errorf("-commit-interval is %v, want 1ms to 1m", o.commitEvery)
	}
	if o.http != "" {
		if _, port, err := net.SplitHostPort(o.http); err != nil || port == "" {
			return fmt.Errorf("-http %q: want host:port, such as 127.0.0.1:8080", o.http)
		}
		if o.brokerOnly || o.verify {
			return errors.New("-http serves what the pipeline does, and -broker-only and -verify run none; drop one of them")
		}
	}
	if o.failLine < 0 {
		return fmt.Errorf("-fail-line is %d, want a line of the input, from 1, or 0 for none", o.failLine)
	}
	if o.listen != "" {
		if len(o.brokers) > 0 {
			return errors.New("-listen is for the broker in this process, and -brokers says to use another one; drop one of them")
		}
		if _, _, err := net.SplitHostPort(o.listen); err != nil {
			return fmt.Errorf("-listen %q: want host:port, such as 127.0.0.1:9092", o.listen)
		}
	}
	if o.brokerOnly && len(o.brokers) > 0 {
		return errors.New("-broker-only runs a broker in this process, and -brokers says to use another one; drop one of them")
	}
	return nil
}

func splitBrokers(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var brokers []string
	for b := range strings.SplitSeq(list, ",") {
		b = strings.TrimSpace(b)
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("-brokers: %q is no address; want host:port, such as 127.0.0.1:9092", b)
		}
		brokers = append(brokers, b)
	}
	return brokers, nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// window is how far a partition may be worked on ahead of its commits: the
// batches that are pending, and as many that are acknowledged while their
// commit is on its way.
func (o *options) window() int64 { return 2 * int64(o.pending) * int64(o.batch) }

// repeatBound is the most lines that one kill can make appear twice.
func (o *options) repeatBound() int64 { return int64(o.partitions) * o.window() }
