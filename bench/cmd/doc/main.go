// Doc writes the tables of the benchmark document, and the short one of the
// README, from a kept result file. It keeps the text between them.
//
//	go run ./bench/cmd/doc [-in bench/results/figures.txt] [-doc docs/BENCHMARKS.md] [-readme README.md]
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

func main() {
	in := flag.String("in", "bench/results/figures.txt", "result `file`")
	doc := flag.String("doc", "docs/BENCHMARKS.md", "`document` to fill")
	readme := flag.String("readme", "README.md", "`document` with the short table")
	flag.Parse()
	if err := errors.Join(fill(*in, *doc, all), fill(*in, *readme, short)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// part says which tables a document has.
type part func(name string) bool

func all(string) bool        { return true }
func short(name string) bool { return name == "headline" }

// fill replaces the tables of a document.
func fill(in, doc string, wanted part) error {
	old, err := os.ReadFile(doc)
	if err != nil {
		return fmt.Errorf("doc: %w", err)
	}
	text, err := generate(in, string(old), wanted)
	if err != nil {
		return err
	}
	if text == string(old) {
		return nil
	}
	if err := os.WriteFile(doc, []byte(text), 0o644); err != nil {
		return fmt.Errorf("doc: %w", err)
	}
	return nil
}

// generate returns the document with the tables made from a result file.
func generate(in, old string, wanted part) (string, error) {
	set, err := results.Load(in)
	if err != nil {
		return "", err
	}
	parts, err := set.Sections()
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(parts, func(name, _ string) bool { return !wanted(name) })
	return results.Fill(old, parts)
}
