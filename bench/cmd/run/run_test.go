package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/perf/benchfmt"

	"github.com/tidemark-go/tidemark/bench/internal/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func all(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(args, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRowsGroupTheArmsAndRotate(t *testing.T) {
	names := []string{
		"BenchmarkA/impl=x/n=1", "BenchmarkA/impl=y/n=1", "BenchmarkA/impl=z/n=1",
		"BenchmarkA/impl=x/n=2", "BenchmarkA/impl=y/n=2", "BenchmarkOther",
	}
	rows := group(names, "bin", "dir", all(t))
	if len(rows) != 2 || len(rows[0].arms) != 3 || len(rows[1].arms) != 2 || rows[0].name != "BenchmarkA/n=1" {
		t.Fatalf("rows are %+v", rows)
	}
	var order []string
	for round := range 3 {
		for _, a := range rows[0].rotated(round) {
			order = append(order, a.impl)
		}
	}
	if want := strings.Fields("x y z y z x z x y"); !slices.Equal(order, want) {
		t.Errorf("order of three rounds is %v, want %v", order, want)
	}
	if rows := group(names, "", "", all(t, "-impl", "^y$", "-bench", "n=2")); len(rows) != 1 || rows[0].arms[0].name != names[4] {
		t.Errorf("rows with options are %+v", rows)
	}
	// The pattern must select this arm alone, level by level.
	for i, part := range strings.Split(rows[0].arms[0].pattern(), "/") {
		re := regexp.MustCompile(part)
		if own := strings.Split(names[0], "/")[i]; !re.MatchString(own) || re.MatchString(own+"0") {
			t.Errorf("level %d: %q does not select exactly %q", i, part, own)
		}
	}
}

func TestWrongUseIsAnErrorOfUsage(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-bench", "("}, {"-impl", "("}, {"stray"}, {"-nonsense"}} {
		if _, err := parse(args, new(bytes.Buffer)); !errors.Is(err, errUsage) {
			t.Errorf("parse(%q): %v, want an error of usage", args, err)
		}
	}
}

// script is a benchmark binary made of shell.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench.test")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func parsed(t *testing.T, text []byte) (n int, first *benchfmt.Result) {
	t.Helper()
	r := benchfmt.NewReader(bytes.NewReader(text), "out")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			if n++; n == 1 {
				first = rec.Clone()
			}
		case *benchfmt.SyntaxError:
			t.Fatalf("the file is not valid: %v\n%s", rec, text)
		}
	}
	return n, first
}

func TestMeasureWritesEveryArmWithTheConfiguration(t *testing.T) {
	bin := script(t, `echo "Unit ns/x better=lower"; echo "goos: here"; echo "BenchmarkA/impl=x 1 5 ns/x"; echo PASS`)
	o := all(t, "-rounds", "3")
	rows := group([]string{"BenchmarkA/impl=x", "BenchmarkA/impl=y"}, bin, ".", o)
	var out, progress bytes.Buffer
	config := []benchfmt.Config{{Key: "commit", Value: []byte("abc"), File: true}}
	if err := measure(t.Context(), o, rows, newWriter(&out, config), &progress); err != nil {
		t.Fatal(err)
	}
	n, first := parsed(t, out.Bytes())
	if n != 6 || first.GetConfig("commit") != "abc" || first.GetConfig("goos") != "here" {
		t.Errorf("%d results, the first with commit %q and goos %q; want 6, abc, here", n, first.GetConfig("commit"), first.GetConfig("goos"))
	}
	if n := strings.Count(out.String(), "Unit "); n != 1 {
		t.Errorf("the unit is declared %d times, want once", n)
	}
	if want := "[6/6, "; !strings.Contains(progress.String(), want) {
		t.Errorf("progress has no %q:\n%s", want, progress.String())
	}
}

func TestAFailedArmIsReportedAndTheOthersStay(t *testing.T) {
	bin := script(t, `case "$*" in *impl=bad*) echo broken; exit 1;; esac; echo "BenchmarkA/impl=good 1 5 ns/op"`)
	o := all(t, "-rounds", "2")
	rows := group([]string{"BenchmarkA/impl=good", "BenchmarkA/impl=bad"}, bin, ".", o)
	var out bytes.Buffer
	err := measure(t.Context(), o, rows, newWriter(&out, nil), new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("measure: %v, want an error with the output of the failed arm", err)
	}
	if n, _ := parsed(t, out.Bytes()); n != 2 {
		t.Errorf("%d results, want 2 of the arm that works", n)
	}
	rows = group([]string{"BenchmarkA/impl=silent"}, script(t, "echo PASS"), ".", o)
	if err := measure(t.Context(), o, rows, newWriter(&out, nil), new(bytes.Buffer)); err == nil {
		t.Error("an arm without a result is no error")
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	flagFile := filepath.Join(t.TempDir(), "second")
	bin := script(t, fmt.Sprintf(`case "$*" in *impl=slow*) touch %s; exec sleep 60;; esac; echo "BenchmarkA/impl=fast 1 5 ns/op"`, flagFile))
	o := all(t)
	rows := group([]string{"BenchmarkA/impl=fast", "BenchmarkA/impl=slow"}, bin, ".", o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(flagFile); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	var out bytes.Buffer
	err := measure(ctx, o, rows, newWriter(&out, nil), new(bytes.Buffer))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("measure: %v, want context.Canceled", err)
	}
	if n, _ := parsed(t, out.Bytes()); n != 1 {
		t.Errorf("%d results in the file, want the one before the interrupt", n)
	}
}

// TestRunMeasuresRealRows goes the whole way: build, list, measure, compare.
func TestRunMeasuresRealRows(t *testing.T) {
	t.Chdir("../../..")
	path := filepath.Join(t.TempDir(), "r.txt")
	var out, progress bytes.Buffer
	err := run(t.Context(), []string{"-rounds", "1", "-benchtime", "1x", "-pipeline", "", "-o", path,
		"-bench", "CheckpointCycle.*tick=256/order=scrambled", "-impl", "tidemark|channel"}, &out, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	set, err := results.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := set.Rows("*", "ns/batch")
	if err != nil || len(rows) != 1 || len(rows[0].Points["tidemark"]) != 1 || len(rows[0].Points["channel"]) != 1 {
		t.Fatalf("rows are %+v, %v; want one with a point of each implementation", rows, err)
	}
	if len(set.Config("go")) != 1 || len(set.Config("gomaxprocs")) != 1 || !strings.Contains(set.Command, "-rounds 1") {
		t.Errorf("the file names Go %q, GOMAXPROCS %q, command %q", set.Config("go"), set.Config("gomaxprocs"), set.Command)
	}
	for _, want := range []string{"CheckpointCycle", "vs base", "life cycle, 1 goroutine", path} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
	if err := run(t.Context(), []string{"-bench", "NoSuchRow", "-pipeline", ""}, &out, &progress); !errors.Is(err, errUsage) {
		t.Errorf("a pattern that matches nothing: %v, want an error of usage", err)
	}
}
