package verdict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// grid is a table in which each row has these centers, by column.
func grid(unit string, columns []string, config []pair.KeyValue, rows map[string][]float64, order ...string) *pair.Table {
	t := &pair.Table{Unit: unit, Tidy: unit, Better: -1, Columns: columns, Config: config}
	for _, name := range order {
		topic, _, _ := strings.Cut(name, "/")
		r := &pair.Row{Name: name, Topic: topic, BaseName: columns[0]}
		for _, center := range rows[name] {
			if math.IsNaN(center) {
				r.Cells = append(r.Cells, nil)
				continue
			}
			s := samples(0, around(center, 10)...)
			for i := range s {
				s[i].FullName = name
			}
			r.Cells = append(r.Cells, &pair.Cell{Samples: s})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func TestTopicsAreInTheirHeadlineUnit(t *testing.T) {
	columns := []string{"old", "new"}
	rows := map[string][]float64{"A/n=1": {100, 50}, "A/n=2": {100, 200}, "B": {100, 400}, "C": {1, 1}}
	allocs := grid("allocs/op", columns, nil, rows, "A/n=1", "C")
	times := grid("sec/op", columns, nil, rows, "A/n=1", "A/n=2")
	other := grid("msgs/s", columns, nil, rows, "A/n=1", "B")
	r := Judge(&pair.Tables{Columns: columns, Tables: []*pair.Table{allocs, other, times}}, Defaults(100))
	var got []string
	for _, x := range r.Topics {
		got = append(got, x.Name+" "+x.Unit)
	}
	if want := "A sec/op, C allocs/op, B msgs/s"; strings.Join(got, ", ") != want {
		t.Errorf("topics are %q, want %q", got, want)
	}
	a := r.Topics[0]
	if math.Abs(a.Ratio-1) > 1e-9 || a.Lo > 1 || a.Hi < 1 || a.Rows != 2 || a.Counts.Faster != 1 || a.Counts.Slower != 1 {
		t.Errorf("a half and a double are %+v", a)
	}
	if c := r.Counts; c.Faster != 3 || c.Slower != 2 || c.Same != 1 {
		t.Errorf("counts are %+v", c)
	}
}

func TestOtherConfigurationsAreNamed(t *testing.T) {
	columns := []string{"old", "new"}
	here := grid("sec/op", columns[:1], []pair.KeyValue{{Key: "cpu", Value: "A"}, {Key: "pkg", Value: "p"}}, map[string][]float64{"X": {100}}, "X")
	there := grid("sec/op", columns[1:], []pair.KeyValue{{Key: "cpu", Value: "B"}, {Key: "pkg", Value: "p"}}, map[string][]float64{"X": {100}}, "X")
	there.Rows[0].Base, there.Rows[0].BaseName = -1, "old"
	r := Judge(&pair.Tables{ColumnKey: ".file", Columns: columns, Tables: []*pair.Table{here, there}}, Defaults(100))
	if len(r.Tables) != 1 || r.Counts.NotComparable != 1 {
		t.Fatalf("the report is %+v", r)
	}
	want := "only with other cpu (A there, B here); -ignore cpu compares them all the same"
	if got := r.Tables[0].Rows[0].Comparisons[0].Reason; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
}

func TestMoreColumnsAreEachComparedToTheBase(t *testing.T) {
	columns := []string{"old", "mid", "new"}
	table := grid("sec/op", columns, nil, map[string][]float64{"X": {100, 100, 150}, "Y": {100, math.NaN(), 50}}, "X", "Y")
	for key, want := range map[string]string{".file": "mid same, new slower, mid not comparable, new faster", "/impl": "mid same, new slower, new faster"} {
		r := Judge(&pair.Tables{ColumnKey: key, Columns: columns, Tables: []*pair.Table{table}}, Defaults(100))
		var got []string
		for _, row := range r.Tables[0].Rows {
			for _, c := range row.Comparisons {
				got = append(got, c.Column+" "+string(c.Verdict))
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("by %s: %q, want %q", key, got, want)
		}
	}
}

// Constant rows cannot be told apart by any test, so that they do not make it
// harder for the others.
func TestConstantRowsTakeNoPartInTheCorrection(t *testing.T) {
	columns := []string{"old", "new"}
	rows := map[string][]float64{"X": {100, 150}}
	order := []string{"X"}
	table := grid("allocs/op", columns, nil, rows, order...)
	for range 500 {
		side := func() *pair.Cell { return &pair.Cell{Samples: samples(0, 1, 1, 1, 1, 1, 1)} }
		table.Rows = append(table.Rows, &pair.Row{Name: "C", Topic: "C", BaseName: "old", Cells: []*pair.Cell{side(), side()}})
	}
	r := Judge(&pair.Tables{Columns: columns, Tables: []*pair.Table{table}}, Defaults(100))
	if c := r.Tables[0].Rows[0].Comparisons[0]; c.Verdict != Slower || c.Adjusted != c.P || r.Counts.Same != 500 {
		t.Errorf("%+v, %+v", c, r.Counts)
	}
}

// With many rows a side needs more samples to decide than the smaller one has
// here; the larger makes up for it, if the difference is clear.
func TestSidesOfDifferentSizesDecideWhatIsClear(t *testing.T) {
	columns := []string{"old", "new"}
	table := &pair.Table{Unit: "u", Tidy: "u", Better: -1, Columns: columns}
	for i := range 30 {
		base, now := around(100, 10), around(100, 6)
		if i == 7 {
			now = around(200, 6)
		}
		table.Rows = append(table.Rows, &pair.Row{Name: fmt.Sprint("R", i), Topic: "R", BaseName: "old",
			Cells: []*pair.Cell{{Samples: samples(0, base...)}, {Samples: samples(0, now...)}}})
	}
	r := Judge(&pair.Tables{Columns: columns, Tables: []*pair.Table{table}}, Defaults(100))
	if c := r.Tables[0].Rows[7].Comparisons[0]; c.Verdict != Slower || r.Counts.Slower != 1 || r.Counts.Faster != 0 {
		t.Errorf("%s %q, p %v, %+v", c.Verdict, c.Reason, c.Adjusted, r.Counts)
	}
}

func TestNoiseRaisesTheFloorOfItsRows(t *testing.T) {
	columns := []string{"base", "new"}
	aa := grid("sec/op", columns, nil, map[string][]float64{"Loud": {100, 112}, "Quiet": {100, 100}}, "Loud", "Quiet")
	noise := MeasureNoise(&pair.Tables{Columns: columns, Tables: []*pair.Table{aa}}, Defaults(100))
	loud, quiet := noise[NoiseKey{"sec/op", "Loud"}], noise[NoiseKey{"sec/op", "Quiet"}]
	if loud < 0.12 || loud > 0.14 || quiet > 0.01 {
		t.Fatalf("the noise is %v", noise)
	}
	o := Defaults(100)
	o.Noise = noise
	table := grid("sec/op", columns, nil, map[string][]float64{"Loud": {100, 110}, "Quiet": {100, 110}, "New": {100, 110}}, "Loud", "Quiet", "New")
	r := Judge(&pair.Tables{Columns: columns, Tables: []*pair.Table{table}}, o)
	var got []Verdict
	for _, row := range r.Tables[0].Rows {
		got = append(got, row.Comparisons[0].Verdict)
	}
	if got[0] != Same || got[1] != Slower || got[2] != Slower {
		t.Errorf("loud, quiet and unmeasured are %v, want same, slower, slower", got)
	}
	// A change whose interval leaves the band of the noise on one side only.
	table = grid("sec/op", columns, nil, map[string][]float64{"Loud": {100, 112.2}}, "Loud")
	r = Judge(&pair.Tables{Columns: columns, Tables: []*pair.Table{table}}, o)
	if c := r.Tables[0].Rows[0].Comparisons[0]; c.Verdict != Undecided || !strings.Contains(c.Reason, "A/A noise") {
		t.Errorf("at the edge of the noise: %s %q, %v in [%v, %v], floor %v", c.Verdict, c.Reason, c.Change, c.Lo, c.Hi, c.Floor)
	}
}

func TestHowManySamplesATestNeeds(t *testing.T) {
	for _, c := range []struct{ tests, want int }{{1, 4}, {2, 5}, {6, 5}, {7, 6}, {23, 6}, {24, 7}, {85, 7}, {100, 8}, {300, 8}, {1000, 9}} {
		if got := testable(0.05, c.tests); got != c.want {
			t.Errorf("%d tests need %d samples, want %d", c.tests, got, c.want)
		}
	}
	if testable(1e-300, 1) != 26 {
		t.Errorf("an alpha that nothing reaches needs %d", testable(1e-300, 1))
	}
	if a, b := boundable(0.95), boundable(0.99); a != 6 || b != 8 {
		t.Errorf("intervals at 95 %% and 99 %% need %d and %d samples, want 6 and 8", a, b)
	}
	if asked(7) != 7 || asked(8) != 10 || asked(12) != 12 {
		t.Errorf("asked for %d, %d and %d", asked(7), asked(8), asked(12))
	}
}
