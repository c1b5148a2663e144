package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"golang.org/x/perf/benchfmt"
)

// measure runs every arm in every round and writes what it reports.
func measure(ctx context.Context, o options, rows []row, w *writer, progress io.Writer) error {
	total := 0
	for round := range o.rounds {
		for _, r := range rows {
			if r.runsIn(round) {
				total += len(r.arms)
			}
		}
	}
	// The first process of a binary pays for its pages: that one is not kept.
	if _, err := runArm(ctx, o, rows[0].arms[0]); err != nil {
		return err
	}
	start, done := time.Now(), 0
	var failed error
	for round := range o.rounds {
		for i, r := range rows {
			if !r.runsIn(round) {
				continue
			}
			for _, a := range r.rotated(round + i) {
				left := "?"
				if done > 0 {
					left = (time.Since(start) / time.Duration(done) * time.Duration(total-done)).Round(time.Second).String()
				}
				fmt.Fprintf(progress, "[%d/%d, %s left] round %d %s\n", done+1, total, left, round+1, a.name)
				out, err := runArm(ctx, o, a)
				if errors.Is(err, context.Canceled) {
					return err
				}
				if err != nil {
					failed = errors.Join(failed, err)
					fmt.Fprintln(progress, err)
				} else if err := w.write(out, a.name); err != nil {
					return err
				}
				done++
			}
		}
	}
	return failed
}

// runArm runs one arm in a process of its own.
func runArm(ctx context.Context, o options, a arm) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, a.binary, "-test.run", "^$", "-test.bench", a.pattern(),
		"-test.benchtime", cmp.Or(a.benchtime, o.benchtime))
	cmd.Dir = a.dir
	cmd.WaitDelay = time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, stopped(ctx, fmt.Errorf("run: %s: %w\n%s%s", a.name, err, out, errs.Bytes()))
	}
	return out, nil
}

// stopped returns the reason ctx was cancelled rather than its consequence. An
// interrupt from a terminal reaches the child too, which may end first.
func stopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("run: %w", ctx.Err())
	case <-time.After(100 * time.Millisecond):
		return err
	}
}

// writer writes results, each with the configuration of the run, as soon as
// they are there, and each unit's metadata once.
type writer struct {
	w      *benchfmt.Writer
	config []benchfmt.Config
	units  map[benchfmt.UnitMetadataKey]bool
}

func newWriter(w io.Writer, config []benchfmt.Config) *writer {
	return &writer{benchfmt.NewWriter(w), config, map[benchfmt.UnitMetadataKey]bool{}}
}

// write copies what one arm printed. An arm without a result is an error.
func (w *writer) write(output []byte, name string) error {
	r := benchfmt.NewReader(bytes.NewReader(output), name)
	n := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.UnitMetadata:
			if w.units[rec.UnitMetadataKey] {
				continue
			}
			w.units[rec.UnitMetadataKey] = true
			if err := w.w.Write(rec); err != nil {
				return fmt.Errorf("run: %w", err)
			}
		case *benchfmt.SyntaxError:
			return fmt.Errorf("run: output of %s: %w", name, rec)
		case *benchfmt.Result:
			n++
			res := rec.Clone()
			res.Config = append(w.config[:len(w.config):len(w.config)], res.Config...)
			if err := w.w.Write(res); err != nil {
				return fmt.Errorf("run: %w", err)
			}
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("run: output of %s: %w", name, err)
	}
	if n == 0 {
		return fmt.Errorf("run: %s reported no result:\n%s", name, output)
	}
	return nil
}
