package render

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// exact formats a number for a program, or "" if it is none.
func exact(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func records(w io.Writer, head []string, list [][]string) error {
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	return out.WriteAll(list)
}

// CSV writes one record for each comparison.
func CSV(w io.Writer, r *verdict.Report) error {
	var list [][]string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Comparisons {
				list = append(list, []string{
					configLine(t.Config, "=", "; "), t.Unit, better(t.Better), row.Topic, row.Name, c.Column, c.BaseColumn,
					exact(c.Base.Center), exact(c.Base.Lo), exact(c.Base.Hi), strconv.Itoa(c.Base.N),
					exact(c.New.Center), exact(c.New.Lo), exact(c.New.Hi), strconv.Itoa(c.New.N),
					exact(c.Ratio), exact(c.Change), exact(c.Lo), exact(c.Hi), exact(c.P), exact(c.Adjusted), exact(c.Floor),
					string(c.Regime), string(c.Verdict), c.Reason, strconv.Itoa(c.Needed),
				})
			}
		}
	}
	return records(w, []string{
		"config", "unit", "better", "topic", "row", "column", "baseline",
		"base", "base_lo", "base_hi", "base_n", "new", "new_lo", "new_hi", "new_n",
		"ratio", "change", "change_lo", "change_hi", "p", "p_adjusted", "floor", "regime", "verdict", "reason", "samples_needed",
	}, list)
}

// better is the direction for a program.
func better(direction int) string {
	switch {
	case direction < 0:
		return "lower"
	case direction > 0:
		return "higher"
	}
	return "unknown"
}
