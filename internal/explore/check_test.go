package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fake stands for the test that Run fails.
type fake struct{ logs, failure string }

func (f *fake) Helper()                    {}
func (f *fake) Name() string               { return "TestFake" }
func (f *fake) Logf(s string, args ...any) { f.logs += fmt.Sprintf(s, args...) }
func (f *fake) Fatalf(s string, args ...any) {
	f.failure = fmt.Sprintf(s, args...)
	panic(f)
}

// try runs a configuration and returns the test it ran in.
func try(c Config) (f *fake) {
	f = new(fake)
	defer func() {
		if p := recover(); p != nil && p != any(f) {
			panic(p)
		}
	}()
	Run(f, c)
	return f
}

// A planted bug is reported with a schedule that makes it again, from the
// environment.
func TestAReportedScheduleRepeats(t *testing.T) {
	c := Config{Name: "planted", Search: Exhaust(1000), Setup: func() Program { return publication(true) }}
	report := try(c).failure
	m := regexp.MustCompile(ScheduleVariable + `='(planted:[a-h0-9]+)' go test -tags explore -run '\^TestFake\$' \.`).FindStringSubmatch(report)
	if m == nil || !strings.Contains(report, "data race") || !strings.Contains(report, "failure_test.go") {
		t.Fatalf("reported %q", report)
	}
	t.Setenv(ScheduleVariable, m[1])
	if f := try(c); !strings.Contains(f.failure, "data race") {
		t.Errorf("repeated: %q", f.failure)
	}
	// Mended, the same execution is right.
	c.Setup = func() Program { return publication(false) }
	if f := try(c); f.failure != "" || !strings.Contains(f.logs, "this execution is right") {
		t.Errorf("mended: %q, %q", f.failure, f.logs)
	}
	c.Name = "another"
	if f := try(c); f.failure != "" || f.logs != "" {
		t.Errorf("another configuration ran: %q, %q", f.failure, f.logs)
	}
	t.Setenv(ScheduleVariable, "planted")
	if f := try(c); !strings.Contains(f.failure, "legal is configuration:schedule") {
		t.Errorf("a schedule of no configuration: %q", f.failure)
	}
}

func TestLevelsIncludeThoseBelow(t *testing.T) {
	for text, ran := range map[string]string{"short": "012"[:1], "": "01", "usual": "01", "full": "012", "long": ""} {
		t.Setenv(LevelVariable, text)
		var got string
		for l := range Full + 1 {
			f := try(Config{Name: "level", Level: l, Search: Exhaust(1000), Setup: func() Program { return wakeUp(true) }})
			if f.logs != "" {
				got += fmt.Sprint(int(l))
			}
			if (f.failure != "") != (text == "long") {
				t.Errorf("%s=%q: %q", LevelVariable, text, f.failure)
			}
		}
		if got != ran {
			t.Errorf("%s=%q ran the levels %q, want %q", LevelVariable, text, got, ran)
		}
	}
}

func TestResultsAreReadAsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	t.Setenv(ResultsVariable, file)
	for _, s := range []Search{Exhaust(1000), Bound(2, 1000), Random(10, 5)} {
		if f := try(Config{Name: "kept", Title: "a thing", Level: Usual, Search: s, Setup: func() Program { return wakeUp(true) }}); f.failure != "" {
			t.Fatal(f.failure)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var bounds []string
	for line := range strings.Lines(string(text)) {
		row, err := ParseRow(strings.TrimSuffix(line, "\n"))
		if err != nil || row.Name != "kept" || row.Title != "a thing" || row.Level != Usual || row.Executions < 2 || row.Time > time.Minute {
			t.Errorf("line %q is read as %+v, %v", line, row, err)
		}
		bounds = append(bounds, row.Bound)
	}
	if got, want := strings.Join(bounds, "; "), "none; 2 preemptions; random, seed 5"; got != want {
		t.Errorf("bounds %q, want %q", got, want)
	}
	for _, line := range []string{"", "a\tb\tc\td\t1\t1s", "full\tb\tc\td\tx\t1s", "full\tb\tc\td\t1\tx"} {
		if row, err := ParseRow(line); err == nil {
			t.Errorf("line %q is read as %+v", line, row)
		}
	}
}
