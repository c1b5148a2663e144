package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
)

func TestCtrlCDrainsCommitsAndExitsZero(t *testing.T) {
	const lines = slowLines
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			if sig == syscall.SIGTERM && leftOut(t) {
				return
			}
			dir := t.TempDir()
			args := []string{"-input", logFile(t, dir, lines)}
			p := start(t, dir, slowly(args...)...)
			events := filepath.Join(dir, "out", "events.ndjson")
			p.until("output", func() bool { return sizeOf(events) > someOutput })
			p.signal(sig)
			if code := p.wait(); code != exitDone {
				t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
			}
			s := summaryOf(t, p.out.String())
			if !strings.Contains(s.text, "Not finished") || s.in != s.out+s.dead || s.committed != s.in || s.end != int64(lines) {
				t.Errorf("stopped in the middle:\n%s", s.text)
			}
			// All of it was committed, so nothing is read again.
			if s := complete(t, dir, args...); s.repeated != 0 || s.committed != int64(lines) {
				t.Errorf("going on:\n%s", s.text)
			}
			if repeated := readOutput(t, mustRead(t, filepath.Join(dir, "access.log")), filepath.Join(dir, "out")).covers(t, lines); repeated != 0 {
				t.Errorf("%d lines repeated", repeated)
			}
		})
	}
}

func TestCtrlCWhileProducingExitsZeroAndTheNextRunGoesOn(t *testing.T) {
	lines := scaled(150_000)
	dir := t.TempDir()
	path := logFile(t, dir, lines)
	logs := filepath.Join(dir, "data", "partitions")
	p := start(t, dir, slowly("-input", path)...) // or it may be done before the signal
	p.until("records", func() bool { return sizeOf(logs) > 0 })
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != exitDone {
		t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
	}
	if s := complete(t, dir, "-input", path); s.end != int64(lines) || s.committed != int64(lines) {
		t.Errorf("going on:\n%s", s.text)
	}
}

func TestASecondCtrlCStopsAtOnce(t *testing.T) {
	dir := t.TempDir()
	b, addr := startBroker(t, dir)
	args := []string{"-input", logFile(t, dir, slowLines), "-brokers", addr}
	p := start(t, dir, slowly(args...)...)
	p.until("output", func() bool { return sizeOf(filepath.Join(dir, "out", "events.ndjson")) > someOutput })
	b.signal(syscall.SIGSTOP) // the last commit gets no answer
	p.signal(syscall.SIGINT)
	p.until("the first signal to be noticed", func() bool { return strings.Contains(p.err.String(), "stopping") })
	p.signal(syscall.SIGINT)
	// The code says that it did not wait for the commit: that fails, in the end.
	if code := p.wait(); code != exitForced {
		t.Errorf("exit code %d, want %d at once:\n%s", code, exitForced, p.err)
	}
	b.signal(syscall.SIGCONT)
	if s := complete(t, dir, args...); s.committed != slowLines {
		t.Errorf("after it:\n%s", s.text)
	}
	b.signal(syscall.SIGTERM)
	if code := b.wait(); code != exitDone || !strings.Contains(b.out.String(), "broker stopped") {
		t.Errorf("the broker's exit code is %d: %s%s", code, b.out, b.err)
	}
}

func TestWhatIsWrongIsSaidWithTheRightExitCode(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"-input .", exitUsage, "is a directory; name a text file"},
		{"-input missing", exitUsage, "no such file"},
		{"-input /dev/null", exitUsage, "no regular file"},
		{"-brokers " + nobody, exitFailed, "no Kafka broker answers at [" + nobody + "]"},
		{"-brokers localhost", exitUsage, "want host:port"},
		{"-brokers localhost:9092,", exitUsage, "want host:port"},
		{"-brokers localhost:9092 -broker-only", exitUsage, "drop one of them"},
		{"-brokers localhost:9092 -listen 127.0.0.1:1", exitUsage, "drop one of them"},
		{"-listen 9092", exitUsage, "want host:port"},
		{"-workers 0", exitUsage, "-workers is 0, want 1 to 1024"},
		{"-batch -1", exitUsage, "-batch is -1"},
		{"-pending 0", exitUsage, "-pending is 0"},
		{"-partitions x", exitUsage, "invalid value"},
		{"-max-line 2000000", exitUsage, "-max-line is 2000000"},
		{"-commit-interval 0s", exitUsage, "-commit-interval is 0s"},
		{"-protocol zookeeper", exitUsage, "cooperative, eager, kip848"},
		{"-unknown", exitUsage, "-unknown"},
		{"access.log", exitUsage, "named with -input"},
		{"-data file", exitFailed, "data directory"},
		{"-out file/x", exitFailed, "name an output that can be written"},
		{"-out .ndjson/events.ndjson/x", exitDone, ""},
	} {
		p := start(t, dir, strings.Fields(c.args)...)
		if code := p.wait(); code != c.code || !strings.Contains(p.err.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.want, p.err)
		}
	}
}

func TestFilesInUseAreRefused(t *testing.T) {
	dir := t.TempDir()
	_, addr := startBroker(t, dir)
	if p := start(t, dir, "-data", "broker"); p.wait() != exitFailed || !strings.Contains(p.err.String(), "in use by another process") {
		t.Errorf("a second broker on the same data:\n%s", p.err)
	}
	args := append(slowly("-input", logFile(t, dir, slowLines), "-brokers", addr), "-commit-interval", "1s")
	first := start(t, dir, args...) // and is killed in the end
	first.until("output", func() bool { return sizeOf(filepath.Join(dir, "out")) > 0 })
	if p := start(t, dir, args...); p.wait() != exitFailed || !strings.Contains(p.err.String(), "output of its own") {
		t.Errorf("a second writer of the same output:\n%s", p.err)
	}
}

func TestAGroupThatIsAheadOfItsTopicIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, addr := startBroker(t, dir)
	complete(t, dir, "-brokers", addr)
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	in, err := input.Load(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ahead := kadm.Offsets{}
	ahead.AddOffset(topicFor(in), 3, in.Lines, -1)
	if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), "ahead", ahead); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "-brokers", addr, "-group", "ahead")
	if code := p.wait(); code != exitFailed || !strings.Contains(p.err.String(), "name another -group") {
		t.Errorf("exit code %d:\n%s", code, p.err)
	}
}

func TestHelpTeaches(t *testing.T) {
	p := start(t, t.TempDir(), "-help")
	if code := p.wait(); code != exitDone || p.err.String() != "" {
		t.Errorf("exit code %d, errors %q", code, p.err)
	}
	text := p.out.String()
	for _, want := range []string{"-input file", "-brokers host:port", "-group string", "-data directory", "-out directory", "-broker-only",
		"-listen host:port", "-verify", "-http host:port", "-ledger-capacity barriers", "/barriers/open", "/metrics",
		"events.ndjson", "dead.ndjson", "Ctrl-C", "Exit codes", "kill -9"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 120 {
			t.Errorf("too wide: %s", line)
		}
	}
}
