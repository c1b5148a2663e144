// Package realbroker runs a one-node Apache Kafka on the loopback interface,
// for tests: a broker that shares no code and no author with the client. It
// needs a JDK and Maven, and nothing else.
package realbroker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/process"
)

const (
	// readyTimeout is how long a broker may take to answer. It takes three
	// seconds on an idle machine.
	readyTimeout = 2 * time.Minute
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = 20 * time.Second
	// waitDelay bounds the wait for what a killed program left behind.
	waitDelay = 2 * time.Second
	// portTries is how often free ports are chosen: one may be taken between
	// the choice and the start.
	portTries = 3
	// excerptLines of the log are in an error.
	excerptLines = 25
)

// Config says what to run.
type Config struct {
	// Jars is the directory that Jars returned.
	Jars string
	// Addr is the address for clients, host:port; empty is a free port.
	Addr string
}

// Broker is a running broker. Its data is temporary.
type Broker struct {
	addr string
	dir  string
	proc *process.Process
}

// Start formats a storage, runs a broker on it and returns when it answers.
// When ctx is done before that, nothing is left behind.
func Start(ctx context.Context, cfg Config) (*Broker, error) {
	for try := 1; ; try++ {
		b, err := start(ctx, cfg)
		if cfg.Addr != "" || try == portTries || !errors.Is(err, errPortTaken) {
			return b, err
		}
	}
}

// errPortTaken: the broker could not listen.
var errPortTaken = errors.New("realbroker: a port is taken")

func start(ctx context.Context, cfg Config) (_ *Broker, err error) {
	dir, err := os.MkdirTemp("", "tidemark-broker-")
	if err != nil {
		return nil, fmt.Errorf("realbroker: data directory: %w", err)
	}
	b := &Broker{addr: cfg.Addr, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Stop())
		}
	}()
	if b.addr == "" {
		if b.addr, err = freeAddr(); err != nil {
			return nil, err
		}
	}
	controller, err := freeAddr()
	if err != nil {
		return nil, err
	}
	properties := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(properties, settings(b.addr, controller, filepath.Join(dir, "data")), 0o644); err != nil {
		return nil, fmt.Errorf("realbroker: data directory: %w", err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	format := java(ctx, cfg.Jars, dir, "kafka.tools.StorageTool", "format",
		"--cluster-id="+base64.RawURLEncoding.EncodeToString(id), // it may begin with a hyphen
		"--config", properties)
	if text, err := format.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("realbroker: formatting the storage: %w; it says:\n%s", err, tail(text, excerptLines))
	}
	if err := b.run(java(context.Background(), cfg.Jars, dir, "kafka.Kafka", properties)); err != nil {
		return nil, err
	}
	return b, b.await(ctx)
}

// java is a command of the broker's. The flags make it start fast and stay
// small; what it compiles lives for a minute.
func java(ctx context.Context, jars, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "java", append([]string{
		"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + dir,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(jars, "*"),
	}, args...)...)
	cmd.Dir = dir
	cmd.WaitDelay = waitDelay
	return cmd
}

func (b *Broker) logPath() string { return filepath.Join(b.dir, "broker.log") }

func (b *Broker) run(cmd *exec.Cmd) error {
	log, err := os.Create(b.logPath())
	if err != nil {
		return fmt.Errorf("realbroker: data directory: %w", err)
	}
	defer log.Close() // the process has its own
	cmd.Stdout, cmd.Stderr = log, log
	if b.proc, err = process.Start(cmd); err != nil {
		return fmt.Errorf("realbroker: starting java: %w", err)
	}
	return nil
}

// await returns when the broker answers.
func (b *Broker) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr))
	if err != nil {
		return fmt.Errorf("realbroker: %w", err)
	}
	defer cl.Close()
	for {
		ping, stop := context.WithTimeout(ctx, time.Second)
		err := cl.Ping(ping)
		stop()
		if err == nil {
			return nil
		}
		select {
		case <-b.proc.Done():
			if log := b.Log(); strings.Contains(log, "Address already in use") {
				return fmt.Errorf("%w: the broker could not listen on %s; name another address, or none for a free one", errPortTaken, b.addr)
			}
			return fmt.Errorf("realbroker: the broker ended before it answered: %v; its log ends\n%s", b.proc.State(), tail([]byte(b.Log()), excerptLines))
		case <-ctx.Done():
			return fmt.Errorf("realbroker: the broker does not answer at %s: %w; its log ends\n%s", b.addr, ctx.Err(), tail([]byte(b.Log()), excerptLines))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Addr is where clients connect.
func (b *Broker) Addr() string { return b.addr }

// Pid is the broker's process.
func (b *Broker) Pid() int { return b.proc.Pid() }

// Done is closed when the broker's process has ended.
func (b *Broker) Done() <-chan struct{} { return b.proc.Done() }

// Log is what the broker logged, warnings and errors.
func (b *Broker) Log() string {
	text, err := os.ReadFile(b.logPath())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TempDir is a directory that is removed with the broker's data.
func (b *Broker) TempDir() string { return b.dir }

// Stop ends the broker, by its process id, and removes its data.
func (b *Broker) Stop() error {
	if b.proc != nil {
		b.proc.Signal(syscall.SIGTERM)
		select {
		case <-b.proc.Done():
		case <-time.After(stopTimeout):
			b.proc.Signal(syscall.SIGKILL)
			<-b.proc.Done()
		}
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("realbroker: removing the data: %w", err)
	}
	return nil
}

// freeAddr is a loopback address that nobody listens on at the moment.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("realbroker: no free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
