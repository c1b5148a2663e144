package verdict

import "github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts. Faster means better in the unit's direction, whatever the
// unit is; NotComparable comes with a reason.
const (
	Faster        Verdict = "faster"
	Slower        Verdict = "slower"
	Same          Verdict = "same"
	Undecided     Verdict = "undecided"
	NotComparable Verdict = "not comparable"
)

// Regime says how far apart the cores were in the samples that count.
type Regime string

// The regimes. Mixed means that neither regime has enough samples on both
// sides, so that nothing is decided; OneCore that the input declares the
// distance to be of no matter; Unknown that it was not measured.
const (
	Near    Regime = "near"
	Far     Regime = "far"
	Mixed   Regime = "mixed"
	OneCore Regime = "one core"
	Unknown Regime = "unknown"
)

// Summary is one side of a comparison, of the samples that count.
type Summary struct {
	// Center is the median, or the mode where the unit is exact. Lo and Hi
	// bound its order-statistic interval and are infinite with too few
	// samples. All are in the table's unit.
	Center, Lo, Hi float64
	// N is how many samples count.
	N int
	// NearN and FarN are how many samples there are in either regime.
	NearN, FarN int
	// Samples are those that count, in run order.
	Samples []pair.Sample
}

// Comparison is one column of a row against the row's baseline. A figure that
// does not exist is NaN; a side that was not measured has N 0.
type Comparison struct {
	Column, BaseColumn string
	Base, New          Summary
	Regime             Regime
	// Ratio is New.Center / Base.Center, and Change is Ratio - 1. A change
	// from 0 is +Inf.
	Ratio, Change float64
	// Lo and Hi bound the change at the confidence level (seeded bootstrap).
	Lo, Hi float64
	// P is x/perf's, Adjusted is corrected for the rows of the unit.
	P, Adjusted float64
	// Floor is what a change must exceed: the -floor or the measured noise.
	Floor   float64
	Verdict Verdict
	// Reason explains Undecided and NotComparable; else it is "".
	Reason string
	// Needed is how many samples on each side would let an undecided row
	// decide; 0 if it is decided or nobody can tell.
	Needed int

	// tested says that P is from a test that the correction counts.
	tested bool
	// logs are the logarithms of the bootstrapped ratios, nil without any.
	logs []float64
}

// Row is a row with its comparisons, in the order of the columns.
type Row struct {
	*pair.Row
	Comparisons []*Comparison
}

// Table is a table with its comparisons.
type Table struct {
	*pair.Table
	Rows []*Row
}

// Counts is how many comparisons came to each verdict.
type Counts struct {
	Faster, Slower, Same, Undecided, NotComparable int
}

// Topic sums the rows of one benchmark up, in its headline unit: the time per
// piece of work, else what its lines report first.
type Topic struct {
	Name string
	// Config is the configuration of the table it is from.
	Config             []pair.KeyValue
	Unit               string
	Better             int
	Column, BaseColumn string
	// Ratio is the geometric mean of the rows' ratios, with its bootstrapped
	// interval; NaN if no row has one.
	Ratio, Lo, Hi float64
	// Rows is how many rows the ratio is of.
	Rows   int
	Counts Counts
}

// Report is everything a command has to say about a comparison.
type Report struct {
	Options Options
	// ColumnKey is the projection that makes the columns, such as .file.
	ColumnKey string
	// Machine are the configuration lines that are the same everywhere.
	Machine []pair.KeyValue
	Tables  []*Table
	Topics  []*Topic
	Counts  Counts
	// Warnings are about the input as a whole.
	Warnings []string
}
