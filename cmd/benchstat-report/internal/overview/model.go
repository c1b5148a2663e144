package overview

import (
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// Cell is what one column measured of one row.
type Cell struct {
	Column string
	// Summary is of all samples, whatever their regime.
	Summary verdict.Summary
	// Min and Max are the extremes, Spread is (Max-Min)/Center.
	Min, Max, Spread float64
	// Regime is the one that all samples are from, or Mixed.
	Regime verdict.Regime
	// Warnings say why the figures may mislead.
	Warnings []string
}

// Row is a row with what each column measured, in the order of the columns.
type Row struct {
	*pair.Row
	Cells []*Cell
}

// Table is a table with its rows.
type Table struct {
	*pair.Table
	Rows []*Row
}

// Overview is everything the summary of some files has to say.
type Overview struct {
	Options  verdict.Options
	Tables   []*Table
	Machine  []pair.KeyValue
	Warnings []string
}
