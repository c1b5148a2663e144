package main

import (
	"os"
	"path/filepath"
	"testing"
)

const root = "../../.."

// TestDocumentsAreWhatTheKeptFileGives: no figure in a document is typed.
func TestDocumentsAreWhatTheKeptFileGives(t *testing.T) {
	for name, wanted := range map[string]part{"docs/BENCHMARKS.md": all, "README.md": short} {
		doc, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := generate(filepath.Join(root, "bench", "results", "figures.txt"), string(doc), wanted)
		if err != nil {
			t.Fatal(err)
		}
		if want != string(doc) {
			t.Errorf("%s is not what bench/results/figures.txt gives; run: go run ./bench/cmd/doc", name)
		}
	}
}

func TestFillWritesTheDocumentOnce(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc, in := filepath.Join(dir, "doc.md"), filepath.Join(dir, "in.txt")
	if err := os.WriteFile(doc, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fill(in, doc, all); err == nil {
		t.Error("fill from a missing file succeeded")
	}
	text := "BenchmarkCheckpointCycle/impl=tidemark/partitions=4/tick=256/order=scrambled 1 5 ns/batch\n"
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fill(in, doc, all); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if string(first) == string(raw) {
		t.Error("fill from other figures left the document as it was")
	}
	if err := fill(in, doc, all); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(doc); err != nil || string(second) != string(first) {
		t.Errorf("a second fill changed the document (%v)", err)
	}
}
