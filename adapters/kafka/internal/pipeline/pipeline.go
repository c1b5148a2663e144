// Package pipeline is the example of how to use a kafka.Source: one goroutine
// polls, workers do the work and finish in any order, one goroutine makes
// their results durable in groups and acknowledges them. The source commits
// what is acknowledged without a gap.
//
//	Source.Poll → jobs → workers → chunks → write, sync → Ack
//
// What to copy from it: the Ack travels with the batch; nothing is
// acknowledged before it is on disk; whatever ends the pipeline, every batch
// is acknowledged or failed, so that closing the source never waits in vain.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
)

// Source is what the pipeline needs of a *kafka.Source.
type Source interface {
	Poll(ctx context.Context) (kafka.Batch, error)
	Stats() kafka.Stats
}

// Config says how a pipeline works.
type Config struct {
	// Input names where the lines come from; every output line begins with it.
	Input string
	// Workers parse at the same time.
	Workers int
	// MaxLine is the longest line that is parsed, in bytes.
	MaxLine int
	// MaxBytes bounds the lines that are handed out and not yet written. One
	// batch passes, however large.
	MaxBytes int64
	// Window bounds how many offsets of a partition may be handed out and not
	// committed, so how many a crash repeats. It has to be at least a batch;
	// 0 is no bound.
	Window int64
	// Events and Dead take the lines that parse and those that do not.
	Events, Dead *sink.File
	// Refuse, if set, is asked of every batch by a worker. One for which it
	// returns an error is not written and fails.
	Refuse func(kafka.Batch) error
	// OnFetch, if set, is told of every batch before it is worked on.
	OnFetch func(kafka.Batch)
	// OnDurable, if set, is told of every batch that is on disk, right before
	// it is acknowledged. It runs on the writing goroutine.
	OnDurable func(kafka.Batch)
}

// Run moves batches from the source to the files until the context ends, which
// is no error, or until something fails. It returns when everything handed
// out is acknowledged or failed. It does not close the source.
func Run(ctx context.Context, src Source, cfg Config, stats *Stats) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &pipeline{
		cfg:    cfg,
		stats:  stats,
		budget: newBudget(cfg.MaxBytes),
		jobs:   make(chan kafka.Batch, cfg.Workers),
		chunks: make(chan *chunk, groupChunks),
	}
	var workers sync.WaitGroup
	for range cfg.Workers {
		workers.Go(p.work)
	}
	go func() {
		workers.Wait()
		close(p.chunks)
	}()
	written := make(chan error, 1)
	go func() { written <- p.write(stop) }()

	polled := p.poll(ctx, src)
	close(p.jobs) // the workers finish what they have, then the writer does
	return errors.Join(polled, <-written)
}

type pipeline struct {
	cfg    Config
	stats  *Stats
	budget *budget
	jobs   chan kafka.Batch
	chunks chan *chunk
}

// poll hands batches to the workers.
func (p *pipeline) poll(ctx context.Context, src Source) error {
	ahead := window{src: src, limit: p.cfg.Window, from: map[int32]int64{}}
	for {
		batch, err := src.Poll(ctx)
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pipeline: polling: %w", err)
		}
		if err := ahead.wait(ctx, batch); err != nil {
			batch.Ack.Done(err) // it is delivered again, to whoever comes next
			if errors.Is(err, errGone) {
				continue
			}
			return err
		}
		if p.cfg.OnFetch != nil {
			p.cfg.OnFetch(batch)
		}
		p.stats.Fetched.Add(int64(len(batch.Records)))
		p.budget.take(size(batch))
		p.jobs <- batch // the worker holds batch.Ack from here
	}
}

func size(b kafka.Batch) int64 {
	var n int64
	for _, r := range b.Records {
		n += int64(len(r.Value))
	}
	return n
}
