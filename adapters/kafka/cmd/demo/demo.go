package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/diagnose"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/producer"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
)

// demo is one run from the input to the summary.
type demo struct {
	opts   options
	out    io.Writer
	screen *console.Console
	log    *slog.Logger

	in           *input.Input
	topic        string
	cluster      *cluster
	events, dead *sink.File

	stalls   stalls
	barriers *diagnose.Diagnostics
	server   *diagnose.Server // nil without -http
}

// topicFor gives every input a topic of its own, so that what a topic holds
// is never mistaken for another input.
func topicFor(in *input.Input) string { return "tidemark-demo-" + in.ID }

// run does the work, and then serves what is known about it, if it was asked
// to.
func (d *demo) run(ctx context.Context) (err error) {
	if d.barriers, err = diagnose.New(d.opts.ledger); err != nil {
		return err
	}
	if d.opts.http != "" {
		if d.server, err = d.barriers.Listen(d.opts.http, d.log); err != nil {
			return err
		}
		defer d.server.Close()
	}
	if err := d.work(ctx); err != nil || d.server == nil || ctx.Err() != nil {
		return err
	}
	fprintf(d.out, "\nServing until Ctrl-C:")
	for _, url := range d.server.URLs() {
		fprintf(d.out, "  %s", url)
	}
	<-ctx.Done()
	return nil
}

func (d *demo) work(ctx context.Context) (err error) {
	if d.in, err = input.Load(ctx, d.opts.input); err != nil {
		return err
	}
	if d.opts.failLine > d.in.Lines {
		return fmt.Errorf("%w: -fail-line is %d, and %s has %s", input.ErrUnusable, d.opts.failLine, d.in.Name, console.Plural(d.in.Lines, "line"))
	}
	d.topic = topicFor(d.in)
	// First whatever can be wrong with the options, then the work.
	if d.events, err = d.openFile(d.opts.out.Events); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.events.Close()) }()
	if d.dead, err = d.openFile(d.opts.out.Dead); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.dead.Close()) }()
	if d.cluster, err = connect(ctx, d.opts, d.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cluster.close()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	d.introduce()
	if err := d.produce(ctx); err != nil {
		return err
	}
	return d.consume(ctx)
}

func (d *demo) openFile(path string) (*sink.File, error) {
	f, err := sink.Open(path, lines.OriginPrefix)
	if err == nil && f.Cut() > 0 {
		fprintf(d.out, "healed   %s: cut off %s of a line that a crash had torn", path, console.Bytes(f.Cut()))
	}
	return f, err
}

// introduce says what is going to happen.
func (d *demo) introduce() {
	o := &d.opts
	where := "at " + strings.Join(d.cluster.seeds, ",")
	if d.cluster.own != nil {
		where = fmt.Sprintf("in this process at %s, data in %s", d.cluster.own.Addr(), o.data)
	}
	fprintf(d.out, "input    %s: %s, %s", d.in.Name, console.Plural(d.in.Lines, "line"), console.Bytes(d.in.Bytes))
	fprintf(d.out, "broker   %s", where)
	fprintf(d.out, "topic    %s, %s", d.topic, console.Plural(int64(o.partitions), "partition"))
	fprintf(d.out, "group    %s, %s, at most %s a batch, %s pending a partition", o.group,
		console.Plural(int64(o.workers), "worker"), console.Plural(int64(o.batch), "line"), console.Plural(int64(o.pending), "batch"))
	fprintf(d.out, "output   %s, dead letters in %s", o.out.Events, o.out.Dead)
	if d.server != nil {
		fprintf(d.out, "http     %s", strings.Join(d.server.URLs(), "  "))
	}
	fprintf(d.out, "a kill repeats at most %s (2 x %d partitions x %d pending x %d a batch) and loses none\n",
		console.Plural(o.repeatBound(), "line"), o.partitions, o.pending, o.batch)
}

// produce brings the input into the topic.
func (d *demo) produce(ctx context.Context) error {
	var progress producer.Progress
	start := time.Now()
	stop := d.screen.Show(func() string {
		done := progress.Found.Load() + progress.Acked.Load()
		return fmt.Sprintf("produce  %s %s of %s lines, %s", console.Bar(done, d.in.Lines, 24),
			console.Count(done), console.Count(d.in.Lines), console.Rate(progress.Acked.Load(), time.Since(start)))
	})
	err := producer.Produce(ctx, producer.Config{
		Client:     d.cluster.options(),
		Input:      d.in,
		Topic:      d.topic,
		Partitions: int32(d.opts.partitions),
		MaxLine:    d.opts.maxLine,
		Spill: func(num int64, r *lines.Reader) (lines.Spilled, error) {
			return sink.Spill(d.opts.out.Spilled, d.in.ID, num, r)
		},
	}, &progress)
	stop()
	took := time.Since(start)
	found, acked := progress.Found.Load(), progress.Acked.Load()
	switch {
	case acked == 0 && err == nil:
		fprintf(d.out, "produced nothing: the topic holds all %s already", console.Plural(found, "line"))
	case found > 0:
		fprintf(d.out, "produced %s in %s; %s were in the topic already", console.Plural(acked, "line"), console.Duration(took), console.Count(found))
	default:
		fprintf(d.out, "produced %s in %s", console.Plural(acked, "line"), console.Duration(took))
	}
	if err != nil && ctx.Err() != nil && found+acked < d.in.Lines {
		fprintf(d.out, "stopped with %s not produced; run again to go on", console.Plural(d.in.Lines-found-acked, "line"))
	}
	return err
}
