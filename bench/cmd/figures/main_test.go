package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

const root = "../../.."

// tool is benchstat-report, built for the tests.
var tool string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		panic(err)
	}
	tool = filepath.Join(dir, "benchstat-report")
	cmd := exec.Command("go", "build", "-o", tool, "./cmd/benchstat-report")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// TestDocumentsAreWhatTheKeptFileGives: no figure in a document is typed.
func TestDocumentsAreWhatTheKeptFileGives(t *testing.T) {
	t.Chdir(root)
	set, err := results.Load(t.Context(), []string{tool}, figures)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := charts(t.Context(), []string{tool}, figures)
	if err != nil {
		t.Fatal(err)
	}
	for name, svg := range drawn {
		file := filepath.Join("docs", results.Charts, name+".svg")
		if text, err := os.ReadFile(file); err != nil || string(text) != string(svg) {
			t.Errorf("%s is not what %s gives (%v); run: make bench-docs", file, figures, err)
		}
	}
	if files, err := filepath.Glob(filepath.Join("docs", results.Charts, "*")); err != nil || len(files) != len(drawn) {
		t.Errorf("the folder of the charts holds %d files (%v), want the %d that %s gives", len(files), err, len(drawn), figures)
	}
	for name, wanted := range documents {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := generate(set, string(doc), wanted, names(drawn))
		if err != nil {
			t.Fatal(err)
		}
		if want != string(doc) {
			t.Errorf("%s is not what %s gives; run: make bench-docs", name, figures)
		}
	}
}

// copied is a folder with the documents and a result file, and the current
// one.
func copied(t *testing.T, figures string) {
	t.Helper()
	dir := t.TempDir()
	for name := range documents {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte(figures), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

const oneRow = "Unit ns/batch better=lower\nBenchmarkCheckpointCycle/impl=tidemark/partitions=4/tick=256/order=scrambled 1 5 ns/batch\n" +
	"BenchmarkCheckpointCycle/impl=channel/partitions=4/tick=256/order=scrambled 1 50 ns/batch\n"

func TestDocumentsAreWrittenOnce(t *testing.T) {
	copied(t, oneRow)
	read := func() string {
		var all strings.Builder
		for _, name := range []string{"docs/BENCHMARKS.md", "README.md"} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	before := read()
	stale := filepath.Join("docs", results.Charts, "against-x-Old-ns-op.svg")
	if err := os.MkdirAll(filepath.Dir(stale), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, []byte("<svg/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-docs", "-tool", tool, "in.txt"}, new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	first := read()
	if first == before || !strings.Contains(first, "| a batch from issue to watermark, one goroutine | 50.0 | 5.00 | 0.10") {
		t.Errorf("the documents do not show the figures of the file")
	}
	if err := run(t.Context(), []string{"-docs", "-tool", tool, "in.txt"}, new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a chart of other figures is still there (%v)", err)
	}
	if read() != first {
		t.Error("a second time changed the documents")
	}
}

func TestTargetsArePrinted(t *testing.T) {
	copied(t, oneRow)
	var out strings.Builder
	if err := run(t.Context(), []string{"-tool", tool, "in.txt"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "life cycle, 1 goroutine  0.20     0.10") || !strings.Contains(out.String(), "not measured: ") {
		t.Errorf("the targets are\n%s", &out)
	}
	for _, args := range [][]string{{"-tool", tool, "missing.txt"}, {"a", "b"}, {"-nonsense"}, {"-tool", "/no/such/tool", "in.txt"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("run(%q) succeeded", args)
		}
	}
}

// TestARunOfTheRowsMeetsTheTargets goes the whole way: the rows are built and
// measured by their names, and the target finds them.
func TestARunOfTheRowsMeetsTheTargets(t *testing.T) {
	t.Chdir(root)
	path := filepath.Join(t.TempDir(), "r.txt")
	cmd := exec.Command(tool, "run", "-rounds", "1", "-benchtime", "1x", "-impl", "tidemark|channel",
		"-bench", "CheckpointCycle///tick=256/order=scrambled", "-o", path, "./bench")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	set, err := results.Load(t.Context(), []string{tool}, path)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := set.CheckAll()
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, o := range outcomes {
		if o.Verdict == results.NotMeasured {
			continue
		}
		measured++
		if o.N != 1 || o.Regime != "one core" {
			t.Errorf("%+v, want one sample of a row that says it runs on one core", o)
		}
	}
	if measured != 2 { // the time and the allocations
		t.Errorf("%d targets were measured, want 2", measured)
	}
	if !strings.HasPrefix(set.Command, "benchstat-report run -rounds 1 -benchtime 1x ") {
		t.Errorf("the command is %q", set.Command)
	}
}
