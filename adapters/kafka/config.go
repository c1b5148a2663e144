package kafka

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Protocol says how the consumer group shares out partitions. All members of
// a group use the same one: a group name belongs to one protocol.
type Protocol uint8

const (
	// Cooperative is the classic group protocol with cooperative-sticky
	// balancing: partitions a member keeps are not interrupted. The default.
	Cooperative Protocol = iota
	// Eager is the classic group protocol with range balancing: every
	// rebalance takes all partitions away and hands them out again.
	Eager
	// KIP848 is the broker-driven group protocol of Kafka 4.0 and later.
	KIP848
)

var protocolNames = [...]string{Cooperative: "cooperative", Eager: "eager", KIP848: "kip848"}

// String returns "cooperative", "eager" or "kip848".
func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

// ParseProtocol is the inverse of String. Case does not matter, and "848"
// means KIP848.
func ParseProtocol(s string) (Protocol, error) {
	name := strings.ToLower(s)
	if name == "848" {
		return KIP848, nil
	}
	for p, n := range protocolNames {
		if n == name {
			return Protocol(p), nil
		}
	}
	return 0, fmt.Errorf("kafka: protocol %q is not known; use one of %s", s, strings.Join(protocolNames[:], ", "))
}

// Defaults for the fields of Config that are zero.
const (
	DefaultPollRecords      = 10_000
	DefaultBatchRecords     = 500
	DefaultPendingLimit     = 1024
	DefaultCommitInterval   = time.Second
	DefaultRevokeTimeout    = 10 * time.Second
	DefaultSessionTimeout   = 45 * time.Second
	DefaultRebalanceTimeout = 60 * time.Second
)

// Config says what a Source reads and how. Brokers, Group and Topics are
// required; every other zero field means its default.
type Config struct {
	// Brokers are the seed addresses, host:port.
	Brokers []string
	// Group is the consumer group's name.
	Group string
	// Topics are the topics to consume, by exact name.
	Topics []string
	// ClientID names this client in broker logs and quotas.
	ClientID string
	// InstanceID makes the member static: it keeps its partitions over a
	// restart that is shorter than SessionTimeout. Must be unique in the group.
	// In a KIP848 group a member that was killed keeps its id until the broker
	// ends its session; the next one waits for that, and logs that it does.
	InstanceID string
	// Protocol is the group protocol; see its constants.
	Protocol Protocol

	// PollRecords is the most records one fetch poll takes from the client's
	// buffers. Less than twice as many are queued for Poll, besides what
	// partitions at their limit hold.
	PollRecords int
	// BatchRecords is the most records in one batch.
	BatchRecords int
	// PendingLimit is the most batches of one partition that may be pending:
	// handed out or waiting, and not yet covered by the partition's
	// watermark. At the limit the partition's fetching pauses.
	PendingLimit int

	// DeliveredBytes, if not 0, has commits carry, as their metadata, which
	// offsets above them are delivered already, in at most so many bytes. Who
	// reads the partition next with DeliveredBytes set is not handed these
	// records again; any other consumer goes on from the commit as usual. It
	// costs a commit in each interval in which that changes.
	// checkpoint.RangesLimit is what brokers accept unless they are told
	// otherwise (offset.metadata.max.bytes); at least 64.
	DeliveredBytes int

	// CommitInterval is the time between commits of what was acknowledged.
	CommitInterval time.Duration
	// RevokeTimeout bounds how long a revoke waits for handed-out batches to
	// resolve before it commits and gives the partitions up. The commit gets
	// what is left of RebalanceTimeout, between 1 s and 10 s. At most
	// RebalanceTimeout; the default is 10 s or half of RebalanceTimeout,
	// whichever is shorter.
	RevokeTimeout time.Duration
	// SessionTimeout is how long the group waits for a silent member.
	// Without effect on KIP848, where the broker sets it.
	SessionTimeout time.Duration
	// RebalanceTimeout is how long the group waits for members to give up
	// partitions.
	RebalanceTimeout time.Duration

	// Logger receives rebalances, stalls, data losses and commit failures,
	// and the client's own messages. Nil discards them.
	Logger *slog.Logger

	// OnCommit is called after the broker accepted a commit: everything of
	// the partition below offset is delivered. Calls are in commit order, on
	// one goroutine at a time; they hold up further commits and rebalances,
	// and must not call Close.
	OnCommit func(topic string, partition int32, offset int64)
	// OnDataLoss is called when a partition turns out to be truncated,
	// recreated or expired upstream, before it is read afresh. It runs on
	// the polling goroutine, holds up fetching and must not call Close.
	OnDataLoss func(topic string, partition int32, loss DataLoss)

	// OnLeak, if set, is told of batches whose Ack nobody has any more and
	// nobody resolved, and of Acks that were released too often: see
	// checkpoint.WithLeakReport, also for what it must not do. The label names
	// the partition and the offsets. FailLeaked fails the lost ones, so that
	// they can be skipped or read again. Both make a batch many times as
	// expensive, and are for finding out.
	OnLeak     func(checkpoint.Leak)
	FailLeaked bool

	// Barriers, if its Ledger is set, gets a record of every commit.
	Barriers Barriers

	// Options are further client options: TLS, SASL, isolation level, start
	// offset. They are applied before the Source's own, so they cannot
	// override what its guarantees rest on.
	Options []kgo.Opt
}

// checkpointer makes what tracks the batches.
func (c *Config) checkpointer() *checkpoint.Checkpointer {
	opts := []checkpoint.Option{checkpoint.WithPendingLimit(c.PendingLimit), checkpoint.WithLeakReport(c.OnLeak)}
	if c.FailLeaked {
		opts = append(opts, checkpoint.WithLeakedFailed())
	}
	return checkpoint.New(opts...)
}

// withDefaults returns a checked copy with every zero field filled in.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if len(c.Brokers) == 0 {
		bad("Brokers is empty; name at least one seed broker as host:port")
	}
	for _, b := range c.Brokers {
		if b == "" {
			bad("Brokers holds an empty address; name each as host:port")
		}
	}
	if c.Group == "" {
		bad("Group is empty; name the consumer group")
	}
	if len(c.Topics) == 0 {
		bad("Topics is empty; name at least one topic")
	}
	seen := make(map[string]bool, len(c.Topics))
	for _, t := range c.Topics {
		if t == "" || seen[t] {
			bad("Topics holds %q empty or twice; name each topic once", t)
		}
		seen[t] = true
	}
	if int(c.Protocol) >= len(protocolNames) {
		bad("Protocol is %d; use Cooperative, Eager or KIP848", c.Protocol)
	}
	count := func(name string, v *int, def int) {
		if *v < 0 {
			bad("%s is %d; it must be positive, or 0 for the default %d", name, *v, def)
		} else if *v == 0 {
			*v = def
		}
	}
	count("PollRecords", &c.PollRecords, DefaultPollRecords)
	count("BatchRecords", &c.BatchRecords, DefaultBatchRecords)
	count("PendingLimit", &c.PendingLimit, DefaultPendingLimit)
	if c.DeliveredBytes != 0 && c.DeliveredBytes < minDelivered {
		bad("DeliveredBytes is %d; it must be at least %d, such as checkpoint.RangesLimit, or 0 for none", c.DeliveredBytes, minDelivered)
	}
	span := func(name string, v *time.Duration, def time.Duration) {
		if *v < 0 {
			bad("%s is %v; it must be positive, or 0 for the default %v", name, *v, def)
		} else if *v == 0 {
			*v = def
		}
	}
	span("CommitInterval", &c.CommitInterval, DefaultCommitInterval)
	span("SessionTimeout", &c.SessionTimeout, DefaultSessionTimeout)
	span("RebalanceTimeout", &c.RebalanceTimeout, DefaultRebalanceTimeout)
	span("RevokeTimeout", &c.RevokeTimeout, min(DefaultRevokeTimeout, c.RebalanceTimeout/2))
	if c.RevokeTimeout > c.RebalanceTimeout {
		bad("RevokeTimeout %v exceeds RebalanceTimeout %v; the group would go on without this member", c.RevokeTimeout, c.RebalanceTimeout)
	}
	if wrong := c.Barriers.check(); wrong != "" {
		bad("%s", wrong)
	}
	if len(errs) > 0 {
		return Config{}, fmt.Errorf("kafka: config: %w", errors.Join(errs...))
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
