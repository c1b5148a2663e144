// Package broker runs a small Kafka-protocol broker inside the process, with
// its data in a directory. It stands in for a cluster where there is none;
// what it holds survives the end of the process, a kill included.
package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lockfile"
)

// Config says how a broker runs.
type Config struct {
	// Dir keeps topics and group offsets. It is created if need be.
	Dir string
	// Listen is the address, host:port; empty is a free port on the loopback
	// interface. Clients are told to connect to exactly this address.
	Listen string
	// Logger receives the broker's warnings.
	Logger *slog.Logger
}

// Broker is a running broker.
type Broker struct {
	cluster *kfake.Cluster
	dir     string
	lock    *os.File
}

const (
	lockName = "lock"
	// runningName exists while a broker runs, and after one that was killed.
	runningName = "running"
	// minSession lets a group forget a dead member soon. Members of KIP-848
	// groups have no say in it: for them it is kip848Session, in milliseconds,
	// with a heartbeat every kip848Heartbeat.
	minSession      = time.Second
	kip848Session   = "3000"
	kip848Heartbeat = "500"
	// segmentBytes bounds a log file, and so what loading one of them takes.
	segmentBytes = "16777216"
)

// Start opens the directory and listens. The directory belongs to one broker
// at a time.
func Start(cfg Config) (*Broker, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("broker: data directory: %w; name one that can be written", err)
	}
	lock, err := lockfile.Open(filepath.Join(cfg.Dir, lockName))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("broker: data directory %s: %w; stop that one, connect to it, or name another directory", cfg.Dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("broker: data directory: %w", err)
	}
	b := &Broker{dir: cfg.Dir, lock: lock}
	if err := b.start(cfg); err != nil {
		lock.Close()
		return nil, err
	}
	return b, nil
}

func (b *Broker) start(cfg Config) error {
	running := filepath.Join(b.dir, runningName)
	if _, err := os.Stat(running); err == nil {
		// The last broker was killed. Its append-only files may end in half an
		// entry, and what would be appended behind that could not be read. A
		// clean stop writes them anew.
		repair, err := kfake.NewCluster(b.options(cfg.Logger)...)
		if err != nil {
			return fmt.Errorf("broker: repairing %s: %w; delete it to start afresh", b.dir, err)
		}
		repair.Close()
	}
	if err := os.WriteFile(running, nil, 0o644); err != nil {
		return fmt.Errorf("broker: data directory: %w", err)
	}
	opts := b.options(cfg.Logger)
	if cfg.Listen != "" {
		if _, _, err := net.SplitHostPort(cfg.Listen); err != nil {
			return fmt.Errorf("broker: listen address %q: %w; want host:port", cfg.Listen, err)
		}
		opts = append(opts, kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return net.Listen(network, cfg.Listen)
		}))
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return fmt.Errorf("broker: starting on %q with %s: %w", cfg.Listen, b.dir, err)
	}
	b.cluster = cluster
	return nil
}

func (b *Broker) options(log *slog.Logger) []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.DataDir(b.dir),
		kfake.GroupMinSessionTimeout(minSession),
		kfake.BrokerConfigs(map[string]string{
			"log.segment.bytes":                    segmentBytes,
			"group.consumer.session.timeout.ms":    kip848Session,
			"group.consumer.heartbeat.interval.ms": kip848Heartbeat,
		}),
		kfake.WithLogger(warnings{log}),
	}
}

// Addr is where clients connect.
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Close stops the broker and writes down its state. Clients should be closed
// before.
func (b *Broker) Close() error {
	b.cluster.Close()
	// Without this mark the next start finds nothing to repair.
	err := os.Remove(filepath.Join(b.dir, runningName))
	return errors.Join(err, b.lock.Close())
}

// warnings passes on what the broker thinks is wrong.
type warnings struct{ log *slog.Logger }

func (w warnings) Logf(level kfake.LogLevel, format string, args ...any) {
	if w.log == nil || level > kfake.LogLevelWarn {
		return
	}
	w.log.Warn("broker: " + fmt.Sprintf(format, args...))
}
