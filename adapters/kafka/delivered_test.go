package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// keeping is a configuration whose commits tell what is delivered above them.
func keeping(c *cluster, topics ...string) kafka.Config {
	cfg := config(c, topics...)
	cfg.DeliveredBytes = checkpoint.RangesLimit
	return cfg
}

// metadata returns the metadata of the group's commit.
func metadata(t testing.TB, c *cluster, topic string, partition int32) string {
	t.Helper()
	ctx, cancel := adminContext()
	defer cancel()
	fetched, err := c.admin.FetchOffsetsForTopics(ctx, c.group, topic)
	if err != nil {
		return "" // the group is not known yet
	}
	o, _ := fetched.Lookup(topic, partition)
	return o.Metadata
}

// told waits until the commit of partition 0 tells that these offsets, as from
// and to pairs, are delivered above it.
func told(t testing.TB, c *cluster, offset int64, want ...int64) {
	t.Helper()
	var text string
	eventually(t, fmt.Sprintf("%v to be told", want), func() bool {
		text = metadata(t, c, c.in, 0)
		ranges, _, _ := strings.Cut(text, "@")
		d, err := checkpoint.RestoreDelivered(0, ranges)
		var got []int64
		for _, r := range d.Ranges() {
			got = append(got, r.From, r.To)
		}
		return err == nil && slices.Equal(got, want)
	})
	if got := committed(c, c.group, c.in, 0); got != offset {
		t.Fatalf("committed at %d with %q, want %d", got, text, offset)
	}
}

// crash closes a source whose batches are not all resolved.
func crash(t testing.TB, s *kafka.Source) {
	t.Helper()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Close(done) // ErrUnresolved
}

// offsetsOf returns the first offset of each batch.
func offsetsOf(bs []kafka.Batch) (first []int64) {
	for _, b := range bs {
		first = append(first, b.Records[0].Offset)
	}
	return first
}

func TestARestartBehindAStuckHeadReadsOnlyWhatWasNotDelivered(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1)
			produce(t, newProducer(t, c), records(c.in, 0, "a", 100)...)
			cfg := keeping(c, c.in)
			cfg.Protocol = protocol
			var log commitLog
			cfg.OnCommit = log.add
			s := open(t, cfg)
			for i, b := range pollRecords(t, s, 100) {
				if i != 2 && i != 7 {
					b.Ack.Done(nil)
				}
			}
			told(t, c, 20, 30, 70, 80, 100)
			crash(t, s)
			log.check(t) // a commit for the metadata alone is no progress

			// Twice: what was restored is told again although nothing moves.
			for range 2 {
				s = open(t, cfg)
				again := pollRecords(t, s, 20)
				if got := offsetsOf(again); !slices.Equal(got, []int64{20, 70}) || len(again[0].Records) != 10 {
					t.Fatalf("batches at %v come again, want those at 20 and 70", got)
				}
				quiet(t, s, 50*time.Millisecond)
				told(t, c, 20, 30, 70, 80, 100)
				if st := s.Stats(); st.Restored != 60 || st.Records != 20 {
					t.Fatalf("restored %d, handed out %d, want 60 and 20", st.Restored, st.Records)
				}
				crash(t, s)
			}
			s = open(t, cfg)
			ackAll(pollRecords(t, s, 20))
			told(t, c, 100)
		})
	}
}

// The first batch is stuck, and the group has no commit to put anything beside.
func TestWhatIsDeliveredIsToldWithoutAnyProgress(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 30)...)
	s := open(t, keeping(c, c.in))
	ackAll(pollRecords(t, s, 30)[1:])
	told(t, c, 0, 10, 30)
	crash(t, s)
	s = open(t, keeping(c, c.in))
	again := poll(t, s)
	if again.Records[0].Offset != 0 || len(again.Records) != 10 {
		t.Fatalf("%d records come again from offset %d", len(again.Records), again.Records[0].Offset)
	}
	again.Ack.Done(nil)
	told(t, c, 30)
}

// A consumer that knows nothing of it goes on from the commit, and leaves
// metadata of its own, which is none of ours.
func TestPlainConsumersGoOnFromTheSameCommits(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 50)...)
	s := open(t, keeping(c, c.in))
	bs := pollRecords(t, s, 50)
	for _, i := range []int{0, 2, 4} {
		bs[i].Ack.Done(nil)
	}
	told(t, c, 10, 20, 30, 40, 50)
	crash(t, s)

	plain, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.ConsumerGroup(c.group), kgo.ConsumeTopics(c.in), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	ctx := within(t, patience)
	var read []*kgo.Record
	for len(read) < 40 {
		fetches := plain.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		read = append(read, fetches.Records()...)
	}
	if read[0].Offset != 10 || len(read) != 40 {
		t.Fatalf("it reads %d records from offset %d, want 40 from 10", len(read), read[0].Offset)
	}
	if err := plain.CommitRecords(ctx, read[4]); err != nil {
		t.Fatal(err)
	}
	plain.Close()

	var buf lockedBuffer
	cfg := keeping(c, c.in)
	cfg.Logger = slog.New(slog.NewTextHandler(&buf, nil))
	s = open(t, cfg)
	if got := pollRecords(t, s, 35); got[0].Records[0].Offset != 15 {
		t.Fatalf("after it, read from %d, want 15", got[0].Records[0].Offset)
	}
	if n := strings.Count(buf.String(), "commit metadata of another program"); n != 1 {
		t.Fatalf("%d lines about its metadata, want 1:\n%s", n, buf.String())
	}
}

// lockedBuffer is written by a logger and read by a test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestNothingIsToldUnlessAskedFor(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 30)...)
	s := open(t, keeping(c, c.in))
	bs := pollRecords(t, s, 30)
	bs[0].Ack.Done(nil)
	bs[2].Ack.Done(nil)
	told(t, c, 10, 20, 30)
	crash(t, s)
	s = open(t, config(c, c.in))
	bs = pollRecords(t, s, 20) // also what was delivered
	bs[1].Ack.Done(nil)
	quiet(t, s, 60*time.Millisecond)
	bs[0].Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 0, 30)
	if text := metadata(t, c, c.in, 0); strings.Contains(text, "tidemark") {
		t.Fatalf("the commit carries %q", text)
	}
}

// More ranges than have room: the lowest are told, the others come again.
func TestWhatHasNoRoomIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	const n = 401 // the last one is not acknowledged
	produce(t, newProducer(t, c), records(c.in, 0, "a", n)...)
	cfg := keeping(c, c.in)
	cfg.BatchRecords, cfg.DeliveredBytes = 1, 64
	s := open(t, cfg)
	for i, b := range pollRecords(t, s, n) {
		if i%2 == 1 {
			b.Ack.Done(nil)
		}
	}
	text := ""
	eventually(t, "the metadata to be full", func() bool { text = metadata(t, c, c.in, 0); return len(text) > 48 })
	if len(text) > 64 {
		t.Fatalf("%d bytes: %s", len(text), text)
	}
	crash(t, s)
	s = open(t, cfg)
	next := int64(0)
	for next < n { // what is told is at the front, and odd
		b := poll(t, s)
		at := b.Records[0].Offset
		if at != next && (at != next+1 || at%2 != 0) {
			t.Fatalf("got offset %d after %d", at, next-1)
		}
		next = at + 1
		b.Ack.Done(nil)
	}
	eventuallyCommitted(t, c, c.in, 0, n)
	if got := s.Stats().Restored; got < 10 || got > 40 {
		t.Fatalf("%d records were told in %d bytes", got, len(text))
	}
}

func TestABrokerThatTakesLessMetadataGetsLess(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 30)...)
	var buf lockedBuffer
	cfg := keeping(c, "in")
	cfg.DeliveredBytes = 128
	cfg.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelWarn}))
	refused := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.OffsetMetadataTooLarge, Count: 2})
	s := open(t, cfg)
	bs := pollRecords(t, s, 30)
	bs[2].Ack.Done(nil) // first: no commit goes without metadata
	bs[0].Ack.Done(nil)
	eventuallyCommitted(t, c, "in", 0, 10)
	if refused.Hits() != 2 || !strings.Contains(buf.String(), "bytes=64") || !strings.Contains(buf.String(), "bytes=0") {
		t.Fatalf("%d refusals, logged as\n%s", refused.Hits(), buf.String())
	}
	bs[1].Ack.Done(nil)
	eventuallyCommitted(t, c, "in", 0, 30)
}

// A revoke that gives up on a batch leaves what is delivered behind it to the
// next owner.
func TestTheNextOwnerDoesNotGetWhatWasDelivered(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 2)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 30)...)
	produce(t, pr, records(c.in, 1, "b", 30)...)
	cfg := keeping(c, c.in)
	cfg.CommitInterval = time.Hour // only the revoke tells
	cfg.RevokeTimeout = 100 * time.Millisecond
	first := open(t, cfg)
	for _, b := range pollRecords(t, first, 60) {
		if b.Records[0].Offset != 0 {
			b.Ack.Done(nil)
		}
	}
	second := open(t, cfg)
	owns(t, second, 1)
	b := poll(t, second)
	if b.Records[0].Offset != 0 || len(b.Records) != 10 {
		t.Fatalf("got %d records from offset %d", len(b.Records), b.Records[0].Offset)
	}
	quiet(t, second, 100*time.Millisecond)
	if got := second.Stats().Restored; got != 20 {
		t.Fatalf("restored %d records, want 20", got)
	}
}
