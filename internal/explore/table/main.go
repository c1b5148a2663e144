// Table writes the table of explored configurations in docs/TESTING.md from a
// result file, and keeps the text around it.
//
//	go run ./internal/explore/table [-in internal/explore/results.txt] [-doc docs/TESTING.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// The table stands between these lines of the document.
const (
	begin = "<!-- explored -->\n"
	end   = "<!-- end of explored -->\n"
)

func main() {
	in := flag.String("in", "internal/explore/results.txt", "result `file`")
	doc := flag.String("doc", "docs/TESTING.md", "`document` to fill")
	flag.Parse()
	if err := update(*in, *doc); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// update replaces the table of a document.
func update(in, doc string) error {
	results, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	old, err := os.ReadFile(doc)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	text, err := fill(string(old), string(results))
	if err != nil {
		return fmt.Errorf("table: %s from %s: %w", doc, in, err)
	}
	if err := os.WriteFile(doc, []byte(text), 0o644); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// fill returns the document with the table that results make.
func fill(doc, results string) (string, error) {
	before, rest, found := strings.Cut(doc, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the document has no lines %q and %q", begin, end)
	}
	table, err := render(results)
	if err != nil {
		return "", err
	}
	return before + begin + "\n" + table + "\n" + end + after, nil
}

// render makes a table of a result file, each level under the one below it.
func render(results string) (string, error) {
	var b strings.Builder
	b.WriteString("| configuration | what runs | bound | executions | time | level |\n|---|---|---|---|---|---|\n")
	rows := [explore.Full + 1][]explore.Row{}
	for line := range strings.Lines(results) {
		row, err := explore.ParseRow(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return "", err
		}
		rows[row.Level] = append(rows[row.Level], row)
	}
	for _, level := range rows {
		for _, r := range level {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %v | %v |\n", r.Name, r.Title, r.Bound, r.Executions, r.Time, r.Level)
		}
	}
	return b.String(), nil
}
