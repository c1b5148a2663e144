package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

const near = 100 // ns of bounce

// units are declared in every file.
const units = `Unit ns/msg better=lower
Unit msgs/s better=higher
Unit bounce-ns better=lower
Unit p50-ns better=lower
Unit p99-ns better=lower
Unit p99.9-ns better=lower
Unit max-ns better=lower

`

// file is a benchmark file of a queue: for each implementation and number of
// producers the samples of a run whose fourth round had far cores. Factor
// multiplies the time of a row.
func file(commit string, seed uint64, rounds int, factor func(impl string, producers int) float64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	fmt.Fprintf(&b, "commit: %s\ngo: go1.26\ncpu: A CPU <of> some kind\npkg: example.org/q\n%s", commit, units)
	seq := 0
	for round := range rounds {
		bounce, slow := 55.0, 1.0
		if round == 3 {
			bounce, slow = 190, 2.5
		}
		for i, impl := range []string{"channel", "tidemark"} {
			for _, producers := range []int{1, 2, 4, 8} {
				seq++
				v := 100 / float64(i*3+1) * slow * factor(impl, producers) * (1 + 0.01*r.Float64())
				fmt.Fprintf(&b, "seq: %d\nBenchmarkQueue/impl=%s/producers=%d-2 1000 %.5g ns/msg %.5g msgs/s %v bounce-ns\n", seq, impl, producers, v, 1e9/v, bounce)
			}
			for _, pause := range []string{"0ms", "10ms"} {
				seq++
				far := 3.0
				if impl == "channel" && pause == "10ms" {
					far = 1e5
				}
				v := 40 * (1 + 0.01*r.Float64())
				fmt.Fprintf(&b, "seq: %d\nBenchmarkLatencyRelease/impl=%s/pause=%s-2 1 %.5g p50-ns %.5g p99-ns %.5g p99.9-ns %.5g max-ns 55 bounce-ns\n", seq, impl, pause, v, v*2, v*far, v*far*2)
			}
		}
	}
	return b.String()
}

func even(string, int) float64 { return 1 }

// oldAndNew differ in one row that is slower, one that is faster and one that
// is noise, and each has a row that the other lacks.
func oldAndNew() []string {
	noise := rand.New(rand.NewPCG(7, 7))
	changed := func(impl string, producers int) float64 {
		switch fmt.Sprint(impl, producers) {
		case "tidemark4":
			return 1.2
		case "tidemark8":
			return 0.7
		case "channel8":
			return 0.5 + 1.2*noise.Float64()
		}
		return 1
	}
	return []string{
		file("aaaa00001111", 1, 10, even) + strings.Repeat("BenchmarkGone-2 10 5 ns/op\n", 10),
		file("bbbb22223333", 2, 10, changed) + strings.Repeat("BenchmarkCame-2 10 5 ns/op\n", 10),
	}
}

// read parses texts as files named old, new and so on.
func read(t testing.TB, texts ...string) *parse.Set {
	t.Helper()
	dir := t.TempDir()
	var args []string
	for i, text := range texts {
		label := []string{"old", "new", "third", "fourth"}[i]
		path := filepath.Join(dir, label+".txt")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, label+"="+path)
	}
	set, err := parse.Read(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// judge compares texts, or the values of a key in them.
func judge(t testing.TB, opt pair.Options, texts ...string) (*verdict.Report, []Side) {
	t.Helper()
	set := read(t, texts...)
	tables, err := pair.Build(set, opt)
	if err != nil {
		t.Fatal(err)
	}
	r := verdict.Judge(tables, verdict.Defaults(near))
	return r, Sides(r, set.Results)
}

func reportHTML(t testing.TB, opt pair.Options, texts ...string) string {
	t.Helper()
	r, sides := judge(t, opt, texts...)
	var b bytes.Buffer
	if err := Report(&b, r, sides); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func summaryHTML(t testing.TB, texts ...string) string {
	t.Helper()
	tables, err := pair.Build(read(t, texts...), pair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Overview(&b, overview.Of(tables, verdict.Defaults(near))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func historyOf(t testing.TB, texts ...string) *history.History {
	t.Helper()
	tables, err := pair.Build(read(t, texts...), pair.Options{Col: ".file"})
	if err != nil {
		t.Fatal(err)
	}
	return history.Of(t.Context(), tables, verdict.Defaults(near), t.TempDir())
}

func historyHTML(t testing.TB, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	if err := History(&b, historyOf(t, texts...)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pages are one of each kind, by the names of their golden files.
func pages(t testing.TB) map[string]string {
	return map[string]string{
		"report":    reportHTML(t, pair.Options{}, oldAndNew()...),
		"impl":      reportHTML(t, pair.Options{Col: "/impl", Baseline: "channel"}, oldAndNew()[0]),
		"summary":   summaryHTML(t, oldAndNew()[0]),
		"history":   historyHTML(t, append(oldAndNew(), file("cccc4444", 3, 6, even))...),
		"one row":   reportHTML(t, pair.Options{}, "BenchmarkX 1 5 ns/op\n", "BenchmarkX 1 6 ns/op\n"),
		"odd names": reportHTML(t, pair.Options{}, odd(1), odd(1.5)),
	}
}

// odd is a file whose names and values no template should trust.
func odd(factor float64) string {
	var b strings.Builder
	b.WriteString("commit: </style><script>bad()</script>\ncpu: {{.}} \"quoted\" 'q' & <u>\nUnit <i>/s better=higher\n")
	for i := range 8 {
		fmt.Fprintf(&b, "BenchmarkA</title><script>bad()</script>/impl=\"x\"onload='bad()'/n=%d 1 %v ns/op %v <i>/s NaN p99-ns +Inf max-ns\n", i%4, factor*float64(i+1), -1.5)
		fmt.Fprintf(&b, "Benchmark%s 1 0 ns/op -5 x\"y 1e308 z'\n", strings.Repeat("Long名", 60))
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, html := range pages(t) {
		if name != "report" && name != "summary" && name != "history" {
			continue
		}
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(html), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if html != string(want) {
			t.Errorf("%s has changed: look at it, then run go test -update", path)
		}
	}
}

var (
	svg       = regexp.MustCompile(`(?s)<svg .*?</svg>`)
	tag       = regexp.MustCompile(`<[a-zA-Z][^<>]*>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z:-]+)(?:="([^"]*)")?`)
	script    = regexp.MustCompile(`(?s)<script>.*?</script>`)
)

func TestEveryChartOfEveryPageIsXML(t *testing.T) {
	for name, html := range pages(t) {
		charts := svg.FindAllString(html, -1)
		if len(charts) == 0 && name != "one row" {
			t.Errorf("%s has no chart", name)
		}
		for _, chart := range charts {
			d := xml.NewDecoder(strings.NewReader(chart))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v in\n%s", name, err, chart)
				}
			}
		}
	}
}

func TestPagesFetchNothing(t *testing.T) {
	for name, html := range pages(t) {
		if !strings.Contains(html, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"`) {
			t.Errorf("%s has no policy", name)
		}
		if n := strings.Count(html, "<script>"); n != 1 {
			t.Errorf("%s has %d scripts, want its own", name, n)
		}
		for _, bad := range []string{"url(", "@import", "<link", "<iframe", "<img", "<object", "<embed", "<base", "ZgotmplZ"} {
			if strings.Contains(html, bad) {
				t.Errorf("%s holds %s", name, bad)
			}
		}
		rest := strings.ReplaceAll(html, `xmlns="http://www.w3.org/2000/svg"`, "")
		if i := strings.Index(rest, "://"); i >= 0 {
			t.Errorf("%s names an address: %s", name, rest[max(0, i-60):i+40])
		}
		for _, element := range tag.FindAllString(script.ReplaceAllString(html, ""), -1) {
			for _, a := range attribute.FindAllStringSubmatch(element, -1) {
				switch key := strings.ToLower(a[1]); {
				case strings.HasPrefix(key, "on"), key == "src", key == "srcset", key == "style", key == "action", key == "xlink:href":
					t.Errorf("%s: %s", name, element)
				case key == "href" && !strings.HasPrefix(a[2], "#"):
					t.Errorf("%s refers to something else: %s", name, element)
				}
			}
		}
	}
}

func TestLinksAndIdentifiersMatch(t *testing.T) {
	id, href := regexp.MustCompile(` id="([^"]*)"`), regexp.MustCompile(` href="#([^"]*)"`)
	for name, html := range pages(t) {
		seen := map[string]bool{}
		for _, m := range id.FindAllStringSubmatch(html, -1) {
			if seen[m[1]] {
				t.Errorf("%s has the id %q twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range href.FindAllStringSubmatch(html, -1) {
			if !seen[m[1]] {
				t.Errorf("%s links to %q, which is not there", name, m[1])
			}
		}
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	first := pages(t)
	for name, html := range pages(t) {
		if html != first[name] {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

func TestNothingFromTheInputBecomesMarkup(t *testing.T) {
	html := pages(t)["odd names"]
	for _, bad := range []string{"<script>bad", "</title><script", "<u>", "<i>", "onload='"} {
		if strings.Contains(html, bad) {
			t.Errorf("holds %q", bad)
		}
	}
	for _, want := range []string{"&lt;script&gt;bad()", "{{.}} &#34;quoted&#34;", "&lt;i&gt;/s"} {
		if !strings.Contains(html, want) {
			t.Errorf("does not show %q", want)
		}
	}
}
