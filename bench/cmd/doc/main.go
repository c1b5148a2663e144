// Doc writes the tables of the benchmark document from a kept result file. It
// keeps the text between them.
//
//	go run ./bench/cmd/doc [-in bench/results/figures.txt] [-doc docs/BENCHMARKS.md]
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

func main() {
	in := flag.String("in", "bench/results/figures.txt", "result `file`")
	doc := flag.String("doc", "docs/BENCHMARKS.md", "`document` to fill")
	flag.Parse()
	if err := fill(*in, *doc); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fill replaces the tables of a document.
func fill(in, doc string) error {
	old, err := os.ReadFile(doc)
	if err != nil {
		return fmt.Errorf("doc: %w", err)
	}
	text, err := generate(in, string(old))
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
func generate(in, old string) (string, error) {
	set, err := results.Load(in)
	if err != nil {
		return "", err
	}
	parts, err := set.Sections()
	if err != nil {
		return "", err
	}
	return results.Fill(old, parts)
}
