package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/brokertest"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// The tests run the program itself, built once; with the race detector when
// they have it.
var binary string

func TestMain(m *testing.M) {
	if err := brokertest.Select("anyBroker"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "demo")
	args := []string{"build", "-o", binary}
	if underRace() {
		args = append(args, "-race")
	}
	if text, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the demo: %v\n%s", err, text)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func underRace() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// leftOut reports whether a test is left out that starts processes to look at
// what they write or how they go on: those that stay run every part of them.
func leftOut(t *testing.T) bool {
	t.Helper()
	return longtest.LeftOut(t, "what it looks at is the same everywhere")
}

// scaled is n, or less where everything takes much longer.
func scaled(n int) int {
	if underRace() {
		return n / 4
	}
	return n
}

// slow lets no more than slowBound lines through in a commit interval. With
// slowLines that lasts for seconds, so that a signal finds the run at work also
// when the test is late; and what a kill repeats is little enough to be worth
// checking. The run that goes on afterwards is not slowed down.
var slow = []string{"-workers", "2", "-batch", "20", "-pending", "5", "-commit-interval", "150ms"}

const (
	slowBound = 2 * 6 * 5 * 20
	slowLines = 30_000
	// someOutput is more than a slow run writes before its first commit.
	someOutput = 400_000
	patience   = 90 * time.Second
)

// slowly is these arguments and those of a slow run.
func slowly(args ...string) []string { return append(args[:len(args):len(args)], slow...) }

// nobody is an address where nothing listens: tests open no port below 1024.
const nobody = "127.0.0.1:1"

// process is a running demo.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *buffer
	done     chan struct{}
}

// buffer may be read while a process writes to it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs the demo in dir, and kills it when the test ends before it.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), out: new(buffer), err: new(buffer), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, p.out, p.err
	// A race ends the process with 66; without one it need not linger.
	p.cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code is what is looked at
		close(p.done)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// wait returns the exit code, -1 after a signal.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines say what it waits for
		<-p.done
		p.t.Fatalf("not done after %v:\n%s\n%s", patience, p.out, p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v; it had ended:\n%s\n%s", s, err, p.out, p.err)
	}
}

// until waits for a condition while the process runs.
func (p *process) until(what string, cond func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(time.Millisecond) {
		select {
		case <-p.done:
			p.t.Fatalf("ended before %s:\n%s\n%s", what, p.out, p.err)
		default:
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no %s after %v:\n%s\n%s", what, patience, p.out, p.err)
		}
	}
}

// complete runs the demo to its end and expects success.
func complete(t *testing.T, dir string, args ...string) summary {
	t.Helper()
	p := start(t, dir, args...)
	if code := p.wait(); code != exitDone {
		t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
	}
	return summaryOf(t, p.out.String())
}

// summary is what the program said, and nobody else: the tests read the files
// on their own.
type summary struct {
	in, out, dead, committed, end, repeated int64
	text                                    string
}

var summaryLines = regexp.MustCompile(`(?s)\n  lines in +([\d,]+).*lines out +([\d,]+).*dead-lettered +([\d,]+).*\n +all +([\d,]+) +([\d,]+).* ([\d,]+) repeated`)

func summaryOf(t *testing.T, text string) summary {
	t.Helper()
	m := summaryLines.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no summary in:\n%s", text)
	}
	n := make([]int64, len(m))
	for i := 1; i < len(m); i++ {
		var err error
		if n[i], err = strconv.ParseInt(strings.ReplaceAll(m[i], ",", ""), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return summary{in: n[1], out: n[2], dead: n[3], committed: n[4], end: n[5], repeated: n[6], text: text}
}

// logFile writes an access log of so many lines into dir. On a broker that
// outlives the test every log is another one: a topic is named after what it
// holds, and refers to files of the test that produced it.
func logFile(t *testing.T, dir string, lines int) string {
	t.Helper()
	path := filepath.Join(dir, "access.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(11)
	if brokertest.Addrs() != nil {
		seed = uint64(time.Now().UnixNano())
	}
	if err := errors.Join(sample.Write(f, lines, seed), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// startBroker runs a broker as a process of its own and returns its address.
func startBroker(t *testing.T, dir string, args ...string) (*process, string) {
	t.Helper()
	b := start(t, dir, append([]string{"-broker-only", "-data", "broker"}, args...)...)
	var addr string
	b.until("the broker's address", func() bool {
		_, rest, _ := strings.Cut(b.out.String(), "broker on ")
		var ok bool
		addr, _, ok = strings.Cut(rest, ",")
		return ok
	})
	return b, addr
}

// startBrokerAgain runs a broker on the data and the address of one that ended.
// The last connections of that one may take a moment to go, and somebody else
// may have got the port.
func startBrokerAgain(t *testing.T, dir, addr string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		b := start(t, dir, "-broker-only", "-data", "broker", "-listen", addr)
		for ended := false; !ended; time.Sleep(time.Millisecond) {
			if strings.Contains(b.out.String(), "broker on "+addr) {
				return
			}
			select {
			case <-b.done:
				ended = true
			default:
			}
		}
		if !strings.Contains(b.err.String(), "address already in use") || time.Now().After(deadline) {
			t.Fatalf("no broker on %s again:\n%s\n%s", addr, b.out, b.err)
		}
	}
}

// anyBroker returns the arguments that name a broker outside of the demo, a
// real one if there is one, and a group that no other test uses.
func anyBroker(t *testing.T, dir string) []string {
	t.Helper()
	addrs := brokertest.Addrs()
	if addrs == nil {
		_, addr := startBroker(t, dir)
		addrs = []string{addr}
	}
	return []string{"-brokers", strings.Join(addrs, ","), "-group", brokertest.Unique("demo")}
}

func sizeOf(path string) int64 {
	var size int64
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}
