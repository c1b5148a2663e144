package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchunit"
)

func TestTicksAreNice(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "[0 0.2 0.4 0.6 0.8 1]"},
		{0, 23, "[0 5 10 15 20 25]"},
		{-12, 47, "[-20 -10 0 10 20 30 40 50]"},
		{0.95, 1.12, "[0.95 1 1.05 1.1 1.15]"},
		{5, 5, "[4.4 4.6 4.8 5 5.2 5.4 5.6]"},
		{0, 0, "[-1 -0.5 0 0.5 1]"},
	} {
		lo, hi, ticks := linearAxis(c.lo, c.hi, 7)
		for i := range ticks {
			ticks[i] = rounded(ticks[i])
		}
		if lo > c.lo+1e-12 || hi < c.hi {
			t.Errorf("%v to %v: the axis goes from %v to %v", c.lo, c.hi, lo, hi)
		}
		if got := fmt.Sprint(ticks); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 60, "[1 2 5 10 20 50]"},
		{3, 4000, "[10 100 1000]"},
		{1e-9, 1e9, "[1e-09 1e-06 0.001 1 1000 1e+06 1e+09]"},
	} {
		_, _, ticks := logAxis(c.lo, c.hi, 7)
		for i := range ticks {
			ticks[i] = rounded(ticks[i])
		}
		if got := fmt.Sprint(ticks); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestAWideSpanIsLogarithmic(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{1, 50}, false}, {[]float64{1, 51}, true}, {[]float64{0, 51}, false},
		{[]float64{-1, 900}, false}, {[]float64{nan, 1, 51, inf}, true}, {nil, false},
	} {
		if got := wantsLog(c.values); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
	if !evenerInLog([]float64{1, 2, 4, 8, 16}) || evenerInLog([]float64{1, 2, 3, 4}) {
		t.Error("chosen values do not get the axis that spreads them")
	}
}

func TestAnAxisKeepsValuesInsideAndInOrder(t *testing.T) {
	for _, log := range []bool{false, true} {
		s := scale{lo: 2, hi: 200, from: 500, to: 100, log: log}
		if s.at(2) != 500 || s.at(200) != 100 || s.at(-5) != 500 || s.at(math.Inf(1)) != 100 {
			t.Errorf("log %v: ends at %v and %v", log, s.at(2), s.at(200))
		}
		if !(s.at(3) > s.at(30) && s.at(30) > s.at(190)) {
			t.Errorf("log %v: not in order", log)
		}
	}
}

func TestValuesReadAsPeopleSayThem(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{1.5e-8, "sec/msg", "15.00 ns/msg"}, {0.0123, "p99.9-sec", "12.30 p99.9-ms"}, {2.5e7, "msgs/s", "25.00 M msgs/s"},
		{2048, "B/op", "2.000 KiB/op"}, {3, "allocs/op", "3.000 allocs/op"}, {5.65e-6, "allocs/op", "5.65e-06 allocs/op"}, {nan, "sec", "no figure"}, {0, "msgs/s", "0.000 msgs/s"},
	} {
		if got := Value(c.v, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	for _, c := range []struct {
		ratio float64
		want  string
	}{
		{1, "0 %"}, {1.0004, "0 %"}, {1.123, "+12.3 %"}, {0.5, "−50.0 %"}, {2.5, "+150 %"}, {3, "×3.0"}, {1234, "×1234"},
		{nan, "no figure"}, {inf, "+∞"},
	} {
		if got := Percent(c.ratio); got != c.want {
			t.Errorf("%v: %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestTickLabelsCarryTheUnitOnce(t *testing.T) {
	for _, c := range []struct {
		ticks []float64
		unit  string
		log   bool
		want  string
		head  string
	}{
		{[]float64{0, 1e-8, 2e-8}, "sec/msg", false, "0|10|20", "ns/msg"},
		{[]float64{1e-8, 1e-6, 1e-4}, "p99-sec", true, "10 ns|1 µs|100 µs", "p99-time"},
		{[]float64{0, 2e6}, "msgs/s", false, "0|2", "M msgs/s"},
		{[]float64{1e3, 1e6}, "msgs/s", true, "1 k|1 M", "msgs/s"},
		{[]float64{0, 0.001}, "allocs/op", false, "0|0.001", "allocs/op"},
		{nil, "msgs/s", false, "", "msgs/s"},
	} {
		out, head := label(c.ticks, c.unit, c.log)
		var texts []string
		for _, l := range out {
			texts = append(texts, l.text)
		}
		if got := strings.Join(texts, "|"); got != c.want || head != c.head {
			t.Errorf("%v %s: %q under %q, want %q under %q", c.ticks, c.unit, got, head, c.want, c.head)
		}
	}
	if benchunit.ClassOf("B/msg") != benchunit.Binary {
		t.Error("bytes are not binary")
	}
}

func TestChosenValuesAreWrittenOut(t *testing.T) {
	_, ticks, head := Axis{Label: "behind", Chosen: true}.layout([]float64{0, 1000, 250000}, scale{from: 0, to: 100}, 8)
	var texts []string
	for _, l := range ticks {
		texts = append(texts, l.text)
	}
	if got := strings.Join(texts, " "); got != "0 1000 250000" || head != "behind" {
		t.Errorf("%q under %q", got, head)
	}
}

func TestTextsFitTheirRoom(t *testing.T) {
	for _, s := range []string{"", "x", "short", strings.Repeat("name/", 40), strings.Repeat("名", 50)} {
		for _, room := range []float64{0, 5, 40, 120} {
			got := shorten(s, fontSize, room)
			if got != "…" && textWidth(got, fontSize) > room {
				t.Errorf("%q in %v: %q", s, room, got)
			}
		}
	}
	for _, l := range wrap(strings.Repeat("several words ", 30), fontSize, 200) {
		if textWidth(l, fontSize) > 200 {
			t.Errorf("the line %q is too long", l)
		}
	}
}

// box of a legend entry: legends must not lie on one another.
func TestLegendEntriesDoNotOverlap(t *testing.T) {
	s := &scene{width: plotWidth}
	var entries []entry
	for i := range maxSeries {
		entries = append(entries, entry{name: strings.Repeat("implementation ", i%4+1), look: LookOf(i)})
	}
	s.legend(40, entries)
	type span struct{ from, to float64 }
	lines := map[string][]span{}
	for _, sh := range s.Shapes {
		if sh.Text == "" {
			continue
		}
		var x float64
		if _, err := fmt.Sscan(sh.X, &x); err != nil {
			t.Fatal(err)
		}
		lines[sh.Y] = append(lines[sh.Y], span{x - 28, x + textWidth(sh.Text, fontSize)})
	}
	for y, spans := range lines {
		slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
		for i, sp := range spans {
			if sp.to > plotWidth || i > 0 && sp.from < spans[i-1].to {
				t.Errorf("line %s: %v", y, spans)
			}
		}
	}
}

func TestLooksTellSeriesApartWithoutColour(t *testing.T) {
	seen := map[Look]bool{}
	for i := range 28 {
		l := LookOf(i)
		for k := i % Colors; k < i; k += Colors {
			if LookOf(k).Mark == l.Mark {
				t.Errorf("looks %d and %d have one colour and one mark", k, i)
			}
		}
		l.Color = 0
		if seen[l] {
			t.Errorf("look %d has mark and dash of another", i)
		}
		seen[l] = true
	}
	if LookOf(-1) != LookOf(0) {
		t.Error("a negative number has no look")
	}
}

func TestQuantilesAreEvenlySpacedByNines(t *testing.T) {
	a, all := QuantileAxis([]float64{0.99, 0.5, 0.9, 0.999}, true)
	var texts []string
	for _, tick := range a.Ticks {
		texts = append(texts, tick.Text)
	}
	if got := strings.Join(texts, " "); got != "50 % 90 % 99 % 99.9 % all" {
		t.Error(got)
	}
	if d := QuantileAt(0.999) - QuantileAt(0.99); math.Abs(d-1) > 1e-9 || all <= QuantileAt(0.999) || !finite(QuantileAt(1)) {
		t.Errorf("a nine is %v wide, the largest at %v", d, all)
	}
}

func TestVerdictsDifferInFormAndColour(t *testing.T) {
	seen := map[int]Verdict{}
	for v, l := range verdictLooks {
		if other, ok := seen[l.look.Mark]; ok {
			t.Errorf("%s and %s have one mark", l.name, verdictLooks[other].name)
		}
		seen[l.look.Mark] = v
	}
}
