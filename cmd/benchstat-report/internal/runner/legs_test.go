package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBaseMeasuresTwoCommits(t *testing.T) {
	dir := module(t, `func BenchmarkX(b *testing.B) { for _, i := range []string{"a", "b"} { b.Run("impl="+i, func(b *testing.B) { for b.Loop() {}; b.ReportMetric(1, "version") }) } }`)
	repository(t, dir)
	base := gitIn(t, dir, "rev-parse", "HEAD")[:12]
	write(t, dir, map[string]string{
		"fake_test.go":         benchmarks(`func BenchmarkX(b *testing.B) { for _, i := range []string{"a", "b", "c"} { b.Run("impl="+i, func(b *testing.B) { for b.Loop() {}; b.ReportMetric(2, "version") }) } }`),
		"fresh/fresh_test.go":  benchmarks(`func BenchmarkFresh(b *testing.B) { for b.Loop() {} }`),
		".git/hooks/keep":      "",
		".git/hooks/unrelated": "",
	})
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "hooked")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	commitAll(t, dir)
	head := gitIn(t, dir, "rev-parse", "HEAD")[:12]
	r := runs(t, t.Context(), parsed(t, "-base", "HEAD~1", "-rounds", "2", "-benchtime", "1x", dir, filepath.Join(dir, "fresh")))
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.progress)
	}
	for _, c := range []struct {
		name, leg, commit string
		want              int
	}{
		{"X/impl=a", "base", base, 2}, {"X/impl=a", "new", head, 2}, {"X/impl=c", "base", base, 0}, {"X/impl=c", "new", head, 2}, {"Fresh", "new", head, 2},
	} {
		if n := r.count(c.name, "leg="+c.leg, "commit="+c.commit, "dirty=false"); n != c.want {
			t.Errorf("%d results of %s in leg %s, want %d\n%s", n, c.name, c.leg, c.want, r.text)
		}
	}
	for _, res := range r.list {
		version, own := metric(res, "version")
		if want := map[string]float64{"base": 1, "new": 2}[res.GetConfig("leg")]; own && version != want {
			t.Errorf("leg %s ran version %v", res.GetConfig("leg"), version)
		}
	}
	var order []string
	for _, res := range r.list[:3] {
		order = append(order, res.GetConfig("leg"))
	}
	if got := strings.Join(order, " "); got != "base new base" {
		t.Errorf("the first arms are of the legs %s, want the legs of an implementation beside each other", got)
	}
	if list := gitIn(t, dir, "worktree", "list"); strings.Count(list, "\n") > 0 {
		t.Errorf("the worktree is still there:\n%s", list)
	}
	if _, err := os.Stat(filepath.Join(dir, "hooked")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a hook of the repository ran")
	}
	if !strings.Contains(r.progress, "is not in the base leg") {
		t.Errorf("the progress does not say that a package is new:\n%s", r.progress)
	}
	if want := "## leg base is commit " + base + ", leg new is commit " + head + " (dirty: false)\n"; !strings.Contains(r.text, want) {
		t.Errorf("the file has no %q", want)
	}
}

func TestBaseRefusesChangesThatAreInNoCommit(t *testing.T) {
	dir := module(t, `func BenchmarkX(b *testing.B) { for b.Loop() {} }`)
	write(t, dir, map[string]string{"README.md": "a", "results.txt": "old"})
	repository(t, dir)
	out := filepath.Join(dir, "results.txt")
	args := []string{"-base", "HEAD", "-rounds", "1", "-benchtime", "1x", "-o", out, dir}
	write(t, dir, map[string]string{"README.md": "b", "results.txt": "new", "notes.txt": "not built"})
	if r := runs(t, t.Context(), parsed(t, args...)); r.err != nil {
		t.Errorf("with changes in a document and in the result file: %v", r.err)
	}
	write(t, dir, map[string]string{"other.go": "package fake\n"})
	r := runs(t, t.Context(), parsed(t, args...))
	if !errors.Is(r.err, ErrUsage) || !strings.Contains(r.err.Error(), "other.go") || !strings.Contains(r.err.Error(), "-dirty") {
		t.Errorf("with a new source: %v, want ErrUsage that names it and -dirty", r.err)
	}
	r = runs(t, t.Context(), parsed(t, append([]string{"-dirty"}, args...)...))
	if r.err != nil || r.count("X", "leg=new", "dirty=true") != 1 || r.count("X", "leg=base", "dirty=false") != 1 {
		t.Errorf("with -dirty: %v\n%s", r.err, r.text)
	}
}

func TestBaseNeedsARevisionThatIsThere(t *testing.T) {
	dir := module(t, `func BenchmarkX(b *testing.B) { for b.Loop() {} }`)
	repository(t, dir)
	for _, revision := range []string{"no-such-branch", "--help", "HEAD^{tree}"} {
		r := runs(t, t.Context(), parsed(t, "-base", revision, dir))
		if !errors.Is(r.err, ErrUsage) || !strings.Contains(r.err.Error(), "no such revision") {
			t.Errorf("-base %s: %v, want ErrUsage", revision, r.err)
		}
	}
	t.Setenv("PATH", goOnly(t))
	r := runs(t, t.Context(), parsed(t, "-base", "HEAD", dir))
	if !errors.Is(r.err, ErrUsage) || !strings.Contains(r.err.Error(), "needs git") {
		t.Errorf("without git: %v, want ErrUsage that says so", r.err)
	}
}

// goOnly is a PATH with go and nothing else.
func goOnly(t *testing.T) string {
	t.Helper()
	root, err := output(t.Context(), ".", "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "bin")
}

func TestABaseThatDoesNotBuildLeavesNothingBehind(t *testing.T) {
	dir := module(t, "var _ = wrong")
	repository(t, dir)
	write(t, dir, map[string]string{"fake_test.go": benchmarks(`func BenchmarkX(b *testing.B) {}`)})
	commitAll(t, dir)
	r := runs(t, t.Context(), parsed(t, "-base", "HEAD~1", dir))
	if !errors.Is(r.err, ErrUsage) || !strings.Contains(r.err.Error(), "undefined: wrong") {
		t.Errorf("Run: %v, want ErrUsage with what the compiler said", r.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := runs(t, ctx, parsed(t, "-base", "HEAD", dir)); !errors.Is(r.err, context.Canceled) {
		t.Errorf("an interrupted run: %v, want context.Canceled", r.err)
	}
	if list := gitIn(t, dir, "worktree", "list"); strings.Count(list, "\n") > 0 {
		t.Errorf("the worktree is still there:\n%s", list)
	}
}

func TestAAHasTwoLegsOfTheSameSources(t *testing.T) {
	dir := module(t, two)
	r := runs(t, t.Context(), parsed(t, "-aa", "-rounds", "2", "-benchtime", "1ms", dir))
	if r.err != nil {
		t.Fatal(r.err)
	}
	iterations := map[string]int{}
	for _, leg := range []string{"base", "new"} {
		for _, name := range []string{"Queue/impl=channel/size=1", "Queue/impl=lane/size=2"} {
			if n := r.count(name, "leg="+leg); n != 2 {
				t.Errorf("%d results of %s in leg %s, want 2", n, name, leg)
			}
		}
	}
	for _, res := range r.list {
		size := string(res.Name.Full())[strings.Index(string(res.Name.Full()), "size="):]
		if n := iterations[size]; n > 0 && n != res.Iters {
			t.Errorf("%s has %d iterations, and another arm or leg %d", res.Name, res.Iters, n)
		}
		iterations[size] = res.Iters
	}
}
