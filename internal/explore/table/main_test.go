package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../.."

// No figure in the document is typed by hand.
func TestTheDocumentIsWhatTheResultsGive(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "TESTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	results, err := os.ReadFile(filepath.Join(root, "internal", "explore", "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := fill(string(doc), string(results))
	if err != nil {
		t.Fatal(err)
	}
	if string(doc) != want {
		t.Error("docs/TESTING.md differs from what internal/explore/results.txt gives; run make explore-docs")
	}
}

// Every configuration that the sources have is in the results, and no other.
func TestTheResultsAreOfEveryConfiguration(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "internal", "explore", "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]int{}
	for line := range strings.Lines(string(text)) {
		results[strings.Split(line, "\t")[1]]++
	}
	for _, pattern := range []string{"mpsc", "ringbuf", "core/checkpoint", "core/timing"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern), "*_explore_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no configurations in %s: %v", pattern, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split(string(source), `Name: "`)[1:] {
				name, _, _ := strings.Cut(part, `"`)
				if results[name] != 1 {
					t.Errorf("%s: the results have %s %d times, want once", file, name, results[name])
				}
				delete(results, name)
			}
		}
	}
	for name := range results {
		t.Errorf("the results have %s, which no source has", name)
	}
}

func TestWhatCannotBeRenderedIsAnError(t *testing.T) {
	good := "short\ta\tb\tc\t1\t1s\n"
	if text, err := fill("x\n"+begin+"old\n"+end+"y\n", good); err != nil || !strings.HasPrefix(text, "x\n"+begin) ||
		!strings.HasSuffix(text, end+"y\n") || !strings.Contains(text, "| a | b | c | 1 | 1s | short |") || strings.Contains(text, "old") {
		t.Errorf("%q, %v", text, err)
	}
	for _, c := range [][2]string{{"no table\n", good}, {begin, good}, {begin + end, "no row\n"}} {
		if text, err := fill(c[0], c[1]); err == nil {
			t.Errorf("%q with %q: %q", c[0], c[1], text)
		}
	}
}
