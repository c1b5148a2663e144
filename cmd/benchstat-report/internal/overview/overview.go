package overview

import (
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

const (
	// enough is how many samples a comparison should have.
	enough = 10
	// wideGap is how large a part of the median the gap between two clusters
	// must be, and gapRatio how many times larger than either cluster.
	wideGap  = 0.10
	gapRatio = 2.0
	// clusterShare is the part of the samples that makes a cluster, and not
	// an outlier.
	clusterShare = 5
)

// Of summarises every row of the tables.
func Of(tables *pair.Tables, opt verdict.Options) *Overview {
	o := &Overview{Options: opt, Machine: tables.Machine, Warnings: tables.Notes}
	for _, t := range tables.Tables {
		out := &Table{Table: t}
		for _, row := range t.Rows {
			r := &Row{Row: row}
			for i, c := range row.Cells {
				if c != nil {
					r.Cells = append(r.Cells, cellOf(c, t, t.Columns[i], opt))
				}
			}
			out.Rows = append(out.Rows, r)
		}
		o.Tables = append(o.Tables, out)
	}
	return o
}

func cellOf(c *pair.Cell, t *pair.Table, column string, opt verdict.Options) *Cell {
	out := &Cell{Column: column, Summary: opt.Summarise(c.Samples, t.Exact), Min: math.NaN(), Max: math.NaN(), Spread: math.NaN()}
	sum := out.Summary
	out.Regime, _ = verdict.Pick(len(c.Samples), opt.Near, c.Samples)
	if in := max(sum.NearN, sum.FarN); out.Regime != verdict.OneCore && out.Regime != verdict.Unknown && in < sum.N {
		out.Regime = verdict.Mixed
		switch {
		case sum.NearN > 0 && sum.FarN > 0:
			out.warn("two regimes: %d near, %d far; the median is of both", sum.NearN, sum.FarN)
		default:
			out.warn("%d near, %d far, %d of no regime, beside a busy machine; the median is of all", sum.NearN, sum.FarN, sum.N-sum.NearN-sum.FarN)
		}
	}
	if len(c.Varies) > 0 {
		out.warn("samples vary in %v: more than one benchmark is in this row", c.Varies)
	}
	if math.IsNaN(sum.Center) {
		out.warn("a value is not a number or infinite: no figures")
		return out
	}
	sorted := make([]float64, 0, len(c.Samples))
	for _, s := range c.Samples {
		sorted = append(sorted, s.Value)
	}
	slices.Sort(sorted)
	out.Min, out.Max = sorted[0], sorted[len(sorted)-1]
	switch {
	case out.Min == out.Max:
		out.Spread = 0
	case sum.Center != 0:
		out.Spread = (out.Max - out.Min) / math.Abs(sum.Center)
	}
	switch {
	case t.Exact && out.Min != out.Max:
		out.warn("declared exact, and the values vary")
	case !t.Exact && math.IsInf(sum.Lo, 0):
		out.warn("n=%d is too few for an interval; a comparison should have %d", sum.N, enough)
	}
	if low, high, ok := clusters(sorted, sum.Center); ok && out.Regime != verdict.Mixed {
		out.warn("two clusters: %d samples up to %.4g, %d from %.4g", low, sorted[low-1], high, sorted[low])
	}
	return out
}

func (c *Cell) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// clusters says whether sorted values fall in two groups with a gap between
// them, and how many are in each.
func clusters(sorted []float64, center float64) (low, high int, ok bool) {
	n := len(sorted)
	least := max(2, n/clusterShare)
	for i := least; i <= n-least; i++ {
		gap := sorted[i] - sorted[i-1]
		if gap > wideGap*math.Abs(center) && gap > gapRatio*(sorted[i-1]-sorted[0]) && gap > gapRatio*(sorted[n-1]-sorted[i]) {
			return i, n - i, true
		}
	}
	return 0, 0, false
}
