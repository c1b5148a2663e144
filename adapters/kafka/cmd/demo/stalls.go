package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/pipeline"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/producer"
)

const (
	// lookForStalls is how often the heads are looked at.
	lookForStalls = 50 * time.Millisecond
	// skipAfter is how long a failed batch stays, with -skip-failed, before it
	// is let pass: long enough to be seen on the live page.
	skipAfter = 2 * time.Second
)

// errStalled ends a run whose partitions are held back by failed batches.
var errStalled = errors.New("stalled by a batch that failed")

// errSink is why a sink refuses a batch.
var errSink = errors.New("the sink refuses it, because of -fail-line")

// refuse is asked by the pipeline whether a batch fails.
func (d *demo) refuse(b kafka.Batch) error {
	if d.opts.failLine == 0 {
		return nil
	}
	for _, r := range b.Records {
		if line, ok := producer.LineOf(r); ok && line == d.opts.failLine {
			return errSink
		}
	}
	return nil
}

// stalls are the partitions that a failed batch holds back, and the number of
// batches that were let pass.
type stalls struct {
	mu      sync.Mutex
	now     map[int32]kafka.Head
	skipped int64
}

// watchStalls follows batches that failed, which the source logs, and with
// -skip-failed lets them pass. Without it, it calls stop when all that is left
// to do waits behind such batches. With -http they stay as they are until the
// context ends, to be looked at.
func (d *demo) watchStalls(ctx context.Context, source *kafka.Source, t *pipeline.Tracker, stop func()) {
	tick := time.NewTicker(lookForStalls)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		heads := d.stalls.look(source)
		if d.opts.skipFailed {
			d.skip(source, heads)
			continue
		}
		if told || !d.stalls.holdAll(t) {
			continue
		}
		if d.server == nil {
			stop()
			return
		}
		told = true
		d.screen.Printf("demo: all that is left waits behind a batch that failed. Look at it until Ctrl-C:\n  %s", strings.Join(d.server.URLs(), "\n  "))
	}
}

// skip lets batches pass that failed some time ago.
func (d *demo) skip(source *kafka.Source, heads []kafka.Head) {
	for _, h := range heads {
		if !h.Failed || time.Since(h.Since) < skipAfter {
			continue
		}
		// The only error is that the partition was taken away meanwhile, or
		// has another head by now.
		if source.SkipFailed(h.Topic, h.Partition, h.Batch) == nil {
			d.stalls.pass(h.Partition)
		}
	}
}

// look takes over what is stalled now, and returns all heads.
func (s *stalls) look(source *kafka.Source) []kafka.Head {
	heads := source.Heads(nil, math.MaxInt)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = map[int32]kafka.Head{}
	for _, h := range heads {
		if h.Failed {
			s.now[h.Partition] = h
		}
	}
	return heads
}

// pass forgets a stall that was skipped.
func (s *stalls) pass(partition int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, partition)
	s.skipped++
}

// holdAll reports whether something is stalled and nothing else is left to do.
func (s *stalls) holdAll(t *pipeline.Tracker) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.now) > 0 && t.CompleteBut(func(p int32) bool {
		_, held := s.now[p]
		return held
	})
}

// progress is for the line of progress.
func (s *stalls) progress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) == 0 {
		return ""
	}
	return ", STALLED: " + console.Plural(int64(len(s.now)), "partition")
}

// passed is how many batches were skipped.
func (s *stalls) passed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skipped
}

// err says what is stalled at the end and what to do about it.
func (s *stalls) err(topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) == 0 {
		return nil
	}
	var batches []string
	for _, p := range slices.Sorted(maps.Keys(s.now)) {
		h := s.now[p]
		batches = append(batches, fmt.Sprintf("partition %d at batch %v, up to offset %d, with %s behind it",
			p, h.Batch, h.LastOffset, console.Plural(int64(h.Behind), "batch")))
	}
	return fmt.Errorf("%w: of %s, %s.\nNothing of these batches and behind them is committed. Mend the sink and run again, "+
		"here without -fail-line: all of it is read again. Or give what failed up with -skip-failed",
		errStalled, topic, strings.Join(batches, "; "))
}
