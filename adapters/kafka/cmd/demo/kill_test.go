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
	const lines = 20_000
	kills := 3
	if protocol == "kip848" {
		kills = 1 // after each, the next member waits for the dead one's session
	}
	dir := t.TempDir()
	args := append([]string{"-input", logFile(t, dir, lines), "-protocol", protocol}, slow...)
	args = append(args, broker(t, dir)...)
	events := filepath.Join(dir, "out", "events.ndjson")
	for range kills {
		before := sizeOf(events)
		p := start(t, dir, args...)
		p.until("output", func() bool { return sizeOf(events) > before+1_000_000 })
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
	const lines = 20_000
	dir := t.TempDir()
	args := append([]string{"-input", logFile(t, dir, lines)}, slow...)
	events := filepath.Join(dir, "out", "events.ndjson")
	p := start(t, dir, args...)
	p.until("output", func() bool { return sizeOf(events) > 500_000 })
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
	lines := scaled(150_000)
	dir := t.TempDir()
	path := logFile(t, dir, lines)
	logs := filepath.Join(dir, "data", "partitions")
	partial := false
	for range 4 {
		p := start(t, dir, "-input", path)
		before := sizeOf(logs)
		p.until("records", func() bool { return sizeOf(logs) > before+300_000 || strings.Contains(p.out.String(), "produced") })
		p.signal(syscall.SIGKILL)
		p.wait()
		partial = partial || !strings.Contains(p.out.String(), "produced")
	}
	if !partial {
		t.Error("no kill came while it produced")
	}
	s := complete(t, dir, "-input", path)
	if s.end != int64(lines) || s.committed != int64(lines) {
		t.Errorf("the topic has %d records, want each of the %d lines once:\n%s", s.end, lines, s.text)
	}
	readOutput(t, mustRead(t, path), filepath.Join(dir, "out")).covers(t, lines)
}

func TestTheBrokerMayBeKilledUnderTheDemo(t *testing.T) {
	const lines = 15_000
	dir := t.TempDir()
	b, addr := startBroker(t, dir)
	p := start(t, dir, append([]string{"-input", logFile(t, dir, lines), "-brokers", addr}, slow...)...)
	events := filepath.Join(dir, "out", "events.ndjson")
	p.until("output", func() bool { return sizeOf(events) > 1_000_000 })
	b.signal(syscall.SIGKILL)
	b.wait()
	time.Sleep(100 * time.Millisecond) // some requests find nobody
	startBroker(t, dir, "-listen", addr)
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
	const lines = 12_000
	dir := t.TempDir()
	// 120 lines in 50 ms: the first member is not done before it has heard,
	// with a heartbeat every 3 s, that there is a second one.
	args := append([]string{"-input", logFile(t, dir, lines), "-batch", "5", "-pending", "2", "-commit-interval", "50ms"}, anyBroker(t, dir)...)
	first := start(t, dir, append(args, "-out", "one")...)
	first.until("output", func() bool { return sizeOf(filepath.Join(dir, "one", "events.ndjson")) > 0 })
	second := start(t, dir, append(args, "-out", "two")...)
	for _, p := range []*process{first, second} {
		if code := p.wait(); code != exitDone {
			t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
		}
	}
	o := readOutput(t, mustRead(t, filepath.Join(dir, "access.log")), filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	if repeated := o.covers(t, lines); repeated > 2*6*2*5 {
		t.Errorf("%d lines repeated over a rebalance, more than are ever ahead of the commits", repeated)
	}
	if s := summaryOf(t, second.out.String()); s.in == 0 {
		t.Errorf("the second member got nothing:\n%s", s.text)
	}
}
