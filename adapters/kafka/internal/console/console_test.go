package console

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNumbersReadWell(t *testing.T) {
	for got, want := range map[string]string{
		Count(0): "0", Count(999): "999", Count(1000): "1,000", Count(-1234567): "-1,234,567",
		Plural(1, "line"): "1 line", Plural(0, "line"): "0 lines", Plural(2000, "batch"): "2,000 batches",
		Bytes(999): "999 B", Bytes(1000): "1.00 kB", Bytes(645535): "646 kB", Bytes(99_960): "100 kB", Bytes(12_345_678): "12.3 MB", Bytes(1 << 50): "1126 TB",
		Duration(412 * time.Microsecond): "412 µs", Duration(45900 * time.Microsecond): "45.9 ms", Duration(1560 * time.Millisecond): "1.56 s",
		Duration(229 * time.Second): "3m49s", Rate(100, 0): "-", Rate(3000, 2*time.Second): "1,500/s",
		Bar(0, 10, 4): "[....]", Bar(5, 10, 4): "[##..]", Bar(11, 10, 4): "[####]", Bar(0, 0, 4): "[####]",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProgressOfATerminalLeavesNothingBehind(t *testing.T) {
	var out bytes.Buffer
	c := &Console{out: &out, terminal: true}
	c.progress("a long line of progress")
	c.progress("short")
	c.Printf("message %d", 1)
	c.progress("done")
	c.wipe()
	if got := render(out.String()); got != "message 1\n" {
		t.Errorf("on the screen: %q", got)
	}
}

// render does what a terminal does with carriage returns.
func render(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		var cells []byte
		at := 0
		for i := range len(line) {
			if line[i] == '\r' {
				at = 0
				continue
			}
			if at == len(cells) {
				cells = append(cells, ' ')
			}
			cells[at] = line[i]
			at++
		}
		lines = append(lines, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(lines, "\n")
}

func TestShowWritesWholeLinesToAFileAndALastOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := New(f).Show(func() string { return "at the end" })
	stop()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "at the end\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLoggerSaysTheSameOnceInAWhile(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelWarn)
	for i := range 5 {
		log.Warn("cannot connect", "try", i)
		log.With("group", "g").Warn("cannot connect", "try", i)
		log.Info("below the level")
	}
	log.Error("something else")
	if got := strings.Count(out.String(), "\n"); got != 2 || !strings.Contains(out.String(), "something else") {
		t.Errorf("%d lines, want 2:\n%s", got, out.String())
	}
	l := lastLogged{at: map[string]time.Time{}}
	now := time.Now()
	if l.recent("m", now) || !l.recent("m", now.Add(repeatAfter-1)) || l.recent("m", now.Add(repeatAfter)) {
		t.Error("a message is not kept quiet for exactly repeatAfter")
	}
}
