package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// slowCommits returns a configuration whose commits are those of Close alone.
func slowCommits(c *cluster, topics ...string) kafka.Config {
	cfg := config(c, topics...)
	cfg.CommitInterval = time.Hour
	return cfg
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestCloseWaitsForHandedOutBatchesAndCommitsThem(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1)
			produce(t, newProducer(t, c), records(c.in, 0, "a", 50)...)
			cfg := slowCommits(c, c.in)
			cfg.Protocol = protocol
			s := open(t, cfg)
			held := []kafka.Batch{poll(t, s), poll(t, s)}
			time.AfterFunc(100*time.Millisecond, func() { ackAll(held) })
			if err := s.Close(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			if got := committed(c, c.group, c.in, 0); got != 20 {
				t.Fatalf("committed at %d, want what was handed out and acknowledged: 20", got)
			}
			if st := s.Stats(); st.Dropped == 0 || len(st.Partitions) != 0 {
				t.Fatalf("dropped %d batches and still owns %v", st.Dropped, st.Partitions)
			}
			eventually(t, "the group to be empty", func() bool {
				return c.members(t) == 0
			})
		})
	}
}

func TestCloseIsBoundedByItsContextAndCommitsWhatItCan(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 50)...)
	s := open(t, slowCommits(c, c.in))
	held := []kafka.Batch{poll(t, s), poll(t, s)}
	held[0].Ack.Done(nil)
	// One batch is never resolved: what returns has given up waiting for it.
	err := inTime(t, "Close", func() error { return s.Close(within(t, 100*time.Millisecond)) })
	if !errors.Is(err, kafka.ErrUnresolved) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Close returned %v, want ErrUnresolved and the context's error", err)
	}
	if got := committed(c, c.group, c.in, 0); got != 10 {
		t.Fatalf("committed at %d, want 10", got)
	}
	eventually(t, "the group to be empty", func() bool { return c.members(t) == 0 })
	held[1].Ack.Done(nil) // harmless
	if again := s.Close(context.Background()); !errors.Is(again, kafka.ErrUnresolved) {
		t.Fatalf("a second Close returned %v, want the first one's result", again)
	}
}

func TestCloseDoesNotWaitForAFailedBatch(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 30)...)
	s := open(t, slowCommits(c, c.in))
	bs := pollRecords(t, s, 30)
	bs[0].Ack.Done(nil)
	bs[1].Ack.Done(errors.New("refused"))
	bs[2].Ack.Done(nil)
	// With a wait it would return an error, or not at all.
	if err := inTime(t, "Close", func() error { return s.Close(context.Background()) }); err != nil {
		t.Fatal(err)
	}
	if got := committed(c, c.group, c.in, 0); got != 10 {
		t.Fatalf("committed at %d, want 10: below the failed batch", got)
	}
}

func TestCloseReportsACommitThatFailed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 10)...)
	s := open(t, slowCommits(c, "in"))
	ackAll(pollRecords(t, s, 10))
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.IllegalGeneration, Count: -1})
	err := s.Close(within(t, patience))
	if !errors.Is(err, kafka.ErrUncommitted) || !errors.Is(err, kerr.IllegalGeneration) {
		t.Fatalf("Close returned %v, want ErrUncommitted and the broker's answer", err)
	}
}

func TestCloseRetriesItsCommit(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 10)...)
	s := open(t, slowCommits(c, "in"))
	ackAll(pollRecords(t, s, 10))
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.RebalanceInProgress, Count: 2})
	if err := s.Close(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if got := committed(c, "group", "in", 0); got != 10 {
		t.Fatalf("committed at %d, want 10", got)
	}
}

func TestCloseWithoutABrokerIsBounded(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 10)...)
	s := open(t, slowCommits(c, "in"))
	ackAll(pollRecords(t, s, 10))
	c.Close()
	// It gives up within patience, which is less than it takes without the
	// context's end.
	err := inTime(t, "Close", func() error { return s.Close(within(t, 200*time.Millisecond)) })
	if !errors.Is(err, kafka.ErrUncommitted) {
		t.Fatalf("Close returned %v, want ErrUncommitted", err)
	}
}

func TestCloseFromSeveralGoroutinesDuringPollsAndARebalance(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 4)
	pr := newProducer(t, c)
	for p := range int32(4) {
		produce(t, pr, records(c.in, p, "a", 100)...)
	}
	s := open(t, config(c, c.in))
	other := open(t, config(c, c.in))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				b, err := s.Poll(context.Background())
				if err != nil {
					if !errors.Is(err, kafka.ErrClosed) {
						t.Error(err)
					}
					return
				}
				b.Ack.Done(nil)
			}
		})
	}
	time.Sleep(30 * time.Millisecond)
	for range 3 {
		wg.Go(func() {
			if err := s.Close(within(t, patience)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	owns(t, other, 4)
}

func TestFailedBatchStallsItsPartitionAndIsReported(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 2)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 30)...)
	var buf bytes.Buffer
	cfg := config(c, c.in)
	cfg.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelError}))
	s := open(t, cfg)
	bs := pollRecords(t, s, 30)
	bs[1].Ack.Done(errors.New("refused"))
	bs[2].Ack.Done(nil)
	bs[0].Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 0, 10)
	eventually(t, "the stall", func() bool { p, _ := state(s, c.in, 0); return p.Stalled != nil })
	p, _ := state(s, c.in, 0)
	if p.Stalled.Batch != bs[1].Ack.ID() || p.Stalled.LastOffset != 19 || p.Stalled.Since.IsZero() {
		t.Fatalf("stalled at %+v, want batch %v", p.Stalled, bs[1].Ack.ID())
	}
	produce(t, pr, records(c.in, 0, "b", 10)...) // goes on being delivered
	poll(t, s).Ack.Done(nil)
	produce(t, pr, records(c.in, 1, "c", 10)...) // and the other partition commits
	poll(t, s).Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 1, 10)
	if err := s.Close(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if got := committed(c, c.group, c.in, 0); got != 10 {
		t.Fatalf("committed at %d, want 10", got)
	}
	if log := buf.String(); strings.Count(log, "stalled") != 1 || !strings.Contains(log, bs[1].Ack.ID().String()) {
		t.Fatalf("the log says %q, want one stall that names %v", log, bs[1].Ack.ID())
	}
	again := open(t, config(c, c.in))
	if got := poll(t, again); got.Records[0].Offset != 10 {
		t.Fatalf("after a restart, read from offset %d, want 10", got.Records[0].Offset)
	}
}
