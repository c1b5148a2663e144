package runner

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/perf/benchfmt"

	"github.com/tidemark-go/tidemark/internal/longtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leftOut reports whether a test that starts many processes is left out: those
// that stay start processes in every way there is.
func leftOut(t *testing.T) bool {
	t.Helper()
	return longtest.LeftOut(t, "it starts many processes, which are built anew and are the same everywhere")
}

// options parses a command line.
func options(args ...string) (Options, error) {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f := NewFlags(fs)
	if err := fs.Parse(args); err != nil {
		return Options{}, err
	}
	return f.Finish(fs.Args())
}

func parsed(t *testing.T, args ...string) Options {
	t.Helper()
	o, err := options(args...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// tree writes files of a temporary folder, by their paths, and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const goMod = "module example.com/fake\n\ngo 1.26\n"

// module is a module with one package whose tests hold the given code.
func module(t *testing.T, code string) string {
	t.Helper()
	return tree(t, map[string]string{"go.mod": goMod, "fake_test.go": benchmarks(code)})
}

// benchmarks is a test file. The imports are used whatever the code is.
func benchmarks(code string) string {
	return `package fake

import (
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	_ = fmt.Sprint
	_ = os.Getenv
	_ = time.Now
)

` + code
}

// two is a benchmark with two implementations and two sizes.
const two = `
func BenchmarkQueue(b *testing.B) {
	for _, size := range []int{1, 2} {
		for _, impl := range []string{"channel", "lane"} {
			b.Run(fmt.Sprintf("impl=%s/size=%d", impl, size), func(b *testing.B) {
				n := 0
				for b.Loop() {
					n++
				}
				b.ReportMetric(float64(n), "loops")
			})
		}
	}
}
`

// result is what a run gave.
type result struct {
	err      error
	text     string // of the file
	progress string
	list     []*benchfmt.Result
	units    []string // units of the file's metadata, as often as they are there
}

// runs runs the options, with cores that stay near whatever else this machine
// does, unless they say otherwise: how often a row is measured depends on it.
func runs(t *testing.T, ctx context.Context, o Options) result {
	t.Helper()
	var out, progress bytes.Buffer
	o.Stdout, o.Progress = &out, &progress
	if o.bounce == nil {
		o.bounce = func() float64 { return 55 }
	}
	r := result{err: Run(ctx, o), progress: progress.String()}
	if r.text = out.String(); o.Out != "" && !errors.Is(r.err, ErrUsage) {
		text, err := os.ReadFile(o.Out)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		r.text = string(text)
	}
	read := benchfmt.NewReader(strings.NewReader(r.text), "file")
	for read.Scan() {
		switch rec := read.Result().(type) {
		case *benchfmt.Result:
			r.list = append(r.list, rec.Clone())
		case *benchfmt.UnitMetadata:
			r.units = append(r.units, rec.OrigUnit)
		case *benchfmt.SyntaxError:
			t.Fatalf("the file is not valid: %v\n%s", rec, r.text)
		}
	}
	if err := read.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// count is how many results have the name and the configuration.
func (r result) count(name string, config ...string) (n int) {
	for _, res := range r.list {
		ok := strings.TrimSuffix(string(res.Name.Full()), suffix(0)) == name
		for _, c := range config {
			key, value, _ := strings.Cut(c, "=")
			ok = ok && res.GetConfig(key) == value
		}
		if ok {
			n++
		}
	}
	return n
}

// repository makes a git repository of dir with all its files in one commit.
func repository(t *testing.T, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q")
	commitAll(t, dir)
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "x")
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
