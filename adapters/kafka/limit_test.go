package kafka_test

import (
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

func TestPendingLimitPausesThePartitionAndResumes(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 5} {
		c := newBroker(t, 1)
		produce(t, newProducer(t, c), records(c.in, 0, "a", 300)...)
		cfg := config(c, c.in)
		cfg.PendingLimit = limit
		cfg.PollRecords = 35 // a poll ends inside a batch
		cfg.CommitInterval = time.Hour
		s := open(t, cfg)
		next := int64(0)
		take := func() kafka.Batch {
			b := poll(t, s)
			if b.Records[0].Offset != next {
				t.Fatalf("limit %d: got offset %d, want %d", limit, b.Records[0].Offset, next)
			}
			next += int64(len(b.Records))
			if p, _ := state(s, c.in, 0); p.Pending > limit {
				t.Fatalf("limit %d: %d batches are pending", limit, p.Pending)
			}
			return b
		}
		for range 3 { // to the limit and down again, three times
			var held []kafka.Batch
			for range limit {
				held = append(held, take())
			}
			eventually(t, "a pause", func() bool { p, _ := state(s, c.in, 0); return p.Paused })
			quiet(t, s, 100*time.Millisecond) // more than a fetch takes
			if p, _ := state(s, c.in, 0); p.Held > cfg.PollRecords {
				t.Fatalf("limit %d: %d records are held, want those of one poll at most", limit, p.Held)
			}
			ackAll(held)
		}
		for next < 300 {
			take().Ack.Done(nil)
		}
		eventually(t, "the pause to end", func() bool { p, _ := state(s, c.in, 0); return !p.Paused })
		if st := s.Stats(); st.Pauses == 0 || st.Batches < 30 {
			t.Fatalf("limit %d: counted %d pauses and %d batches", limit, st.Pauses, st.Batches)
		}
	}
}

func TestPartitionAtItsLimitDoesNotHoldOthersUp(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 2)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 100)...)
	cfg := config(c, c.in)
	cfg.PendingLimit = 3
	s := open(t, cfg)
	stuck := pollRecords(t, s, 30)
	eventually(t, "a pause", func() bool { p, _ := state(s, c.in, 0); return p.Paused })
	quiet(t, s, 50*time.Millisecond)
	produce(t, pr, records(c.in, 1, "b", 100)...)
	for range 10 {
		b := poll(t, s)
		if b.Partition != 1 {
			t.Fatalf("partition %d went on past its limit", b.Partition)
		}
		b.Ack.Done(nil)
	}
	if p, _ := state(s, c.in, 0); p.Pending != 3 || p.Position != 30 {
		t.Fatalf("partition 0 has %d pending up to %d, want 3 up to 30", p.Pending, p.Position)
	}
	ackAll(stuck)
	for range 7 {
		b := poll(t, s)
		b.Ack.Done(nil)
	}
	eventuallyCommitted(t, c, c.in, 0, 100)
	eventuallyCommitted(t, c, c.in, 1, 100)
	eventually(t, "the pause to end", func() bool { p, _ := state(s, c.in, 0); return !p.Paused })
}
