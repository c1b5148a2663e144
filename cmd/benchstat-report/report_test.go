package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runLine runs a command line in this process.
func runLine(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), env{strings.NewReader(""), &out, &errOut}, args)
	return out.String(), errOut.String(), code
}

// twoFiles writes results of two commits, of which the second is slower in one
// row of three.
func twoFiles(t *testing.T) (dir, before, after string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"old", "new"} {
		var b strings.Builder
		fmt.Fprintf(&b, "commit: %s0000\nUnit msgs/s better=higher\n", name)
		for i := range 10 {
			for _, n := range []int{1, 2, 4} {
				v := 100 + i%3 + n
				if name == "new" && n == 4 {
					v *= 2
				}
				fmt.Fprintf(&b, "BenchmarkQueue/impl=lane/producers=%d-2 10 %d ns/op %d msgs/s\n", n, v, 1e9/v)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, "old=" + filepath.Join(dir, "old.txt"), "new=" + filepath.Join(dir, "new.txt")
}

// contents reads a page and the charts beside it.
func contents(t *testing.T, page, charts string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(charts, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range append(files, page) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = string(data)
	}
	return all
}

func TestReportWritesAPageAndItsChartsTheSameEachTime(t *testing.T) {
	dir, before, after := twoFiles(t)
	var runs []map[string]string
	for _, name := range []string{"a", "b"} {
		page, charts := filepath.Join(dir, name, "report.html"), filepath.Join(dir, name, "charts", "deep")
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := runLine(t, "report", "-o", page, "-svg", charts, before, after)
		if code != 0 || stdout != "" || !strings.Contains(stderr, "charts are in "+charts) {
			t.Fatalf("exit %d, %q, %q", code, stdout, stderr)
		}
		runs = append(runs, contents(t, page, charts))
	}
	page := runs[0]["report.html"]
	if n := strings.Count(page, "<svg "); n != len(runs[0])-1 || n == 0 {
		t.Errorf("%d charts in the page, %d files beside it", n, len(runs[0])-1)
	}
	if !strings.Contains(page, "new against old") || !strings.Contains(page, `data-row="slower"`) || !strings.Contains(page, `class="differ"><th scope="row">commit`) {
		t.Error("the page does not say what it should")
	}
	for name, text := range runs[0] {
		if runs[1][name] != text {
			t.Errorf("%s differs from run to run", name)
		}
		if name == "report.html" {
			continue
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestEveryVerbThatReadsFilesWritesHTML(t *testing.T) {
	_, before, after := twoFiles(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"compare", before, after}, 0, `<tr class="differ"><th scope="row">commit</th><td>old0000</td><td>new0000</td>`},
		{[]string{"gate", before, after}, exitRegression, `data-row="slower"`},
		{[]string{"summary", before}, 0, "<h1>Benchmark summary</h1>"},
		{[]string{"history", before, after}, 0, "<h1>Benchmark history: 2 commits</h1>"},
		{[]string{"report", before, after}, 0, `data-row="slower"`},
	} {
		stdout, stderr, code := runLine(t, append(c.args, "-format", "html")...)
		if code != c.code || !strings.HasPrefix(stdout, "<!DOCTYPE html>") || !strings.HasSuffix(stdout, "</html>\n") || !strings.Contains(stdout, c.want) {
			t.Errorf("%v: exit %d, %d bytes, %q", c.args, code, len(stdout), stderr)
		}
	}
}

func TestReportSaysWhatItCannotDo(t *testing.T) {
	dir, before, after := twoFiles(t)
	file := filepath.Join(dir, "old.txt")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-format", "csv", before, after}, "want html"},
		{[]string{"-svg", file, before, after}, "-svg: "},
		{[]string{"-o", filepath.Join(dir, "none", "x.html"), before, after}, "-o: "},
		{[]string{before}, "there is nothing to compare"},
		{nil, "no files"},
	} {
		_, stderr, code := runLine(t, append([]string{"report"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %q, want %q", c.args, code, stderr, c.want)
		}
	}
}

// The page is written before the exit code is decided.
func TestReportIsWrittenThoughNothingIsComparable(t *testing.T) {
	dir, before, _ := twoFiles(t)
	other, page := filepath.Join(dir, "other.txt"), filepath.Join(dir, "x.html")
	if err := os.WriteFile(other, []byte("BenchmarkOther 1 5 ns/op\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := runLine(t, "report", "-o", page, before, other)
	if code != exitNothing {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if text := contents(t, page, filepath.Join(dir, "no charts"))["x.html"]; !strings.Contains(text, `data-row="not-comparable"`) {
		t.Error("the page does not hold the rows")
	}
}
