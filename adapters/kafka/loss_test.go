package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// lossLog records what OnDataLoss was told.
type lossLog struct {
	mu     sync.Mutex
	losses []kafka.DataLoss
}

func (l *lossLog) add(_ string, _ int32, loss kafka.DataLoss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losses = append(l.losses, loss)
}

// only waits for the first loss, and fails the test when there are more.
func (l *lossLog) only(t *testing.T) kafka.DataLoss {
	t.Helper()
	var losses []kafka.DataLoss
	eventually(t, "a data loss", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		losses = append([]kafka.DataLoss(nil), l.losses...)
		return len(losses) > 0
	})
	if len(losses) > 1 {
		t.Fatalf("reported %+v, want one loss", losses)
	}
	return losses[0]
}

// listenAgain makes a broker listen where another one did. The last connections of
// that one may take a moment to go, and somebody else may have got the port.
func listenAgain() kfake.Opt {
	listen := func(network, addr string) (net.Listener, error) {
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			l, err := net.Listen(network, addr)
			if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
				return l, err
			}
		}
	}
	return kfake.ListenFn(listen)
}

// portOf returns the port of a cluster with one broker.
func portOf(t *testing.T, c *cluster) int {
	t.Helper()
	_, port, err := net.SplitHostPort(c.ListenAddrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// diverge moves the partition's leader and lets the new one say that its log
// ends at offset: what a leader answers whose log is shorter.
func diverge(t *testing.T, c *cluster, topic string, offset int64) {
	t.Helper()
	epoch := c.PartitionInfo(topic, 0).Epoch
	c.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		resp := kreq.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = topic
		rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		rp.LeaderEpoch, rp.EndOffset = epoch, offset
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	if err := c.MoveTopicPartition(topic, 0, 1-c.LeaderFor(topic, 0)); err != nil {
		t.Fatal(err)
	}
}

// The log falls from 40 to 25 under a member that reads it. What was
// acknowledged below stays; all other batches in flight come again.
func TestTruncatedPartitionIsReportedAndReadAfresh(t *testing.T) {
	for _, acked := range []int{0, 2, 4} { // batches of ten
		t.Run(fmt.Sprintf("%d of 4 acknowledged", acked), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(1, "in"))
			pr := newProducer(t, c)
			produce(t, pr, records("in", 0, "a", 40)...)
			var losses lossLog
			cfg := config(c, "in")
			cfg.OnDataLoss = losses.add
			s := open(t, cfg)
			bs := pollRecords(t, s, 40)
			ackAll(bs[:acked])
			was := int64(-1)
			if acked > 0 {
				was = int64(10 * acked)
				eventuallyCommitted(t, c, "in", 0, was)
			}
			diverge(t, c, "in", 25)
			from := min(max(was, 0), 25)
			want := kafka.DataLoss{Kind: kafka.LossTruncated, ConsumedTo: 40, ResetTo: from, Committed: was}
			if loss := losses.only(t); loss != want {
				t.Fatalf("reported %+v, want %+v", loss, want)
			}
			if was > 25 {
				eventually(t, "the commit to go back", func() bool { return committed(c, "group", "in", 0) == 25 })
			}
			ackAll(bs[acked:]) // of the log that is no more
			time.Sleep(60 * time.Millisecond)
			if got := committed(c, "group", "in", 0); got > 25 {
				t.Fatalf("committed at %d by batches from before the loss", got)
			}
			for next := from; next < 40; {
				b := poll(t, s)
				if b.Records[0].Offset != next {
					t.Fatalf("read on at %d, want %d", b.Records[0].Offset, next)
				}
				next += int64(len(b.Records))
				b.Ack.Done(nil)
			}
			eventuallyCommitted(t, c, "in", 0, 40)
		})
	}
}

// A broker comes back with an older copy of one partition, whose log goes on
// with other records: the commit is above its end.
func TestPartitionRestoredFromAnOlderCopyIsReadAgain(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	c := newCluster(t, kfake.SeedTopics(1, "in"), kfake.DataDir(dir))
	port := portOf(t, c)
	pr := newProducer(t, c)
	produce(t, pr, records("in", 0, "old", 25)...)
	pr.Close()
	c.Close()
	in := filepath.Join(dir, "partitions", "in-0")
	if err := os.CopyFS(filepath.Join(copied, "in-0"), os.DirFS(in)); err != nil {
		t.Fatal(err)
	}
	c = newCluster(t, kfake.Ports(port), listenAgain(), kfake.DataDir(dir))
	pr = newProducer(t, c)
	produce(t, pr, records("in", 0, "gone", 15)...)
	pr.Close()
	var losses lossLog
	cfg := config(c, "in")
	cfg.OnDataLoss = losses.add
	s := open(t, cfg)
	ackAll(pollRecords(t, s, 40))
	eventuallyCommitted(t, c, "in", 0, 40)
	c.Close()
	if err := errors.Join(os.RemoveAll(in), os.CopyFS(in, os.DirFS(filepath.Join(copied, "in-0")))); err != nil {
		t.Fatal(err)
	}
	c = newCluster(t, kfake.Ports(port), listenAgain(), kfake.DataDir(dir))

	loss := losses.only(t)
	if loss.Kind != kafka.LossTruncated || loss.ConsumedTo != 40 || loss.ResetTo > 25 || loss.Committed != 40 {
		t.Fatalf("reported %+v, want truncated, consumed to and committed 40, reset to at most 25", loss)
	}
	produce(t, newProducer(t, c), records("in", 0, "new", 5)...)
	var last kafka.Batch
	for next := loss.ResetTo; next < 30; next += int64(len(last.Records)) {
		if last = poll(t, s); last.Records[0].Offset != next {
			t.Fatalf("read on at %d, want %d", last.Records[0].Offset, next)
		}
		last.Ack.Done(nil)
	}
	if got := values(last); got[len(got)-1] != "new4" {
		t.Fatalf("read %q last, want new4", got)
	}
	eventually(t, "the commit to follow the log", func() bool { return committed(c, "group", "in", 0) == 30 })
}

// The client cannot tell where the log diverged, so it starts at the log's
// start: batches in flight are of no use any more, and all of it comes again.
func TestLossAtAnUnknownPointReadsTheLogAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	pr := newProducer(t, c)
	produce(t, pr, records("in", 0, "a", 20)...)
	var losses lossLog
	cfg := config(c, "in")
	cfg.OnDataLoss = losses.add
	s := open(t, cfg)
	bs := pollRecords(t, s, 20)
	bs[0].Ack.Done(nil)
	eventuallyCommitted(t, c, "in", 0, 10)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: "in", Err: kerr.OffsetOutOfRange})
	loss := losses.only(t)
	if loss.Kind != kafka.LossTruncated || loss.ConsumedTo != 20 || loss.ResetTo != 0 || loss.Committed != 10 {
		t.Fatalf("reported %+v, want truncated, consumed to 20, reset to 0, committed 10", loss)
	}
	eventually(t, "the commit to go back", func() bool { return committed(c, "group", "in", 0) == 0 })
	bs[1].Ack.Done(nil)
	again := pollRecords(t, s, 20)
	if again[0].Records[0].Offset != 0 || again[0].Ack.ID().Seq != 0 {
		t.Fatalf("read on at offset %d as %v", again[0].Records[0].Offset, again[0].Ack.ID())
	}
	ackAll(again)
	eventuallyCommitted(t, c, "in", 0, 20)
}

func TestRecreatedTopicIsReportedAndReadFromItsStart(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1)
			if err := c.createTopic(c.other, 1); err != nil {
				t.Fatal(err)
			}
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "old", 20)...)
			produce(t, pr, records(c.other, 0, "kept", 5)...)
			var losses lossLog
			cfg := config(c, c.in, c.other)
			cfg.Protocol = protocol
			cfg.OnDataLoss = losses.add
			// The group may take the topic away while there is none. What is held
			// of it is acknowledged after the loss.
			cfg.RevokeTimeout = 100 * time.Millisecond
			s := open(t, cfg)
			var old []kafka.Batch
			for _, b := range pollRecords(t, s, 25) {
				if b.Topic == c.in {
					old = append(old, b)
				} else {
					b.Ack.Done(nil)
				}
			}
			old[0].Ack.Done(nil)
			eventuallyCommitted(t, c, c.in, 0, 10)

			if err := c.deleteTopic(c.in); err != nil {
				t.Fatal(err)
			}
			if err := c.createTopic(c.in, 1); err != nil {
				t.Fatal(err)
			}
			pr = newProducer(t, c)
			produce(t, pr, records(c.in, 0, "new", 30)...)
			loss := losses.only(t)
			if loss.Kind != kafka.LossRecreated || loss.ConsumedTo != 20 || loss.Committed != 10 {
				t.Fatalf("reported %+v, want recreated, consumed to 20, committed 10", loss)
			}
			old[1].Ack.Done(nil)
			for next := int64(0); next < 30; {
				b := poll(t, s)
				if b.Topic != c.in || b.Records[0].Offset != next || string(b.Records[0].Value) != fmt.Sprintf("new%d", next) {
					t.Fatalf("read %q of %s at offset %d, want new%d", b.Records[0].Value, b.Topic, b.Records[0].Offset, next)
				}
				next += int64(len(b.Records))
				b.Ack.Done(nil)
			}
			eventuallyCommitted(t, c, c.in, 0, 30)
			produce(t, pr, records(c.other, 0, "more", 3)...)
			more := poll(t, s)
			if more.Topic != c.other || more.Records[0].Offset != 5 {
				t.Fatalf("read %s at offset %d, want the other topic to go on at 5", more.Topic, more.Records[0].Offset)
			}
			more.Ack.Done(nil)
			eventuallyCommitted(t, c, c.other, 0, 8)
		})
	}
}

func TestDeletedTopicIsReportedAndReadWhenItComesBack(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "old", 20)...)
	var losses lossLog
	cfg := config(c, c.in)
	cfg.OnDataLoss = losses.add
	// The client gives a topic ID that is unknown six tries.
	cfg.Options = append(cfg.Options, kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }))
	s := open(t, cfg)
	ackAll(pollRecords(t, s, 20))
	eventuallyCommitted(t, c, c.in, 0, 20)
	if err := c.deleteTopic(c.in); err != nil {
		t.Fatal(err)
	}
	if loss := losses.only(t); loss.Kind != kafka.LossRecreated {
		t.Fatalf("reported %+v, want recreated", loss)
	}
	quiet(t, s, 300*time.Millisecond)
	if err := c.createTopic(c.in, 1); err != nil {
		t.Fatal(err)
	}
	produce(t, newProducer(t, c), records(c.in, 0, "new", 30)...)
	bs := pollRecords(t, s, 30)
	if got := string(bs[0].Records[0].Value); got != "new0" {
		t.Fatalf("read %q first, want new0", got)
	}
	ackAll(bs)
	eventuallyCommitted(t, c, c.in, 0, 30)
	if st := s.Stats(); st.DataLosses != 1 {
		t.Fatalf("counted %d data losses, want 1", st.DataLosses)
	}
}

func TestRecordsThatExpireUnreadAreReported(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 30)...)
	cfg := config(c, c.in)
	s := open(t, cfg)
	ackAll(pollRecords(t, s, 30))
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	produce(t, pr, records(c.in, 0, "b", 30)...)
	if err := c.deleteRecords(c.in, 0, 45); err != nil {
		t.Fatal(err)
	}
	var losses lossLog
	cfg.OnDataLoss = losses.add
	s = open(t, cfg)
	bs := pollRecords(t, s, 15)
	if bs[0].Records[0].Offset != 45 {
		t.Fatalf("read on at offset %d, want 45", bs[0].Records[0].Offset)
	}
	if loss := losses.only(t); loss != (kafka.DataLoss{Kind: kafka.LossExpired, ConsumedTo: 30, ResetTo: 45, Committed: 30}) {
		t.Fatalf("reported %+v", loss)
	}
	ackAll(bs)
	eventuallyCommitted(t, c, c.in, 0, 60)
}

// A commit above the end of the log, as after a restore of the broker alone.
func TestCommitAboveTheLogEndIsReportedAsTruncation(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 20)...)
	commitByHand(t, c, c.in, 0, 100)
	var losses lossLog
	cfg := config(c, c.in)
	cfg.OnDataLoss = losses.add
	s := open(t, cfg)
	bs := pollRecords(t, s, 20)
	loss := losses.only(t)
	if loss.Kind != kafka.LossTruncated || loss.ConsumedTo != 100 || loss.ResetTo != 0 || loss.Committed != 100 {
		t.Fatalf("reported %+v", loss)
	}
	ackAll(bs)
	eventually(t, "the commit to go back", func() bool { return committed(c, c.group, c.in, 0) == 20 })
}

// commitByHand commits for a group without members.
func commitByHand(t *testing.T, c *cluster, topic string, partition int32, offset int64) {
	t.Helper()
	ctx, cancel := adminContext()
	defer cancel()
	at := kadm.Offsets{}
	at.AddOffset(topic, partition, offset, -1)
	if err := c.admin.CommitAllOffsets(ctx, c.group, at); err != nil {
		t.Fatal(err)
	}
}
