package pair

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
)

// BounceUnit is the metric, or the configuration key, that says how long a
// cache line took between cores. It is beside what is measured, and no row.
const BounceUnit = "bounce-ns"

// ErrNothing is returned when the filter leaves nothing.
var ErrNothing = errors.New("pair: nothing is left to look at")

// measured is one value of one result before it is sorted into a table.
type measured struct {
	sample        Sample
	written, tidy float64
	unit          string // as written
}

type cellKey struct{ row, col benchproc.Key }

type cellData struct {
	values  []measured
	residue map[benchproc.Key]bool
}

type tableData struct {
	key   benchproc.Key
	tidy  string
	first int
	cells map[cellKey]*cellData
	rows  map[benchproc.Key]bool
}

// builder sorts results into tables.
type builder struct {
	*projections
	set    *parse.Set
	opt    Options
	tables map[benchproc.Key]*tableData
	cols   map[benchproc.Key]bool
	names  map[benchproc.Key]benchfmt.Name // of a row: one of its benchmarks
	used   []*parse.Result
}

// Build sorts the results of a set.
func Build(set *parse.Set, opt Options) (*Tables, error) {
	opt = opt.defaults(set)
	proj, err := opt.projections(set)
	if err != nil {
		return nil, err
	}
	b := &builder{
		projections: proj, set: set, opt: opt,
		tables: map[benchproc.Key]*tableData{},
		cols:   map[benchproc.Key]bool{},
		names:  map[benchproc.Key]benchfmt.Name{},
	}
	var reason error
	for i, r := range set.Results {
		if err := b.add(r, i); err != nil && reason == nil {
			reason = err
		}
	}
	if len(b.tables) == 0 {
		err := fmt.Errorf("%w: -filter %q matches none of %d results", ErrNothing, opt.Filter, len(set.Results))
		if reason != nil {
			err = fmt.Errorf("%w (%v)", err, reason)
		}
		return nil, err
	}
	return b.finish()
}

// add sorts a result in. The error is a reason for which it was left out.
func (b *builder) add(res *parse.Result, n int) error {
	r := *res.Result
	r.Values = slices.Clone(r.Values)
	if ok, err := b.filter.Apply(&r); !ok {
		return err
	}
	b.used = append(b.used, res)
	sample := describe(res, n)
	keys := b.table.ProjectValues(&r)
	cell := cellKey{b.row.Project(&r), b.col.Project(&r)}
	residue := b.residue.Project(&r)
	for i, v := range r.Values {
		m := measured{sample: sample, written: v.Value, tidy: v.Value, unit: v.Unit}
		if v.OrigUnit != "" {
			m.written, m.unit = v.OrigValue, v.OrigUnit
		}
		if m.unit == BounceUnit {
			continue
		}
		t := b.tables[keys[i]]
		if t == nil {
			t = &tableData{key: keys[i], tidy: v.Unit, first: i, cells: map[cellKey]*cellData{}, rows: map[benchproc.Key]bool{}}
			b.tables[keys[i]] = t
		}
		t.first = min(t.first, i)
		c := t.cells[cell]
		if c == nil {
			c = &cellData{residue: map[benchproc.Key]bool{}}
			t.cells[cell] = c
		}
		c.values = append(c.values, m)
		c.residue[residue] = true
		t.rows[cell.row], b.cols[cell.col] = true, true
		if b.names[cell.row] == nil {
			b.names[cell.row] = r.Name
		}
	}
	return nil
}

// describe returns a sample without its value.
func describe(res *parse.Result, n int) Sample {
	s := Sample{
		Iters: res.Iters, Seq: n + 1, File: res.File, Line: res.Line,
		FullName: res.Name.String(), Commit: res.GetConfig("commit"),
		Dirty: res.GetConfig("dirty") == "true", Date: res.GetConfig("commit-date"),
	}
	if s.Date == "" {
		s.Date = res.GetConfig("date")
	}
	if seq, err := strconv.Atoi(res.GetConfig("seq")); err == nil {
		s.Seq = seq
	}
	if ns, err := strconv.ParseFloat(res.GetConfig(BounceUnit), 64); err == nil {
		s.Bounce = ns
	}
	for _, v := range res.Values {
		if v.OrigUnit == BounceUnit {
			s.Bounce = v.OrigValue
		}
	}
	s.OneCore = res.GetConfig("cores") == "one"
	for _, l := range labels(res.Name) {
		s.OneCore = s.OneCore || l == KeyValue{"cores", "one"}
	}
	return s
}

// labels returns the parts of a name.
func labels(name benchfmt.Name) []KeyValue {
	_, parts := name.Parts()
	var list []KeyValue
	for _, p := range parts {
		part := string(p)
		if procs, ok := strings.CutPrefix(part, "-"); ok {
			list = append(list, KeyValue{"gomaxprocs", procs})
			continue
		}
		part = strings.TrimPrefix(part, "/")
		if k, v, ok := strings.Cut(part, "="); ok {
			list = append(list, KeyValue{k, v})
		} else {
			list = append(list, KeyValue{"", part})
		}
	}
	return list
}

func sortedKeys[V any](m map[benchproc.Key]V) []benchproc.Key {
	var keys []benchproc.Key
	for k := range m {
		keys = append(keys, k)
	}
	benchproc.SortKeys(keys)
	return keys
}

func (b *builder) finish() (*Tables, error) {
	out := &Tables{ColumnKey: b.opt.Col}
	cols := sortedKeys(b.cols)
	if b.opt.Col == fileKey {
		// A file of which nothing is left is a side all the same.
		for _, label := range b.set.Files {
			if label = named(label); !slices.Contains(out.Columns, label) {
				out.Columns = append(out.Columns, label)
			}
		}
	} else {
		for _, k := range cols {
			out.Columns = append(out.Columns, keyName(k))
		}
	}
	baselines, err := b.baselines(out.Columns)
	if err != nil {
		return nil, err
	}
	keys := sortedKeys(b.tables)
	for _, k := range keys {
		out.Tables = append(out.Tables, b.tableOf(b.tables[k], keys, cols, baselines))
	}
	out.Machine = b.machine()
	out.Notes = b.notes()
	return out, nil
}

// keyName returns a key's values, or a word that says that they are empty. A
// name without a number of processors ran on one.
func keyName(k benchproc.Key) string {
	name := k.StringValues()
	if fields := k.Projection().FlattenedFields(); slices.ContainsFunc(fields, func(f *benchproc.Field) bool { return f.Name == "/gomaxprocs" }) {
		var values []string
		for _, f := range fields {
			v := k.Get(f)
			if f.Name == "/gomaxprocs" && v == "" {
				v = "1"
			}
			values = append(values, v)
		}
		name = strings.Join(values, " ")
	}
	return named(name)
}

// named returns a name, or a word that says that it is empty.
func named(name string) string {
	if name = strings.TrimSpace(name); name == "" {
		return "(none)"
	}
	return name
}

// baselines returns the names of the columns to compare to.
func (b *builder) baselines(columns []string) ([]string, error) {
	if b.opt.Baseline == "" {
		return columns[:1], nil
	}
	var names []string
	given := strings.Split(b.opt.Baseline, ",")
	if slices.Contains(columns, b.opt.Baseline) {
		given = []string{b.opt.Baseline} // a name with a comma
	}
	for _, name := range given {
		if slices.Contains(columns, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, &OptionError{"-baseline", b.opt.Baseline,
			fmt.Errorf("%s has no such value; it has %s", b.opt.Col, strings.Join(columns, ", "))}
	}
	return names, nil
}

func (b *builder) tableOf(d *tableData, all, cols []benchproc.Key, baselines []string) *Table {
	t := &Table{
		Unit: d.unit(), Tidy: d.tidy, First: d.first,
		Better: b.set.Units.GetBetter(d.tidy),
		Exact:  b.set.Units.GetAssumption(d.tidy) == benchmath.AssumeExact,
	}
	for _, f := range varying(all) {
		if v := d.key.Get(f); v != "" {
			t.Config = append(t.Config, KeyValue{f.Name, v})
		}
	}
	var own []benchproc.Key
	for _, c := range cols {
		for k := range d.cells {
			if k.col == c {
				own = append(own, c)
				t.Columns = append(t.Columns, keyName(c))
				break
			}
		}
	}
	has := map[string]map[string]bool{} // topic, column
	for _, k := range sortedKeys(d.rows) {
		row := &Row{Name: keyName(k), Topic: string(b.names[k].Base()), Base: -1}
		for i, c := range own {
			cell := d.cells[cellKey{k, c}]
			if cell == nil {
				row.Cells = append(row.Cells, nil)
				continue
			}
			row.Cells = append(row.Cells, cell.finish(t.Unit))
			if has[row.Topic] == nil {
				has[row.Topic] = map[string]bool{}
			}
			has[row.Topic][t.Columns[i]] = true
		}
		row.Labels = common(row.Cells)
		t.Rows = append(t.Rows, row)
	}
	for _, row := range t.Rows {
		i := slices.IndexFunc(baselines, func(name string) bool { return has[row.Topic][name] })
		row.BaseName = baselines[max(i, 0)]
		row.Base = slices.Index(t.Columns, row.BaseName)
	}
	return t
}

// varying returns the fields, without the unit, in which the keys differ.
func varying(keys []benchproc.Key) []*benchproc.Field {
	return slices.DeleteFunc(benchproc.NonSingularFields(keys), func(f *benchproc.Field) bool { return f.Name == ".unit" })
}

// unit returns the unit as it was written, if all lines agree.
func (d *tableData) unit() string {
	unit := ""
	for _, c := range d.cells {
		for _, m := range c.values {
			if unit == "" {
				unit = m.unit
			}
			if unit != m.unit {
				return d.tidy
			}
		}
	}
	return unit
}

// finish sets the values in the unit of the table.
func (c *cellData) finish(unit string) *Cell {
	cell := &Cell{}
	for _, m := range c.values {
		m.sample.Value = m.tidy
		if m.unit == unit {
			m.sample.Value = m.written
		}
		cell.Samples = append(cell.Samples, m.sample)
	}
	var keys []benchproc.Key
	for k := range c.residue {
		keys = append(keys, k)
	}
	for _, f := range benchproc.NonSingularFields(keys) {
		if !matches(moments, f.Name) {
			cell.Varies = append(cell.Varies, f.Name)
		}
	}
	return cell
}

// common returns the labels on which all samples agree.
func common(cells []*Cell) []KeyValue {
	var list []KeyValue
	first := true
	for _, c := range cells {
		if c == nil {
			continue
		}
		for _, s := range c.Samples {
			own := labels(benchfmt.Name(s.FullName))
			if first {
				list, first = own, false
			}
			list = slices.DeleteFunc(list, func(l KeyValue) bool { return !slices.Contains(own, l) })
		}
	}
	return list
}
