package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// commitLog records a Source's accepted commits of one partition.
type commitLog struct {
	mu      sync.Mutex
	offsets []int64
}

func (l *commitLog) add(_ string, _ int32, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offsets = append(l.offsets, offset)
}

// check fails the test when a commit did not go forward.
func (l *commitLog) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 1; i < len(l.offsets); i++ {
		if l.offsets[i] <= l.offsets[i-1] {
			t.Fatalf("commits went %v", l.offsets)
		}
	}
}

func TestFailedCommitIsSentAgain(t *testing.T) {
	for _, e := range []*kerr.Error{
		kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.RequestTimedOut,
		kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.UnknownServerError,
	} {
		t.Run(e.Message, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "in"))
			produce(t, newProducer(t, c), records("in", 0, "a", 20)...)
			var log commitLog
			cfg := config(c, "in")
			cfg.OnCommit = log.add
			fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: e, Count: 2})
			s := open(t, cfg)
			bs := pollRecords(t, s, 20)
			bs[0].Ack.Done(nil)
			eventually(t, "two failed commits", func() bool { return fault.Hits() == 2 })
			bs[1].Ack.Done(nil)
			eventuallyCommitted(t, c, "in", 0, 20)
			log.check(t)
		})
	}
}

func TestFailedCommitIsCountedAndStaysDue(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 10)...)
	fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.RebalanceInProgress, Count: -1})
	s := open(t, config(c, "in"))
	ackAll(pollRecords(t, s, 10))
	eventually(t, "failures", func() bool { return s.Stats().CommitFailures >= 3 })
	if p, _ := state(s, "in", 0); p.Acked != 10 || p.Committed != -1 {
		t.Fatalf("acked %d, committed %d, want 10 and -1", p.Acked, p.Committed)
	}
	fault.Remove()
	eventuallyCommitted(t, c, "in", 0, 10)
	eventually(t, "the commit to be counted", func() bool { return s.Stats().Commits == 1 })
}

// answer makes the broker treat the next commit by fn: no answer when fn
// returns nil, a closed connection when it returns an error.
func answer(c *cluster, fn func() error) (hit chan struct{}) {
	hit = make(chan struct{}, 1)
	c.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		hit <- struct{}{}
		return nil, fn(), true
	})
	return hit
}

func TestCommitWhoseAnswerIsLostIsSentAgain(t *testing.T) {
	for name, err := range map[string]error{"swallowed": nil, "connection reset": errors.New("reset")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "in"))
			produce(t, newProducer(t, c), records("in", 0, "a", 20)...)
			var log commitLog
			cfg := config(c, "in")
			cfg.OnCommit = log.add
			cfg.Options = append(cfg.Options, kgo.RequestTimeoutOverhead(300*time.Millisecond))
			s := openHasty(t, cfg)
			bs := pollRecords(t, s, 20)
			hit := answer(c, func() error { return err })
			bs[0].Ack.Done(nil)
			<-hit
			bs[1].Ack.Done(nil)
			eventuallyCommitted(t, c, "in", 0, 20)
			log.check(t)
		})
	}
}

func TestLastCommitOfARevokeIsRetried(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(2, "in"))
			pr := newProducer(t, c)
			produce(t, pr, records("in", 0, "a", 5)...)
			produce(t, pr, records("in", 1, "b", 5)...)
			cfg := config(c, "in")
			cfg.Protocol = protocol
			cfg.CommitInterval = time.Hour
			first := open(t, cfg)
			held := pollBoth(t, first)
			held[0].Ack.Done(nil)
			held[1].Ack.Done(nil)
			fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.UnknownServerError, Count: 1})
			second := open(t, cfg)
			owns(t, second, 1)
			if fault.Hits() != 1 {
				t.Fatal("no commit failed")
			}
			p := second.Stats().Partitions[0].Partition
			if got := committed(c, "group", "in", p); got != 5 {
				t.Fatalf("partition %d changed hands committed at %d, want 5", p, got)
			}
		})
	}
}

func TestCommitCarriesTheLeaderEpochOfTheLastRecordCovered(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(1, "in"))
	pr := newProducer(t, c)
	move := func() {
		if err := c.MoveTopicPartition("in", 0, 1-c.LeaderFor("in", 0)); err != nil {
			t.Fatal(err)
		}
	}
	start := c.PartitionInfo("in", 0).Epoch
	produce(t, pr, records("in", 0, "a", 5)...)
	move()
	produce(t, pr, records("in", 0, "b", 5)...)
	move()
	produce(t, pr, records("in", 0, "c", 10)...)

	for _, size := range []int{4, 5} { // batches that hold two epochs, and that end with one
		cfg := config(c, "in")
		cfg.Group = fmt.Sprintf("group%d", size)
		cfg.BatchRecords = size
		s := open(t, cfg)
		for _, b := range pollRecords(t, s, 20) {
			b.Ack.Done(nil)
			end := b.Records[size-1].Offset + 1
			want := start + min(int32(end-1)/5, 2)
			eventually(t, "the commit", func() bool { return committed(c, cfg.Group, "in", 0) == end })
			if _, epoch := commitOf(c, cfg.Group, "in", 0); epoch != want {
				t.Fatalf("the commit at %d carries epoch %d, want %d", end, epoch, want)
			}
		}
	}
}

func TestTransactionalTopicIsCommittedToItsLogEnd(t *testing.T) {
	for _, level := range []kgo.IsolationLevel{kgo.ReadCommitted(), kgo.ReadUncommitted()} {
		committedOnly := level == kgo.ReadCommitted()
		t.Run(fmt.Sprintf("read committed %v", committedOnly), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1)
			pr := newProducer(t, c, kgo.TransactionalID(c.in))
			ctx := context.Background()
			for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
				if err := pr.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				produce(t, pr, records(c.in, 0, fmt.Sprintf("txn%d-", i), 7)...)
				if err := pr.EndTransaction(ctx, end); err != nil {
					t.Fatal(err)
				}
			}
			const end = 4 * 8 // four times seven records and a marker, which may come late
			eventually(t, "the last marker", func() bool { return c.logEnd(t, c.in, 0) == end })
			cfg := config(c, c.in)
			cfg.BatchRecords = 5
			cfg.Options = append(cfg.Options, kgo.FetchIsolationLevel(level))
			s := open(t, cfg)
			want := 28
			if committedOnly {
				want = 14
			}
			bs := pollRecords(t, s, want)
			ackAll(bs)
			eventuallyCommitted(t, c, c.in, 0, end)
			for _, b := range bs {
				for _, r := range b.Records {
					if r.Attrs.IsControl() || len(r.Value) == 0 {
						t.Fatalf("a batch holds the transaction marker at offset %d", r.Offset)
					}
				}
			}
			if got := s.Stats().Records; got != uint64(want) {
				t.Fatalf("counted %d records, want %d", got, want)
			}
		})
	}
}

func TestOffsetGapsOfACompactedTopicAreNormal(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if err := c.CreateTopic("in", 1, map[string]string{
		"cleanup.policy": "compact", "segment.bytes": "200", "min.compaction.lag.ms": "0", "segment.ms": "1",
	}); err != nil {
		t.Fatal(err)
	}
	pr := newProducer(t, c)
	for i := range 40 {
		produce(t, pr, &kgo.Record{Topic: "in", Key: []byte{byte(i % 7)}, Value: fmt.Appendf(nil, "v%d", i)})
	}
	time.Sleep(5 * time.Millisecond)
	c.Compact()
	cfg := config(c, "in")
	cfg.BatchRecords = 2
	s := open(t, cfg)
	var last int64 = -1
	gaps := 0
	for last < 39 {
		b := poll(t, s)
		for _, r := range b.Records {
			if r.Offset > last+1 {
				gaps++
			}
			last = r.Offset
		}
		b.Ack.Done(nil)
	}
	if gaps == 0 {
		t.Fatal("compaction left no gap; the test shows nothing")
	}
	eventuallyCommitted(t, c, "in", 0, 40)
	if st := s.Stats(); st.DataLosses != 0 {
		t.Fatalf("gaps were reported as %d data losses", st.DataLosses)
	}
}

func TestOnCommitSeesEveryCommitInOrder(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 50)...)
	var log commitLog
	cfg := config(c, c.in)
	cfg.CommitInterval = time.Millisecond
	cfg.OnCommit = log.add
	s := open(t, cfg)
	for _, b := range pollRecords(t, s, 50) {
		b.Ack.Done(nil)
		time.Sleep(3 * time.Millisecond)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	log.check(t)
	if n := len(log.offsets); n == 0 || log.offsets[n-1] != 50 {
		t.Fatalf("commits were %v, want the last at 50", log.offsets)
	}
	if st := s.Stats(); st.Commits != uint64(len(log.offsets)) {
		t.Fatalf("counted %d commits, OnCommit saw %d", st.Commits, len(log.offsets))
	}
}

// The client sends a commit again by itself when the member's epoch moved on.
// By then the partition may have been lost, and be back from another owner.
func TestCommitBegunBeforeALossIsNotSentAfterIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in", "other"))
	produce(t, newProducer(t, c), records("in", 0, "a", 20)...)
	cfg := config(c, "in")
	cfg.Protocol = kafka.KIP848
	s := open(t, cfg)
	bs := pollRecords(t, s, 20)
	stale := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.StaleMemberEpoch, Count: -1})
	bs[0].Ack.Done(nil)
	eventually(t, "a commit to be refused", func() bool { return stale.Hits() > 0 })
	fence(t, c, cfg.Protocol)
	eventually(t, "the partition to be lost", func() bool { return s.Stats().Lost == 1 })
	other := config(c, "other") // one more member raises the group's epoch
	other.Protocol = kafka.KIP848
	open(t, other)
	again := pollRecords(t, s, 20)
	stale.Remove()                     // what is sent from here on is accepted
	time.Sleep(700 * time.Millisecond) // the client waits 500 ms
	if got := committed(c, "group", "in", 0); got != -1 {
		t.Fatalf("committed at %d, of an earlier ownership", got)
	}
	ackAll(again)
	eventuallyCommitted(t, c, "in", 0, 20)
}
