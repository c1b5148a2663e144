package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/live"
)

// poisoned makes one batch of 100 lines fail.
var poisoned = []string{"-fail-line", "2000", "-batch", "100"}

const sampleLines = 4000

// stalledBy expects that a process ended because of one failed batch.
func (p *process) stalledBy() {
	p.t.Helper()
	if code := p.wait(); code != exitStall {
		p.t.Fatalf("exit code %d, want %d:\n%s\n%s", code, exitStall, p.out, p.err)
	}
	for _, want := range []string{"stalled by a batch that failed", "partition 1 at batch p", "@e1#3, ", "up to offset 399", "3 batches behind it", "-skip-failed"} {
		if !strings.Contains(p.err.String(), want) {
			p.t.Errorf("it does not say %q:\n%s", want, p.err)
		}
	}
	if !strings.Contains(p.out.String(), "which wait for a batch that failed") {
		p.t.Errorf("the summary does not say so:\n%s", p.out)
	}
}

func TestAFailedBatchHoldsItsPartitionBackAlone(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, poisoned...)
	p.stalledBy()
	s := summaryOf(t, p.out.String())
	if s.in != sampleLines || s.out+s.dead != sampleLines-100 || s.committed != sampleLines-367 || s.end != sampleLines {
		t.Errorf("in %d, out %d, dead %d, committed %d of %d", s.in, s.out, s.dead, s.committed, s.end)
	}
	// With a sink that is whole again, all of it is read again.
	if s := complete(t, dir); s.in != 367 || s.committed != sampleLines {
		t.Errorf("the next run read %d lines and committed %d", s.in, s.committed)
	}
	if v := start(t, dir, "-verify"); v.wait() != exitDone {
		t.Errorf("a line is missing:\n%s", v.err)
	}
}

func TestAFailedBatchIsReportedAndThenSkippedOnDemand(t *testing.T) {
	p := start(t, t.TempDir(), append(poisoned, "-skip-failed")...)
	if code := p.wait(); code != exitDone {
		t.Fatalf("exit code %d:\n%s\n%s", code, p.out, p.err)
	}
	if s := summaryOf(t, p.out.String()); s.out+s.dead != sampleLines-100 || s.committed != sampleLines {
		t.Errorf("out %d, dead %d, committed %d", s.out, s.dead, s.committed)
	}
	log := p.err.String()
	stalled, skipped := strings.Index(log, "partition stalled at a failed batch"), strings.Index(log, "failed batch skipped")
	if stalled < 0 || skipped < stalled || !strings.Contains(log[stalled:skipped], "STALLED: 1 partition") {
		t.Errorf("reported at %d, skipped at %d:\n%s", stalled, skipped, log)
	}
	for _, want := range []string{"100 lines not written, -skip-failed let 1 batch pass", "Finished, but 100 lines not in the output"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, p.out)
		}
	}
}

func TestTheLivePageShowsAFailedBatchUntilCtrlC(t *testing.T) {
	p := start(t, t.TempDir(), append(poisoned, "-http", "127.0.0.1:0")...)
	s := p.http()
	var state live.State
	stalled := func() bool {
		s.json("/live?format=json", http.StatusOK, &state)
		return state.Checkpointer != nil && state.Checkpointer.Stalled == 1
	}
	p.until("a stall on the page", stalled)
	p.until("the end of all else", func() bool { return strings.Contains(p.err.String(), "Look at it until Ctrl-C") })
	if !stalled() || len(state.Checkpointer.Partitions) != 6 {
		t.Fatalf("the page has %+v", state.Checkpointer)
	}
	first := state.Checkpointer.Partitions[0]
	if !strings.HasSuffix(first.Name, "/1") || first.Head == nil || !first.Head.Failed || first.Head.LastOffset != 399 ||
		first.Committed != 300 || time.Since(first.Head.Since) > patience {
		t.Errorf("the partition is %+v, its head %+v", first, first.Head)
	}
	if got := s.metric("tidemark_stalled_partitions"); got != 1 {
		t.Errorf("%v partitions are stalled as a metric", got)
	}
	if status, page := s.get("/live"); status != http.StatusOK || !strings.Contains(page, "Tidemark demo") {
		t.Errorf("the page answers %d: %.200s", status, page)
	}
	p.signal(syscall.SIGINT)
	p.stalledBy()
}

func TestALineToFailMustBeOneOfTheInput(t *testing.T) {
	for args, want := range map[string]string{
		"-fail-line -1":   "-fail-line is -1, want a line",
		"-fail-line 4001": "has 4,000 lines",
	} {
		p := start(t, t.TempDir(), strings.Fields(args)...)
		if code := p.wait(); code != exitUsage || !strings.Contains(p.err.String(), want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", args, code, exitUsage, want, p.err)
		}
	}
}
