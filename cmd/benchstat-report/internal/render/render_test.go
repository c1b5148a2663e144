package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQuantities(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		v          float64
		unit, tidy string
		want       string
	}{
		{0, "ns/op", "sec/op", "0"}, {1.23456, "ns/op", "sec/op", "1.235"}, {12.3456, "ns/op", "sec/op", "12.35"}, {123.456, "ns/op", "sec/op", "123.5"},
		{1820900.4, "ns/op", "sec/op", "1820900"}, {9.99999, "ns/op", "sec/op", "10.00"}, {999.99, "ns/op", "sec/op", "1000"},
		{2.5e12, "ns/op", "sec/op", "2.5e+12"}, {0.0001234, "ns/op", "sec/op", "0.0001234"}, {-42.5, "MB/s", "B/s", "-42.50"},
		{4.6e7, "msgs/s", "msgs/s", "46.00M"}, {2048, "B/op", "B/op", "2.000Ki"}, {1.5e-8, "sec/op", "sec/op", "15.00n"},
		{nan, "ns/op", "sec/op", "–"}, {inf, "msgs/s", "msgs/s", "∞"}, {-inf, "msgs/s", "msgs/s", "-∞"},
	} {
		if got := quantity(c.v, c.unit, c.tidy); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestChanges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		ratio, lo, hi float64
		want          string
	}{
		{1.252, 0.2401, 0.26, "+25.2% [+24.0, +26.0]"}, {0.178, -0.83, -0.819, "-82.2% [-83.0, -81.9]"}, {12.25, 10.9, 11.6, "12.2× [11.9, 12.6]"},
		{1.1, nan, nan, "+10.0%"}, {inf, inf, inf, "from 0"}, {nan, nan, nan, "–"}, {1, 0, inf, "+0.0% [+0.0, ∞]"},
	} {
		if got := change(&verdict.Comparison{Ratio: c.ratio, Change: c.ratio - 1, Lo: c.lo, Hi: c.hi}); got != c.want {
			t.Errorf("a ratio of %v is %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestGridsAlignWhatIsNotASCII(t *testing.T) {
	g := &grid{head: []string{"name", "±"}, right: []bool{false, true}, headings: map[int]string{1: "heading"}}
	g.add("µ–∞", "1")
	g.add("long name", "±100%")
	var b strings.Builder
	if err := g.text(&b); err != nil {
		t.Fatal(err)
	}
	want := "  name           ±\n  µ–∞            1\nheading\n  long name  ±100%\n"
	if b.String() != want {
		t.Errorf("the grid is\n%swant\n%s", &b, want)
	}
}

func TestListsAreBrokenAndCutShort(t *testing.T) {
	var names []string
	for range 100 {
		names = append(names, "benchmark/with=a/longer=name")
	}
	text := wrap("reason:", names)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("a line of %d: %q", n, line)
		}
	}
	if strings.Count(text, "longer") != mostNames || !strings.HasSuffix(text, "and 76 more, which the forms csv and json list\n") {
		t.Errorf("the list is %q", text)
	}
}

// nasty is a report whose names and reasons try to break every form.
func nasty() *verdict.Report {
	const name = "a|b,\"c\"\n*d* <e> `f`"
	nan := math.NaN()
	side := verdict.Summary{Center: 5, Lo: math.Inf(-1), Hi: math.Inf(1), N: 2, Samples: []pair.Sample{{Value: 5}, {Value: nan}}}
	c := &verdict.Comparison{Column: name, BaseColumn: "old", Base: side, New: side, Regime: verdict.Mixed, Ratio: nan, Change: math.Inf(1), Lo: nan, Hi: math.Inf(1),
		P: nan, Adjusted: nan, Floor: 0.03, Verdict: verdict.NotComparable, Reason: name}
	row := &pair.Row{Name: name, Topic: name, Labels: []pair.KeyValue{{Key: "", Value: name}}}
	table := &pair.Table{Unit: name, Tidy: name, Columns: []string{"old", name}, Rows: []*pair.Row{row}, Config: []pair.KeyValue{{Key: "k", Value: name}}}
	return &verdict.Report{Options: verdict.Defaults(100), Warnings: []string{name}, Machine: []pair.KeyValue{{Key: "cpu", Value: name}},
		Tables: []*verdict.Table{{Table: table, Rows: []*verdict.Row{{Row: row, Comparisons: []*verdict.Comparison{c}}}}},
		Topics: []*verdict.Topic{{Name: name, Unit: name, Column: name, BaseColumn: "old", Ratio: nan, Lo: nan, Hi: nan, Counts: verdict.Counts{Same: 1}}}}
}

func TestNamesBreakNoForm(t *testing.T) {
	r := nasty()
	name := r.Tables[0].Rows[0].Name
	var b bytes.Buffer
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(records) != 2 || records[1][4] != name {
		t.Errorf("CSV reads back as %q, %v", records, err)
	}
	for i, field := range records[1] {
		if strings.Contains(field, "NaN") || strings.Contains(field, "Inf") {
			t.Errorf("field %s is %q, want it empty", records[0][i], field)
		}
	}
	b.Reset()
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version int
		Kind    string
		Tables  []struct {
			Config map[string]string
			Rows   []struct {
				Name        string
				Comparisons []struct {
					Ratio, Change *float64
					Base          struct {
						Center, Lo *float64
						Samples    []*float64
					}
				}
			}
		}
		Topics []struct{ Ratio *float64 }
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Tables[0].Rows[0].Comparisons[0]
	if doc.Version != 1 || doc.Kind != "compare" || doc.Tables[0].Rows[0].Name != name || doc.Tables[0].Config["k"] != name {
		t.Errorf("JSON reads back as %+v", doc)
	}
	if c.Ratio != nil || c.Change != nil || c.Base.Lo != nil || c.Base.Samples[1] != nil || *c.Base.Center != 5 || doc.Topics[0].Ratio != nil {
		t.Errorf("numbers that are none are %+v, want null", c)
	}
	b.Reset()
	if err := Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	before := 0
	for line := range strings.Lines(b.String()) {
		bars := 0
		if strings.HasPrefix(line, "|") {
			bars = strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		}
		if bars > 0 && before > 0 && bars != before {
			t.Errorf("a row of Markdown with %d bars after one with %d: %q", bars, before, line)
		}
		before = bars
		if strings.Contains(strings.ReplaceAll(line, `\*`, ""), "*d") || strings.Contains(line, "<e>") {
			t.Errorf("unescaped: %q", line)
		}
	}
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFormTakesAnEmptyDocument(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return Text(b, &verdict.Report{}) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, &verdict.Report{}) },
		"csv":      func(b *bytes.Buffer) error { return CSV(b, &verdict.Report{}) },
		"json":     func(b *bytes.Buffer) error { return JSON(b, &verdict.Report{}) },
		"summary":  func(b *bytes.Buffer) error { return SummaryJSON(b, &overview.Overview{}) },
		"history":  func(b *bytes.Buffer) error { return HistoryJSON(b, &history.History{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || strings.Contains(b.String(), "null") {
			t.Errorf("%s: %v, %s", name, err, &b)
		}
	}
}

// failing is a writer that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

var errFull = bytes.ErrTooLarge

func TestAnErrorOfTheWriterIsReturned(t *testing.T) {
	r, o, h := nasty(), &overview.Overview{}, &history.History{}
	for name, err := range map[string]error{
		"text": Text(failing{}, r), "markdown": Markdown(failing{}, r), "csv": CSV(failing{}, r), "json": JSON(failing{}, r),
		"summary text": SummaryText(failing{}, o), "summary markdown": SummaryMarkdown(failing{}, o), "summary csv": SummaryCSV(failing{}, o), "summary json": SummaryJSON(failing{}, o),
		"history text": HistoryText(failing{}, h), "history markdown": HistoryMarkdown(failing{}, h), "history csv": HistoryCSV(failing{}, h), "history json": HistoryJSON(failing{}, h),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
