package page

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

func TestEveryVerdictIsInThePage(t *testing.T) {
	r, sides := judge(t, pair.Options{}, oldAndNew()...)
	html := reportHTML(t, pair.Options{}, oldAndNew()...)
	for _, c := range []struct {
		v verdict.Verdict
		n int
	}{
		{verdict.Slower, r.Counts.Slower}, {verdict.Faster, r.Counts.Faster}, {verdict.Same, r.Counts.Same},
		{verdict.Undecided, r.Counts.Undecided}, {verdict.NotComparable, r.Counts.NotComparable},
	} {
		if c.n == 0 {
			t.Fatalf("the example has no row that is %s", c.v)
		}
		if rows := strings.Count(html, fmt.Sprintf(`data-row="%s"`, class(c.v))); rows != c.n {
			t.Errorf("%d rows are %s, want %d", rows, c.v, c.n)
		}
		if head := fmt.Sprintf("<b>%d</b><span>%s</span>", c.n, c.v); !strings.Contains(html, head) {
			t.Errorf("the head does not say %s", head)
		}
	}
	if len(sides) != 2 {
		t.Errorf("%d sides", len(sides))
	}
	verdicts, sections := strings.Index(html, `id="verdict"`), strings.Index(html, `id="topic-1"`)
	if verdicts < 0 || sections < verdicts {
		t.Error("the verdicts do not stand first")
	}
	for _, j := range judgements(r) {
		if j.Needed > 0 && !strings.Contains(html, fmt.Sprint(j.Needed)) {
			t.Errorf("%s needs %d samples, and the page does not say so", j.name, j.Needed)
		}
	}
}

func TestOneNameInTwoPackagesIsTwoRows(t *testing.T) {
	text := "pkg: a.org/x\nBenchmarkQueue/n=1 1 5 ns/op\nBenchmarkOnly 1 5 ns/op\npkg: b.org/y\nBenchmarkQueue/n=1 1 7 ns/op\n"
	r, _ := judge(t, pair.Options{}, text, text)
	var names []string
	for _, j := range judgements(r) {
		names = append(names, j.name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"Only", "n=1, pkg: a.org/x", "n=1, pkg: b.org/y"}) {
		t.Errorf("%q", names)
	}
}

func TestUndecidedRowsSayWhatTheyNeed(t *testing.T) {
	of := func(needed ...int) []judged {
		var js []judged
		for _, n := range needed {
			js = append(js, judged{Comparison: &verdict.Comparison{Verdict: verdict.Undecided, Needed: n}})
		}
		return js
	}
	for _, c := range []struct {
		js   []judged
		want string
	}{
		{of(10, 30, 20), "30 samples on each side would let 3 rows decide, 20 half of them."},
		{of(7), "7 samples on each side would let 1 row decide."},
		{of(0, 0), "More samples alone would not decide them."},
	} {
		if got := demand(c.js); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLinesThatDifferBetweenTheSidesAreMarked(t *testing.T) {
	html := reportHTML(t, pair.Options{}, oldAndNew()...)
	if !strings.Contains(html, `<tr class="differ"><th scope="row">commit</th><td>aaaa00001111</td><td>bbbb22223333</td></tr>`) {
		t.Error("the commits are not marked as different")
	}
	if !strings.Contains(html, `<tr><th scope="row">cpu</th><td>A CPU &lt;of&gt; some kind</td><td>A CPU &lt;of&gt; some kind</td></tr>`) {
		t.Error("the cpu is not shown, or is marked")
	}
}

func TestTheMachineTableStaysNarrow(t *testing.T) {
	var sides []Side
	for i := range 9 {
		s := Side{Name: fmt.Sprint("side ", i)}
		for k := range i + 1 {
			s.set("load", fmt.Sprint(k))
			s.set("kernel", fmt.Sprint("kernel ", k))
		}
		sides = append(sides, s)
	}
	e := newEnvironment(sides, nil)
	if len(e.Heads) != maxSides+1 || e.Differ != 2 || e.Heads[maxSides] != "… 5 more sides" {
		t.Errorf("heads %q, %d differ", e.Heads, e.Differ)
	}
	for _, r := range e.Rows {
		if len(r.Values) != len(e.Heads) {
			t.Errorf("%d values under %d heads", len(r.Values), len(e.Heads))
		}
	}
	if got := several("load-before", []string{"0.5", "2.25", "0.1"}); got != "0.1 to 2.25" {
		t.Errorf("loads are %q", got)
	}
	same := newEnvironment([]Side{{Name: "a", Config: []Line{{"go", []string{"1"}}}}, {Name: "b", Config: []Line{{"go", []string{"1"}}}}}, nil)
	if !slices.Equal(same.Heads, []string{"all sides"}) || len(same.Rows[0].Values) != 1 {
		t.Errorf("equal sides are %+v", same)
	}
}

func TestThroughputIsDrawnAgainstProducers(t *testing.T) {
	r, _ := judge(t, pair.Options{Col: "/impl", Baseline: "channel"}, oldAndNew()[0])
	p := plotNamed(t, r, "against-producers-Queue-msgs-s")
	var names []string
	for _, s := range p.Series {
		names = append(names, s.Name)
		if len(s.Points) != 4 || s.Points[0].X != 1 || s.Points[3].X != 8 {
			t.Errorf("%s has points %v", s.Name, s.Points)
		}
		for _, q := range s.Points {
			if !(q.Lo <= q.Y && q.Y <= q.Hi) || q.Lo == q.Hi {
				t.Errorf("%s at %v has no interval around it: %v to %v", s.Name, q.X, q.Lo, q.Hi)
			}
		}
	}
	if !slices.Equal(names, []string{"channel", "tidemark"}) {
		t.Errorf("series %q", names)
	}
}

// plotNamed returns one chart of a report.
func plotNamed(t *testing.T, r *verdict.Report, name string) chart.Plot {
	t.Helper()
	var names []string
	for _, n := range ReportCharts(r) {
		if p, ok := n.Chart.(chart.Plot); ok && n.Name == name {
			return p
		}
		names = append(names, n.Name)
	}
	t.Fatalf("there is no %s among %q", name, names)
	return chart.Plot{}
}

func TestProcessorsHaveAnIdealAndOneIsImplied(t *testing.T) {
	var b strings.Builder
	b.WriteString("Unit ops/s better=higher\n")
	for range 8 {
		for _, suffix := range []string{"", "-2", "-4", "-8"} {
			for _, impl := range []string{"a", "b"} {
				fmt.Fprintf(&b, "BenchmarkScale/impl=%s%s 10 %d ops/s\n", impl, suffix, len(suffix)+100+len(impl))
			}
		}
	}
	r, _ := judge(t, pair.Options{Col: "/impl"}, b.String())
	p := plotNamed(t, r, "against-gomaxprocs-Scale-ops-s")
	if p.X.Label != "GOMAXPROCS" || len(p.Series) != 2 || len(p.Ideal) != 4 {
		t.Fatalf("%+v", p)
	}
	if first, last := p.Ideal[0], p.Ideal[3]; first.X != 1 || last.X != 8 || math.Abs(last.Y/first.Y-8) > 1e-9 {
		t.Errorf("the ideal goes from %v to %v", first, last)
	}
}

func TestTwoNumbersOfProcessorsAreEnough(t *testing.T) {
	line := "BenchmarkCores/impl=%s/producers=4/procs=%d 10 %d ns/msg\n"
	var b strings.Builder
	b.WriteString(units)
	for range 8 {
		for _, procs := range []int{1, 2} {
			fmt.Fprintf(&b, line+line, "a", procs, 100/procs, "b", procs, 120)
		}
	}
	r, _ := judge(t, pair.Options{Col: "/impl"}, b.String())
	p := plotNamed(t, r, "against-procs-Cores-ns-msg-producers-4")
	if p.X.Label != "GOMAXPROCS" || len(p.Series) != 2 || len(p.Ideal) != 2 || p.Ideal[1].Y*2 != p.Ideal[0].Y {
		t.Errorf("%+v", p)
	}
}

func TestTheBaselineHasTheFirstLook(t *testing.T) {
	figures := []figure{{impl: "rare"}, {impl: "channel"}, {impl: "common"}, {impl: "common"}}
	l := newLooks(figures, "channel")
	if l.number["channel"] != 0 || l.number["common"] != 1 || l.number["rare"] != 2 || l.of(&figures[1]) != chart.LookOf(0) {
		t.Errorf("looks are %v", l.number)
	}
}

func TestLinesOfOneChartDifferInColourAsLongAsThereAreColours(t *testing.T) {
	var figures []figure
	for topic := range 3 {
		for i := range chart.Colors - 1 {
			figures = append(figures, figure{topic: fmt.Sprint(topic), impl: fmt.Sprint(topic, i)}, figure{topic: fmt.Sprint(topic), impl: "channel"})
		}
	}
	l := newLooks(figures, "channel")
	for _, topic := range topics(figures) {
		colours := map[int]string{}
		for _, f := range figures {
			if c := l.of(&f).Color; f.topic == topic && colours[c] != "" && colours[c] != f.impl {
				t.Errorf("%s and %s have one colour in topic %s", f.impl, colours[c], topic)
			} else if f.topic == topic {
				colours[c] = f.impl
			}
		}
	}
}

func TestTheUnitThatSaysMostLeads(t *testing.T) {
	for _, c := range []struct {
		units []string
		want  string
	}{
		{[]string{"allocs/batch", "batches/s", "ns/batch"}, "ns/batch"},
		{[]string{"lost-%", "bounce-ns", "max-ns", "p50-ns", "p99.9-ns", "p99-ns"}, "p99.9-ns"},
		{[]string{"bounce-ns", "B/partition"}, "bounce-ns"},
		{[]string{"B/partition", "bounce-ns"}, "B/partition"},
		{[]string{"B/op", "wait-ns"}, "wait-ns"},
	} {
		if got := leadingUnit(c.units); got != c.want {
			t.Errorf("%q: %s leads, want %s", c.units, got, c.want)
		}
	}
}

func TestConfiguredProcessorsAreAnAxisToo(t *testing.T) {
	var b strings.Builder
	for _, n := range []int{1, 2, 4} {
		fmt.Fprintf(&b, "gomaxprocs: %d\n", n)
		for range 8 {
			fmt.Fprintf(&b, "BenchmarkScale/impl=a 10 %d ns/op\nBenchmarkScale/impl=b 10 %d ns/op\n", 100/n, 130/n)
		}
	}
	r, _ := judge(t, pair.Options{Col: "/impl"}, b.String())
	p := plotNamed(t, r, "against-gomaxprocs-Scale-ns-op")
	if len(p.Series) != 2 || len(p.Ideal) != 3 || !(p.Ideal[2].Y < p.Ideal[0].Y) {
		t.Errorf("%+v", p)
	}
}

func TestLatencyOfReleaseBesideAPausedConsumer(t *testing.T) {
	r, _ := judge(t, pair.Options{Col: "/impl", Baseline: "channel"}, oldAndNew()[0])
	tail := tails(curves(comparedFigures(r)), base(r))
	if tail == nil || tail.Unit != "p99.9" || !slices.Equal(tail.Series, []string{"channel", "tidemark"}) {
		t.Fatalf("%+v", tail)
	}
	first := tail.Rows[0]
	if first.Name != "LatencyRelease: pause=10ms" || !strings.HasSuffix(first.Cells[0].Value, " ms") || !strings.HasSuffix(first.Cells[1].Value, " ns") || !strings.HasPrefix(first.Cells[1].Ratio, "1/") {
		t.Errorf("%+v", first)
	}
	p := plotNamed(t, r, "latency-LatencyRelease-pause-10ms")
	if len(p.Series) != 2 || len(p.Series[0].Points) != 4 || len(p.X.Ticks) != 4 || p.X.Ticks[3].Text != "all" {
		t.Errorf("%+v", p)
	}
}

func TestUnitsOfLatency(t *testing.T) {
	for unit, want := range map[string]float64{"p50-sec": 0.5, "p99.9-sec": 0.999, "max-sec": 1, "issue-p90-sec": 0.9, "sec/op": 0, "p-sec": 0, "p100-sec": 0, "p0-sec": 0} {
		if _, q, ok := quantile(unit); ok != (want > 0) || ok && math.Abs(q-want) > 1e-12 {
			t.Errorf("%s: %v, %v", unit, q, ok)
		}
	}
	if what, _, _ := quantile("issue-p90-sec"); what != "issue" {
		t.Errorf("what was measured is %q", what)
	}
}

func TestSamplesAreColouredByRegimeInRunOrder(t *testing.T) {
	r, _ := judge(t, pair.Options{}, oldAndNew()...)
	p := plotNamed(t, r, "drift")
	colours := map[int]bool{}
	for _, s := range p.Series {
		far := strings.HasPrefix(s.Name, "far cores")
		colours[s.Look.Color] = true
		for i, q := range s.Points {
			if i > 0 && q.X < s.Points[i-1].X {
				t.Fatalf("%s is not in run order", s.Name)
			}
			if far && q.Y < 1.5 && !strings.Contains(s.Name, "unknown") {
				t.Errorf("%s has a sample at %v of its median", s.Name, q.Y)
			}
		}
	}
	if len(colours) != 3 { // near, far, unknown
		t.Errorf("%d colours", len(colours))
	}
}

func TestNamesOfChartFilesAreUniqueAndPlain(t *testing.T) {
	r, _ := judge(t, pair.Options{}, odd(1), odd(1.5))
	plain := regexp.MustCompile(`^[a-zA-Z0-9-]{1,120}$`)
	seen := map[string]bool{}
	for _, n := range ReportCharts(r) {
		if !plain.MatchString(n.Name) || seen[strings.ToLower(n.Name)] {
			t.Errorf("name %q", n.Name)
		}
		seen[strings.ToLower(n.Name)] = true
		var b bytes.Buffer
		if err := n.WriteFile(&b); err != nil || !strings.Contains(b.String(), "<style>") {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
	if slug("a", "b=c") != "a-b-c" || slug("<") == slug(">") || slug(strings.Repeat("x", 200)+"1") == slug(strings.Repeat("x", 200)+"2") {
		t.Error("slugs lose what tells names apart")
	}
}

func TestTwoThousandRowsAreAllInThePageAndChartsAreBounded(t *testing.T) {
	if longtest.LeftOut(t, "what takes its time is one goroutine that writes text") {
		return
	}
	var texts [2]strings.Builder
	for side := range texts {
		for range 2 {
			for i := range 2000 {
				fmt.Fprintf(&texts[side], "BenchmarkT%d/impl=x/n=%d 10 %d ns/op\n", i/100, i%100, 100+i%7+side)
			}
		}
	}
	html := reportHTML(t, pair.Options{}, texts[0].String(), texts[1].String())
	if n := strings.Count(html, "data-row="); n != 2000 {
		t.Errorf("%d rows", n)
	}
	if n := len(svg.FindAllString(html, -1)); n == 0 || n > maxCharts {
		t.Errorf("%d charts", n)
	}
	for _, want := range []string{"60 of 100 rows are drawn", "more are in the sections below"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(html) > 6<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
}

func TestTooManyTopicsLeaveChartsOutAndSaySo(t *testing.T) {
	var texts [2]strings.Builder
	for side := range texts {
		for i := range 2 * maxCharts {
			fmt.Fprintf(&texts[side], "BenchmarkT%d 10 %d ns/op\n", i, 100+side)
		}
	}
	html := reportHTML(t, pair.Options{}, texts[0].String(), texts[1].String())
	if n := len(svg.FindAllString(html, -1)); n != maxCharts {
		t.Errorf("%d charts, want %d", n, maxCharts)
	}
	if !regexp.MustCompile(`The page draws its first charts only: \d+ more were left out`).MatchString(html) {
		t.Error("the page does not say that charts are left out")
	}
}

func TestHistoryDrawsEveryCommitInOrder(t *testing.T) {
	h := historyOf(t, append(oldAndNew(), file("cccc4444", 3, 6, even))...)
	var found bool
	for _, n := range HistoryCharts(h) {
		p, ok := n.Chart.(chart.Plot)
		if !ok || !strings.HasPrefix(n.Name, "history-Queue-ns-msg-producers-4") {
			continue
		}
		found = true
		var ticks []string
		for _, tick := range p.X.Ticks {
			ticks = append(ticks, tick.Text)
		}
		if !slices.Equal(ticks, []string{"aaaa0000", "bbbb2222", "cccc4444"}) || len(p.Series) != 2 {
			t.Fatalf("ticks %q, %d series", ticks, len(p.Series))
		}
		for _, s := range p.Series {
			if s.Name == "tidemark" && !(s.Points[1].Y > 1.15*s.Points[0].Y && s.Points[1].Lo > s.Points[0].Hi) {
				t.Errorf("the slower commit does not stand out: %v", s.Points)
			}
		}
	}
	if !found {
		t.Error("there is no chart of the row")
	}
}

func TestNamesAreShownWithoutWhatTheyShare(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"A/x=1-2", "B-2"}, "-2"}, {[]string{"A-2", "B-4"}, ""}, {[]string{"A-", "B-"}, ""}, {[]string{"A", "B-2"}, ""}, {nil, ""},
	} {
		if got := processorsSuffix(c.names); got != c.want {
			t.Errorf("%q: %q", c.names, got)
		}
	}
	for _, c := range []struct{ name, topic, want string }{
		{"Queue/impl=x-2", "Queue", "impl=x"}, {"Queue-2", "Queue", "Queue"}, {"Queues/a-2", "Queue", "Queues/a"}, {"BenchmarkQueue/a-2", "Queue", "a"},
	} {
		if got := rest(c.name, c.topic, "-2"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
