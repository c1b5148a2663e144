package kafka_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// nobody is an address where nothing listens: tests open no port below 1024.
const nobody = "127.0.0.1:1"

// refuse opens and wants an error that wraps want and names every hint. It
// returns the error.
func refuse(t *testing.T, ctx context.Context, cfg kafka.Config, want error, hints ...string) error {
	t.Helper()
	err := inTime(t, "Open", func() error {
		s, err := kafka.Open(ctx, cfg)
		if err == nil {
			_ = s.Close(ctx)
		}
		return err
	})
	if err == nil {
		t.Fatal("Open succeeded")
	}
	if want != nil && !errors.Is(err, want) {
		t.Fatalf("Open returned %q, want %v", err, want)
	}
	for _, h := range append(hints, "kafka: ") {
		if !strings.Contains(err.Error(), h) {
			t.Fatalf("the error %q does not say %q", err, h)
		}
	}
	return err
}

func TestOpenReportsAnUnreachableBroker(t *testing.T) {
	t.Parallel()
	cfg := kafka.Config{Brokers: []string{nobody}, Group: "group", Topics: []string{"in"}}
	refuse(t, context.Background(), cfg, kafka.ErrUnreachable, nobody, "check Brokers")
}

func TestOpenIsBoundedByItsContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a broker that never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := kafka.Config{Brokers: []string{l.Addr().String()}, Group: "group", Topics: []string{"in"}}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	// Its own bound would say that a deadline passed.
	if err := refuse(t, ctx, cfg, kafka.ErrUnreachable); !errors.Is(err, context.Canceled) {
		t.Fatalf("Open returned %v, want the context's error", err)
	}
}

func TestOpenReportsAnUnknownTopic(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	joined := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Observe: true, Count: -1})
	refuse(t, context.Background(), config(c, "in", "mising"), kafka.ErrUnknownTopic, `"mising"`, "create it first")
	if joined.Hits() != 0 {
		t.Fatal("a Source that cannot work joined the group")
	}
}

func TestOpenWaitsForATopicThatWasMadeAMomentAgo(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 0)
	made := time.AfterFunc(100*time.Millisecond, func() { _ = c.createTopic(c.in, 1) })
	defer made.Stop()
	open(t, config(c, c.in))
}

func TestOpenReportsABrokerWithoutKIP848(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"), kfake.MaxVersions(kversion.V3_7_0()))
	cfg := config(c, "in")
	cfg.Protocol = kafka.KIP848
	refuse(t, context.Background(), cfg, nil, "kip848", "cooperative")
}

func TestOpenReportsEveryMistakeInItsConfig(t *testing.T) {
	t.Parallel()
	refuse(t, context.Background(), kafka.Config{
		Protocol: 9, BatchRecords: -1, CommitInterval: -time.Second,
		RevokeTimeout: time.Minute, RebalanceTimeout: time.Second,
	}, nil, "Brokers", "Group", "Topics", "Protocol", "BatchRecords is -1", "CommitInterval is -1s", "RevokeTimeout 1m0s exceeds RebalanceTimeout 1s")
	refuse(t, context.Background(), kafka.Config{
		Brokers: []string{"localhost:1"}, Group: "g", Topics: []string{"a", "a"},
	}, nil, `"a"`, "once")
	refuse(t, context.Background(), kafka.Config{
		Brokers: []string{"localhost:1"}, Group: "g", Topics: []string{"a"},
		Options: []kgo.Opt{kgo.ConsumeRegex()},
	}, nil, "ConsumeRegex")
}

// Only the checks of Open see an authorization that was never there; one that
// is taken away later comes from Poll.
func TestPollReturnsAnErrorThatDoesNotPass(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kfake.SeedTopics(1, "in"))
	s := open(t, config(c, "in"))
	owns(t, s, 1)
	fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "group", TopLevel: true, Err: kerr.GroupAuthorizationFailed})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := s.Poll(ctx); !errors.Is(err, kerr.GroupAuthorizationFailed) {
		t.Fatalf("Poll returned %v, want GROUP_AUTHORIZATION_FAILED", err)
	}
	fault.Remove()
	produce(t, newProducer(t, c), records("in", 0, "a", 1)...)
	poll(t, s).Ack.Done(nil) // it goes on when the cause is gone
	if s.Stats().FetchErrors == 0 {
		t.Fatal("the error was not counted")
	}
}

func TestProtocolNamesParse(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		for _, name := range []string{p.String(), strings.ToUpper(p.String())} {
			if got, err := kafka.ParseProtocol(name); err != nil || got != p {
				t.Errorf("ParseProtocol(%q) = %v, %v, want %v", name, got, err, p)
			}
		}
	}
	if got, err := kafka.ParseProtocol("848"); err != nil || got != kafka.KIP848 {
		t.Errorf("ParseProtocol(848) = %v, %v", got, err)
	}
	if _, err := kafka.ParseProtocol("lazy"); err == nil || !strings.Contains(err.Error(), "cooperative, eager, kip848") {
		t.Errorf("ParseProtocol(lazy) returned %v, want the legal names", err)
	}
	if kafka.Protocol(0) != kafka.Cooperative {
		t.Error("the zero Protocol is not Cooperative")
	}
}

func TestStartOffsetOfTheUserIsKept(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	pr := newProducer(t, c)
	produce(t, pr, records(c.in, 0, "a", 20)...)
	cfg := config(c, c.in)
	cfg.Options = append(cfg.Options, kgo.ConsumeStartOffset(kgo.NewOffset().At(15)))
	s := open(t, cfg)
	b := poll(t, s)
	if b.Records[0].Offset != 15 {
		t.Fatalf("started at offset %d, want 15", b.Records[0].Offset)
	}
	b.Ack.Done(nil)
	eventuallyCommitted(t, c, c.in, 0, 20)
}

// A time as start offset must not be taken for a commit.
func TestStartOffsetByTimeIsNoCommit(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 20)...)
	cfg := config(c, c.in)
	cfg.Options = append(cfg.Options, kgo.ConsumeStartOffset(kgo.NewOffset().AfterMilli(time.Now().Add(-time.Hour).UnixMilli())))
	s := open(t, cfg)
	ackAll(pollRecords(t, s, 20))
	eventuallyCommitted(t, c, c.in, 0, 20)
	if st := s.Stats(); st.DataLosses != 0 {
		t.Fatalf("reported %d data losses", st.DataLosses)
	}
}
