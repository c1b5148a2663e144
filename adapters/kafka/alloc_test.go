package kafka

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// offline returns a Source that owns one partition and has no client.
func offline(t testing.TB, cfg Config) (*Source, *partition) {
	t.Helper()
	cfg.Brokers, cfg.Group, cfg.Topics = []string{"none:1"}, "group", []string{"in"}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	s := newSource(cfg)
	s.topicIDs = map[string][16]byte{}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts.intern("in", 0)
	s.admit(p)
	return s, p
}

// A poll of 5000 records through the Source: issued, queued, returned by Poll,
// acknowledged, drained and forgotten.
func TestRecordsPassThroughWithoutAllocation(t *testing.T) {
	s, p := offline(t, Config{})
	records := make([]*kgo.Record, 5000)
	for i := range records {
		records[i] = &kgo.Record{Topic: "in", LeaderEpoch: 3}
	}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "in", Partitions: []kgo.FetchPartition{{}}}}}}
	ctx, now := context.Background(), time.Now()
	next := int64(0)
	cycle := func() {
		for i, r := range records {
			r.Offset = next + int64(i)
		}
		next += int64(len(records))
		fetches[0].Topics[0].Partitions[0].Records = records
		s.ingest(fetches, now)
		for range len(records) / DefaultBatchRecords {
			b, err := s.Poll(ctx)
			if err != nil || len(b.Records) != DefaultBatchRecords {
				t.Fatalf("polled %d records: %v", len(b.Records), err)
			}
			b.Ack.Done(nil)
		}
		s.mu.Lock()
		s.advance()
		s.mu.Unlock()
		if p.acked != next || s.cp.Pending(p.id) != 0 {
			t.Fatalf("acked up to %d of %d", p.acked, next)
		}
	}
	for range 20 {
		cycle() // grow what is kept
	}
	if n := testing.AllocsPerRun(100, cycle); n != 0 {
		t.Fatalf("%v allocations for a poll of %d records, want none", n, len(records))
	}
}
