// Figures tells what a result file of the benchmarks comes to: it prints the
// targets and how they were met, or writes the tables of the documents.
//
//	go run ./bench/cmd/figures [FILE]
//	go run ./bench/cmd/figures -docs [FILE]
//
// It is started in the root of the module. FILE is bench/results/figures.txt
// if nothing is given. In the documents it replaces what stands between the
// marks, and keeps the text around them; the charts are written beside them.
//
// Exit codes: 0; 2 usage, or a file that cannot be read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

// figures is the result file that the documents show.
const figures = "bench/results/figures.txt"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("figures", flag.ContinueOnError)
	docs := fs.Bool("docs", false, "write the tables of the documents instead of printing the targets")
	tool := fs.String("tool", "go run ./cmd/benchstat-report", "`command` that makes the statistics")
	if err := fs.Parse(args); err != nil {
		return err
	}
	path := figures
	switch fs.NArg() {
	case 0:
	case 1:
		path = fs.Arg(0)
	default:
		return fmt.Errorf("figures: got the arguments %q, want one result file or none", fs.Args())
	}
	set, err := results.Load(ctx, strings.Fields(*tool), path)
	if err != nil {
		return err
	}
	if *docs {
		drawn, err := charts(ctx, strings.Fields(*tool), path)
		if err != nil {
			return err
		}
		for name, wanted := range documents {
			if err := fill(set, name, wanted, names(drawn)); err != nil {
				return err
			}
		}
		return keep(drawn, filepath.Join("docs", results.Charts))
	}
	outcomes, err := set.CheckAll()
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, results.Text(outcomes))
	return err
}

// part says which tables a document has.
type part func(name string) bool

// documents are the documents with figures.
var documents = map[string]part{
	"docs/BENCHMARKS.md": func(string) bool { return true },
	"README.md":          func(name string) bool { return name == "headline" },
}

// fill replaces the tables of a document.
func fill(set *results.Set, doc string, wanted part, charts []string) error {
	old, err := os.ReadFile(doc)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	text, err := generate(set, string(old), wanted, charts)
	if err != nil {
		return fmt.Errorf("figures: %s: %w", doc, err)
	}
	if text == string(old) {
		return nil
	}
	if err := os.WriteFile(doc, []byte(text), 0o644); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}

// names are those of the charts, in order.
func names(drawn map[string][]byte) []string { return slices.Sorted(maps.Keys(drawn)) }

// generate returns the document with the tables made from the figures.
func generate(set *results.Set, old string, wanted part, charts []string) (string, error) {
	parts, err := set.Sections(charts)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(parts, func(name, _ string) bool { return !wanted(name) })
	return results.Fill(old, parts)
}
