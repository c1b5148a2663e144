package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// openTimeout bounds Open's checks.
	openTimeout = 15 * time.Second
	// topicTries is how often Open asks for a topic that is unknown, 250 ms
	// apart: a topic made a moment ago is not known to every broker yet.
	topicTries = 4
	topicPause = 250 * time.Millisecond
	// fetchWait is how long a broker holds an empty fetch. A partition that
	// resumes waits for the fetch in flight, so it is kept short.
	fetchWait = 250 * time.Millisecond
	// requestOverhead is how long a response may be late before the client
	// gives the connection up; a commit whose response is lost stalls for it.
	requestOverhead = 5 * time.Second
)

// options returns the client options: defaults that the user may replace, the
// user's, and last those that the guarantees rest on.
func (s *Source) options() []kgo.Opt {
	c := &s.cfg
	opts := []kgo.Opt{
		kgo.FetchMaxWait(fetchWait),
		kgo.RequestTimeoutOverhead(requestOverhead),
		kgo.HeartbeatInterval(min(3*time.Second, c.SessionTimeout/3)),
		kgo.WithLogger(clientLog{s.log}),
	}
	opts = append(opts, c.Options...)
	opts = append(opts,
		kgo.ConsumeTopics(), // none until Open has checked them
		kgo.SeedBrokers(c.Brokers...),
		kgo.ConsumerGroup(c.Group),
		kgo.SessionTimeout(c.SessionTimeout),
		kgo.RebalanceTimeout(c.RebalanceTimeout),
		kgo.DisableAutoCommit(),
		// Hooks run only while nothing polled is waiting to be issued.
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(s.onAssigned),
		kgo.OnPartitionsRevoked(s.onRevoked),
		kgo.OnPartitionsLost(s.onLost), // without it, lost partitions are reported as revoked
		kgo.AdjustFetchOffsetsFn(s.onOffsets),
		// Without the markers, a commit ends below the end of a
		// transactional log.
		kgo.KeepControlRecords(),
		// The one choice that skips nothing when the client cannot tell
		// where a log diverged.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if c.DeliveredBytes > 0 {
		opts = append(opts, kgo.OnOffsetsFetched(s.onFetched))
	}
	switch c.Protocol {
	case Eager:
		opts = append(opts, kgo.Balancers(s.balancer(kgo.RangeBalancer())))
	case KIP848:
		// The client goes by the first balancer here, and falls back to the
		// classic protocol when it has no server-side counterpart.
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	default:
		opts = append(opts, kgo.Balancers(s.balancer(kgo.CooperativeStickyBalancer())))
	}
	if c.ClientID != "" {
		opts = append(opts, kgo.ClientID(c.ClientID))
	}
	if c.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(c.InstanceID))
	}
	return opts
}

// balancer is b, watched for who joins, and followed if the role in the group
// matters to anyone.
func (s *Source) balancer(b kgo.GroupBalancer) kgo.GroupBalancer {
	if s.cfg.Barriers.Ledger != nil {
		b = s.role.watch(b)
	}
	return memberBalancer{b, s}
}

// connect makes the client and checks what polling would never report: an
// unreachable broker, an unknown topic, an unsupported protocol.
func (s *Source) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	cl, err := kgo.NewClient(s.options()...)
	if err != nil {
		return fmt.Errorf("kafka: client options: %w", err)
	}
	if regex, _ := cl.OptValue(kgo.ConsumeRegex).(bool); regex {
		cl.Close()
		return errors.New("kafka: Options hold ConsumeRegex; list the topics by name in Topics")
	}
	if err := s.check(ctx, cl); err != nil {
		cl.Close()
		return err
	}
	s.cl = cl
	s.identify()
	return nil
}

func (s *Source) check(ctx context.Context, cl *kgo.Client) error {
	if err := cl.Ping(ctx); err != nil {
		return fmt.Errorf("%w: tried %v; check Brokers, the network, and TLS and SASL in Options: %w", ErrUnreachable, s.cfg.Brokers, err)
	}
	if s.cfg.Protocol == KIP848 {
		if err := checkKIP848(ctx, cl); err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		ids, err := topicIDs(ctx, cl, s.cfg.Topics)
		if err == nil {
			s.topicIDs = ids
			return nil
		}
		if try == topicTries || !errors.Is(err, ErrUnknownTopic) {
			return err
		}
		select {
		case <-time.After(topicPause):
		case <-ctx.Done():
			return err
		}
	}
}

// checkKIP848 asks for version 1 of the group heartbeat: the client wants it,
// and would otherwise join a classic group of the same name without a word.
func checkKIP848(ctx context.Context, cl *kgo.Client) error {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "tidemark", "1"
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("kafka: asking the broker for its API versions: %w", err)
	}
	want := kmsg.NewConsumerGroupHeartbeatRequest()
	for _, k := range resp.ApiKeys {
		if k.ApiKey == want.Key() && k.MaxVersion >= 1 {
			return nil
		}
	}
	return fmt.Errorf("kafka: the broker does not support %v groups; use %v, or Kafka 4.0 and later", KIP848, Cooperative)
}

// topicIDs asks for the topics' IDs, which are zero before Kafka 2.8.
func topicIDs(ctx context.Context, cl *kgo.Client, topics []string) (map[string][16]byte, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("kafka: asking for the topics %q: %w", topics, err)
	}
	ids := make(map[string][16]byte, len(topics))
	var missing []string
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			missing = append(missing, *t.Topic)
		case err != nil && !kerr.IsRetriable(err):
			return ids, fmt.Errorf("kafka: topic %q: %w; check the name and this client's authorization", *t.Topic, err)
		default:
			ids[*t.Topic] = t.TopicID
		}
	}
	if len(missing) > 0 {
		return ids, fmt.Errorf("%w: %q; create it first, or correct Topics", ErrUnknownTopic, missing)
	}
	return ids, nil
}

// clientLog passes the client's messages on.
type clientLog struct{ log *slog.Logger }

var clientLevels = map[kgo.LogLevel]slog.Level{
	kgo.LogLevelError: slog.LevelError,
	kgo.LogLevelWarn:  slog.LevelWarn,
	kgo.LogLevelInfo:  slog.LevelDebug, // the client's info narrates each step of a rebalance
	kgo.LogLevelDebug: slog.LevelDebug - 4,
}

// Level is asked per message, so a logger may change its mind.
func (l clientLog) Level() kgo.LogLevel {
	for _, k := range []kgo.LogLevel{kgo.LogLevelDebug, kgo.LogLevelInfo, kgo.LogLevelWarn, kgo.LogLevelError} {
		if l.log.Enabled(context.Background(), clientLevels[k]) {
			return k
		}
	}
	return kgo.LogLevelNone
}

func (l clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	l.log.Log(context.Background(), clientLevels[level], msg, keyvals...)
}
