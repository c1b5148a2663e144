package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/pipeline"
	sinkfile "github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// How a member works: small batches and few of them, so that limits are
// reached, and times so short that a storm of seconds has many rebalances.
const (
	topic        = "in"
	group        = "group"
	batchRecords = 7
	pendingLimit = 8
	// aheadLimit is how far the pipeline works ahead of a commit, in offsets;
	// repeatBound adds what shuffling may hide from it.
	aheadLimit  = 2 * pendingLimit * batchRecords
	repeatBound = aheadLimit + pendingLimit*batchRecords

	sessionTimeout = time.Second
	// The broker in this process waits for rebalanceTimeout after the last
	// join for members that have not joined, and a member joins again when its
	// join was not answered for that long and answerTimeout. So that the last
	// join comes before a dead member is given up, all members together must
	// not join as often as once in rebalanceTimeout.
	rebalanceTimeout = 700 * time.Millisecond
	answerTimeout    = most*rebalanceTimeout - 400*time.Millisecond
	revokeTimeout    = 100 * time.Millisecond
	closeTimeout     = 10 * time.Second
	// openTimeout is how long a member looks for a broker, which may be
	// restarting.
	openTimeout = time.Minute
)

// Exit codes of members that are not 0, which is a member that left.
const (
	exitFailed = 1
	exitNoSink = 3
)

// memberConfig says what a member does.
type memberConfig struct {
	Number   int
	Brokers  []string
	Protocol kafka.Protocol
	Sink     string
	Dir      string
	Seed     uint64
	// Mistake is empty for the pipeline, and otherwise what a hand-written
	// member does wrong.
	Mistake mistake
	Verbose bool
}

// run is the life of a member, until SIGTERM.
func (c memberConfig) run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	out, err := dialSink(c.Sink, c.Number)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitNoSink
	}
	if c.Mistake != "" {
		err = c.runByHand(ctx, out)
	} else {
		err = c.runPipeline(ctx, out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return 0
}

func (c memberConfig) options() []kgo.Opt {
	return []kgo.Opt{
		kgo.HeartbeatInterval(50 * time.Millisecond),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.MetadataMaxAge(200 * time.Millisecond),
		kgo.RequestTimeoutOverhead(answerTimeout),
		kgo.RetryBackoffFn(func(n int) time.Duration { return min(time.Duration(n)*20*time.Millisecond, 300*time.Millisecond) }),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	}
}

func (c memberConfig) sourceConfig(out *sender) kafka.Config {
	cfg := kafka.Config{
		Brokers: c.Brokers, Group: group, Topics: []string{topic}, Protocol: c.Protocol,
		BatchRecords: batchRecords, PollRecords: 50, PendingLimit: pendingLimit,
		CommitInterval: 10 * time.Millisecond, RevokeTimeout: revokeTimeout,
		SessionTimeout: sessionTimeout, RebalanceTimeout: rebalanceTimeout,
		ClientID: fmt.Sprintf("member%d", c.Number), Options: c.options(),
		OnDataLoss: func(_ string, partition int32, loss kafka.DataLoss) {
			out.send(message{Loss: fmt.Sprintf("partition %d: %v %+v", partition, loss.Kind, loss)})
		},
	}
	if c.Number%2 == 0 {
		// They go on from each other's commits, and from those of members that
		// tell nothing.
		cfg.DeliveredBytes = checkpoint.RangesLimit
	}
	if c.Verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return cfg
}

// runPipeline is what cmd/demo does, with the sink of the test behind it.
func (c memberConfig) runPipeline(ctx context.Context, out *sender) error {
	events, err := sinkfile.Open(filepath.Join(c.Dir, "events.ndjson"), lines.OriginPrefix)
	if err != nil {
		return err
	}
	defer events.Close()
	dead, err := sinkfile.Open(filepath.Join(c.Dir, "dead.ndjson"), lines.OriginPrefix)
	if err != nil {
		return err
	}
	defer dead.Close()
	source, err := c.open(ctx, out)
	if err != nil || source == nil {
		return err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	var a admissions
	shuffled := &shuffler{Source: source, rng: rng, seen: a.fetched}
	var stats pipeline.Stats
	err = pipeline.Run(ctx, shuffled, pipeline.Config{
		Input: "chaos", Workers: 4, MaxLine: 1 << 10, MaxBytes: 1 << 20, Window: aheadLimit,
		Events: events, Dead: dead,
		OnDurable: func(b kafka.Batch) {
			pause(rand.N[time.Duration])
			out.deliver(b.Partition, a.of(b), b.Records)
		},
	}, &stats)
	shuffled.fail()
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	closed := source.Close(closing)
	if ctx.Err() != nil {
		return nil // what it could not commit any more is delivered again
	}
	return errors.Join(fmt.Errorf("the pipeline ended by itself: %w", err), closed)
}

// open opens the source, or returns nil when the member is to leave before.
func (c memberConfig) open(ctx context.Context, out *sender) (*kafka.Source, error) {
	for deadline := time.Now().Add(openTimeout); ; {
		source, err := kafka.Open(ctx, c.sourceConfig(out))
		if ctx.Err() != nil {
			if source != nil {
				_ = source.Close(ctx)
			}
			return nil, nil
		}
		if err == nil || time.Now().After(deadline) {
			return source, err
		}
	}
}

// pause is mostly short, and sometimes longer than a revoke waits.
func pause(n func(time.Duration) time.Duration) {
	if n(60) == 0 {
		time.Sleep(n(3 * revokeTimeout))
		return
	}
	time.Sleep(n(2 * time.Millisecond))
}

// admissions tells ownerships apart: with each, the batches of a partition
// are numbered from 0 again, and the first may be one that is not handed out.
// Batches are fetched in order, and delivered in any.
type admissions struct {
	mu     sync.Mutex
	last   map[int32]int
	seq    map[int32]uint64    // the last one fetched
	flying map[*kgo.Record]int // first record → admission
}

func (a *admissions) fetched(b kafka.Batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.last, a.seq, a.flying = map[int32]int{}, map[int32]uint64{}, map[*kgo.Record]int{}
	}
	seq := b.Ack.ID().Seq
	if seq == 0 || seq <= a.seq[b.Partition] {
		a.last[b.Partition]++
	}
	a.seq[b.Partition] = seq
	a.flying[b.Records[0]] = a.last[b.Partition]
}

func (a *admissions) of(b kafka.Batch) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.flying[b.Records[0]]
	delete(a.flying, b.Records[0])
	return n
}

// shuffler holds batches back and lets later ones pass, as a pipeline may that
// works on some batches for longer.
type shuffler struct {
	*kafka.Source
	rng  *rand.Rand
	seen func(kafka.Batch)
	held []heldBatch
}

type heldBatch struct {
	kafka.Batch
	until time.Time
}

const maxHeld = 3

// Poll is called by one goroutine.
func (s *shuffler) Poll(ctx context.Context) (kafka.Batch, error) {
	for {
		wait := time.Second
		for i, h := range s.held {
			left := time.Until(h.until)
			if left <= 0 {
				s.held = append(s.held[:i], s.held[i+1:]...)
				return h.Batch, nil
			}
			wait = min(wait, left)
		}
		short, cancel := context.WithTimeout(ctx, wait)
		b, err := s.Source.Poll(short)
		cancel()
		if err != nil {
			if ctx.Err() == nil && short.Err() != nil {
				continue
			}
			return b, err
		}
		s.seen(b)
		if len(s.held) == maxHeld || s.rng.IntN(10) > 0 {
			return b, nil
		}
		s.held = append(s.held, heldBatch{b, time.Now().Add(time.Duration(s.rng.Int64N(int64(2 * revokeTimeout))))})
	}
}

// fail resolves what is held when the pipeline has ended.
func (s *shuffler) fail() {
	for _, h := range s.held {
		h.Ack.Done(errors.New("the member leaves"))
	}
	s.held = nil
}
