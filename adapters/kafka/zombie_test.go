package kafka_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// A member that is thrown out while it is about to join, because its machine
// stood still, comes back as another one. Its client does not tell that what it
// owned was somebody else's meanwhile, and who read further: what it
// acknowledged before is not committed over that, and it goes on from there.
func TestAMemberThatComesBackAsAnotherCommitsNothingOld(t *testing.T) {
	for _, alone := range []bool{false, true} {
		t.Run(map[bool]string{false: "beside the other owner", true: "when the other owner has left"}[alone], func(t *testing.T) {
			t.Parallel()
			const n = 60
			c := newCluster(t, kfake.SeedTopics(2, "in"))
			pr := newProducer(t, c)
			for p := range int32(2) {
				produce(t, pr, records("in", p, "a", n)...)
			}
			var mu sync.Mutex
			highest := map[int32]int64{}
			back := false
			c.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				mu.Lock()
				defer mu.Unlock()
				for _, topic := range r.(*kmsg.OffsetCommitRequest).Topics {
					for _, p := range topic.Partitions {
						back = back || p.Offset < highest[p.Partition]
						highest[p.Partition] = max(highest[p.Partition], p.Offset)
					}
				}
				return nil, nil, false
			})
			cfg := config(c, "in")
			cfg.Protocol, cfg.CommitInterval = kafka.Cooperative, time.Hour
			zombie := open(t, cfg)
			bs := pollRecords(t, zombie, 2*n)
			for _, b := range bs {
				if b.Records[0].Offset == 0 {
					b.Ack.Done(nil)
				}
			}
			// Its next join waits until the group has gone on without it.
			held, let := make(chan struct{}), make(chan struct{})
			var once sync.Once
			me := c.GroupInfo("group").Members[0].MemberID
			c.ControlKey(int16(kmsg.JoinGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				if r.(*kmsg.JoinGroupRequest).MemberID == me {
					once.Do(func() { close(held) })
					c.SleepControl(func() { <-let })
				}
				return nil, nil, false
			})
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "group", TopLevel: true, Err: kerr.RebalanceInProgress})
			select {
			case <-held:
			case <-time.After(patience):
				t.Fatal("it does not join again")
			}
			fence(t, c, kafka.Cooperative)
			other := cfg
			other.CommitInterval = 20 * time.Millisecond
			second := open(t, other)
			owns(t, second, 2)
			ackAll(pollRecords(t, second, 2*n))
			for p := range int32(2) {
				eventuallyCommitted(t, c, "in", p, n)
			}
			if alone {
				if err := second.Close(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			close(let)
			want := map[bool]int{false: 1, true: 2}[alone]
			eventually(t, "the share of the member that is back", func() bool { return zombie.Stats().Lost == 2 && len(zombie.Stats().Partitions) == want })
			for _, b := range bs {
				b.Ack.Done(nil)
			}
			p := zombie.Stats().Partitions[0].Partition
			produce(t, pr, records("in", p, "b", 5)...)
			if b := poll(t, zombie); b.Partition != p || b.Records[0].Offset != n {
				t.Errorf("it goes on in partition %d at %d, want partition %d at %d", b.Partition, b.Records[0].Offset, p, n)
			} else {
				b.Ack.Done(nil)
			}
			if err := zombie.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if back || highest[p] != n+5 {
				t.Errorf("a commit went back: %v; partition %d is committed at %d, want %d", back, p, highest[p], n+5)
			}
		})
	}
}
