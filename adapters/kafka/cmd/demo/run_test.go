package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/brokertest"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
)

func TestTheBundledSampleRunsThroughAndASecondRunReadsNothing(t *testing.T) {
	dir := t.TempDir()
	s := complete(t, dir)
	if s.in != sample.Lines || s.out+s.dead != s.in || s.committed != sample.Lines || s.end != s.committed || s.repeated != 0 {
		t.Errorf("the summary does not add up:\n%s", s.text)
	}
	o := readOutput(t, sample.Log(), filepath.Join(dir, "out"))
	if repeated := o.covers(t, sample.Lines); repeated != 0 || int64(o.events) != s.out || int64(o.dead) != s.dead {
		t.Errorf("%d repeated, %d events, %d dead; the summary says\n%s", repeated, o.events, o.dead, s.text)
	}
	for _, reason := range []string{"empty", "oversized", "unparsable"} {
		if o.reasons[reason] == 0 {
			t.Errorf("the sample has no %s line", reason)
		}
	}
	for _, want := range []string{"drains ", "fetch→commit ", "max ", "peak memory ", "Finished"} {
		if !strings.Contains(s.text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, s.text)
		}
	}
	before := sizeOf(filepath.Join(dir, "out"))
	again := complete(t, dir)
	if again.in != 0 || again.out != 0 || again.dead != 0 || again.committed != sample.Lines || !strings.Contains(again.text, "produced nothing") {
		t.Errorf("the second run did something:\n%s", again.text)
	}
	if after := sizeOf(filepath.Join(dir, "out")); after != before {
		t.Errorf("the output grew from %d to %d bytes", before, after)
	}
	if other := complete(t, dir, "-group", "other", "-out", "o.ndjson"); other.in != sample.Lines {
		t.Errorf("another group read %d lines:\n%s", other.in, other.text)
	}
	if _, err := os.Stat(filepath.Join(dir, "o.dead.ndjson")); err != nil {
		t.Error(err)
	}
}

func TestEveryProtocolRunsThrough(t *testing.T) {
	const lines = 4000
	dir := t.TempDir()
	path := logFile(t, dir, lines)
	args := append([]string{"-input", path}, anyBroker(t, dir)...)
	for _, protocol := range []string{"cooperative", "eager", "kip848"} {
		s := complete(t, dir, append(args, "-protocol", protocol, "-group", brokertest.Unique(protocol), "-out", protocol)...)
		if s.in != lines || s.committed != lines {
			t.Errorf("%s:\n%s", protocol, s.text)
		}
		readOutput(t, mustRead(t, path), filepath.Join(dir, protocol)).covers(t, lines)
	}
}

func TestTextOfAnyKindIsNeverFatal(t *testing.T) {
	if leftOut(t) {
		return
	}
	for name, text := range map[string]string{
		"no line feed at the end": "a\nb",
		"carriage returns":        "203.0.113.7 - - [30/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12\r\n\r\nx\r",
		"nul bytes":               "\x00\n\x00\x00\nend\x00",
		"one line feed":           "\n",
		"binary":                  "\x16\x03\x01\xff\xfe\n\xc3\x28\n\x80",
		"long lines":              strings.Repeat("x", 3_000_000) + "\n" + strings.Repeat("y", 65_536) + "\n" + strings.Repeat("z", 65_537),
		"words":                   strings.Repeat("It is a truth universally acknowledged\n", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "in put"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			lines := strings.Count(text, "\n")
			if !strings.HasSuffix(text, "\n") {
				lines++
			}
			s := complete(t, dir, "-input", "in put")
			if s.in != int64(lines) || s.out+s.dead != s.in || s.committed != s.in || s.end != s.in {
				t.Errorf("%d lines:\n%s", lines, s.text)
			}
			if repeated := readOutput(t, []byte(text), filepath.Join(dir, "out")).covers(t, lines); repeated != 0 {
				t.Errorf("%d lines repeated", repeated)
			}
		})
	}
}

func TestAnEmptyInputIsDoneAtOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := complete(t, dir, "-input", "empty"); s.in != 0 || s.end != 0 || !strings.Contains(s.text, "Finished") {
			t.Errorf("summary of nothing:\n%s", s.text)
		}
	}
}

func TestInputsThatShareADirectoryGetTopicsOfTheirOwn(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := t.TempDir()
	for i, n := range []int{10, 20, 10} {
		var text strings.Builder
		for line := range n {
			fmt.Fprintf(&text, "input %d line %d\n", n, line)
		}
		if err := os.WriteFile(filepath.Join(dir, "input"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		s := complete(t, dir, "-input", "input", "-out", fmt.Sprint("out", i))
		want := int64(n)
		if i == 2 {
			want = 0 // the first one again
		}
		if s.in != want || s.end != int64(n) {
			t.Errorf("run %d:\n%s", i, s.text)
		}
	}
}

func TestVerifyFindsWhatIsMissing(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := t.TempDir()
	p := start(t, dir, "-verify")
	if code := p.wait(); code != exitFailed || !strings.Contains(p.err.String(), "4,000 lines of bundled sample missing") {
		t.Errorf("exit code %d without any output: %s", code, p.err)
	}
	complete(t, dir)
	if p := start(t, dir, "-verify"); p.wait() != exitDone || !strings.Contains(p.out.String(), "4,000 in the output") {
		t.Errorf("after a complete run:\n%s%s", p.out, p.err)
	}
	events := filepath.Join(dir, "out", "events.ndjson")
	text := mustRead(t, events)
	for name, damage := range map[string]string{
		"line 1 the first": strings.Replace(string(text), `"line":1,`, `"line":7,`, 1),
		"cut short":        string(text) + "{\"src\":\"x\n",
	} {
		if err := os.WriteFile(events, []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
		if p := start(t, dir, "-verify"); p.wait() != exitFailed || !strings.Contains(p.err.String(), name) {
			t.Errorf("%s:\n%s%s", name, p.out, p.err)
		}
	}
}

func TestAHundredMegabytesStayBelow300MB(t *testing.T) {
	if leftOut(t) || underRace() { // which takes several times the memory
		return
	}
	dir := t.TempDir()
	path := logFile(t, dir, 610_000)
	if size := sizeOf(path); size < 100e6 {
		t.Fatalf("the input has %d bytes, want 100 MB", size)
	}
	s := complete(t, dir, "-input", path)
	var peak float64
	_, rest, _ := strings.Cut(s.text, "peak memory")
	if _, err := fmt.Sscanf(rest, "%g MB", &peak); err != nil || peak <= 0 || peak >= 300 {
		t.Errorf("peak memory %v MB, %v:\n%s", peak, err, s.text)
	}
	if s.in != 610_000 || s.out+s.dead != s.in || s.committed != s.in || s.end != s.in || s.repeated != 0 {
		t.Errorf("the summary does not add up:\n%s", s.text)
	}
}
