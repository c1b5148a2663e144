package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/pipeline"
)

const (
	// maxInFlight bounds the lines between the source and the disk, fetchBytes
	// what the client fetches ahead. With the broker in the same process they
	// decide how much memory the demo needs.
	maxInFlight = 16 << 20
	fetchBytes  = 4 << 20
	// partitionBytes lets every partition into every fetch, so that they
	// fill their pending limits side by side and not one after the other.
	partitionBytes = 512 << 10
	// fetchWait is how long the broker holds a fetch that finds nothing. A
	// partition that paused at its pending limit waits for that fetch.
	fetchWait = 50 * time.Millisecond
	// sessionTimeout is how long the group waits for a member that was
	// killed and does not come back.
	sessionTimeout = 10 * time.Second
	// closeTimeout bounds the last commit.
	closeTimeout = 20 * time.Second
	// observeEvery is how often the group's offsets are looked up, for
	// partitions that another process consumes.
	observeEvery = time.Second
)

// consumption is what a run has done to a topic.
type consumption struct {
	start, end time.Time
	stats      pipeline.Stats
	tracker    *pipeline.Tracker
	source     kafka.Stats
}

// consume moves the topic into the files, until everything is committed or
// the context ends, and prints the summary.
func (d *demo) consume(ctx context.Context) error {
	ends, committed, err := d.cluster.offsets(ctx, d.topic, d.opts.group)
	if err != nil {
		return err
	}
	for p, end := range ends {
		if committed[p] > end {
			return fmt.Errorf("group %s committed offset %d of partition %d of %s, but the log ends at %d: the topic was made anew; name another -group",
				d.opts.group, committed[p], p, d.topic, end)
		}
	}
	c := &consumption{start: time.Now(), tracker: pipeline.NewTracker(ends, committed)}
	err = d.move(ctx, c)
	c.end = time.Now()
	// The summary is wanted after an interruption, too.
	if err = errors.Join(err, d.summarize(context.WithoutCancel(ctx), c)); err != nil {
		return err
	}
	return d.stalls.err(d.topic)
}

// move opens the source, runs the pipeline and closes the source again, in
// the order that loses nothing.
func (d *demo) move(ctx context.Context, c *consumption) error {
	select {
	case <-c.tracker.Complete():
		return nil // there is nothing to read, so there is no group to join
	default:
	}

	source, err := kafka.Open(ctx, d.sourceConfig(c.tracker))
	if err != nil {
		return err
	}
	d.barriers.Follow(source)
	defer d.screen.Show(func() string { return d.progress(c, source.Stats()) })()

	// Done when everything is committed, whoever did it.
	running, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	watchers.Go(func() { d.observe(running, c.tracker) })
	watchers.Go(func() { d.watchStalls(running, source, c.tracker, stop) })
	watchers.Go(func() {
		select {
		case <-c.tracker.Complete():
			stop()
		case <-running.Done():
		}
	})
	err = pipeline.Run(running, source, pipeline.Config{
		Input:    d.in.ID,
		Workers:  d.opts.workers,
		MaxLine:  d.opts.maxLine,
		MaxBytes: maxInFlight,
		Window:   d.opts.window(),
		Events:   d.events,
		Dead:     d.dead,
		Refuse:   d.refuse,
		OnFetch:  c.tracker.Fetched,
	}, &c.stats)

	stop()

	// Every batch is resolved now. Close commits what the last ones freed.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err = errors.Join(err, source.Close(closing))
	c.source = source.Stats()
	if leaveErr := d.cluster.leave(closing, d.opts.group, d.instance()); leaveErr != nil {
		d.log.Info("demo: the group forgets this member by itself", "after", sessionTimeout, "err", leaveErr)
	}
	return err
}

func (d *demo) sourceConfig(t *pipeline.Tracker) kafka.Config {
	return kafka.Config{
		Brokers:        d.cluster.seeds,
		Group:          d.opts.group,
		Topics:         []string{d.topic},
		ClientID:       "tidemark-demo",
		InstanceID:     d.instance(),
		Protocol:       d.opts.protocol,
		BatchRecords:   d.opts.batch,
		PendingLimit:   d.opts.pending,
		CommitInterval: d.opts.commitEvery,
		SessionTimeout: sessionTimeout,
		Barriers:       d.barriers.Barriers(),
		Logger:         d.log,
		OnCommit: func(_ string, partition int32, offset int64) {
			t.Committed(partition, offset)
		},
		OnDataLoss: func(topic string, partition int32, loss kafka.DataLoss) {
			d.screen.Printf("demo: partition %d of %s was %s by the broker: reading goes on at offset %d", partition, topic, loss.Kind, loss.ResetTo)
		},
		Options: []kgo.Opt{kgo.FetchMaxBytes(fetchBytes), kgo.FetchMaxPartitionBytes(partitionBytes), kgo.FetchMaxWait(fetchWait)},
	}
}

// instance names this member of the group after its output, which no other
// process can have: a member that was killed gets its partitions back at
// once when it is started again.
func (d *demo) instance() string {
	host, _ := os.Hostname()
	path, err := filepath.Abs(d.opts.out.Events)
	if err != nil {
		path = d.opts.out.Events
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", host, path)
	return fmt.Sprintf("demo-%016x", h.Sum64())
}

// observe keeps track of what other members of the group commit.
func (d *demo) observe(ctx context.Context, t *pipeline.Tracker) {
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// A failure here is no failure of the pipeline: the next tick asks again.
		if committed, err := d.cluster.committed(ctx, d.topic, d.opts.group); err == nil {
			t.Observed(committed)
		}
	}
}

func (d *demo) progress(c *consumption, s kafka.Stats) string {
	written := c.stats.Events.Load() + c.stats.Dead()
	pending := 0
	for _, p := range s.Partitions {
		pending += p.Pending
	}
	left := c.tracker.Left()
	return fmt.Sprintf("consume  %s %s written, %s to commit, %s pending, %s%s", console.Bar(d.in.Lines-left, d.in.Lines, 24),
		console.Plural(written, "line"), console.Count(left), console.Plural(int64(pending), "batch"), console.Rate(written, time.Since(c.start)), d.stalls.progress())
}
