package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// pollBoth polls one batch of each of the two partitions.
func pollBoth(t *testing.T, s *kafka.Source) (byPartition [2]kafka.Batch) {
	t.Helper()
	for range 2 {
		b := poll(t, s)
		byPartition[b.Partition] = b
	}
	return byPartition
}

func TestRevokeWaitsForBatchesInFlightAndCommitsThem(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 5)...)
			produce(t, pr, records(c.in, 1, "b", 5)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			cfg.CommitInterval = time.Hour // only the revoke commits
			first := open(t, cfg)
			held := pollBoth(t, first)

			second := open(t, cfg)
			acked := time.AfterFunc(300*time.Millisecond, func() {
				held[0].Ack.Done(nil)
				held[1].Ack.Done(nil)
			})
			defer acked.Stop()
			owns(t, second, 1)
			p := second.Stats().Partitions[0].Partition
			if got := committed(c, c.group, c.in, p); got != 5 {
				t.Fatalf("partition %d committed at %d when it changed hands, want 5", p, got)
			}
			produce(t, pr, records(c.in, p, "new", 1)...)
			if got := values(poll(t, second)); len(got) != 1 || got[0] != "new0" {
				t.Fatalf("the new owner read %q, want only what was not committed", got)
			}
		})
	}
}

func TestRevokeGivesUpOnBatchesThatDoNotResolve(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 15)...)
			produce(t, pr, records(c.in, 1, "b", 15)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			cfg.RevokeTimeout = 200 * time.Millisecond
			first := open(t, cfg)
			bs := pollRecords(t, first, 30)
			second := open(t, cfg)
			owns(t, second, 1)
			p := second.Stats().Partitions[0].Partition
			if got := committed(c, c.group, c.in, p); got != -1 {
				t.Fatalf("committed at %d with nothing acknowledged", got)
			}
			owns(t, first, 1)
			ackAll(bs)                   // too late for the partition that moved
			if protocol == kafka.Eager { // and for the one that came back
				ackAll(pollRecords(t, first, 15))
			}
			eventuallyCommitted(t, c, c.in, 1-p, 15)
			time.Sleep(60 * time.Millisecond)
			if got := committed(c, c.group, c.in, p); got > -1 {
				t.Fatalf("a late acknowledgement committed partition %d at %d", p, got)
			}
			if got := pollRecords(t, second, 15); got[0].Records[0].Offset != 0 {
				t.Fatalf("the new owner starts at offset %d, want 0", got[0].Records[0].Offset)
			}
			if st := first.Stats(); st.Drain.StaleEpoch == 0 {
				t.Fatalf("no late acknowledgement was counted: %+v", st.Drain)
			}
		})
	}
}

func TestRevokeReturnsAtOnceWhenNothingIsInFlight(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 15)...)
			produce(t, pr, records(c.in, 1, "b", 15)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			first := open(t, cfg)
			// Queued batches that nobody polled are nothing to wait for.
			ackAll([]kafka.Batch{poll(t, first)})
			second := open(t, cfg)
			owns(t, second, 1) // long before RevokeTimeout
			if first.Stats().Dropped == 0 {
				t.Fatal("the queued batches of the partition that moved were not dropped")
			}
		})
	}
}

// A partition that a member keeps through a rebalance keeps its batches: they
// are acknowledged after it, and count.
func TestRetainedPartitionsKeepTheirBatchesInFlight(t *testing.T) {
	for _, protocol := range []kafka.Protocol{kafka.Cooperative, kafka.KIP848} {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 5)...)
			produce(t, pr, records(c.in, 1, "b", 5)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			cfg.RevokeTimeout = 100 * time.Millisecond
			first := open(t, cfg)
			held := pollBoth(t, first)
			second := open(t, cfg)
			owns(t, second, 1)
			owns(t, first, 1)
			kept := first.Stats().Partitions[0]
			if kept.Pending != 1 {
				t.Fatalf("the kept partition has %d batches pending, want 1", kept.Pending)
			}
			held[kept.Partition].Ack.Done(nil)
			eventuallyCommitted(t, c, c.in, kept.Partition, 5)
			quiet(t, first, 50*time.Millisecond) // nothing of it is read again
			if got := committed(c, c.group, c.in, 1-kept.Partition); got != -1 {
				t.Fatalf("the partition that moved is committed at %d, want no commit", got)
			}
		})
	}
}

func TestReturningPartitionIsTrackedAfresh(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 5)...)
			produce(t, pr, records(c.in, 1, "b", 5)...)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			cfg.RevokeTimeout = 100 * time.Millisecond
			first := open(t, cfg)
			held := pollBoth(t, first)
			second := open(t, cfg)
			owns(t, second, 1)
			p := second.Stats().Partitions[0].Partition
			if err := second.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			owns(t, first, 2)

			var again kafka.Batch
			for again.Records == nil || again.Partition != p {
				again = poll(t, first)
			}
			if again.Records[0].Offset != 0 || again.Ack.ID().Seq != 0 {
				t.Fatalf("the partition came back at offset %d as %v, want offset 0 and sequence 0", again.Records[0].Offset, again.Ack.ID())
			}
			held[p].Ack.Done(nil) // of the earlier ownership, equal offsets
			time.Sleep(60 * time.Millisecond)
			if got := committed(c, c.group, c.in, p); got != -1 {
				t.Fatalf("an acknowledgement of the earlier ownership committed offset %d", got)
			}
			again.Ack.Done(nil)
			eventuallyCommitted(t, c, c.in, p, 5)
		})
	}
}

// fence makes the group throw its one member out, who learns it from the next
// heartbeat. In a classic group it comes back as another one, for whom the
// group would wait if the old one was still there.
func fence(t *testing.T, c *cluster, protocol kafka.Protocol) {
	t.Helper()
	if protocol == kafka.KIP848 {
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Group: "group", TopLevel: true, Err: kerr.FencedMemberEpoch})
		return
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = "group"
	for _, m := range c.GroupInfo("group").Members {
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.MemberID
		req.Members = append(req.Members, member)
	}
	resp, err := req.RequestWith(within(t, patience), cl)
	if err != nil || len(resp.Members) != 1 || resp.Members[0].ErrorCode != 0 {
		t.Fatalf("throwing the member out: %+v, %v", resp, err)
	}
}

func TestLostPartitionsAreRevokedWithoutACommit(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "in"))
			produce(t, newProducer(t, c), records("in", 0, "a", 15)...)
			cfg := config(c, "in")
			cfg.Protocol = protocol
			cfg.CommitInterval = time.Hour
			commits := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: "group", Observe: true, Count: -1})
			s := open(t, cfg)
			bs := pollRecords(t, s, 15)
			bs[0].Ack.Done(nil)
			fence(t, c, protocol)
			eventually(t, "the partition to be lost", func() bool { return s.Stats().Lost == 1 })
			if commits.Hits() != 0 {
				t.Fatalf("%d commits for a lost partition", commits.Hits())
			}
			bs[1].Ack.Done(nil)
			again := pollRecords(t, s, 15)
			if again[0].Records[0].Offset != 0 {
				t.Fatalf("read again from offset %d, want 0", again[0].Records[0].Offset)
			}
			ackAll(again)
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := committed(c, "group", "in", 0); got != 15 {
				t.Fatalf("committed at %d after Close, want 15", got)
			}
			if st := s.Stats(); st.Revoked != 1 || st.Lost != 1 || st.Assigned != 2 {
				t.Fatalf("counted %d assigned, %d revoked, %d lost, want 2, 1, 1", st.Assigned, st.Revoked, st.Lost)
			}
		})
	}
}

func TestPollStaysContextAwareDuringARevoke(t *testing.T) {
	c := newBroker(t, 2)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 5)...)
	produce(t, pr, records(c.in, 1, "b", 5)...)
	cfg := config(c, c.in)
	cfg.Protocol = kafka.Eager
	cfg.CommitInterval = time.Hour // the revoke's barrier is the one there is
	e := record(t, &cfg)
	first := open(t, cfg)
	held := pollBoth(t, first)
	second := open(t, withoutLedger(cfg))
	e.open(t)
	for range 20 {
		err := inTime(t, "Poll with a context that is done", func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			_, err := first.Poll(ctx)
			return err
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Poll returned %v, want the context's error", err)
		}
	}
	if n := len(e.records(t)); n != 0 {
		t.Fatalf("%d barriers ended: the revoke did not wait for the batches", n)
	}
	held[0].Ack.Done(nil)
	held[1].Ack.Done(nil)
	owns(t, second, 1)
	e.wait(t, 1)
}

func TestPausedPartitionIsFetchedAgainAfterItReturned(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	produce(t, newProducer(t, c), records("in", 0, "a", 40)...)
	cfg := config(c, "in")
	cfg.PendingLimit = 2
	s := open(t, cfg)
	poll(t, s)
	eventually(t, "a pause", func() bool { p, _ := state(s, "in", 0); return p.Paused })
	fence(t, c, kafka.Cooperative)
	eventually(t, "the partition to be lost", func() bool { return s.Stats().Lost == 1 })
	owns(t, s, 1)
	for n := 0; n < 40; {
		b := poll(t, s)
		if got := b.Records[0].Offset; got != int64(n) {
			t.Fatalf("read on at offset %d, want %d", got, n)
		}
		n += len(b.Records)
		b.Ack.Done(nil)
	}
	eventuallyCommitted(t, c, "in", 0, 40)
}

func TestStaticMemberKeepsItsPartitionsOverARestart(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			cfg.InstanceID = "one"
			first := open(t, cfg)
			other := cfg
			other.InstanceID = "two"
			second := open(t, other)
			owns(t, first, 1)
			owns(t, second, 1)
			p := first.Stats().Partitions[0].Partition
			before := second.Stats().Rebalances

			produce(t, pr, records(c.in, p, "a", 10)...)
			poll(t, first).Ack.Done(nil)
			if err := first.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := committed(c, c.group, c.in, p); got != 10 {
				t.Fatalf("committed at %d, want 10", got)
			}
			first = open(t, cfg)
			owns(t, first, 1)
			produce(t, pr, records(c.in, p, "b", 10)...)
			if b := poll(t, first); b.Partition != p || b.Records[0].Offset != 10 {
				t.Fatalf("read partition %d at %d, want %d at 10", b.Partition, b.Records[0].Offset, p)
			}
			if got := second.Stats().Rebalances; protocol == kafka.Cooperative && got != before {
				t.Fatalf("the other member saw %d rebalances meanwhile", got-before)
			}
		})
	}
}

// A static member that was killed has left nothing behind that says so. The
// classic protocol lets the next one with its instance id take over at once; in
// a KIP848 group it is refused until the session is over, which is no error.
func TestStaticMemberThatWasKilledComesBack(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1, shortSession())
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 10)...)
			cfg := config(c, c.in)
			cfg.Protocol, cfg.InstanceID = protocol, "one"
			killed := cfg
			var w cable
			killed.Options = append(append([]kgo.Opt(nil), cfg.Options...), kgo.Dialer(w.dial))
			first := open(t, killed)
			poll(t, first)
			w.unplug()
			second := open(t, cfg)
			if b := poll(t, second); b.Records[0].Offset != 0 {
				t.Fatalf("read from offset %d, want what was not committed", b.Records[0].Offset)
			} else {
				b.Ack.Done(nil)
			}
			eventuallyCommitted(t, c, c.in, 0, 10)
			w.plug() // so that the end of the test does not wait for it
		})
	}
}

// The broker in this process takes a leave without the instance id; a real one
// refuses it, and the member that comes back would wait for the session of the
// one that left.
func TestStaticMemberOfAKIP848GroupNamesItselfWhenItLeaves(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	cfg := config(c, "in")
	cfg.Protocol, cfg.InstanceID = kafka.KIP848, "one"
	leaves := func(named bool) func(kmsg.Request) bool {
		return func(r kmsg.Request) bool {
			h := r.(*kmsg.ConsumerGroupHeartbeatRequest)
			return h.MemberEpoch == -2 && named == (h.InstanceID != nil && *h.InstanceID == "one")
		}
	}
	key := []kmsg.Key{kmsg.ConsumerGroupHeartbeat}
	named := c.Fault(kfake.Fault{Keys: key, Group: "group", TopLevel: true, When: leaves(true), Observe: true, Count: -1})
	c.Fault(kfake.Fault{Keys: key, Group: "group", TopLevel: true, When: leaves(false), Err: kerr.InvalidRequest, Count: -1})
	s := open(t, cfg)
	owns(t, s, 1)
	if err := s.Close(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if named.Hits() != 1 {
		t.Fatalf("%d leaves name the instance, want 1", named.Hits())
	}
}
