package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

func TestAcknowledgedBatchesAreCommittedInAnyProtocol(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 25)...)
			produce(t, pr, records(c.in, 1, "b", 7)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			s := open(t, cfg)
			bs := pollRecords(t, s, 32)
			for i := len(bs) - 1; i >= 0; i-- { // any order
				bs[i].Ack.Done(nil)
			}
			eventuallyCommitted(t, c, c.in, 0, 25)
			eventuallyCommitted(t, c, c.in, 1, 7)
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCommitStopsBelowAnUnacknowledgedBatch(t *testing.T) {
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 30)...)
	s := open(t, config(c, c.in))
	bs := pollRecords(t, s, 30)
	bs[0].Ack.Done(nil)
	bs[2].Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 0, 10)
	time.Sleep(60 * time.Millisecond)
	if got := committed(c, c.group, c.in, 0); got != 10 {
		t.Fatalf("committed at %d with the batch 10-19 open, want 10", got)
	}
	bs[1].Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 0, 30)
}

func TestPollEndsWithItsContextAndWithClose(t *testing.T) {
	c := newBroker(t, 1)
	s := open(t, config(c, c.in))

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Poll(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Poll returned %v, want the context's error", err)
	}
	polled := make(chan error)
	go func() {
		_, err := s.Poll(context.Background())
		polled <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-polled; !errors.Is(err, kafka.ErrClosed) {
		t.Fatalf("Poll returned %v after Close, want ErrClosed", err)
	}
	if _, err := s.Poll(context.Background()); !errors.Is(err, kafka.ErrClosed) {
		t.Fatalf("Poll returned %v after Close, want ErrClosed", err)
	}
}
