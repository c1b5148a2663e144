package overview

import (
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// of summarises one cell.
func of(t *testing.T, exact bool, varies []string, samples ...pair.Sample) *Cell {
	t.Helper()
	table := &pair.Table{Unit: "u", Tidy: "u", Exact: exact, Columns: []string{"a", "b"}, Rows: []*pair.Row{
		{Name: "X", Cells: []*pair.Cell{nil, {Samples: samples, Varies: varies}}},
	}}
	o := Of(&pair.Tables{Tables: []*pair.Table{table}, Machine: []pair.KeyValue{{Key: "goos", Value: "x"}}, Notes: []string{"n"}}, verdict.Defaults(100))
	if len(o.Tables) != 1 || len(o.Tables[0].Rows) != 1 || len(o.Tables[0].Rows[0].Cells) != 1 || len(o.Machine) != 1 || len(o.Warnings) != 1 {
		t.Fatalf("the overview is %+v", o)
	}
	return o.Tables[0].Rows[0].Cells[0]
}

func at(bounce float64, values ...float64) []pair.Sample {
	var list []pair.Sample
	for _, v := range values {
		list = append(list, pair.Sample{Value: v, Bounce: bounce})
	}
	return list
}

func TestFigures(t *testing.T) {
	c := of(t, false, nil, at(0, 8, 2, 4, 6, 5, 5, 7, 3)...)
	if c.Column != "b" || c.Summary.Center != 5 || c.Min != 2 || c.Max != 8 || c.Spread != 1.2 || c.Summary.N != 8 || c.Regime != verdict.Unknown || len(c.Warnings) > 0 {
		t.Errorf("the cell is %+v", c)
	}
	if c := of(t, false, nil, at(0, 0, 0, 0, 0, 0, 0)...); c.Spread != 0 {
		t.Errorf("the spread of zeros is %v", c.Spread)
	}
	if c := of(t, false, nil, at(0, 0, 0, 0, 0, 0, 1)...); !math.IsNaN(c.Spread) {
		t.Errorf("the spread around a median of 0 is %v", c.Spread)
	}
}

func TestWarnings(t *testing.T) {
	steady := []float64{100, 101, 99, 100.5, 99.5, 100, 101, 99, 100, 100}
	for name, c := range map[string]struct {
		exact   bool
		varies  []string
		samples []pair.Sample
		regime  verdict.Regime
		want    string
	}{
		"none":         {false, nil, at(50, steady...), verdict.Near, ""},
		"far":          {false, nil, at(190, steady...), verdict.Far, ""},
		"few":          {false, nil, at(50, 1, 2, 3), verdict.Near, "n=3 is too few"},
		"two regimes":  {false, nil, append(at(50, steady...), at(190, steady[:4]...)...), verdict.Mixed, "10 near, 4 far"},
		"clusters":     {false, nil, at(0, append(steady, 190, 191, 189)...), verdict.Unknown, "two clusters: 10 samples up to 101, 3 from 189"},
		"an outlier":   {false, nil, at(0, append(steady, 500)...), verdict.Unknown, ""},
		"lumped":       {false, []string{".fullname"}, at(0, steady...), verdict.Unknown, ".fullname"},
		"no number":    {false, nil, at(0, append(steady, math.NaN())...), verdict.Unknown, "not a number"},
		"exact":        {true, nil, at(0, 5), verdict.Unknown, ""},
		"exact, loose": {true, nil, at(0, 5, 6), verdict.Unknown, "declared exact"},
	} {
		got := of(t, c.exact, c.varies, c.samples...)
		text := strings.Join(got.Warnings, "\n")
		if got.Regime != c.regime || !strings.Contains(text, c.want) || (c.want == "") != (text == "") || len(got.Warnings) > 1 {
			t.Errorf("%s: %s, %q; want %s and one warning with %q", name, got.Regime, got.Warnings, c.regime, c.want)
		}
	}
	one := append(at(50, steady...), at(190, steady...)...)
	for i := range one {
		one[i].OneCore = true
	}
	if got := of(t, false, nil, one...); got.Regime != verdict.OneCore || len(got.Warnings) > 0 {
		t.Errorf("one core: %s, %q", got.Regime, got.Warnings)
	}
}
