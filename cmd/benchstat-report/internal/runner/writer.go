package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"
)

// BounceUnit is the metric of how long a cache line takes to another core and
// back, beside each result.
const BounceUnit = "bounce-ns"

// The first line of a file says how it was made, and the next ones what came
// of it. Readers of the benchmark format pass over both.
const (
	CommandMark = "# "
	noteMark    = "## "
)

// writer writes results as soon as they are there, each with its
// configuration, and each unit's metadata once.
type writer struct {
	out   io.Writer
	w     *benchfmt.Writer
	units map[benchfmt.UnitMetadataKey]bool
	seq   int // results so far
}

func newWriter(out io.Writer) *writer {
	return &writer{out: out, w: benchfmt.NewWriter(out), units: map[benchfmt.UnitMetadataKey]bool{}}
}

// head writes how the file was made.
func (w *writer) head(command string, notes ...string) error {
	_, err := fmt.Fprintln(w.out, CommandMark+command)
	for _, n := range notes {
		_, more := fmt.Fprintln(w.out, noteMark+n)
		err = errors.Join(err, more)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// failure marks in the file that an arm failed, as go test marks it: who
// compares the file later should not take the row for one that never was.
func (w *writer) failure(label string) error {
	if _, err := fmt.Fprintf(w.out, "\n--- FAIL: %s\n", label); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// sample is what one process of an arm reported.
type sample struct {
	output []byte
	name   string
	config []benchfmt.Config // beside what the process said itself
	// bounce was measured around the process. It counts if the benchmark has
	// no own measurement, which is closer to what it did.
	bounce float64
}

// write copies the results of a sample, and returns the bounce beside them, 0
// if it is of no matter. A sample without a result is an error.
func (w *writer) write(s sample) (bounce float64, err error) {
	r := benchfmt.NewReader(bytes.NewReader(s.output), s.name)
	var units []*benchfmt.UnitMetadata
	var list []*benchfmt.Result
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.UnitMetadata:
			units = append(units, rec)
		case *benchfmt.SyntaxError:
			return 0, fmt.Errorf("its output is not in the benchmark format: %w", rec)
		case *benchfmt.Result:
			list = append(list, rec.Clone())
		}
	}
	if err := r.Err(); err != nil {
		return 0, fmt.Errorf("its output cannot be read: %w", err)
	}
	if len(list) == 0 {
		return 0, fmt.Errorf("%w:\n%s", errNoResult, tail(s.output))
	}
	for _, res := range list {
		value, own := metric(res, BounceUnit)
		if !own && s.bounce > 0 {
			value = s.bounce
			res.Values = append(res.Values, benchfmt.Value{Value: s.bounce, Unit: BounceUnit})
			units = append(units, &benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: BounceUnit, Key: "better"}, OrigUnit: BounceUnit, Value: "lower"})
		}
		if !oneCore(res) {
			bounce = max(bounce, value)
		}
	}
	for _, u := range units {
		if key := (benchfmt.UnitMetadataKey{Unit: u.OrigUnit, Key: u.Key}); !w.units[key] {
			w.units[key] = true
			if err := w.w.Write(u); err != nil {
				return 0, fmt.Errorf("%w: %w", errWrite, err)
			}
		}
	}
	for _, res := range list {
		w.seq++
		config := with(slices.Clip(s.config), "seq", strconv.Itoa(w.seq))
		for _, c := range res.Config {
			if !slices.ContainsFunc(s.config, func(own benchfmt.Config) bool { return own.Key == c.Key }) {
				config = append(config, c)
			}
		}
		// A new one: the old one remembers where its own lines were.
		if err := w.w.Write(&benchfmt.Result{Config: config, Name: res.Name, Iters: res.Iters, Values: res.Values}); err != nil {
			return 0, fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	return bounce, nil
}

// oneCore reports whether a result says that it does not depend on how far
// apart the cores are.
func oneCore(r *benchfmt.Result) bool {
	_, parts := r.Name.Parts()
	return r.GetConfig("cores") == "one" || slices.ContainsFunc(parts, func(p []byte) bool { return string(p) == "/cores=one" })
}

// metric returns the value with the unit as it was written, which the reader
// may have turned into seconds.
func metric(r *benchfmt.Result, unit string) (float64, bool) {
	for _, v := range r.Values {
		if v.OrigUnit == unit {
			return v.OrigValue, true
		}
		if v.OrigUnit == "" && v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}
