package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// samples are values with one bounce.
func samples(bounce float64, values ...float64) []pair.Sample {
	var list []pair.Sample
	for i, v := range values {
		list = append(list, pair.Sample{Value: v, Bounce: bounce, Seq: i, File: "f", Line: i + 1, FullName: "X"})
	}
	return list
}

// around is n values close to a center.
func around(center float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = center * (1 + 0.001*float64(i-n/2))
	}
	return list
}

// tables is one table of one row with these two sides.
func tables(better int, exact bool, base, now []pair.Sample) *pair.Tables {
	cell := func(s []pair.Sample) *pair.Cell {
		if s == nil {
			return nil
		}
		return &pair.Cell{Samples: s}
	}
	return &pair.Tables{ColumnKey: ".file", Columns: []string{"old", "new"}, Tables: []*pair.Table{{
		Unit: "u", Tidy: "u", Better: better, Exact: exact, Columns: []string{"old", "new"},
		Rows: []*pair.Row{{Name: "X", Topic: "X", Cells: []*pair.Cell{cell(base), cell(now)}, BaseName: "old"}},
	}}}
}

func judge(t *testing.T, in *pair.Tables, change func(*Options)) *Comparison {
	t.Helper()
	o := Defaults(100)
	if change != nil {
		change(&o)
	}
	r := Judge(in, o)
	if len(r.Tables) != 1 || len(r.Tables[0].Rows) != 1 || len(r.Tables[0].Rows[0].Comparisons) != 1 {
		t.Fatalf("the report is %+v", r)
	}
	return r.Tables[0].Rows[0].Comparisons[0]
}

func TestVerdicts(t *testing.T) {
	rep := func(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }
	for _, c := range []struct {
		name      string
		better    int
		base, now []float64
		want      Verdict
		reason    string
	}{
		{"slower", -1, around(100, 10), around(110, 10), Slower, ""},
		{"faster", -1, around(100, 10), around(90, 10), Faster, ""},
		{"more is better", 1, around(100, 10), around(110, 10), Faster, ""},
		{"less is worse", 1, around(100, 10), around(90, 10), Slower, ""},
		{"below the floor", -1, around(100, 10), around(102, 10), Same, ""},
		{"equal", -1, around(100, 10), around(100, 10), Same, ""},
		{"constant", -1, rep(7, 10), rep(7, 10), Same, ""},
		{"constant, one more", -1, rep(1, 10), rep(2, 10), Slower, ""},
		{"zeros", -1, rep(0, 10), rep(0, 10), Same, ""},
		{"zeros but for one", -1, append(rep(0, 9), 1e-9), rep(0, 10), Same, ""},
		{"zeros, and one is not", -1, rep(0, 10), append(rep(0, 9), 1e-9), Same, ""},
		{"from zero", -1, rep(0, 10), rep(1, 10), Slower, ""},
		{"to zero", -1, rep(1, 10), rep(0, 10), Faster, ""},
		{"mostly zero", -1, append(rep(0, 6), rep(1, 4)...), rep(1, 10), NotComparable, "zero base"},
		{"zero, and some are not", -1, rep(0, 10), append(rep(0, 4), rep(1, 6)...), NotComparable, "zero base"},
		{"from zero, but for one", -1, rep(0, 10), append(rep(5, 9), 0), Slower, ""},
		{"from zero but for one", -1, append(rep(0, 9), 1), rep(5, 10), Slower, ""},
		{"from zero, more is better", 1, append(rep(0, 9), 1), rep(5, 10), Faster, ""},
		{"few", -1, around(100, 3), around(150, 3), Undecided, "n=3, needs ≥ 6"},
		{"few, constant", -1, rep(1, 3), rep(1, 3), Undecided, "n=3, needs ≥ 6"},
		{"few on one side", -1, around(100, 10), around(150, 2), Undecided, "n=10+2, needs ≥ 6"},
		{"one", -1, around(100, 1), around(150, 1), Undecided, "n=1, needs ≥ 6"},
		{"wide", -1, []float64{50, 60, 70, 80, 90, 110, 120, 130, 140, 150}, []float64{52, 61, 73, 84, 92, 111, 123, 131, 145, 151}, Undecided, "n=10, needs ≥ "},
		{"no direction", 0, around(100, 10), around(110, 10), NotComparable, "no direction"},
		{"negative", -1, around(-5, 10), around(110, 10), NotComparable, "negative"},
		{"not a number", -1, append(around(100, 9), math.NaN()), around(110, 10), NotComparable, "NaN at f:10"},
		{"infinite", -1, around(100, 10), append([]float64{math.Inf(1)}, around(110, 9)...), NotComparable, "+Inf at f:1"},
		{"missing in base", -1, nil, around(1, 10), NotComparable, "missing in old"},
		{"missing in new", -1, around(1, 10), nil, NotComparable, "missing in new"},
	} {
		got := judge(t, tables(c.better, false, samples(0, c.base...), samples(0, c.now...)), nil)
		if got.Verdict != c.want || !strings.HasPrefix(got.Reason, c.reason) || c.reason == "" && got.Reason != "" {
			t.Errorf("%s: %s, %q; want %s, %q\n%+v", c.name, got.Verdict, got.Reason, c.want, c.reason, got)
		}
		if (got.Needed > 0) != strings.Contains(got.Reason, "needs ≥") {
			t.Errorf("%s: needed is %d, and the reason %q", c.name, got.Needed, got.Reason)
		}
	}
}

func TestOneSampleHasNoInterval(t *testing.T) {
	for _, sides := range [][2][]pair.Sample{
		{samples(0, 100), samples(0, 150)},
		{samples(0, 100), samples(0, around(150, 10)...)},
	} {
		c := judge(t, tables(-1, false, sides[0], sides[1]), nil)
		if c.Ratio < 1.4 || !math.IsNaN(c.Lo) || !math.IsNaN(c.Hi) || c.Verdict != Undecided || c.Needed < 6 {
			t.Errorf("%+v: want a ratio without an interval, and undecided", c)
		}
	}
}

func TestExactUnitsNeedNoSecondSample(t *testing.T) {
	for _, c := range []struct {
		base, now []float64
		want      Verdict
	}{
		{[]float64{100}, []float64{105}, Slower}, {[]float64{100}, []float64{90}, Faster}, {[]float64{100}, []float64{101}, Same},
		{[]float64{100}, []float64{100}, Same}, {[]float64{100, 101}, []float64{90, 120}, Undecided}, {[]float64{0}, []float64{5}, Slower},
	} {
		if got := judge(t, tables(-1, true, samples(0, c.base...), samples(0, c.now...)), nil); got.Verdict != c.want {
			t.Errorf("%v against %v: %+v, want %s", c.now, c.base, got, c.want)
		}
	}
}

func TestRegimes(t *testing.T) {
	mix := func(nearN, farN int) []pair.Sample {
		return append(samples(50, around(100, nearN)...), samples(190, around(300, farN)...)...)
	}
	busy := func(nearN, farN, busyN int) []pair.Sample {
		return append(mix(nearN, farN), samples(2500, around(900, busyN)...)...)
	}
	for _, c := range []struct {
		base, now []pair.Sample
		want      Regime
		n         int
	}{
		{mix(10, 0), mix(10, 0), Near, 10}, {mix(0, 10), mix(0, 10), Far, 10}, {mix(6, 4), mix(7, 3), Near, 6},
		{mix(4, 6), mix(3, 8), Far, 6}, {mix(6, 6), mix(6, 6), Near, 6}, {mix(4, 3), mix(5, 3), Near, 4},
		{mix(2, 5), mix(5, 3), Far, 3}, {mix(10, 0), mix(0, 10), Mixed, 10}, {mix(2, 2), mix(2, 2), Mixed, 4}, {mix(2, 0), mix(2, 0), Near, 2},
		{samples(0, around(1, 5)...), samples(0, around(1, 5)...), Unknown, 5},
		// Beside a busy machine: of neither regime, and nothing that decides.
		{busy(0, 3, 7), busy(0, 4, 7), Far, 3}, {busy(4, 0, 9), busy(5, 0, 9), Near, 4}, {busy(0, 0, 9), busy(0, 0, 9), Mixed, 9},
	} {
		got := judge(t, tables(-1, false, c.base, c.now), nil)
		if got.Regime != c.want || min(got.Base.N, got.New.N) != c.n {
			t.Errorf("%d near and %d far against %d and %d: %s with %d and %d, want %s with %d", got.New.NearN, got.New.FarN, got.Base.NearN, got.Base.FarN,
				got.Regime, got.Base.N, got.New.N, c.want, c.n)
		}
		if what := map[bool]string{true: "two regimes (", false: "no regime known ("}[got.New.NearN+got.New.FarN > 0]; c.want == Mixed && !strings.HasPrefix(got.Reason, what) {
			t.Errorf("the reason is %q, want %q", got.Reason, what)
		}
		if c.want == Mixed && (got.Verdict != Undecided || !strings.Contains(got.Reason, "near, ")) {
			t.Errorf("a mixture is %s, %q", got.Verdict, got.Reason)
		}
	}
	got := judge(t, tables(-1, false, samples(0, around(1, 9)...), mix(9, 0)), nil)
	if got.Verdict != Undecided || !strings.HasPrefix(got.Reason, "no regime in common (") || !strings.Contains(got.Reason, "-near 0") {
		t.Errorf("with a side that nobody measured: %s, %q", got.Verdict, got.Reason)
	}
	one := mix(5, 5)
	for i := range one {
		one[i].OneCore = true
	}
	if got := judge(t, tables(-1, false, one, one), nil); got.Regime != OneCore || got.Base.N != 10 {
		t.Errorf("one core: %s with %d samples", got.Regime, got.Base.N)
	}
	// A border of 0 tells none apart, and neither does a comparison without a
	// correction, which decides nothing about a mixture.
	if got := judge(t, tables(-1, false, mix(5, 5), mix(5, 5)), func(o *Options) { o.Near = 0 }); got.Regime != Unknown || got.Base.N != 10 {
		t.Errorf("border 0: %s with %d samples", got.Regime, got.Base.N)
	}
	got = judge(t, tables(-1, false, mix(10, 0), mix(0, 10)), func(o *Options) { o.Correct = None })
	if got.Regime != Mixed || got.Base.N != 10 || got.Verdict != Undecided || math.IsNaN(got.P) {
		t.Errorf("without correction: %+v", got)
	}
}

func TestHolm(t *testing.T) {
	var list []*Comparison
	for _, p := range []float64{0.04, 0.01, 0.03, 0.5, 0.011} {
		list = append(list, &Comparison{P: p})
	}
	holm(list)
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprintf("%.3f", c.Adjusted))
	}
	// 0.01×5, max(0.05, 0.011×4), 0.03×3, max(0.09, 0.04×2), 0.5.
	if want := []string{"0.090", "0.050", "0.090", "0.500", "0.050"}; !slices.Equal(got, want) {
		t.Errorf("adjusted p-values are %v, want %v", got, want)
	}
}

// With ties and sides of different sizes the order of the sides decides over
// what benchmath's U-test says, down to a p of 0.
func TestTheTestDoesNotDependOnTheOrderOfTheSides(t *testing.T) {
	o := Defaults(100)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		a, b := make([]float64, 3+rng.IntN(4)), make([]float64, 3+rng.IntN(4))
		for _, side := range [][]float64{a, b} {
			for i := range side {
				side[i] = float64(rng.IntN(4))
			}
		}
		p, q := o.test(a, b, false), o.test(b, a, false)
		if wins(a, b) != wins(b, a) && p != q {
			t.Errorf("%v, %v: p is %v one way and %v the other", a, b, p, q)
		}
		if p < permuted(a, b)/2-1e-9 {
			t.Errorf("%v, %v: p is %v, less than what a permutation test's smaller tail allows: %v", a, b, p, permuted(a, b)/2)
		}
	}
}

// permuted is the exact two-sided p-value by going through every division of
// the values.
func permuted(a, b []float64) float64 {
	all := slices.Concat(a, b)
	seen := float64(wins(b, a) - wins(a, b))
	extreme, total := 0, 0
	for mask := range 1 << len(all) {
		var x, y []float64
		for i, v := range all {
			if mask>>i&1 == 1 {
				x = append(x, v)
			} else {
				y = append(y, v)
			}
		}
		if len(x) != len(a) {
			continue
		}
		total++
		if math.Abs(float64(wins(y, x)-wins(x, y))) >= math.Abs(seen) {
			extreme++
		}
	}
	return float64(extreme) / float64(total)
}

func TestTheIntervalOfAChange(t *testing.T) {
	base, now := samples(0, around(100, 10)...), samples(0, around(120, 10)...)
	got := judge(t, tables(-1, false, base, now), nil)
	if got.Lo < 0.18 || got.Hi > 0.22 || got.Lo > got.Change || got.Hi < got.Change {
		t.Errorf("the change of a fifth is %v in [%v, %v]", got.Change, got.Lo, got.Hi)
	}
	again := judge(t, tables(-1, false, base, now), nil)
	other := judge(t, tables(-1, false, base, now), func(o *Options) { o.Seed = 2 })
	if again.Lo != got.Lo || again.Hi != got.Hi {
		t.Error("two runs with one seed differ")
	}
	if slices.Equal(other.logs, got.logs) {
		t.Error("the seed changes nothing")
	}
	wide := judge(t, tables(-1, false, base, now), func(o *Options) { o.Confidence = 0.5 })
	if wide.Hi-wide.Lo >= got.Hi-got.Lo {
		t.Errorf("at confidence 0.5 the interval is [%v, %v], not narrower than [%v, %v]", wide.Lo, wide.Hi, got.Lo, got.Hi)
	}
}

// An interval at 95 % must hold the truth in about 95 % of all cases.
func TestTheIntervalHoldsTheTruthAsOftenAsItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	draw := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = math.Exp(0.05 * rng.NormFloat64())
		}
		return list
	}
	const trials = 600
	held := 0
	for i := range trials {
		lo, hi := percentiles(bootstrap(source(uint64(i), "x"), draw(10), draw(10)), 0.95)
		if lo <= 1 && 1 <= hi {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.92 {
		t.Errorf("the interval at 95 %% holds the truth in %.3f of %d cases", share, trials)
	}
}

func TestRowsDoNotDependOnTheRowsAroundThem(t *testing.T) {
	row := func(name string, shift float64) *pair.Row {
		return &pair.Row{Name: name, Topic: "T", BaseName: "old", Cells: []*pair.Cell{{Samples: samples(0, around(100, 10)...)}, {Samples: samples(0, around(100+shift, 10)...)}}}
	}
	of := func(rows ...*pair.Row) map[string]*Comparison {
		r := Judge(&pair.Tables{Columns: []string{"old", "new"}, Tables: []*pair.Table{{Unit: "u", Tidy: "u", Better: -1, Columns: []string{"old", "new"}, Rows: rows}}}, Defaults(100))
		m := map[string]*Comparison{}
		for _, row := range r.Tables[0].Rows {
			m[row.Name] = row.Comparisons[0]
		}
		m["topic"] = &Comparison{Ratio: r.Topics[0].Ratio, Lo: r.Topics[0].Lo, Hi: r.Topics[0].Hi}
		return m
	}
	a, b := of(row("x", 1), row("y", 5), row("z", 9)), of(row("z", 9), row("x", 1), row("y", 5))
	for name := range a {
		if a[name].Lo != b[name].Lo || a[name].Hi != b[name].Hi || a[name].Ratio != b[name].Ratio {
			t.Errorf("%s: %+v in one order, %+v in another", name, a[name], b[name])
		}
	}
}

func TestSamplesKeepTheirOrder(t *testing.T) {
	base := samples(0, 5, 3, 9, 1, 7, 4)
	got := judge(t, tables(-1, false, base, samples(0, 6, 2, 8, 1, 7, 4)), nil)
	if !slices.Equal(values(got.Base.Samples), []float64{5, 3, 9, 1, 7, 4}) || base[0].Value != 5 {
		t.Errorf("the samples are %v", values(got.Base.Samples))
	}
}
