package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

// kept are the kinds of charts that the document shows. The report has more,
// of single rows.
var kept = []string{"against-", "latency-"}

// charts has the charts of a result file drawn, and returns those that are
// kept, by name.
func charts(ctx context.Context, tool []string, path string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "charts")
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	defer os.RemoveAll(dir)
	args := slices.Concat(tool[1:], []string{"report", "-o", filepath.Join(dir, "report.html"), "-svg", dir}, results.CompareFlags(), []string{path})
	cmd := exec.CommandContext(ctx, tool[0], args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	const nothingComparable = 3 // the charts are there
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == nothingComparable) {
		return nil, fmt.Errorf("figures: %s report: %w\n%s", tool[0], err, &complaint)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	drawn := map[string][]byte{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".svg")
		if !slices.ContainsFunc(kept, func(kind string) bool { return strings.HasPrefix(name, kind) }) {
			continue
		}
		if drawn[name], err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("figures: %w", err)
		}
	}
	return drawn, nil
}

// keep makes the folder of the charts hold these and no others.
func keep(drawn map[string][]byte, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	for _, file := range old {
		if drawn[strings.TrimSuffix(filepath.Base(file), ".svg")] == nil {
			err = errors.Join(err, os.Remove(file))
		}
	}
	for name, svg := range drawn {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name+".svg"), svg, 0o644))
	}
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}
