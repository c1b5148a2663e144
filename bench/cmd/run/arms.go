package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// arm is one implementation of one row.
type arm struct {
	name   string // full name of the benchmark
	impl   string
	binary string
	dir    string // where the binary runs
	// benchtime is how long the arm runs, if not as long as the others.
	benchtime string
}

// row is the arms that are compared with each other.
type row struct {
	name string // without the impl
	arms []arm
	// rounds is how often the row is measured, if less often than the others.
	rounds int
}

// runsIn reports whether the row is measured in the round.
func (r row) runsIn(round int) bool { return r.rounds == 0 || round < r.rounds }

// collect builds the test binaries and lists the rows that o selects.
func collect(ctx context.Context, o options, dir string, progress io.Writer) ([]row, error) {
	binary := filepath.Join(dir, "bench.test")
	fmt.Fprintln(progress, "building the benchmarks")
	if err := build(ctx, ".", "./bench", binary); err != nil {
		return nil, err
	}
	list := filepath.Join(dir, "rows")
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.bench", ".", "-test.benchtime", "1x", "-rows", list)
	cmd.Dir = "bench"
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, stopped(ctx, fmt.Errorf("run: listing the rows: %w\n%s", err, msg))
	}
	raw, err := os.ReadFile(list)
	if err != nil {
		return nil, fmt.Errorf("run: listing the rows: %w", err)
	}
	rows := group(strings.Fields(string(raw)), binary, "bench", o)
	last, err := pipelineRow(ctx, o, dir, progress)
	if err != nil {
		return nil, err
	}
	if rows = append(rows, last...); len(rows) == 0 {
		return nil, fmt.Errorf("%w: no row matches -bench %s -impl %s", errUsage, o.bench, o.impl)
	}
	return rows, nil
}

// build compiles the tests of a package of the module in dir.
func build(ctx context.Context, dir, pkg, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, pkg)
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		return stopped(ctx, fmt.Errorf("run: go test -c %s in %s: %w\n%s", pkg, dir, err, msg))
	}
	return nil
}

var implPart = regexp.MustCompile(`/impl=([^/]+)`)

// group puts the selected names into rows, in order of appearance.
func group(names []string, binary, dir string, o options) []row {
	var rows []row
	at := map[string]int{}
	for _, name := range names {
		m := implPart.FindStringSubmatch(name)
		if m == nil || !o.bench.MatchString(name) || !o.impl.MatchString(m[1]) {
			continue
		}
		key := implPart.ReplaceAllString(name, "")
		if _, ok := at[key]; !ok {
			at[key] = len(rows)
			rows = append(rows, row{name: key})
		}
		r := &rows[at[key]]
		r.arms = append(r.arms, arm{name: name, impl: m[1], binary: binary, dir: dir})
	}
	return rows
}

// The pipeline is measured in runs of seconds, since shorter ones measure how a
// group is joined, and in fewer rounds.
const (
	pipelineTime   = "5s"
	pipelineRounds = 3
)

// pipelineRow is the pipeline of the nested module. Its rows are not listed
// one by one: an arm is an implementation with all its rows.
func pipelineRow(ctx context.Context, o options, dir string, progress io.Writer) ([]row, error) {
	if o.pipeline == "" {
		return nil, nil
	}
	folder, err := benchmarkFolder(o.pipeline)
	if err != nil || folder == "" {
		return nil, err
	}
	names := []string{"BenchmarkPipeline/impl=tidemark", "BenchmarkPipeline/impl=bare", "BenchmarkPipeline/impl=marks"}
	rows := group(names, filepath.Join(dir, "pipeline.test"), folder, o)
	if len(rows) == 0 {
		return nil, nil
	}
	rows[0].rounds = pipelineRounds
	for i := range rows[0].arms {
		rows[0].arms[i].benchtime = pipelineTime
	}
	fmt.Fprintln(progress, "building the pipeline")
	return rows, build(ctx, folder, ".", filepath.Join(dir, "pipeline.test"))
}

// benchmarkFolder finds the package with BenchmarkPipeline below root, "" if
// there is none.
func benchmarkFolder(root string) (string, error) {
	found := ""
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") || found != "" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "\nfunc BenchmarkPipeline(") {
			found = filepath.Dir(path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("run: looking for the pipeline benchmark: %w", err)
	}
	return found, nil
}

// rotated returns the arms of the row in the order of a round.
func (r row) rotated(round int) []arm {
	n := round % len(r.arms)
	return slices.Concat(r.arms[n:], r.arms[:n])
}

// pattern selects exactly the arm's name, and what is below it.
func (a arm) pattern() string {
	parts := strings.Split(a.name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
