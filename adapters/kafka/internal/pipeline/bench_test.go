package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/broker"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/diagnose"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/producer"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
	"github.com/tidemark-go/tidemark/core/timing"
)

// An operation of BenchmarkPipeline consumes a topic of so many lines with a
// new group: join, parse, write, sync, commit all of it, leave.
const (
	benchLines      = 600_000
	benchPartitions = 6
	benchTopic      = "lines"
	benchMaxLine    = 64 << 10
	benchBatch      = 100
	benchPending    = 100
	benchWait       = 50 * time.Millisecond
	benchCommit     = 25 * time.Millisecond
	// clientCommit is the shortest interval the client allows.
	clientCommit = 100 * time.Millisecond
)

// BenchmarkPipeline compares ways to consume the same topic from the same
// broker, with the same parsing, writing and syncing:
//
//   - tidemark: four workers, committed is what is done without a gap
//   - ledger: the same, and each commit is recorded as a barrier
//   - marks: four workers, and the client commits the highest offset that any
//     of them marked; unsafe, since an earlier batch may not be done
//   - bare: one goroutine polls, parses, writes, syncs and marks
func BenchmarkPipeline(b *testing.B) {
	addr := benchBroker(b)
	for _, impl := range []struct {
		name string
		run  func(b *testing.B, addr, group string)
	}{
		{"tidemark", consumeTidemark(func() kafka.Barriers { return kafka.Barriers{} })},
		{"ledger", consumeTidemark(benchBarriers)},
		{"marks", consumeMarks},
		{"bare", consumeBare},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			runs := 0
			for b.Loop() {
				runs++
				impl.run(b, addr, fmt.Sprintf("%s-%d-%d", impl.name, time.Now().UnixNano(), runs))
			}
			b.ReportMetric(float64(runs)*benchLines/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// benchBroker runs a broker with its data on disk that has the topic.
func benchBroker(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "access.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(sample.Write(f, benchLines, 5), f.Close()); err != nil {
		b.Fatal(err)
	}
	br, err := broker.Start(broker.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { br.Close() })
	ctx := context.Background()
	in, err := input.Load(ctx, path)
	if err != nil {
		b.Fatal(err)
	}
	err = producer.Produce(ctx, producer.Config{
		Client: []kgo.Opt{kgo.SeedBrokers(br.Addr())}, Input: in, Topic: benchTopic, Partitions: benchPartitions, MaxLine: benchMaxLine,
		Spill: func(_ int64, r *lines.Reader) (lines.Spilled, error) { return lines.Spilled{}, nil },
	}, new(producer.Progress))
	if err != nil {
		b.Fatal(err)
	}
	return br.Addr()
}

// benchConfig writes to files that are gone after the operation.
func benchConfig(b *testing.B, workers int) (cfg Config, remove func()) {
	dir, err := os.MkdirTemp(b.TempDir(), "out")
	if err != nil {
		b.Fatal(err)
	}
	events, err := sink.Open(filepath.Join(dir, "events"), lines.OriginPrefix)
	if err != nil {
		b.Fatal(err)
	}
	dead, err := sink.Open(filepath.Join(dir, "dead"), lines.OriginPrefix)
	if err != nil {
		b.Fatal(err)
	}
	cfg = Config{Input: "bench", Workers: workers, MaxLine: benchMaxLine, MaxBytes: 16 << 20, Events: events, Dead: dead}
	return cfg, func() {
		if err := errors.Join(events.Close(), dead.Close(), os.RemoveAll(dir)); err != nil {
			b.Fatal(err)
		}
	}
}

var benchFetch = []kgo.Opt{kgo.FetchMaxBytes(4 << 20), kgo.FetchMaxPartitionBytes(512 << 10), kgo.FetchMaxWait(benchWait)}

// benchBarriers are those of a program that serves them: a ledger and
// histograms.
func benchBarriers() kafka.Barriers {
	d, err := diagnose.New(timing.DefaultCapacity)
	if err != nil {
		panic(err)
	}
	return d.Barriers()
}

func consumeTidemark(barriers func() kafka.Barriers) func(b *testing.B, addr, group string) {
	return func(b *testing.B, addr, group string) { consumeSource(b, addr, group, barriers()) }
}

func consumeSource(b *testing.B, addr, group string, barriers kafka.Barriers) {
	cfg, remove := benchConfig(b, 4)
	defer remove()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	ends := map[int32]int64{}
	for p := range int32(benchPartitions) {
		ends[p] = (benchLines - int64(p) + benchPartitions - 1) / benchPartitions
	}
	tracker := NewTracker(ends, nil)
	src, err := kafka.Open(ctx, kafka.Config{
		Brokers: []string{addr}, Group: group, Topics: []string{benchTopic},
		BatchRecords: benchBatch, PendingLimit: benchPending, CommitInterval: benchCommit,
		OnCommit: func(_ string, p int32, offset int64) { tracker.Committed(p, offset) },
		Options:  benchFetch,
		Barriers: barriers,
	})
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		select {
		case <-tracker.Complete():
			stop()
		case <-ctx.Done():
		}
	}()
	cfg.OnFetch, cfg.Window = tracker.Fetched, 2*benchPending*benchBatch
	var stats Stats
	if err := errors.Join(Run(ctx, src, cfg, &stats), src.Close(context.Background())); err != nil || tracker.Left() > 0 {
		b.Fatalf("%v, %d lines not committed", err, tracker.Left())
	}
}

// marking is a source whose batches need no acknowledgement: what is durable
// is marked, and the client commits the highest mark of each partition.
type marking struct {
	client *kgo.Client
	queue  []kafka.Batch
	left   int64
	stop   func()
}

func openMarking(b *testing.B, addr, group string, stop func()) *marking {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(addr), kgo.ConsumerGroup(group), kgo.ConsumeTopics(benchTopic),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(clientCommit), kgo.BlockRebalanceOnPoll(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, benchFetch...)...)
	if err != nil {
		b.Fatal(err)
	}
	return &marking{client: client, left: benchLines, stop: stop}
}

func (m *marking) Stats() kafka.Stats { return kafka.Stats{} }

func (m *marking) Poll(ctx context.Context) (kafka.Batch, error) {
	for len(m.queue) == 0 {
		m.client.AllowRebalance()
		fetches := m.client.PollRecords(ctx, kafka.DefaultPollRecords)
		if err := ctx.Err(); err != nil {
			return kafka.Batch{}, err
		}
		now := time.Now()
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			for records := p.Records; len(records) > 0; {
				n := min(benchBatch, len(records))
				m.queue = append(m.queue, kafka.Batch{Topic: p.Topic, Partition: p.Partition, Records: records[:n], FetchedAt: now})
				records = records[n:]
			}
		})
	}
	batch := m.queue[0]
	m.queue = m.queue[1:]
	return batch, nil
}

func (m *marking) durable(batch kafka.Batch) {
	m.client.MarkCommitRecords(batch.Records[len(batch.Records)-1])
	if m.left -= int64(len(batch.Records)); m.left == 0 {
		m.stop()
	}
}

func (m *marking) close(b *testing.B) {
	if err := m.client.CommitMarkedOffsets(context.Background()); err != nil || m.left != 0 {
		b.Fatalf("%v, %d lines left", err, m.left)
	}
	m.client.CloseAllowingRebalance()
}

func consumeMarks(b *testing.B, addr, group string) {
	cfg, remove := benchConfig(b, 4)
	defer remove()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	src := openMarking(b, addr, group, stop)
	cfg.OnDurable = src.durable
	var stats Stats
	if err := Run(ctx, src, cfg, &stats); err != nil {
		b.Fatal(err)
	}
	src.close(b)
}

func consumeBare(b *testing.B, addr, group string) {
	cfg, remove := benchConfig(b, 1)
	defer remove()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	src := openMarking(b, addr, group, stop)
	for src.left > 0 {
		var polled []*chunk
		for first := true; first || len(src.queue) > 0; first = false {
			batch, err := src.Poll(ctx)
			if err != nil {
				b.Fatal(err)
			}
			c := newChunk(batch)
			for _, r := range batch.Records {
				c.add(r, cfg.Input, cfg.MaxLine)
			}
			if err := errors.Join(cfg.Events.Append(c.events), cfg.Dead.Append(c.dead)); err != nil {
				b.Fatal(err)
			}
			polled = append(polled, c)
		}
		if err := errors.Join(cfg.Events.Sync(), cfg.Dead.Sync()); err != nil {
			b.Fatal(err)
		}
		for _, c := range polled {
			src.durable(c.batch)
			c.recycle()
		}
	}
	src.close(b)
}
