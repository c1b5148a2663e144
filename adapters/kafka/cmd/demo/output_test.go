package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// output is what the files hold, read without any code of the program.
type output struct {
	times        map[int64]int // how often each line is there
	events, dead int
	reasons      map[string]int
}

type outputLine struct {
	Src       string  `json:"src"`
	Line      int64   `json:"line"`
	Partition int32   `json:"partition"`
	Offset    int64   `json:"offset"`
	Target    string  `json:"target"`
	Reason    string  `json:"reason"`
	Raw       *string `json:"raw"`
	RawBase64 *string `json:"raw_base64"`
	RawFile   *string `json:"raw_file"`
}

// readOutput reads every line of both files as JSON, and compares what it can
// with the input: dead letters hold their line to the byte, events a part.
func readOutput(t *testing.T, input []byte, outs ...string) *output {
	t.Helper()
	lines := strings.Split(string(input), "\n")
	o := &output{times: map[int64]int{}, reasons: map[string]int{}}
	for _, out := range outs {
		for _, name := range []string{"events.ndjson", "dead.ndjson"} {
			text := mustRead(t, filepath.Join(out, name))
			if len(text) > 0 && text[len(text)-1] != '\n' {
				t.Fatalf("%s ends in the middle of a line", name)
			}
			for raw := range bytes.Lines(text) {
				var l outputLine
				if err := json.Unmarshal(raw, &l); err != nil {
					t.Fatalf("%s: %v in %s", name, err, raw)
				}
				if l.Line < 1 || l.Line > int64(len(lines)) {
					t.Fatalf("%s: there is no line %d", name, l.Line)
				}
				o.times[l.Line]++
				want := lines[l.Line-1]
				if name == "events.ndjson" {
					o.events++
					if l.Target == "" || !strings.Contains(want, l.Target) {
						t.Fatalf("line %d is %q and became %s", l.Line, want, raw)
					}
					continue
				}
				o.dead++
				o.reasons[l.Reason]++
				if got := l.text(t); got != want {
					t.Fatalf("line %d is %.80q and its dead letter has %.80q", l.Line, want, got)
				}
			}
		}
	}
	return o
}

// text is the line that a dead letter is about.
func (l *outputLine) text(t *testing.T) string {
	t.Helper()
	switch {
	case l.Raw != nil:
		return *l.Raw
	case l.RawBase64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*l.RawBase64)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	case l.RawFile != nil:
		return string(mustRead(t, *l.RawFile))
	}
	t.Fatalf("dead letter of line %d has no text", l.Line)
	return ""
}

// covers checks that every line from 1 to n is there, and returns how many
// are there once more.
func (o *output) covers(t *testing.T, n int) int {
	t.Helper()
	for line := int64(1); line <= int64(n); line++ {
		if o.times[line] == 0 {
			t.Fatalf("line %d of %d is in no file", line, n)
		}
	}
	if len(o.times) != n {
		t.Fatalf("%d different lines, want %d", len(o.times), n)
	}
	return o.repeated()
}

// repeated is how many lines are there once more.
func (o *output) repeated() (n int) {
	for _, times := range o.times {
		n += times - 1
	}
	return n
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
