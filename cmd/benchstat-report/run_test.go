package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tidemark-go/tidemark/internal/longtest"
)

// clocked is a package whose benchmarks report what a made-up clock says: the
// cost of each, and up to 1 % of what a machine adds. So a test does not
// depend on how busy its own machine is.
func clocked(costs map[string]int) string {
	var b strings.Builder
	b.WriteString(`package fake

import (
	"fmt"
	"hash/maphash"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	fmt.Println("Unit ns/msg better=lower")
	os.Exit(m.Run())
}

func clocked(b *testing.B, cost float64) {
	for b.Loop() {
	}
	noise := float64(maphash.Bytes(maphash.MakeSeed(), nil)%1000) / 1000
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(cost*(1+noise/100), "ns/msg")
	b.ReportMetric(50, "bounce-ns")
}

`)
	for _, name := range []string{"A", "B", "C"} {
		fmt.Fprintf(&b, "func Benchmark%s(b *testing.B) { b.Run(\"impl=lane\", func(b *testing.B) { clocked(b, %d) }) }\n", name, costs[name])
	}
	return b.String()
}

// repository is a git repository with a package of the costs in its first
// commit and of the others in its second.
func repository(t *testing.T, first, second map[string]int) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for _, costs := range []map[string]int{first, second} {
		for name, text := range map[string]string{"go.mod": "module example.com/fake\n\ngo 1.26\n", "fake_test.go": clocked(costs)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", "x")
	}
	return dir
}

// exitOf runs a command and returns its output and exit code.
func exitOf(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), complaint.String(), cmd.ProcessState.ExitCode()
}

func TestASlowdownBetweenTwoCommitsGatesThatRowAlone(t *testing.T) {
	if longtest.LeftOut(t, "a hundred processes of another program") {
		return
	}
	tool := built(t)
	dir := repository(t, map[string]int{"A": 100, "B": 100, "C": 100}, map[string]int{"A": 100, "B": 120, "C": 100})
	file := filepath.Join(t.TempDir(), "legs.txt")
	if _, stderr, code := exitOf(t, exec.Command(tool, "run", "-base", "HEAD~1", "-rounds", "10", "-benchtime", "1x", "-o", file, dir)); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, stderr)
	}
	stdout, stderr, code := exitOf(t, exec.Command(tool, "gate", "-format", "csv", file))
	if code != exitRegression {
		t.Errorf("gate: exit code %d, want %d\n%s%s", code, exitRegression, stdout, stderr)
	}
	var slower []string
	for line := range strings.Lines(stdout) {
		if strings.Contains(line, "slower") {
			slower = append(slower, line)
		}
	}
	if len(slower) != 1 || !strings.Contains(slower[0], "B/impl=lane") {
		t.Errorf("slower are %q, want B alone\n%s", slower, stdout)
	}
}

func TestEqualSourcesGateNothing(t *testing.T) {
	if longtest.LeftOut(t, "a hundred processes of another program") {
		return
	}
	tool := built(t)
	dir := repository(t, map[string]int{"A": 100, "B": 200, "C": 300}, map[string]int{"A": 100, "B": 200, "C": 300})
	file := filepath.Join(t.TempDir(), "aa.txt")
	if _, stderr, code := exitOf(t, exec.Command(tool, "run", "-aa", "-rounds", "10", "-benchtime", "1x", "-o", file, dir)); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, stderr)
	}
	for _, args := range [][]string{{"gate", file}, {"gate", "-noise", file, file}} {
		if stdout, stderr, code := exitOf(t, exec.Command(tool, args...)); code != 0 {
			t.Errorf("%v: exit code %d, want 0\n%s%s", args, code, stdout, stderr)
		}
	}
}

func TestExitCodesOfRun(t *testing.T) {
	if longtest.LeftOut(t, "processes that build others") {
		return
	}
	tool := built(t)
	dir := repository(t, map[string]int{"A": 1, "B": 1, "C": 1}, nil)
	broken := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/broken\n\ngo 1.26\n",
		"b_test.go": "package broken\n\nimport \"testing\"\n\nfunc BenchmarkBad(b *testing.B) { b.Fatal(\"no\") }\nfunc BenchmarkGood(b *testing.B) { for b.Loop() {} }\n",
	} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string // in standard error
	}{
		{[]string{"run", "-rounds", "1", "-benchtime", "1x", dir}, 0, "3 results of 3 rows, 1 whole round, in"},
		{[]string{"run", "-rounds", "1", "-benchtime", "1x", broken}, exitFailed, "BenchmarkBad"},
		{[]string{"run", "-nonsense"}, exitUsage, "-nonsense"},
		{[]string{"run", "-rounds", "-1", dir}, exitUsage, "-rounds"},
		{[]string{"run", "-base", "no-such", dir}, exitUsage, "no such revision"},
		{[]string{"run", "-bench", "Nothing", dir}, exitUsage, "no benchmark matches"},
		{[]string{"run", "-h"}, 0, ""},
	} {
		stdout, stderr, code := exitOf(t, exec.Command(tool, c.args...))
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, want %d and %q in\n%s", c.args, code, c.code, c.want, stderr)
		}
		if c.code != 0 && c.code != exitFailed && stdout != "" {
			t.Errorf("%v wrote results: %q", c.args, stdout)
		}
		if strings.Contains(stderr, "goroutine ") {
			t.Errorf("%v panicked:\n%s", c.args, stderr)
		}
	}
}

func TestAnInterruptLeavesAValidFile(t *testing.T) {
	tool := built(t)
	dir := repository(t, map[string]int{"A": 1, "B": 1, "C": 1}, nil)
	file := filepath.Join(t.TempDir(), "r.txt")
	var progress bytes.Buffer
	cmd := exec.Command(tool, "run", "-aa", "-rounds", "1000000", "-benchtime", "1x", "-o", file, dir)
	cmd.Stderr = &progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if text, err := os.ReadFile(file); err == nil && bytes.Count(text, []byte("\nBenchmark")) > 5 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code tells more
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, &progress)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	r := benchfmt.NewReader(bytes.NewReader(text), file)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			n++
			if leg := rec.GetConfig("leg"); leg != "base" && leg != "new" {
				t.Errorf("result %d is of leg %q", n, leg)
			}
		case *benchfmt.SyntaxError:
			t.Errorf("the file is not valid: %v", rec)
		}
	}
	if n < 6 || !bytes.HasSuffix(text, []byte("\n")) {
		t.Errorf("the file has %d results, want 6 or more, and whole lines", n)
	}
}
