package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

var nan, inf = math.NaN(), math.Inf(1)

// throughput is what a reader meets most often.
func throughput() Plot {
	p := Plot{
		ID: "producers", Title: "QueueProducers, batch=1, consumer=poll", Desc: "Throughput against producers, one line for each implementation.",
		X: Axis{Label: "producers", Chosen: true}, Y: Axis{Unit: "msgs/s"},
	}
	for i, name := range []string{"channel", "tidemark lane", "mutex"} {
		s := Series{Name: name, Look: LookOf(i)}
		for k, n := range []float64{1, 2, 4, 8, 16} {
			y := 2e7 * float64(i+1) / (1 + 0.1*float64(k))
			s.Points = append(s.Points, Point{X: n, Y: y, Lo: y * 0.93, Hi: y * 1.05})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func scaling() Plot {
	p := throughput()
	p.ID, p.Title, p.X.Label = "cores", "Throughput against GOMAXPROCS", "GOMAXPROCS"
	p.IdealName = "ideal: channel at 1, times GOMAXPROCS"
	for _, n := range []float64{1, 2, 4, 8, 16} {
		p.Ideal = append(p.Ideal, Point{X: n, Y: 2e7 * n})
	}
	return p
}

func changes() Forest {
	return Forest{
		ID: "changes", Title: "Changes of ns/msg", Desc: "One line a row.", Left: "faster", Right: "slower",
		Changes: []Change{
			{"QueueBurst/burst=256/batch=1", 0.79, 0.75, 0.83, 0.03, Faster},
			{"QueueProducers/producers=512/batch=1/consumer=wait/and-a-name-that-is-far-too-long-for-its-column", 1.21, 1.14, 1.3, 0.05, Slower},
			{"LedgerPage/records=64", 1.004, 0.98, 1.02, 0.03, Same},
			{"CheckpointLive/issuers=4", 1.06, 0.91, inf, 0.03, Undecided},
			{"CheckpointMemory/state=used", nan, nan, nan, 0.03, NotComparable},
		},
		Note: "The grey band holds changes that are too small to count.",
	}
}

func latency() Plot {
	axis, all := QuantileAxis([]float64{0.5, 0.9, 0.99, 0.999}, true)
	p := Plot{ID: "latency", Title: "Latency of Release, consumer paused for 10 ms", X: axis, Y: Axis{Unit: "sec"}}
	for i, name := range []string{"channel", "tidemark"} {
		s := Series{Name: name, Look: LookOf(i)}
		for k, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			y := 40e-9 * math.Pow(10, float64(k)*1.6*float64(1-i)) * (1 + float64(k)/4)
			s.Points = append(s.Points, Point{X: QuantileAt(q), Y: y, Lo: y * 0.8, Hi: y * 1.2})
		}
		s.Points = append(s.Points, Point{X: all, Y: s.Points[3].Y * 3, Lo: nan, Hi: nan})
		p.Series = append(p.Series, s)
	}
	return p
}

func samples() Plot {
	p := Plot{ID: "drift", Title: "Samples in run order", X: Axis{Label: "sample, in the order they were taken", Places: true}, Y: Axis{Label: "by the median of its row", Far: true}}
	near := Series{Name: "near cores", Look: LookOf(0), Dots: true}
	far := Series{Name: "far cores", Look: LookOf(1), Dots: true}
	for i := range 120 {
		point := Point{X: float64(i + 1), Y: 1 + 0.05*math.Sin(float64(i)), Lo: nan, Hi: nan}
		if i > 40 && i < 60 {
			point.Y += 0.8
			far.Points = append(far.Points, point)
		} else {
			near.Points = append(near.Points, point)
		}
	}
	p.Series = []Series{near, far}
	return p
}

func history() Plot {
	p := Plot{ID: "history", Title: "QueueBurst/impl=lane", Y: Axis{Unit: "sec/msg"}}
	s := Series{Name: "median, 95 % interval", Look: LookOf(0)}
	for i, commit := range []string{"0e97a2ad51c3", "64be111", "84db507", "33cf671"} {
		p.X.Ticks = append(p.X.Ticks, Tick{float64(i), commit})
		y := 9e-9 - float64(i)*4e-10
		s.Points = append(s.Points, Point{X: float64(i), Y: y, Lo: y - 2e-10, Hi: y + 3e-10})
	}
	p.Series = []Series{s}
	return p
}

// usual are the kinds of charts by the names of their golden files.
func usual() map[string]Chart {
	return map[string]Chart{
		"producers": throughput(), "cores": scaling(), "changes": changes(),
		"latency": latency(), "samples": samples(), "history": history(),
	}
}

func TestGolden(t *testing.T) {
	for name, c := range usual() {
		var b bytes.Buffer
		if err := WriteFile(&b, c); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s has changed: look at it, then run go test -update", path)
		}
	}
}

// wellFormed parses an SVG strictly and returns its texts.
func wellFormed(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	depth, roots := 0, 0
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
				if token.Name.Local != "svg" || token.Name.Space != "http://www.w3.org/2000/svg" {
					t.Fatalf("the root is %v", token.Name)
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		}
	}
	if roots != 1 {
		t.Fatalf("%d roots", roots)
	}
	return texts
}

func TestOddInputsGiveXMLWithoutOddNumbers(t *testing.T) {
	name := `a<b>&"c"'d' ]]> {{.}} </svg><script>x</script> ` + "\x00\x1b\xff\ufffe 名前"
	odd := []float64{nan, inf, -inf, 0, -1, 1e300, -1e300, 5e-324, math.MaxFloat64, 1}
	charts := map[string]Chart{
		"empty plot": Plot{}, "empty forest": Forest{},
		"names":        Plot{ID: name, Title: name, Desc: name, Note: name, X: Axis{Label: name, Unit: name}, Y: Axis{Unit: name}, Series: []Series{{Name: name, Points: []Point{{1, 2, 1, 3, name}, {2, 3, 2, 4, name}}}}},
		"ticks":        Plot{X: Axis{Ticks: []Tick{{0, name}, {1, name}}}, Series: []Series{{Points: []Point{{0, 1, 1, 1, ""}}}}},
		"forest names": Forest{ID: name, Title: name, Left: name, Right: name, Note: name, Changes: []Change{{name, 1, 1, 1, 0, Same}, {"", 2, 1, 3, 0.1, Slower}}},
		"one point":    Plot{Series: []Series{{Name: "x", Points: []Point{{3, 4, 4, 4, ""}}}}},
		"one zero":     Plot{X: Axis{Chosen: true}, Series: []Series{{Name: "x", Points: []Point{{0, 0, 0, 0, ""}}}}},
		"denormal":     Plot{Series: []Series{{Points: []Point{{0, 5e-324, 0, 5e-324, ""}, {5e-324, 0, 0, 0, ""}}}}},
		"no length":    Plot{Ideal: []Point{{1, 1, 1, 1, ""}, {1, 1, 1, 1, ""}}, Series: []Series{{Points: []Point{{1, 1, 1, 1, ""}}}}},
	}
	for i, a := range odd {
		for k, b := range odd {
			id := fmt.Sprintf("odd %d %d", i, k)
			charts[id+" plot"] = Plot{Series: []Series{{Name: "x", Points: []Point{{a, b, a, b, ""}, {b, a, b, a, ""}, {1, 2, a, b, ""}}}}, Ideal: []Point{{1, a, 0, 0, ""}, {2, b, 0, 0, ""}}}
			charts[id+" forest"] = Forest{Changes: []Change{{"x", a, b, 1, b, Undecided}, {"y", 1, a, b, a, Same}}}
		}
	}
	for id, c := range charts {
		t.Run(id, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteFile(&b, c); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, b.Bytes())
			for _, bad := range []string{"NaN", "Inf", "e+", "<script", "ZgotmplZ"} {
				if strings.Contains(b.String(), bad) {
					t.Errorf("holds %q:\n%s", bad, b.String())
				}
			}
		})
	}
}

func TestInlineChartsAreXMLToo(t *testing.T) {
	for name, c := range usual() {
		html, err := Inline(c)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, []byte(html))
		if strings.Contains(string(html), "<style") {
			t.Errorf("%s brings the style sheet along", name)
		}
	}
}

func TestTheSameChartGivesTheSameBytes(t *testing.T) {
	for name, c := range usual() {
		var a, b bytes.Buffer
		if err := errors.Join(WriteFile(&a, c), WriteFile(&b, c)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestForestGrowsWithItsRows(t *testing.T) {
	height := func(rows int) float64 {
		f := Forest{}
		for i := range rows {
			f.Changes = append(f.Changes, Change{fmt.Sprintf("row=%d", i), 1.1, 1, 1.2, 0.03, Slower})
		}
		var b bytes.Buffer
		if err := Write(&b, f); err != nil {
			t.Fatal(err)
		}
		if texts := strings.Join(wellFormed(t, b.Bytes()), "\n"); rows > 0 && !strings.Contains(texts, fmt.Sprintf("row=%d", rows-1)) {
			t.Errorf("the last of %d rows is missing", rows)
		}
		var h float64
		if _, err := fmt.Sscan(f.scene().Height, &h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	if one, many := height(1), height(2000); many-one != 1999*forestRow {
		t.Errorf("1 row is %v high, 2000 rows are %v", one, many)
	}
}

func TestALongNameIsCutInItsMiddleAndWholeInItsTitle(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, changes()); err != nil {
		t.Fatal(err)
	}
	long := changes().Changes[1].Name
	if !strings.Contains(b.String(), "<title>"+long+"</title>") {
		t.Error("no title holds the whole name")
	}
	short := shorten(long, fontSize, forestNames)
	if !strings.Contains(b.String(), short) || !strings.HasPrefix(short, "QueueProducers") || !strings.HasSuffix(short, "for-its-column") {
		t.Errorf("the name is shown as %q", short)
	}
}

func TestWhatIsNotDrawnIsSaid(t *testing.T) {
	p := Plot{}
	for i := range maxSeries + 3 {
		p.Series = append(p.Series, Series{Name: fmt.Sprint("series ", i), Look: LookOf(i), Points: []Point{{1, 1, 1, 1, ""}, {nan, 1, 1, 1, ""}}})
	}
	html, err := Inline(p)
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Join(wellFormed(t, []byte(html)), " ")
	for _, want := range []string{fmt.Sprintf("%d of %d series are drawn.", maxSeries, maxSeries+3), fmt.Sprintf("%d points without a figure", maxSeries+3)} {
		if !strings.Contains(texts, want) {
			t.Errorf("does not say %q: %s", want, texts)
		}
	}
}
