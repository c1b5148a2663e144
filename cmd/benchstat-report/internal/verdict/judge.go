package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// job is a comparison on its way to a verdict.
type job struct {
	*Comparison
	table     *pair.Table
	row       *pair.Row
	base, now []pair.Sample // all of them
	sides     [2]string     // what the bootstrap's generator knows the sides by
}

// Judge compares the columns of every row with its baseline.
func Judge(tables *pair.Tables, opt Options) *Report {
	r := &Report{Options: opt, ColumnKey: tables.ColumnKey, Machine: tables.Machine, Warnings: tables.Notes}
	elsewhere := find(tables)
	families := map[string][]*job{}
	var jobs []*job
	for _, t := range tables.Tables {
		out := &Table{Table: t}
		for _, row := range t.Rows {
			vr := &Row{Row: row}
			for _, j := range compareRow(tables, t, row, elsewhere) {
				vr.Comparisons = append(vr.Comparisons, j.Comparison)
				jobs = append(jobs, j)
				if j.testable() {
					families[t.Tidy] = append(families[t.Tidy], j)
				}
			}
			if len(vr.Comparisons) > 0 {
				out.Rows = append(out.Rows, vr)
			}
		}
		if len(out.Rows) > 0 {
			r.Tables = append(r.Tables, out)
		}
	}
	for _, j := range jobs {
		tests := len(families[j.table.Tidy])
		if opt.Correct == None {
			tests = 1
		}
		j.measure(opt, need(opt, tests))
	}
	tests := map[string]int{}
	for unit, family := range families {
		tests[unit] = correct(opt, family)
	}
	for _, j := range jobs {
		j.decide(opt, need(opt, tests[j.table.Tidy]))
		r.Counts.add(j.Verdict)
	}
	r.Topics = topics(r)
	r.Warnings = append(slices.Clip(r.Warnings), mixtures(tables)...)
	return r
}

// mixtures names the rows that lump several benchmarks together.
func mixtures(tables *pair.Tables) []string {
	var list []string
	rows := map[string][]string{}
	for _, t := range tables.Tables {
		for _, row := range t.Rows {
			for _, cell := range row.Cells {
				if cell == nil || len(cell.Varies) == 0 {
					continue
				}
				keys := strings.Join(cell.Varies, ", ")
				if rows[keys] == nil {
					list = append(list, keys)
				}
				if !slices.Contains(rows[keys], row.Name) {
					rows[keys] = append(rows[keys], row.Name)
				}
			}
		}
	}
	for i, keys := range list {
		names := rows[keys]
		text := strings.Join(names[:min(len(names), mostNamed)], ", ")
		if more := len(names) - mostNamed; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		list[i] = fmt.Sprintf("samples of one row vary in %s, so that it holds more than one benchmark: %s", keys, text)
	}
	return list
}

// mostNamed is how many rows a warning names.
const mostNamed = 5

// need returns how many samples a side needs for any verdict: as many as the
// test can tell apart with, and as make the intervals of medians finite.
func need(opt Options, tests int) int {
	return max(testable(opt.Alpha, tests), boundable(opt.Confidence))
}

// correct sets the adjusted p-values of a family and returns for how many
// tests it corrected.
func correct(opt Options, family []*job) int {
	var list []*Comparison
	for _, j := range family {
		if j.tested {
			j.Adjusted = j.P
			list = append(list, j.Comparison)
		}
	}
	if opt.Correct == None {
		return 1
	}
	holm(list)
	return len(list)
}

// find returns where each row of a unit was measured, by column.
func find(tables *pair.Tables) func(t *pair.Table, row *pair.Row, column string) *pair.Table {
	type place struct{ unit, row, column string }
	places := map[place]*pair.Table{}
	for _, t := range tables.Tables {
		for _, row := range t.Rows {
			for i, c := range row.Cells {
				if c != nil {
					places[place{t.Tidy, row.Name, t.Columns[i]}] = t
				}
			}
		}
	}
	return func(t *pair.Table, row *pair.Row, column string) *pair.Table {
		if other := places[place{t.Tidy, row.Name, column}]; other != t {
			return other
		}
		return nil
	}
}

// compareRow makes the comparisons of a row; those with a side missing have
// their verdict.
func compareRow(tables *pair.Tables, t *pair.Table, row *pair.Row, elsewhere func(*pair.Table, *pair.Row, string) *pair.Table) []*job {
	var base *pair.Cell
	if row.Base >= 0 {
		base = row.Cells[row.Base]
	}
	var list []*job
	job := func(column string) *job {
		j := newJob(t, row, column)
		j.sides = [2]string{identity(tables, row.BaseName), identity(tables, column)}
		return j
	}
	missing := func(column, where string, samples *pair.Cell, nowSide bool) {
		j := job(column)
		j.Verdict, j.Reason = NotComparable, "missing in "+where
		if other := elsewhere(t, row, where); other != nil {
			j.Reason = "only with other " + difference(t, other)
		}
		if nowSide {
			j.now = samples.Samples
		} else {
			j.base = samples.Samples
		}
		list = append(list, j)
	}
	for _, column := range tables.Columns {
		if column == row.BaseName {
			continue
		}
		var now *pair.Cell
		for i, c := range t.Columns {
			if c == column {
				now = row.Cells[i]
			}
		}
		switch {
		case base != nil && now != nil:
			j := job(column)
			j.base, j.now = base.Samples, now.Samples
			list = append(list, j)
		case now != nil:
			missing(column, row.BaseName, now, true)
		case base != nil && (len(tables.Columns) == 2 || tables.ColumnKey == ".file") && elsewhere(t, row, column) == nil:
			// With many implementations, what a row lacks is mostly one that
			// does not have this benchmark.
			missing(column, column, base, false)
		}
	}
	return list
}

// identity is what a column goes by where chance is drawn. A file goes by its
// place, so that equal files give equal intervals wherever they lie.
func identity(tables *pair.Tables, column string) string {
	if tables.ColumnKey == ".file" {
		return strconv.Itoa(slices.Index(tables.Columns, column))
	}
	return column
}

func newJob(t *pair.Table, row *pair.Row, column string) *job {
	nan := math.NaN()
	side := Summary{Center: nan, Lo: nan, Hi: nan}
	return &job{table: t, row: row, Comparison: &Comparison{
		Column: column, BaseColumn: row.BaseName, Base: side, New: side, Regime: Unknown,
		Ratio: nan, Change: nan, Lo: nan, Hi: nan, P: nan, Adjusted: nan, Floor: nan,
	}}
}

// difference names what two configurations do not share.
func difference(here, there *pair.Table) string {
	get := func(t *pair.Table, key string) string {
		for _, kv := range t.Config {
			if kv.Key == key {
				return kv.Value
			}
		}
		return "none"
	}
	var parts []string
	seen := map[string]bool{}
	for _, kv := range append(append([]pair.KeyValue{}, here.Config...), there.Config...) {
		a, b := get(here, kv.Key), get(there, kv.Key)
		if a != b && !seen[kv.Key] {
			seen[kv.Key] = true
			parts = append(parts, fmt.Sprintf("%s (%s there, %s here)", kv.Key, b, a))
		}
	}
	return strings.Join(parts, ", ") + "; -ignore " + strings.Join(keysOf(seen, here, there), ",") + " compares them all the same"
}

func keysOf(seen map[string]bool, tables ...*pair.Table) []string {
	var keys []string
	for _, t := range tables {
		for _, kv := range t.Config {
			if seen[kv.Key] {
				seen[kv.Key] = false
				keys = append(keys, kv.Key)
			}
		}
	}
	return keys
}

// testable says whether a test of the two sides counts as one. Sides that are
// constant and equal cannot be told apart by any test, so that they take no
// part in the correction.
func (j *job) testable() bool {
	return len(j.base) > 0 && len(j.now) > 0 && j.table.Better != 0 && !j.table.Exact &&
		notFinite(j.base) == nil && notFinite(j.now) == nil && !constant(j.base, j.now)
}

// measure fills in the figures.
func (j *job) measure(opt Options, need int) {
	t := j.table
	sides := [][]pair.Sample{j.base, j.now}
	if len(j.base) > 0 && len(j.now) > 0 {
		j.Regime, sides = opt.pick(need, j.base, j.now)
	}
	j.Base, j.New = opt.Summarise(sides[0], t.Exact), opt.Summarise(sides[1], t.Exact)
	j.Base.NearN, j.Base.FarN = count(j.base, opt.Near)
	j.New.NearN, j.New.FarN = count(j.now, opt.Near)
	j.Floor = max(opt.Floor, opt.Noise.of(t.Tidy, j.base, j.now))
	if math.IsNaN(j.Base.Center) || math.IsNaN(j.New.Center) {
		return
	}
	if j.Ratio = ratio(j.Base.Center, j.New.Center); j.Base.Center < 0 || j.New.Center < 0 {
		j.Ratio = math.NaN()
	}
	j.Change = j.Ratio - 1
	if j.Regime == Mixed && opt.Correct != None {
		return
	}
	a, b := values(sides[0]), values(sides[1])
	j.P = opt.test(a, b, t.Exact)
	j.Adjusted = j.P
	j.tested = j.testable()
	if math.IsNaN(j.Ratio) {
		return
	}
	if t.Exact {
		j.Lo, j.Hi = ratio(j.Base.Hi, j.New.Lo)-1, ratio(j.Base.Lo, j.New.Hi)-1
		j.logs = logs(slices.Repeat([]float64{j.Ratio}, resamples))
		return
	}
	if min(len(a), len(b)) < 2 {
		return // whatever one sample is resampled to, it is that sample
	}
	ratios := bootstrap(source(opt.Seed, t.Tidy, configText(t.Config), j.row.Name, j.sides[0], j.sides[1]), a, b)
	lo, hi := percentiles(ratios, opt.Confidence)
	j.Lo, j.Hi = lo-1, hi-1
	j.logs = logs(ratios)
}

func configText(config []pair.KeyValue) string {
	var b strings.Builder
	for _, kv := range config {
		fmt.Fprintf(&b, "%s=%s;", kv.Key, kv.Value)
	}
	return b.String()
}
