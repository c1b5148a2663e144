package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	proc "github.com/tidemark-go/tidemark/adapters/kafka/internal/process"
)

// patience is how long nothing may move, at the end of a storm, before the
// run is taken to be stuck. The machine may be busy with other things.
const patience = time.Minute

// crew is a cluster, a sink, a producer and the members of a group.
type crew struct {
	o        *oracle
	host     *host
	sink     *sink
	producer *producer
	dir      string
	protocol kafka.Protocol
	mistake  mistake
	seeds    *rand.Rand // of the members

	live   []*process // that were not told to leave
	gone   []*process // that were
	number int
}

// process is one member.
type process struct {
	*proc.Process
	number int
	errors *buffer
	// frozen is when a frozen member goes on.
	frozen time.Time
	// killed members end as they may.
	killed bool
}

// buffer keeps what a member writes, to show it when the member fails.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.Bytes()
	return string(text[max(len(text)-n, 0):])
}

func newCrew(dir string, protocol kafka.Protocol, m mistake, seed uint64) (*crew, error) {
	bound := repeatBound
	if m != "" {
		bound = 1 << 30 // these work ahead as they like
	}
	c := &crew{o: newOracle(partitions, bound), dir: dir, protocol: protocol, mistake: m, seeds: rand.New(rand.NewPCG(seed, 1))}
	var err error
	if c.host, err = newHost(c.o, filepath.Join(dir, "broker")); err != nil {
		return nil, err
	}
	if c.sink, err = newSink(c.o); err != nil {
		c.host.close()
		return nil, err
	}
	if c.producer, err = newProducer(c.o, c.host.addrs()); err != nil {
		c.sink.close()
		c.host.close()
		return nil, err
	}
	return c, nil
}

// hire starts a member.
func (c *crew) hire() (*process, error) {
	c.number++
	cfg := memberConfig{
		Number: c.number, Brokers: c.host.addrs(), Protocol: c.protocol, Sink: c.sink.listener.Addr().String(),
		Dir: filepath.Join(c.dir, fmt.Sprintf("member%d", c.number)), Seed: c.seeds.Uint64(), Mistake: c.mistake,
		Verbose: os.Getenv("TIDEMARK_TEST_LOG") != "",
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	p := &process{number: c.number, errors: &buffer{}}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberVariable+"="+string(text), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = p.errors, p.errors
	if p.Process, err = proc.Start(cmd); err != nil {
		return nil, fmt.Errorf("chaos: starting a member: %w", err)
	}
	c.live = append(c.live, p)
	return p, nil
}

// leave asks a member to go; it commits what it can.
func (c *crew) leave(p *process) {
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGCONT) // a frozen one has to wake up for it
	c.live = slices.DeleteFunc(c.live, func(l *process) bool { return l == p })
	if !slices.Contains(c.gone, p) {
		c.gone = append(c.gone, p)
	}
}

// dismiss is for a member that was killed.
func (c *crew) dismiss(p *process) {
	p.killed = true
	<-p.Done()
	c.live = slices.DeleteFunc(c.live, func(l *process) bool { return l == p })
	c.gone = slices.DeleteFunc(c.gone, func(l *process) bool { return l == p })
}

// check fails when a member ended that nobody told to.
func (c *crew) check() error {
	for _, p := range c.live {
		select {
		case <-p.Done():
			return fmt.Errorf("chaos: member %d ended by itself: %v\n%s", p.number, p.State(), p.errors.tail(4000))
		default:
		}
	}
	return nil
}

// settle waits until everything is delivered and committed.
func (c *crew) settle() error {
	ends := c.host.ends()
	for last, since := int64(-1), time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left, moved := c.o.left(ends)
		if left == 0 || c.o.violated() != "" {
			break
		}
		if moved != last {
			last, since = moved, time.Now()
		}
		if time.Since(since) > patience {
			return fmt.Errorf("chaos: nothing moved for %v with %d offsets to go\n%s%s", patience, left, c.o.where(ends), c.host.describe()+c.tails())
		}
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// part waits until every member has left.
func (c *crew) part() error {
	for len(c.live) > 0 {
		c.leave(c.live[0])
	}
	deadline := time.After(patience)
	for _, p := range c.gone {
		select {
		case <-p.Done():
		case <-deadline:
			p.Signal(syscall.SIGQUIT)
			time.Sleep(time.Second)
			return fmt.Errorf("chaos: member %d does not leave:\n%s", p.number, p.errors.tail(20_000))
		}
		if !left(p) {
			return fmt.Errorf("chaos: member %d left with %v\n%s", p.number, p.State(), p.errors.tail(4000))
		}
	}
	return nil
}

// left: the member ended as it should, or before it was ready to.
func left(p *process) bool {
	status, ok := p.State().Sys().(syscall.WaitStatus)
	return p.State().Success() || ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// tails ends the members and returns what they said last, and with their last
// breath what their goroutines wait for.
func (c *crew) tails() (text string) {
	for _, p := range c.live {
		p.Signal(syscall.SIGQUIT)
		p.Signal(syscall.SIGCONT)
	}
	deadline := time.After(5 * time.Second)
	for _, p := range c.live {
		select {
		case <-p.Done():
		case <-deadline:
		}
		text += fmt.Sprintf("\nmember %d:\n%s", p.number, p.errors.tail(60_000))
	}
	return text
}

// close ends everything, in whatever state it is.
func (c *crew) close() {
	for _, p := range append(c.live, c.gone...) {
		p.Signal(syscall.SIGKILL)
		<-p.Done()
	}
	c.producer.close()
	c.sink.close()
	c.host.close()
}
