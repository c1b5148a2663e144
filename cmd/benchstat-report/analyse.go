package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/bench"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// analysis is the flags that all verbs share which read files.
type analysis struct {
	pair    pair.Options
	verdict verdict.Options
	floor   string
	noise   string
	correct string
	format  string
	out     string
	strict  bool
}

// addFlags adds the flags of verbs that read files.
func (a *analysis) addFlags(f *flagSet) {
	a.verdict = verdict.Defaults(bench.NearBounce)
	f.StringVar(&a.pair.Filter, "filter", "*", "use only what matches `query`, such as \".name:/^Queue/ .unit:ns/op\"")
	f.StringVar(&a.pair.Row, "row", ".fullname", "make a row of each value of `keys`")
	f.StringVar(&a.pair.Table, "table", "", "make a table of each value of `keys` (default .config without commit, date, load and such)")
	f.StringVar(&a.pair.Ignore, "ignore", "", "do not tell results apart by `keys`")
	f.Float64Var(&a.verdict.Confidence, "confidence", a.verdict.Confidence, "the `level` of all intervals")
	f.Float64Var(&a.verdict.Near, "near", a.verdict.Near, "bounce-ns below `ns` is near, else far; 0 tells no regimes apart")
	f.StringVar(&a.format, "format", formats()[0].name, "write `form`: "+formatNames())
	f.StringVar(&a.out, "o", "", "write to `file` instead of standard output")
}

// addCompareFlags adds the flags of verbs that compare.
func (a *analysis) addCompareFlags(f *flagSet) {
	f.StringVar(&a.pair.Col, "col", "", "compare the values of `keys` (default .file; leg for a file with the legs base and new)")
	f.StringVar(&a.pair.Baseline, "baseline", "", "the `value` of -col to compare to, or several with commas, of which each benchmark takes the first it has (default the first)")
	f.Float64Var(&a.verdict.Alpha, "alpha", a.verdict.Alpha, "a change is significant if its corrected p is at most `alpha`")
	f.StringVar(&a.floor, "floor", "3%", "smaller changes do not count (`share`: 3% or 0.03)")
	f.StringVar(&a.noise, "noise", "", "raise each row's floor to the noise in `file`, the result of run -aa")
	f.StringVar(&a.correct, "correct", "holm", "correct p-values for the rows of a unit: `holm`; or none, which gives benchstat's medians and p-values of all samples")
	f.Uint64Var(&a.verdict.Seed, "seed", a.verdict.Seed, "`seed` of the bootstrap: equal seeds give equal reports")
	f.BoolVar(&a.strict, "strict", false, "exit with 3 if a row is undecided")
}

// check looks at the values of flags.
func (a *analysis) check(f *flagSet) error {
	if f.Lookup("floor") != nil {
		floor, err := share(a.floor)
		if err != nil {
			return fail(exitUsage, "-floor %q: want a share from 0 to 1, such as 3%% or 0.03", a.floor)
		}
		a.verdict.Floor = floor
		a.verdict.Correct = verdict.Correction(a.correct)
		if a.verdict.Correct != verdict.Holm && a.verdict.Correct != verdict.None {
			return fail(exitUsage, "-correct %q: want holm or none", a.correct)
		}
		if !(a.verdict.Alpha > 0 && a.verdict.Alpha < 1) {
			return fail(exitUsage, "-alpha %v: want more than 0 and less than 1", a.verdict.Alpha)
		}
	}
	if !(a.verdict.Confidence > 0 && a.verdict.Confidence < 1) {
		return fail(exitUsage, "-confidence %v: want more than 0 and less than 1, such as 0.95", a.verdict.Confidence)
	}
	if !(a.verdict.Near >= 0) {
		return fail(exitUsage, "-near %v: want nanoseconds, 0 or more", a.verdict.Near)
	}
	if !slices.ContainsFunc(formats(), func(x format) bool { return x.name == a.format }) {
		return fail(exitUsage, "-format %q: want one of %s", a.format, formatNames())
	}
	return nil
}

// share reads 3% or 0.03.
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err == nil && !(v >= 0 && v <= 1) {
		err = errors.New("out of range")
	}
	return v, err
}

// chosen returns the form of output.
func (a *analysis) chosen() format {
	all := formats()
	return all[slices.IndexFunc(all, func(x format) bool { return x.name == a.format })]
}

// read reads files and sorts them into tables. It returns the set along with
// an error of pair, and no set with unreadable input.
func (a *analysis) read(e env, files []string) (*parse.Set, *pair.Tables, error) {
	set, err := parse.Read(files, e.stdin)
	if err != nil {
		return nil, nil, fail(exitUsage, "%w", err)
	}
	for _, s := range set.Syntax {
		fmt.Fprintf(e.stderr, "%s: cannot read this line, it counts for nothing: %v\n", program, s)
	}
	for _, f := range set.Failures {
		fmt.Fprintf(e.stderr, "%s: a benchmark failed: %v\n", program, f)
	}
	if len(set.Results) == 0 {
		return set, nil, inputVerdict(set)
	}
	tables, err := pair.Build(set, a.pair)
	if errors.Is(err, pair.ErrNothing) {
		err = errors.Join(inputVerdict(set), fail(exitNothing, "%w", err))
	}
	return set, tables, err
}

// compare reads files and judges them. The report is there even if the error
// is one of exitNothing.
func (a *analysis) compare(e env, files []string) (*verdict.Report, *parse.Set, error) {
	if a.noise != "" {
		noise, err := a.readNoise(e)
		if err != nil {
			return nil, nil, err
		}
		a.verdict.Noise = noise
	}
	set, tables, err := a.read(e, files)
	if err != nil {
		return nil, nil, err
	}
	if len(tables.Columns) == 1 {
		return nil, nil, fail(exitUsage, "%s has one value only, %s: there is nothing to compare; give two files, or -col with a key that has several values, such as /impl",
			tables.ColumnKey, tables.Columns[0])
	}
	return verdict.Judge(tables, a.verdict), set, nil
}

// readNoise measures the noise of an A/A file.
func (a *analysis) readNoise(e env) (verdict.Noise, error) {
	set, err := parse.Read([]string{a.noise}, e.stdin)
	if err != nil {
		return nil, fail(exitUsage, "-noise: %w", err)
	}
	tables, err := pair.Build(set, verdict.NoiseOptions())
	if err != nil {
		return nil, fail(exitUsage, "-noise %s: want the result file of run -aa, with the legs base and new: %w", a.noise, err)
	}
	if base, now, differ := sources(set); differ {
		return nil, fail(exitUsage, "-noise %s: its legs are of different sources (%s and %s), so that their distance is no noise; want the result file of run -aa", a.noise, base, now)
	}
	noise := verdict.MeasureNoise(tables, a.verdict)
	if len(noise) == 0 {
		return nil, fail(exitUsage, "-noise %s: no benchmark has enough samples in both legs to tell its noise", a.noise)
	}
	return noise, nil
}

// sources returns the trees of two legs, if they are not the same.
func sources(set *parse.Set) (base, now string, differ bool) {
	legs := map[string]string{}
	for _, r := range set.Results {
		tree := r.GetConfig("commit")
		if r.GetConfig("dirty") == "true" {
			tree += "+"
		}
		legs[r.GetConfig("leg")] = tree
	}
	return legs["base"], legs["new"], legs["base"] != legs["new"]
}

// write writes a document to standard output or to the file of -o.
func (a *analysis) write(e env, emit func(io.Writer) error) error {
	if a.out == "" {
		return emit(e.stdout)
	}
	file, err := os.Create(a.out)
	if err != nil {
		return fail(exitUsage, "-o: %w", err)
	}
	return errors.Join(emit(file), file.Close())
}

// inputVerdict is the error that the state of the input calls for, however
// the comparison came out.
func inputVerdict(set *parse.Set) error {
	switch {
	case len(set.Failures) > 0:
		return fail(exitFailed, "%s that a benchmark failed, the first is %v", plural(len(set.Failures), "line says", "lines say"), set.Failures[0])
	case len(set.Syntax) > 0:
		return fail(exitUsage, "%s be read, the first is %v; mend or remove what cannot", plural(len(set.Syntax), "line cannot", "lines cannot"), set.Syntax[0])
	}
	return nil
}

// outcome is the error that a report calls for: of the input first, because a
// comparison of half an input says little.
func (a *analysis) outcome(r *verdict.Report, set *parse.Set, gate bool) error {
	if err := inputVerdict(set); err != nil {
		return err
	}
	c := r.Counts
	switch {
	case gate && c.Slower > 0:
		return fail(exitRegression, "%s slower", plural(c.Slower, "row is", "rows are"))
	case c.Comparable() == 0:
		return fail(exitNothing, "nothing is comparable: %s", plural(c.NotComparable, "row is not", "rows are not"))
	case a.strict && c.Undecided > 0:
		return fail(exitNothing, "%s undecided, and -strict is set", plural(c.Undecided, "row is", "rows are"))
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
