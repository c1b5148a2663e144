package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledWhileConsumingLosesNothingAndRepeatsLittle(t *testing.T) {
	inside := func(*testing.T, string) []string { return nil }
	for name, tt := range map[string]struct {
		protocol string
		broker   func(t *testing.T, dir string) []string
	}{
		"with the broker inside":           {"cooperative", inside},
		"with the broker outside":          {"cooperative", anyBroker},
		"with the broker outside, eager":   {"eager", anyBroker},
		"with the broker outside, kip 848": {"kip848", anyBroker},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.protocol != "cooperative" && leftOut(t) {
				return
			}
			killWhileConsuming(t, tt.protocol, tt.broker)
		})
	}
}

func killWhileConsuming(t *testing.T, protocol string, broker func(t *testing.T, dir string) []string) {
	const lines = slowLines
	kills := 3
	if protocol == "kip848" {
		kills = 1 // after each, the next member waits for the dead one's session
	}
	dir := t.TempDir()
	args := append([]string{"-input", logFile(t, dir, lines), "-protocol", protocol}, broker(t, dir)...)
	events := filepath.Join(dir, "out", "events.ndjson")
	for range kills {
		before := sizeOf(events)
		p := start(t, dir, slowly(args...)...)
		p.until("output", func() bool { return sizeOf(events) > before+someOutput })
		p.signal(syscall.SIGKILL)
		p.wait()
	}
	s := complete(t, dir, args...)
	repeated := readOutput(t, mustRead(t, filepath.Join(dir, "access.log")), filepath.Join(dir, "out")).covers(t, lines)
	if repeated > kills*slowBound || int64(repeated) != s.repeated {
		t.Errorf("%d lines repeated after %d kills, the bound is %d each; the summary says %d", repeated, kills, slowBound, s.repeated)
	}
	if s.committed != int64(lines) || s.end != int64(lines) {
		t.Errorf("committed %d of %d, want %d", s.committed, s.end, lines)
	}
}

// The tear is made by hand: a kill rarely tears a line, and a power cut does.
func TestATornLineIsHealedAndItsRecordDeliveredAgain(t *testing.T) {
	if leftOut(t) {
		return
	}
	const lines = slowLines
	dir := t.TempDir()
	args := []string{"-input", logFile(t, dir, lines)}
	events := filepath.Join(dir, "out", "events.ndjson")
	p := start(t, dir, slowly(args...)...)
	p.until("output", func() bool { return sizeOf(events) > someOutput })
	p.signal(syscall.SIGKILL)
	p.wait()
	text := mustRead(t, events)
	torn := append(text[:len(text):len(text)], text[:40]...)
	if err := os.WriteFile(events, torn, 0o644); err != nil {
		t.Fatal(err)
	}
	s := complete(t, dir, args...)
	if !strings.Contains(s.text, "healed") {
		t.Errorf("the torn line is not reported:\n%s", s.text)
	}
	readOutput(t, mustRead(t, filepath.Join(dir, "access.log")), filepath.Join(dir, "out")).covers(t, lines)
}

func TestKilledWhileProducingProducesTheRestOnly(t *testing.T) {
	if leftOut(t) {
		return
	}
	// Where the test is so late that no kill came while it produced, it tries
	// again.
	for try := 0; !killWhileProducing(t); try++ {
		if try == 5 {
			t.Fatal("no kill came while it produced")
		}
	}
}

// killWhileProducing reports whether a kill came while lines were produced.
func killWhileProducing(t *testing.T) (partial bool) {
	t.Helper()
	lines := scaled(150_000)
	dir := t.TempDir()
	path := logFile(t, dir, lines)
	logs := filepath.Join(dir, "data", "partitions")
	for range 4 {
		p := start(t, dir, slowly("-input", path)...) // or it may be done before the kill
		before := sizeOf(logs)
		p.until("records", func() bool { return sizeOf(logs) > before+300_000 || strings.Contains(p.out.String(), "produced") })
		p.signal(syscall.SIGKILL)
		p.wait()
		partial = partial || !strings.Contains(p.out.String(), "produced")
	}
	s := complete(t, dir, "-input", path)
	if s.end != int64(lines) || s.committed != int64(lines) {
		t.Errorf("the topic has %d records, want each of the %d lines once:\n%s", s.end, lines, s.text)
	}
	readOutput(t, mustRead(t, path), filepath.Join(dir, "out")).covers(t, lines)
	return partial
}

func TestTheBrokerMayBeKilledUnderTheDemo(t *testing.T) {
	const lines = 15_000
	dir := t.TempDir()
	b, addr := startBroker(t, dir)
	p := start(t, dir, slowly("-input", logFile(t, dir, lines), "-brokers", addr)...)
	events := filepath.Join(dir, "out", "events.ndjson")
	p.until("output", func() bool { return sizeOf(events) > someOutput })
	b.signal(syscall.SIGKILL)
	b.wait()
	time.Sleep(100 * time.Millisecond) // some requests find nobody
	startBrokerAgain(t, dir, addr)
	if code := p.wait(); code != exitDone {
		t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
	}
	s := summaryOf(t, p.out.String())
	repeated := readOutput(t, mustRead(t, filepath.Join(dir, "access.log")), filepath.Join(dir, "out")).covers(t, lines)
	if s.committed != int64(lines) || s.end != int64(lines) || repeated > slowBound {
		t.Errorf("%d repeated:\n%s", repeated, s.text)
	}
}

func TestMembersOfAGroupShareTheWork(t *testing.T) {
	const lines = 30_000
	const ahead = 2 * 6 * 2 * 5 // lines that are ever ahead of the commits
	dir := t.TempDir()
	args := append([]string{"-input", logFile(t, dir, lines), "-batch", "5", "-pending", "2"}, anyBroker(t, dir)...)
	outs := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	member := func(i int, interval string) *process {
		return start(t, dir, append(args[:len(args):len(args)], "-out", outs[i], "-commit-interval", interval)...)
	}
	written := func(i int) func() bool {
		return func() bool { return sizeOf(filepath.Join(outs[i], "events.ndjson")) > 0 }
	}
	done := func(members []*process) {
		t.Helper()
		for _, p := range members {
			if code := p.wait(); code != exitDone {
				t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
			}
		}
	}
	// A few thousand lines a second: the first member is at work for many seconds.
	// It hears with its next heartbeat, one in 3 s, that there is a second one.
	members := []*process{member(0, "50ms"), nil}
	members[0].until("output", written(0))
	members[1] = member(1, "50ms")
	members[1].until("output of the second member", written(1))
	for _, p := range members {
		p.signal(syscall.SIGINT)
	}
	done(members)
	if s := summaryOf(t, members[1].out.String()); s.in == 0 {
		t.Errorf("the second member got nothing:\n%s", s.text)
	}
	input := mustRead(t, filepath.Join(dir, "access.log"))
	if repeated := readOutput(t, input, outs...).repeated(); repeated > ahead {
		t.Errorf("%d lines repeated over a rebalance, more than are ever ahead of the commits", repeated)
	}
	// Each is done when all is committed, whoever committed it.
	done([]*process{member(0, "1ms"), member(1, "1ms")})
	if repeated := readOutput(t, input, outs...).covers(t, lines); repeated > 2*ahead {
		t.Errorf("%d lines repeated over two rebalances", repeated)
	}
}
