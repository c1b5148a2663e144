package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// patience bounds every wait of these tests; what they wait for takes
// milliseconds, or a rebalance of a second or two.
const patience = 20 * time.Second

var protocols = []kafka.Protocol{kafka.Cooperative, kafka.Eager, kafka.KIP848}

// config is a Source's configuration for tests: it does things often, in small
// batches. What it waits for it waits for longer than the tests do: on a machine
// that stands still for seconds nobody may be taken for dead, and no revoke give
// up, unless that is what a test is about.
func config(c *cluster, topics ...string) kafka.Config {
	cfg := kafka.Config{
		Brokers:          c.addrs,
		Group:            c.group,
		Topics:           topics,
		BatchRecords:     10,
		CommitInterval:   20 * time.Millisecond,
		RevokeTimeout:    2 * patience,
		SessionTimeout:   4 * patience,
		RebalanceTimeout: 4 * patience,
		Options: []kgo.Opt{
			kgo.HeartbeatInterval(50 * time.Millisecond),
			kgo.FetchMaxWait(50 * time.Millisecond),
			kgo.MetadataMinAge(20 * time.Millisecond),
			kgo.MetadataMaxAge(200 * time.Millisecond),
		},
	}
	if os.Getenv("TIDEMARK_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return cfg
}

// open opens a Source that the test closes, and whose leftovers do not hold
// the end of the test up.
func open(t testing.TB, cfg kafka.Config) *kafka.Source {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := kafka.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, s)
	return s
}

// openHasty is open for a client that gives a request so little time that the
// one that Open makes may be late on a machine that stands still.
func openHasty(t testing.TB, cfg kafka.Config) (s *kafka.Source) {
	t.Helper()
	eventually(t, "a broker that answers in time", func() bool {
		var err error
		if s, err = kafka.Open(context.Background(), cfg); err != nil && !errors.Is(err, kafka.ErrUnreachable) {
			t.Fatal(err)
		}
		return err == nil
	})
	closeAfter(t, s)
	return s
}

func closeAfter(t testing.TB, s *kafka.Source) {
	t.Cleanup(func() {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(done) // a second Close returns the first one's result
	})
}

// newProducer returns a client that produces to named partitions.
func newProducer(t testing.TB, c *cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(c.addrs...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.UnknownTopicRetries(-1), // a topic may be known before its partitions are
	}, opts...)
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// records makes n records for a partition, with values prefix0, prefix1, ...
func records(topic string, partition int32, prefix string, n int) []*kgo.Record {
	rs := make([]*kgo.Record, n)
	for i := range rs {
		rs[i] = &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Appendf(nil, "%s%d", prefix, i)}
	}
	return rs
}

func produce(t testing.TB, cl *kgo.Client, rs ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := cl.ProduceSync(ctx, rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// poll returns the next batch, and fails the test when none comes.
func poll(t testing.TB, s *kafka.Source) kafka.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b, err := s.Poll(ctx)
	if err != nil {
		t.Fatalf("no batch came: %v; %+v", err, s.Stats())
	}
	return b
}

// pollRecords polls until it has n records.
func pollRecords(t testing.TB, s *kafka.Source, n int) []kafka.Batch {
	t.Helper()
	var bs []kafka.Batch
	for n > 0 {
		b := poll(t, s)
		bs = append(bs, b)
		n -= len(b.Records)
	}
	if n < 0 {
		t.Fatalf("got %d records more than wanted", -n)
	}
	return bs
}

// quiet fails the test when a batch comes within d.
func quiet(t testing.TB, s *kafka.Source, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if b, err := s.Poll(ctx); err == nil {
		t.Fatalf("got %d records of %s[%d] from offset %d, want none", len(b.Records), b.Topic, b.Partition, b.Records[0].Offset)
	} else if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

// inTime returns what do returns, and fails the test when that takes too long.
func inTime[T any](t testing.TB, what string, do func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- do() }()
	select {
	case v := <-done:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
		panic("unreachable")
	}
}

func ackAll(bs []kafka.Batch) {
	for _, b := range bs {
		b.Ack.Done(nil)
	}
}

// values returns the records' values in order.
func values(bs ...kafka.Batch) []string {
	var vs []string
	for _, b := range bs {
		for _, r := range b.Records {
			vs = append(vs, string(r.Value))
		}
	}
	return vs
}

// eventually fails the test when ok does not hold in time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func eventuallyCommitted(t testing.TB, c *cluster, topic string, partition int32, want int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s[%d] committed at %d", topic, partition, want), func() bool {
		got := committed(c, c.group, topic, partition)
		if got > want {
			t.Fatalf("%s[%d] committed at %d, want %d", topic, partition, got, want)
		}
		return got == want
	})
}

// state returns what s says of a partition, or false when it does not own it.
func state(s *kafka.Source, topic string, partition int32) (kafka.PartitionStats, bool) {
	for _, p := range s.Stats().Partitions {
		if p.Topic == topic && p.Partition == partition {
			return p, true
		}
	}
	return kafka.PartitionStats{}, false
}

// owns waits until s owns exactly n partitions.
func owns(t testing.TB, s *kafka.Source, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d owned partitions", n), func() bool { return len(s.Stats().Partitions) == n })
}
