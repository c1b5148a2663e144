package pair

// KeyValue is one dimension of a benchmark or one line of configuration.
type KeyValue struct{ Key, Value string }

// Sample is one measurement with what was written beside it.
type Sample struct {
	// Value is in the unit of its table. It may be NaN or infinite.
	Value float64
	// Iters is how many iterations the value is a mean of.
	Iters int
	// Bounce is how many nanoseconds a cache line took from one core to
	// another and back when this was measured; 0 if nobody measured it.
	Bounce float64
	// Seq is the place in the run: the seq that the runner wrote, or the
	// running number of the line in the command.
	Seq int
	// OneCore says that the input declares the distance between cores to be
	// of no matter here.
	OneCore bool
	// File and Line are where it was read.
	File string
	Line int
	// FullName is the benchmark's whole name without the word Benchmark.
	FullName string
	// Commit is the configured commit, or ""; Dirty says that the tree was
	// changed since; Date is the commit's date, else that of the run.
	Commit string
	Dirty  bool
	Date   string
}

// Cell is the samples of one row and column, in run order.
type Cell struct {
	Samples []Sample
	// Varies names keys in which these samples differ although no projection
	// tells them apart: what was lumped together may not be one thing.
	Varies []string
}

// Row is one benchmark of a table.
type Row struct {
	// Name is what the -row projection makes of the benchmark's name, and
	// what tells rows of a table apart.
	Name string
	// Topic is the benchmark's base name.
	Topic string
	// Labels are the key=value parts of the benchmark's name in which all
	// samples of the row agree, in their order. A part without a key has the
	// key "", the number of processors the key "gomaxprocs".
	Labels []KeyValue
	// Cells has one element for each column of the table; nil where nothing
	// was measured.
	Cells []*Cell
	// Base is the column that the others are compared to, whether or not the
	// row has samples there; -1 if the table has no such column.
	Base int
	// BaseName is the name of that column, also where the table has none.
	BaseName string
}

// Label returns the value of a dimension, or "".
func (r *Row) Label(key string) string {
	for _, l := range r.Labels {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// Table is all rows of one unit and one configuration.
type Table struct {
	// Config tells tables of one unit apart.
	Config []KeyValue
	// Unit is as it was written, such as ns/op. Tidy is its form in base
	// units, such as sec/op; Tidy is what -filter and Unit lines mean too.
	Unit, Tidy string
	// Better is 1 where higher values are better, -1 where lower ones are,
	// 0 where nobody said.
	Better int
	// Exact says that the unit has no noise (Unit x assume=exact).
	Exact bool
	// First is the place of the unit among those that a result line reports,
	// the smallest one of the table.
	First int
	// Columns are the values of the -col projection.
	Columns []string
	Rows    []*Row
}

// Tables is what a command compares, in order of appearance.
type Tables struct {
	Tables []*Table
	// ColumnKey is the projection that makes the columns, such as .file, and
	// Columns are all of its values.
	ColumnKey string
	Columns   []string
	// Machine are the configuration lines that are the same everywhere.
	Machine []KeyValue
	// Notes say what the reader should know about the input as a whole.
	Notes []string
}
