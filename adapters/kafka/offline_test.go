package kafka

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// offline returns a Source that owns one partition and never connects.
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
	if s.cl, err = kgo.NewClient(s.options()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cl.Close)
	s.identify()
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

func fetchOf(first int64, n int, err error) kgo.Fetches {
	f := kgo.FetchPartition{Err: err}
	for i := range n {
		f.Records = append(f.Records, &kgo.Record{Topic: "in", Offset: first + int64(i)})
	}
	return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "in", Partitions: []kgo.FetchPartition{f}}}}}
}

// The client keeps an error past the ownership it belongs to. Taken for one of
// the new ownership, it would skip what lies below its position.
func TestLossOfAnEarlierOwnershipIsIgnored(t *testing.T) {
	s, p := offline(t, Config{})
	old := &kgo.ErrDataLoss{Topic: "in", ConsumedTo: 90, ResetTo: 80}
	s.ingest(fetchOf(0, 0, old), time.Now())
	if p.read != unknown || p.acked != unknown {
		t.Fatalf("the error set the position to %d, acked %d", p.read, p.acked)
	}
	// In one poll with the new ownership's first records.
	both := append(fetchOf(10, 5, nil), fetchOf(0, 0, old)...)
	s.ingest(both, time.Now())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	b, err := s.Poll(ctx)
	if err != nil || b.Records[0].Offset != 10 || len(b.Records) != 5 {
		t.Fatalf("got %d records, %v", len(b.Records), err)
	}
	if s.Stats().DataLosses != 0 {
		t.Fatal("the error was reported")
	}
}

// A commit that is answered after its partition was set back says nothing
// about the admission that began then.
func TestAnswerToACommitFromBeforeALossIsNotItsCommit(t *testing.T) {
	s, p := offline(t, Config{BatchRecords: 10})
	s.ingest(fetchOf(0, 20, nil), time.Now())
	for range 2 {
		b, err := s.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.Ack.Done(nil)
	}
	sent, offsets, _ := s.collect(nil, func() {}, nil, time.Time{})
	if got := offsets["in"][0].Offset; got != 20 {
		t.Fatalf("committing %d, want 20", got)
	}
	if !s.truncated(p, 20, 15) {
		t.Fatal("the loss was ignored")
	}
	for _, c := range sent {
		c.err = nil
	}
	if err := s.settle(sent, nil); err != nil {
		t.Fatal(err)
	}
	if _, offsets, _ = s.collect(nil, func() {}, nil, time.Time{}); offsets["in"][0].Offset != 15 {
		t.Fatalf("the next commit is %v, want 15: back to where the log changed", offsets)
	}
}

// An older broker takes a commit by the topic's name, also one that was on
// its way when the topic was deleted.
func TestCommitToADeletedTopicIsNotReadFrom(t *testing.T) {
	s, p := offline(t, Config{})
	p.start(0)
	p.committed = 40
	s.forget("in")
	for _, tt := range []struct {
		fetched int64
		start   int64
	}{{40, -2}, {39, 39}, {41, 41}} {
		s.mu.Lock()
		s.admit(p)
		s.mu.Unlock()
		got, err := s.onOffsets(t.Context(), map[string]map[int32]kgo.Offset{"in": {0: kgo.NewOffset().At(tt.fetched)}})
		if err != nil {
			t.Fatal(err)
		}
		if at := got["in"][0].EpochOffset().Offset; at != tt.start {
			t.Errorf("a commit at %d is read from %d, want %d", tt.fetched, at, tt.start)
		}
		s.mu.Lock()
		s.retire([]*partition{p}, nil)
		s.mu.Unlock()
	}
}
