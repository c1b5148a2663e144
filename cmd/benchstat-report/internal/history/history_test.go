package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// of makes the history of files with these texts, from inside dir.
func of(t *testing.T, dir string, texts ...string) *History {
	t.Helper()
	from := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(from, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, fmt.Sprintf("file%d=%s", i, path))
	}
	set, err := parse.Read(paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pair.Build(set, pair.Options{Col: ".file"})
	if err != nil {
		t.Fatal(err)
	}
	return Of(t.Context(), tables, verdict.Defaults(100), dir)
}

// file is the results of one commit.
func file(head string, ns float64) string {
	return head + strings.Repeat(fmt.Sprintf("BenchmarkX 1 %v ns/op\n", ns), 6)
}

func labels(h *History) string {
	var list []string
	for _, c := range h.Commits {
		list = append(list, c.Label)
	}
	return strings.Join(list, " ")
}

func centers(s *Series) string {
	var list []string
	for _, p := range s.Points {
		list = append(list, fmt.Sprint(p.Commit, ":", p.Summary.Center))
	}
	return strings.Join(list, " ")
}

// repository makes commits one after the other and returns their ids.
func repository(t *testing.T, n int) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	for i := range n {
		run("commit", "-q", "--allow-empty", "--date", fmt.Sprintf("2026-01-%02dT00:00:00Z", 20-i), "-m", fmt.Sprint(i))
		ids = append(ids, run("rev-parse", "HEAD"))
	}
	return dir, ids
}

func TestCommitsThatGitKnowsAreInItsOrder(t *testing.T) {
	dir, ids := repository(t, 3)
	// The dates in the files say the opposite, and the files come otherwise.
	h := of(t, dir,
		file("commit: "+ids[2][:12]+"\ncommit-date: 2026-01-01\n", 30),
		file("commit: "+ids[0][:12]+"\ncommit-date: 2026-01-03\n", 10),
		file("commit: "+ids[1][:12]+"\ncommit-date: 2026-01-02\n", 20),
		file("commit: "+ids[1][:12]+"\ncommit-date: 2026-01-02\ndirty: true\n", 25))
	want := ids[0][:12] + " " + ids[1][:12] + " " + ids[1][:12] + "+ " + ids[2][:12]
	if h.Order != Git || labels(h) != want {
		t.Errorf("by %s: %s, want %s", h.Order, labels(h), want)
	}
	if got := centers(h.Series[0]); got != "0:10 1:20 2:25 3:30" {
		t.Errorf("the series is %s", got)
	}
}

func TestOtherOrders(t *testing.T) {
	dir, ids := repository(t, 1)
	for name, c := range map[string]struct {
		texts []string
		order Order
		want  string
	}{
		"dates": {[]string{file("commit: ccccccc\ndate: 2026-03-01\n", 1), file("commit: aaaaaaa\ncommit-date: 2026-01-01\n", 2), file("commit: bbbbbbb\ndate: 2026-02-01\n", 3)},
			Dates, "aaaaaaa bbbbbbb ccccccc"},
		"time zones": {[]string{file("commit: ccccccc\ndate: 2026-03-01T09:00:00+09:00\n", 1), file("commit: aaaaaaa\ndate: 2026-03-01T01:00:00Z\n", 2), file("commit: bbbbbbb\ndate: 2026-02-28T23:30:00Z\n", 3)},
			Dates, "bbbbbbb ccccccc aaaaaaa"},
		"one commit that git does not know": {[]string{file("commit: ccccccc\ndate: 2026-03-01\n", 1), file("commit: "+ids[0][:8]+"\ndate: 2026-01-01\n", 2)},
			Dates, ids[0][:8] + " ccccccc"},
		"one date is missing": {[]string{file("commit: ccccccc\ndate: 2026-03-01\n", 1), file("commit: aaaaaaa\n", 2)}, Arguments, "ccccccc aaaaaaa"},
		"no commits":          {[]string{file("", 1), file("", 2)}, Arguments, "file0 file1"},
		"no commit at all":    {[]string{file("commit: --all\n", 1), file("commit: HEAD\n", 2)}, Arguments, "--all HEAD"},
		"later rows":          {[]string{file("commit: ccccccc\n", 1), "commit: aaaaaaa\nBenchmarkW 1 5 B/op\nBenchmarkX 1 5 ns/op\n"}, Arguments, "ccccccc aaaaaaa"},
	} {
		if h := of(t, dir, c.texts...); h.Order != c.order || labels(h) != c.want {
			t.Errorf("%s: by %s: %q, want by %s: %q", name, h.Order, labels(h), c.order, c.want)
		}
	}
}

func TestFilesOfOneCommitAreOnePoint(t *testing.T) {
	h := of(t, t.TempDir(), file("commit: aaaaaaa\n", 10), file("commit: aaaaaaa\n", 20))
	if len(h.Commits) != 1 || h.Series[0].Points[0].Summary.N != 12 || h.Series[0].Points[0].Summary.Center != 15 {
		t.Errorf("the history is %+v, %+v", h.Commits, h.Series[0].Points)
	}
	for want, ids := range map[string][]string{
		"aaaaaaab":                  {"aaaaaaa", "aaaaaaab", "aaaaaaa"},   // cut short
		"aaaaaaa aaaaaaab aaaaaaac": {"aaaaaaa", "aaaaaaab", "aaaaaaac"},  // of either
		"aaaaaaabc":                 {"aaaaaaa", "aaaaaaabc", "aaaaaaab"}, // in two lengths
		"release release2":          {"release", "release2", "release"},   // no commits of git
	} {
		var texts []string
		for _, id := range ids {
			texts = append(texts, file("commit: "+id+"\n", 10))
		}
		if h := of(t, t.TempDir(), texts...); labels(h) != want {
			t.Errorf("commits %v are %q, want %q", ids, labels(h), want)
		}
	}
}

func TestASeriesIsOfOneRegimeWhereItCan(t *testing.T) {
	line := func(bounce, ns float64, n int) string {
		return strings.Repeat(fmt.Sprintf("BenchmarkX 1 %v ns/op %v bounce-ns\n", ns, bounce), n)
	}
	h := of(t, t.TempDir(), "commit: aaaaaaa\n"+line(50, 10, 6)+line(190, 30, 8), "commit: bbbbbbb\n"+line(50, 11, 3)+line(190, 33, 9))
	p := h.Series[0].Points
	if p[0].Regime != verdict.Near || p[1].Regime != verdict.Near || centers(h.Series[0]) != "0:10 1:11" || p[1].Summary.FarN != 9 || p[1].Summary.N != 3 {
		t.Errorf("the points are %+v", p)
	}
	// Where no regime has samples of every commit, each point says its own.
	h = of(t, t.TempDir(), "commit: aaaaaaa\n"+line(50, 10, 6), "commit: bbbbbbb\n"+line(190, 33, 9))
	p = h.Series[0].Points
	if p[0].Regime != verdict.Near || p[1].Regime != verdict.Far || centers(h.Series[0]) != "0:10 1:33" {
		t.Errorf("the points are %+v", p)
	}
}
