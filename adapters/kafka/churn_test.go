package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

const churnPartitions = 6

// member consumes until ctx is done, delivers to the oracle and commits.
type member func(ctx context.Context, o *oracle, cfg kafka.Config, seed uint64) error

// sourceMember runs a Source with two workers. Some batches take longer than a
// revoke waits for, so acknowledgements come late.
func sourceMember(ctx context.Context, o *oracle, cfg kafka.Config, seed uint64) error {
	cfg.OnCommit = o.accepted()
	return runSource(ctx, cfg, seed, func(b kafka.Batch, rng *rand.Rand) {
		pause(rng)
		o.deliver(b.Records)
		b.Ack.Done(nil)
	})
}

// hastyMember acknowledges before it delivers: what a user must not do.
func hastyMember(ctx context.Context, o *oracle, cfg kafka.Config, seed uint64) error {
	return runSource(ctx, cfg, seed, func(b kafka.Batch, rng *rand.Rand) {
		b.Ack.Done(nil)
		pause(rng)
		o.deliver(b.Records)
	})
}

func runSource(ctx context.Context, cfg kafka.Config, seed uint64, handle func(kafka.Batch, *rand.Rand)) error {
	s, err := kafka.Open(ctx, cfg)
	if err != nil {
		return ignoreDone(ctx, err)
	}
	var wg sync.WaitGroup
	for w := range uint64(2) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, w))
			for {
				b, err := s.Poll(ctx)
				if err != nil {
					return
				}
				handle(b, rng)
			}
		})
	}
	wg.Wait()
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Close(closing)
}

// pollingMember commits the highest polled offset while workers are still
// delivering: the mistake that the checkpointer exists to prevent.
func pollingMember(ctx context.Context, o *oracle, cfg kafka.Config, seed uint64) error {
	opts := append(append([]kgo.Opt(nil), cfg.Options...),
		kgo.SeedBrokers(cfg.Brokers...), kgo.ConsumerGroup(cfg.Group), kgo.ConsumeTopics(cfg.Topics...),
		kgo.SessionTimeout(cfg.SessionTimeout), kgo.RebalanceTimeout(cfg.RebalanceTimeout),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.Balancers(kgo.CooperativeStickyBalancer()))
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer cl.CloseAllowingRebalance()
	var wg sync.WaitGroup
	defer wg.Wait()
	rng := rand.New(rand.NewPCG(seed, 0))
	for ctx.Err() == nil {
		rs := cl.PollRecords(ctx, 20).Records()
		d := time.Duration(rng.IntN(3)) * time.Millisecond
		wg.Go(func() {
			time.Sleep(d)
			o.deliver(rs)
		})
		_ = cl.CommitUncommittedOffsets(ctx)
		cl.AllowRebalance()
	}
	return nil
}

func pause(rng *rand.Rand) {
	if rng.IntN(50) == 0 {
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		return
	}
	time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
}

func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// seedOf returns the run's seed, which TIDEMARK_SEED sets.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if v := os.Getenv("TIDEMARK_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	return seed
}

// churn is a group whose members come and go while records are produced.
type churn struct {
	t       *testing.T
	c       *cluster
	o       *oracle
	cfg     kafka.Config
	run     member
	rng     *rand.Rand // of the goroutine that drives the churn
	members sync.WaitGroup
	ends    []int64
}

func newChurn(t *testing.T, protocol kafka.Protocol, run member) *churn {
	t.Helper()
	c := newCluster(t, kfake.SeedTopics(churnPartitions, "in"),
		kfake.BrokerConfigs(map[string]string{"group.consumer.session.timeout.ms": "600"}))
	cfg := config(c, "in")
	cfg.Protocol = protocol
	cfg.SessionTimeout = 600 * time.Millisecond
	cfg.RevokeTimeout = 100 * time.Millisecond
	cfg.CommitInterval = 10 * time.Millisecond
	cfg.BatchRecords = 7
	cfg.PollRecords = 50
	cfg.PendingLimit = 8
	seed := seedOf(t)
	return &churn{
		t: t, c: c, o: newOracle(c, "in", churnPartitions), cfg: cfg, run: run,
		rng: rand.New(rand.NewPCG(seed, 0)), ends: make([]int64, churnPartitions),
	}
}

// join starts a member, which leaves when the returned function is called.
func (ch *churn) join(parent context.Context) (w *cable, leave context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	w = &cable{}
	cfg, seed := ch.cfg, ch.rng.Uint64()
	cfg.Options = append(append([]kgo.Opt(nil), cfg.Options...), kgo.Dialer(w.dial))
	ch.members.Go(func() {
		err := ch.run(ctx, ch.o, cfg, seed)
		// A member that is cut off while it closes cannot commit any more.
		if err != nil && !errors.Is(err, kafka.ErrUncommitted) && !errors.Is(err, kafka.ErrUnreachable) {
			ch.t.Error(err)
		}
	})
	return w, cancel
}

// produce adds records to every partition.
func (ch *churn) produce(cl *kgo.Client, n int) {
	for p := range int32(churnPartitions) {
		produce(ch.t, cl, records("in", p, fmt.Sprintf("%d-", ch.ends[p]), n)...)
		ch.ends[p] += int64(n)
	}
}

// disturb does one thing that a group must survive.
func (ch *churn) disturb() {
	switch ch.rng.IntN(4) {
	case 0:
		ch.c.RehashCoordinators()
	case 1:
		es := []*kerr.Error{kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.NotCoordinator, kerr.RequestTimedOut}
		ch.c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "in", Err: es[ch.rng.IntN(len(es))], Count: 1 + ch.rng.IntN(3)})
	case 2:
		fence(ch.c, ch.cfg.Protocol)
	}
}

// storm lets members come, go and lose their network for d, and stops earlier
// when the oracle found something.
func (ch *churn) storm(ctx context.Context, d time.Duration) {
	pr := newProducer(ch.t, ch.c)
	type live struct {
		*cable
		leave context.CancelFunc
		dark  time.Time
	}
	var group []*live
	for end := time.Now().Add(d); time.Now().Before(end) && len(ch.o.violated()) == 0; {
		ch.produce(pr, 1+ch.rng.IntN(30))
		switch n := ch.rng.IntN(10); {
		case len(group) < 2 || n < 3 && len(group) < 5:
			w, leave := ch.join(ctx)
			group = append(group, &live{cable: w, leave: leave})
		case n < 5:
			i := ch.rng.IntN(len(group))
			group[i].plug()
			group[i].leave()
			group = append(group[:i], group[i+1:]...)
		case n < 6:
			l := group[ch.rng.IntN(len(group))]
			l.unplug()
			l.dark = time.Now()
		default:
			ch.disturb()
		}
		time.Sleep(time.Duration(50+ch.rng.IntN(150)) * time.Millisecond)
		for _, l := range group {
			if !l.dark.IsZero() && time.Since(l.dark) > 900*time.Millisecond { // past the session timeout
				l.plug()
				l.dark = time.Time{}
			}
		}
	}
	for _, l := range group {
		l.plug()
		l.leave()
	}
}

func TestNoCommitPassesAnUndeliveredRecordWhileMembersComeAndGo(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			ch := newChurn(t, protocol, sourceMember)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var watcher sync.WaitGroup
			watcher.Go(func() { ch.o.watch(ctx, ch.c) })
			ch.storm(ctx, 5*time.Second)
			_, leave := ch.join(ctx)
			eventually(t, "every record to be delivered", func() bool { return ch.o.done(ch.ends) })
			for p, end := range ch.ends {
				eventuallyCommitted(t, ch.c, "in", int32(p), end)
			}
			leave()
			ch.members.Wait()
			cancel()
			watcher.Wait()
			repeated := ch.o.verify(t, ch.ends)
			t.Logf("%d records in each of %d partitions, %d delivered again, %d commits", ch.ends[0], len(ch.ends), repeated, ch.o.commits)
		})
	}
}

// The oracle is worth something only if it catches what it is there for.
func TestOracleCatchesMembersThatCommitTooMuch(t *testing.T) {
	for name, run := range map[string]member{
		"commits the highest polled offset": pollingMember,
		"acknowledges before delivering":    hastyMember,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := newChurn(t, kafka.Cooperative, run)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ch.storm(ctx, 10*time.Second)
			cancel()
			ch.members.Wait()
			if len(ch.o.violated()) == 0 {
				t.Fatal("the oracle found nothing wrong")
			}
		})
	}
}
