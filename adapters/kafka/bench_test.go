package kafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// The two loops below do the same work on the same topic: read n records in a
// group of one member and commit them all. One polls the client and marks
// records, the other goes through a Source.

const benchPartitions = 8

// synthetic returns a broker that makes records up, so that the client and
// not the broker's storage is measured.
func synthetic(b *testing.B) *cluster {
	return newCluster(b, kfake.SeedTopics(benchPartitions, "in"), kfake.SyntheticFetch(kfake.SyntheticBatch{}))
}

func BenchmarkBarePollAndMark(b *testing.B) {
	c := synthetic(b)
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.ConsumerGroup("group"), kgo.ConsumeTopics("in"),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Second), kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxWait(250*time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.CloseAllowingRebalance()
	ctx := context.Background()
	poll := func() (n int) {
		rs := cl.PollRecords(ctx, kafka.DefaultPollRecords).Records()
		for _, r := range rs {
			n += len(r.Value) & 1
		}
		cl.MarkCommitRecords(rs...)
		cl.AllowRebalance()
		return len(rs)
	}
	poll()
	run(b, poll)
}

func BenchmarkSource(b *testing.B) {
	c := synthetic(b)
	s := open(b, kafka.Config{Brokers: c.addrs, Group: "group", Topics: []string{"in"}})
	ctx := context.Background()
	poll := func() (n int) {
		batch, err := s.Poll(ctx)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range batch.Records {
			n += len(r.Value) & 1
		}
		batch.Ack.Done(nil)
		return len(batch.Records)
	}
	poll()
	run(b, poll)
}

func run(b *testing.B, poll func() int) {
	b.ReportAllocs()
	b.ResetTimer()
	start := time.Now()
	records := 0
	for records < b.N {
		records += poll()
	}
	b.ReportMetric(float64(records)/time.Since(start).Seconds(), "records/s")
	b.StopTimer()
}
