package explore

import (
	"fmt"
	"os"
	"strings"
)

// Level says how much is explored; each level includes those below.
type Level int

const (
	Short Level = iota // seconds: part of every test run
	Usual              // minutes
	Full               // hours, for nights
)

// LevelVariable is the environment variable that chooses the level: "short",
// "usual" (the default) or "full".
const LevelVariable = "TIDEMARK_EXPLORE"

// ResultsVariable is the environment variable that names a file to which Run
// adds a line per configuration; see Row.
const ResultsVariable = "TIDEMARK_EXPLORE_RESULTS"

// Config is a configuration: a small program over shipped code and the search
// it gets.
type Config struct {
	Name   string // one word, unique in the module
	Title  string // what meets what
	Level  Level  // the lowest level that includes it
	Search Search
	Setup  func() Program
}

// TB is what Run needs of a test.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run explores a configuration, or repeats the one execution that the
// environment names, and fails the test if something is wrong.
func Run(t TB, c Config) {
	t.Helper()
	schedule, repeats, err := wanted(c.Name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if repeats {
		rerun(t, c, schedule)
		return
	}
	level, err := level()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if c.Level > level || os.Getenv(ScheduleVariable) != "" {
		return
	}
	result := c.Search.Explore(c.Setup)
	t.Logf("%s: bound: %s, %d executions (%d abandoned), %d steps, %v", c.Name, c.Search, result.Executions, result.Abandoned, result.Steps, result.Time)
	if result.Failure != "" {
		t.Fatalf("%s", report(t, c, result))
	}
	if err := keep(c, result); err != nil {
		t.Fatalf("%v", err)
	}
}

// level reads the level from the environment.
func level() (Level, error) {
	switch text := os.Getenv(LevelVariable); text {
	case "short":
		return Short, nil
	case "", "usual":
		return Usual, nil
	case "full":
		return Full, nil
	default:
		return 0, fmt.Errorf("explore: %s is %q, legal are short, usual and full", LevelVariable, text)
	}
}

// report says what is wrong, how to see it again, and what happened.
func report(t TB, c Config, result Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: execution %d: %s\n", c.Name, result.Executions, result.Failure)
	if result.Schedule == "" {
		return b.String()
	}
	fmt.Fprintf(&b, "repeat it with\n\t%s='%s:%s' go test -tags explore -run '^%s$' .\n", ScheduleVariable, c.Name, result.Schedule, t.Name())
	failure, trace, err := Repeat(result.Schedule, c.Setup)
	switch {
	case err != nil:
		fmt.Fprintln(&b, err)
	case firstLine(failure) != firstLine(result.Failure):
		fmt.Fprintf(&b, "repeated here it says %q: the program is not deterministic\n", failure)
	}
	b.WriteString(strings.Join(trace, "\n"))
	return b.String()
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

func rerun(t TB, c Config, schedule string) {
	t.Helper()
	failure, trace, err := Repeat(schedule, c.Setup)
	switch {
	case err != nil:
		t.Fatalf("%v", err)
	case failure != "":
		t.Fatalf("%s: %s\n%s", c.Name, failure, strings.Join(trace, "\n"))
	}
	t.Logf("%s: this execution is right\n%s", c.Name, strings.Join(trace, "\n"))
}
