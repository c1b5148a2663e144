package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/core/timing"
)

func TestEveryCommitIsABarrierAndAnIdleTickIsNone(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			cfg := config(c, c.in)
			cfg.Protocol = protocol
			e := record(t, &cfg)
			s := open(t, cfg)
			for i := range 3 {
				produce(t, pr, records(c.in, 0, "a", 10)...)
				poll(t, s).Ack.Done(nil)
				r := e.wait(t, i+1)[i]
				if r.Attempt != timing.CanonicalAttempt(uint64(i+1)) || !r.DurableTailHandoff || r.DeadlineExhausted {
					t.Fatalf("commit %d left %+v", i+1, r)
				}
				if r.AssignmentVersion != 1 || r.AssignmentDigest != digestOf(c.in+"/0", c.in+"/1") {
					t.Fatalf("the assignment is version %d, %x", r.AssignmentVersion, r.AssignmentDigest)
				}
				// One member leads its group, where there is a leader.
				if want := map[bool]timing.Role{true: timing.Follower, false: timing.Leader}[protocol == kafka.KIP848]; r.Role != want {
					t.Fatalf("role %v, want %v", r.Role, want)
				}
			}
			time.Sleep(5 * cfg.CommitInterval) // with nothing to commit
			e.close(t, s)                      // and nothing left for Close
			e.wait(t, 3)
		})
	}
}

func TestTheIntakeGoesOnWhileACommitIsStuckAndItsBarrierIsOpen(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	pr := newProducer(t, c)
	produce(t, pr, records("in", 0, "a", 10)...)
	cfg := config(c, "in")
	e := record(t, &cfg)
	s := open(t, cfg)
	stuck, release := make(chan struct{}), make(chan struct{})
	c.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		c.SleepControl(func() { close(stuck); <-release })
		return nil, nil, false
	})
	acked := time.Now()
	poll(t, s).Ack.Done(nil)
	<-stuck
	sent := time.Since(acked)
	const hold = 50 * time.Millisecond
	time.Sleep(hold)
	g := e.open(t)
	if g.Attempt != timing.CanonicalAttempt(1) || g.Role != timing.Leader || g.Age < hold {
		t.Fatalf("open while the broker does not answer: %+v", g)
	}
	produce(t, pr, records("in", 0, "b", 10)...)
	poll(t, s).Ack.Done(nil) // fetched, issued and handed out meanwhile
	if n := len(e.records(t)) + len(e.stall.all()); n != 0 {
		t.Fatalf("%d records and samples of a barrier that is open", n)
	}
	close(release)
	if r := e.wait(t, 2)[0]; r.AlignedResume.Duration < hold || r.LocalBarrier > sent {
		t.Fatalf("a commit that was sent within %v and stuck for %v left %+v", sent, hold, r)
	}
	e.close(t, s)
}

func TestARevokesBarrierIsTheWaitForItsBatchesAndItsCommit(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			produce(t, pr, records(c.in, 0, "a", 5)...)
			produce(t, pr, records(c.in, 1, "b", 5)...)
			cfg := slowCommits(c, c.in)
			cfg.Protocol = protocol
			e := record(t, &cfg)
			first := open(t, cfg)
			held := pollBoth(t, first)
			second := open(t, withoutLedger(cfg))
			const hold = 100 * time.Millisecond
			if g := e.open(t); g.Attempt != timing.CanonicalAttempt(1) || g.Role == 0 {
				t.Fatalf("open while batches are held: %+v", g)
			}
			time.Sleep(hold)
			if g := e.open(t); g.Age < hold || len(e.records(t)) != 0 {
				t.Fatalf("open for %v, of which %v were slept; %d records", g.Age, hold, len(e.records(t)))
			}
			ackAll(held[:])
			owns(t, second, 1)
			r := e.wait(t, 1)[0]
			if r.LocalBarrier < hold || !r.DurableTailHandoff || r.DeadlineExhausted {
				t.Fatalf("the revoke left %+v, want a local barrier of at least %v", r, hold)
			}
			if r.AssignmentDigest != digestOf(c.in+"/0", c.in+"/1") {
				t.Fatalf("the digest is not of what was owned when the barrier began: %x", r.AssignmentDigest)
			}
			owns(t, first, 1)
			p := first.Stats().Partitions[0].Partition
			produce(t, pr, records(c.in, p, "c", 5)...)
			poll(t, first).Ack.Done(nil)
			e.close(t, first)
			after := e.wait(t, 2)[1]
			if after.AssignmentVersion <= r.AssignmentVersion || after.AssignmentDigest != digestOf([]string{c.in + "/0", c.in + "/1"}[p]) {
				t.Fatalf("after the revoke, assignment version %d (before it %d), digest %x", after.AssignmentVersion, r.AssignmentVersion, after.AssignmentDigest)
			}
		})
	}
}

func withoutLedger(cfg kafka.Config) kafka.Config {
	cfg.Barriers = kafka.Barriers{}
	return cfg
}

func TestARevokeThatGivesUpHandsNothingOffAndExhaustsItsDeadline(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 2)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 5)...)
	produce(t, pr, records(c.in, 1, "b", 5)...)
	cfg := config(c, c.in)
	cfg.RevokeTimeout = 200 * time.Millisecond
	e := record(t, &cfg)
	first := open(t, cfg)
	pollBoth(t, first) // and never acknowledged
	second := open(t, withoutLedger(cfg))
	owns(t, second, 1)
	if r := e.wait(t, 1)[0]; r.DurableTailHandoff || !r.DeadlineExhausted || r.LocalBarrier != r.PipelineStall || r.LocalBarrier < cfg.RevokeTimeout {
		t.Fatalf("the revoke left %+v", r)
	}
}

func TestCloseIsABarrierIfThereIsSomethingToWaitForOrToCommit(t *testing.T) {
	t.Parallel()
	const hold = 50 * time.Millisecond
	done := func(b kafka.Batch) { b.Ack.Done(nil) }
	for name, tt := range map[string]struct {
		before, during func(b kafka.Batch)
		grace          time.Duration // until the deadline of Close
		check          func(r timing.Record) bool
	}{
		"to commit": {done, nil, patience, func(r timing.Record) bool { return r.DurableTailHandoff && !r.DeadlineExhausted }},
		"to wait for": {nil, done, patience, func(r timing.Record) bool {
			return r.DurableTailHandoff && r.LocalBarrier >= hold && !r.DeadlineExhausted
		}},
		"to wait for in vain": {nil, func(kafka.Batch) {}, hold, func(r timing.Record) bool {
			return !r.DurableTailHandoff && r.DeadlineExhausted && r.LocalBarrier == r.PipelineStall && r.PipelineStall >= hold
		}},
		"a failed batch": {func(b kafka.Batch) { b.Ack.Done(errors.New("refused")) }, nil, patience, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 1)
			produce(t, newProducer(t, c), records(c.in, 0, "a", 10)...)
			cfg := slowCommits(c, c.in)
			e := record(t, &cfg)
			s := open(t, cfg)
			b := poll(t, s)
			if tt.before != nil {
				tt.before(b)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- s.Close(kafka.DueContext{Context: ctx, At: time.Now().Add(tt.grace)}) }()
			if tt.during != nil {
				e.open(t)
				time.Sleep(hold)
				if tt.during(b); tt.grace == hold {
					cancel()
				}
			}
			inTime(t, "Close", func() error { return <-closed })
			e.agrees(t, s)
			if tt.check == nil {
				tt.check = func(r timing.Record) bool { return !r.DurableTailHandoff }
				if len(e.records(t)) == 0 {
					return // the failure had been noticed: nothing to wait for
				}
			}
			if r := e.wait(t, 1)[0]; !tt.check(r) {
				t.Fatalf("Close left %+v", r)
			}
		})
	}
}

func TestACommitSentAgainIsOneAttemptOfCloseAndAnotherOfTheInterval(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		interval time.Duration
		records  int
	}{"close": {time.Hour, 1}, "interval": {20 * time.Millisecond, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "in"))
			produce(t, newProducer(t, c), records("in", 0, "a", 10)...)
			cfg := config(c, "in")
			cfg.CommitInterval = tt.interval
			e := record(t, &cfg)
			s := open(t, cfg)
			fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: kerr.UnknownServerError, Count: 2})
			poll(t, s).Ack.Done(nil)
			if tt.interval < time.Hour {
				// Not only by the broker: before the answer, Close would wait for it.
				eventually(t, "the commit", func() bool { return s.Stats().Commits == 1 })
			}
			e.close(t, s)
			if n := s.Stats().CommitFailures; fault.Hits() != 2 || n != 2 {
				t.Fatalf("%d faults, %d failures, want 2", fault.Hits(), n)
			}
			all := e.wait(t, tt.records)
			if last := all[len(all)-1]; !last.DurableTailHandoff {
				t.Fatalf("the commit left %+v", last)
			}
			// Close pauses between its tries, within the aligned stage.
			if r := all[0]; tt.records == 1 && r.AlignedResume.Duration < 300*time.Millisecond {
				t.Fatalf("two more tries took %v", r.AlignedResume.Duration)
			}
		})
	}
}

func TestOnCommitIsPartOfTheBarrierAndOfNoStage(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 10)...)
	cfg := config(c, c.in)
	e := record(t, &cfg)
	entered, leave := make(chan struct{}), make(chan struct{})
	cfg.OnCommit = func(string, int32, int64) { close(entered); <-leave }
	s := open(t, cfg)
	poll(t, s).Ack.Done(nil)
	<-entered
	const hold = 50 * time.Millisecond
	time.Sleep(hold)
	if g := e.open(t); g.Age < hold {
		t.Fatalf("a barrier is open for %v while OnCommit runs", g.Age)
	}
	close(leave)
	if r := e.wait(t, 1)[0]; rest(r) < hold {
		t.Fatalf("%v of %+v are in no stage, want at least %v", rest(r), r, hold)
	}
	e.close(t, s)
}

// roleOf commits once and returns the role in the record that it leaves.
func roleOf(t *testing.T, s *kafka.Source, e *evidence, deliver func(partition int32)) timing.Role {
	t.Helper()
	n := len(e.records(t))
	deliver(s.Stats().Partitions[0].Partition)
	poll(t, s).Ack.Done(nil)
	return e.wait(t, n+1)[n].Role
}

func TestOneMemberLeadsAndAnotherFollowsInItsPlace(t *testing.T) {
	for _, protocol := range []kafka.Protocol{kafka.Cooperative, kafka.Eager} {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			c := newBroker(t, 2)
			pr := newProducer(t, c)
			deliver := func(p int32) { produce(t, pr, records(c.in, p, "a", 5)...) }
			var sources [2]*kafka.Source
			var left [2]*evidence
			for i := range sources {
				cfg := config(c, c.in)
				cfg.Protocol = protocol
				left[i] = record(t, &cfg)
				sources[i] = open(t, cfg)
				owns(t, sources[i], 2-i)
			}
			owns(t, sources[0], 1)
			roles := [2]timing.Role{}
			for i, s := range sources {
				roles[i] = roleOf(t, s, left[i], deliver)
			}
			if roles != [2]timing.Role{timing.Leader, timing.Follower} {
				t.Fatalf("roles %v, want that the first member leads", roles)
			}
			left[0].close(t, sources[0])
			owns(t, sources[1], 2)
			if role := roleOf(t, sources[1], left[1], deliver); role != timing.Leader {
				t.Fatalf("the member that is left is %v", role)
			}
			left[1].close(t, sources[1])
		})
	}
}

func TestALedgerBelongsToOneSource(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	pr := newProducer(t, c)
	cfg := slowCommits(c, c.in)
	e := record(t, &cfg)
	for range 2 {
		s := open(t, cfg)
		produce(t, pr, records(c.in, 0, "a", 10)...)
		poll(t, s).Ack.Done(nil)
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	page, err := e.ledger.SnapshotAfter(0, 1)
	if err != nil || page.NextSequence != 2 || page.RecordingLossCount != 1 {
		t.Fatalf("%+v, %v, want the first one's record and the loss of the second's", page, err)
	}
	if n := len(e.stall.all()); n != 2 {
		t.Fatalf("%d samples, want those of both", n)
	}
}
