package pair

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
)

// Provenance are the configuration keys that say where, when and on which tree
// something was measured. They tell no tables apart unless a projection names
// them: two commits are compared in one table. A key that ends in * stands for
// all keys that begin so. With an explicit -table none of this holds.
var Provenance = []string{
	"commit", "commit-date", "commit-time", "commit-subject", "branch", "dirty", "date", "time", "run", "seq",
	"round", "load*", "bounce-ns", "cores", "go", "kernel", "clocksource", "cgroup*", "quota*", "command", "base", "timeout",
}

// noted are the keys of Provenance whose difference between two columns the
// reader should know of.
var noted = []string{"go", "kernel", "clocksource", "cgroup*", "quota*"}

// Options are benchstat's projections and filter. The zero value of each is
// its default.
type Options struct {
	Filter, Table, Row, Col, Ignore string
	// Baseline is the value of the column that the others are compared to, or
	// several with commas: each benchmark takes the first that it has. The
	// default is the first column.
	Baseline string
}

// fileKey is the projection that makes a column of each input.
const fileKey = ".file"

// The columns of a file that holds two legs of one run, which the runner
// tells apart by the configuration key leg.
const (
	legKey  = "leg"
	legBase = "base"
)

// defaults fills in what the caller left out.
func (o Options) defaults(set *parse.Set) Options {
	if o.Col == "" && len(set.Files) == 1 && slices.ContainsFunc(set.Results, func(r *parse.Result) bool { return r.GetConfig(legKey) == legBase }) {
		o.Col = legKey
		if o.Baseline == "" {
			o.Baseline = legBase
		}
	}
	for _, d := range []struct {
		field *string
		value string
	}{{&o.Filter, "*"}, {&o.Row, ".fullname"}, {&o.Col, fileKey}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	return o
}

// OptionError is a flag whose value is not legal.
type OptionError struct {
	Flag, Value string
	Err         error
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("pair: %s %q: %v", e.Flag, e.Value, e.Err)
}

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// projections are the parsed options.
type projections struct {
	filter                   *benchproc.Filter
	table, row, col, residue *benchproc.Projection
}

const syntaxHelp = `"go doc golang.org/x/perf/benchproc/syntax" explains it; examples: .name:/^Queue/, "/impl:(channel OR lane) .unit:ns/op"`

func (o Options) projections(set *parse.Set) (*projections, error) {
	p := &projections{}
	var err error
	if p.filter, err = benchproc.NewFilter(o.Filter); err != nil {
		return nil, &OptionError{"-filter", o.Filter, fmt.Errorf("%w; %s", err, syntaxHelp)}
	}
	ignore := o.Ignore
	table := o.Table
	if table == "" {
		table = ".config"
		ignore = strings.Trim(ignore+","+strings.Join(o.provenance(set), ","), ",")
	}
	var parser benchproc.ProjectionParser
	parse := func(flag, value string) (proj *benchproc.Projection) {
		if err != nil {
			return nil
		}
		if flag == "-table" {
			proj, _, err = parser.ParseWithUnit(value, p.filter)
		} else {
			proj, err = parser.Parse(value, p.filter)
		}
		if err != nil {
			err = &OptionError{flag, value, fmt.Errorf("%w; want keys with commas, such as .name,/size or commit", err)}
		}
		return proj
	}
	p.table = parse("-table", table)
	p.row = parse("-row", o.Row)
	p.col = parse("-col", o.Col)
	if ignore != "" {
		parse("-ignore", ignore)
	}
	if err != nil {
		return nil, err
	}
	p.residue = parser.Residue()
	return p, nil
}

var projectionKey = regexp.MustCompile(`[\w./-]+`)

// provenance returns the keys of Provenance that the results have and that no
// projection names.
func (o Options) provenance(set *parse.Set) []string {
	named := projectionKey.FindAllString(o.Row+" "+o.Col+" "+o.Ignore, -1)
	var keys []string
	for _, r := range set.Results {
		for _, c := range r.Config {
			if c.File && matches(Provenance, c.Key) && !slices.Contains(named, c.Key) && !slices.Contains(keys, c.Key) {
				keys = append(keys, c.Key)
			}
		}
	}
	for i, k := range keys {
		// A key may hold what the projection's syntax gives a meaning.
		if !projectionKey.MatchString(k) || projectionKey.FindString(k) != k {
			keys[i] = fmt.Sprintf("%q", k)
		}
	}
	return keys
}

func matches(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, star := strings.CutSuffix(p, "*")
		return p == key || star && strings.HasPrefix(key, prefix)
	})
}
