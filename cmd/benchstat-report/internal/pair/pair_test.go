package pair

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load reads texts as files a, b, and so on.
func load(t *testing.T, texts ...string) *parse.Set {
	t.Helper()
	t.Chdir(t.TempDir())
	var names []string
	for i, text := range texts {
		name := string(rune('a' + i))
		if err := os.WriteFile(filepath.Join(".", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	set, err := parse.Read(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func build(t *testing.T, opt Options, texts ...string) *Tables {
	t.Helper()
	tables, err := Build(load(t, texts...), opt)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// shape is a table in short: unit, columns, and each row's numbers of samples.
func shape(tables *Tables) []string {
	var list []string
	for _, t := range tables.Tables {
		text := t.Unit + " " + strings.Join(t.Columns, ",")
		for _, kv := range t.Config {
			text += " " + kv.Key + "=" + kv.Value
		}
		for _, r := range t.Rows {
			text += "; " + r.Name
			for _, c := range r.Cells {
				n := 0
				if c != nil {
					n = len(c.Samples)
				}
				text += fmt.Sprintf(" %d", n)
			}
		}
		list = append(list, text)
	}
	return list
}

func TestTablesRowsAndColumns(t *testing.T) {
	const impls = "BenchmarkX/impl=a/n=1-2 1 5 ns/op 1 B/op\nBenchmarkX/impl=b/n=1-2 1 6 ns/op\nBenchmarkX/impl=a/n=1-2 1 7 ns/op\nBenchmarkY-2 1 5 ns/op\n"
	for name, c := range map[string]struct {
		opt   Options
		texts []string
		want  []string
	}{
		"two files": {Options{}, []string{"BenchmarkX 1 5 ns/op\nBenchmarkX 1 6 ns/op\n", "BenchmarkX 1 7 ns/op\nBenchmarkZ 1 7 ns/op\n"},
			[]string{"ns/op a,b; X 2 1; Z 0 1"}},
		"impls": {Options{Col: "/impl"}, []string{impls}, []string{"ns/op a,b,(none); X/n=1-2 2 1 0; Y-2 0 0 1", "B/op a; X/n=1-2 1"}},
		"rows by name": {Options{Col: "/impl", Row: ".name"}, []string{impls},
			[]string{"ns/op a,b,(none); X 2 1 0; Y 0 0 1", "B/op a; X 1"}},
		"a unit":               {Options{Filter: ".unit:B/op"}, []string{impls}, []string{"B/op a; X/impl=a/n=1-2 1"}},
		"the bounce is no row": {Options{}, []string{"BenchmarkX 1 5 ns/op 50 bounce-ns\n"}, []string{"ns/op a; X 1"}},
		"a commit makes no table": {Options{}, []string{"commit: 1\ngoos: x\nBenchmarkX 1 5 ns/op\n", "commit: 2\ngoos: x\nload-before: 3\nBenchmarkX 1 5 ns/op\n"},
			[]string{"ns/op a,b; X 1 1"}},
		"unless it is asked for": {Options{Table: ".config"}, []string{"commit: 1\nBenchmarkX 1 5 ns/op\n", "commit: 2\nBenchmarkX 1 5 ns/op\n"},
			[]string{"ns/op a commit=1; X 1", "ns/op b commit=2; X 1"}},
		"or compared": {Options{Col: "commit"}, []string{"commit: 1\nBenchmarkX 1 5 ns/op\ncommit: 2\nBenchmarkX 1 5 ns/op\n"},
			[]string{"ns/op 1,2; X 1 1"}},
		"another cpu does": {Options{}, []string{"cpu: A\nBenchmarkX 1 5 ns/op\n", "cpu: B\nBenchmarkX 1 5 ns/op\n"},
			[]string{"ns/op a cpu=A; X 1", "ns/op b cpu=B; X 1"}},
		"unless it is ignored": {Options{Ignore: "cpu"}, []string{"cpu: A\nBenchmarkX 1 5 ns/op\n", "cpu: B\nBenchmarkX 1 5 ns/op\n"},
			[]string{"ns/op a,b; X 1 1"}},
		"legs":                     {Options{}, []string{"leg: base\nBenchmarkX 1 5 ns/op\nleg: new\nBenchmarkX 1 6 ns/op\n"}, []string{"ns/op base,new; X 1 1"}},
		"one processor":            {Options{Col: "/gomaxprocs"}, []string{"BenchmarkX 1 5 ns/op\nBenchmarkX-2 1 5 ns/op\n"}, []string{"ns/op 1,2; X 1 1"}},
		"two ways to write a unit": {Options{}, []string{"BenchmarkX 1 5 ns/op\n", "BenchmarkX 1 5e-9 sec/op\n"}, []string{"sec/op a,b; X 1 1"}},
		"zero is of the same unit": {Options{}, []string{"BenchmarkX 1 0 ns/op\nBenchmarkX 1 5 ns/op\n"}, []string{"ns/op a; X 2"}},
		"a fixed order":            {Options{Col: "/impl@(b a)"}, []string{impls}, []string{"ns/op b,a; X/n=1-2 1 2", "B/op a; X/n=1-2 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shape(build(t, c.opt, c.texts...)); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSamplesKeepTheirOrderAndWhatStandsBeside(t *testing.T) {
	tables := build(t, Options{}, `commit: abc
commit-date: 2026-01-02
dirty: true
seq: 7
BenchmarkX-2 10 9 ns/op 51.5 bounce-ns
seq: 9
cores: one
bounce-ns: 60
BenchmarkX-2 20 3 ns/op
`)
	got := tables.Tables[0].Rows[0].Cells[0].Samples
	want := []Sample{
		{Value: 9, Iters: 10, Bounce: 51.5, Seq: 7, File: "a", Line: 5, FullName: "X-2", Commit: "abc", Dirty: true, Date: "2026-01-02"},
		{Value: 3, Iters: 20, Bounce: 60, Seq: 9, File: "a", Line: 9, FullName: "X-2", Commit: "abc", Dirty: true, Date: "2026-01-02", OneCore: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("samples are\n%+v, want\n%+v", got, want)
	}
	tables = build(t, Options{}, "date: 2026-02-03\nBenchmarkX/cores=one 1 5 ns/op\n")
	if s := tables.Tables[0].Rows[0].Cells[0].Samples[0]; !s.OneCore || s.Date != "2026-02-03" || s.Seq != 1 {
		t.Errorf("the sample is %+v", s)
	}
}

// The filter takes the bounce away from what is shown, and must not take it
// away from what is known.
func TestTheBounceOutlivesAFilterOfUnits(t *testing.T) {
	tables := build(t, Options{Filter: ".unit:ns/op"}, "BenchmarkX 1 5 ns/op 51.5 bounce-ns\n")
	if got := tables.Tables[0].Rows[0].Cells[0].Samples[0].Bounce; got != 51.5 {
		t.Errorf("bounce is %v, want 51.5", got)
	}
}

func TestLabelsTopicsDirectionsAndUnits(t *testing.T) {
	tables := build(t, Options{Col: "/impl"}, `Unit msgs/s better=higher
Unit size better=lower assume=exact
BenchmarkX/impl=a/sub/n=1-2 1 5 ns/op 7 msgs/s 8 size 9 things
BenchmarkX/impl=b/sub/n=1-2 1 5 ns/op 7 msgs/s 8 size 9 things
`)
	row := tables.Tables[0].Rows[0]
	if want := []KeyValue{{"", "sub"}, {"n", "1"}, {"gomaxprocs", "2"}}; !slices.Equal(row.Labels, want) || row.Topic != "X" {
		t.Errorf("topic %q, labels %v, want X, %v", row.Topic, row.Labels, want)
	}
	if row.Label("n") != "1" || row.Label("impl") != "" {
		t.Errorf("label n is %q and impl %q", row.Label("n"), row.Label("impl"))
	}
	var got []string
	for _, x := range tables.Tables {
		got = append(got, fmt.Sprint(x.Unit, " ", x.Tidy, " ", x.Better, x.Exact, x.First))
	}
	if want := []string{"ns/op sec/op -1 false 0", "msgs/s msgs/s 1 false 1", "size size -1 true 2", "things things 0 false 3"}; !slices.Equal(got, want) {
		t.Errorf("tables are %q, want %q", got, want)
	}
}

func TestBaselines(t *testing.T) {
	const text = "BenchmarkA/impl=x 1 5 ns/op\nBenchmarkA/impl=y 1 5 ns/op\nBenchmarkB/impl=y 1 5 ns/op\nBenchmarkB/impl=z 1 5 ns/op\nBenchmarkA/impl=x/k=1 1 5 B/op\n"
	for _, c := range []struct{ baseline, want string }{
		{"", "A x 0; B x 0; A/k=1 x 0"},
		{"y", "A y 1; B y 1; A/k=1 y -1"},
		{"x,y", "A x 0; B y 1; A/k=1 x 0"},
	} {
		var got []string
		for _, table := range build(t, Options{Col: "/impl", Baseline: c.baseline}, text).Tables {
			for _, r := range table.Rows {
				got = append(got, fmt.Sprint(r.Name, " ", r.BaseName, " ", r.Base))
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("-baseline %q: %q, want %q", c.baseline, strings.Join(got, "; "), c.want)
		}
	}
}

func TestABaselineMayHaveACommaInItsName(t *testing.T) {
	table := build(t, Options{Col: "/impl", Baseline: "x,y"}, "BenchmarkA/impl=x,y 1 5 ns/op\nBenchmarkA/impl=z 1 5 ns/op\n").Tables[0]
	if table.Rows[0].BaseName != "x,y" {
		t.Errorf("the base is %q", table.Rows[0].BaseName)
	}
}

func TestLumpedSamplesAreNamed(t *testing.T) {
	tables := build(t, Options{Row: ".name"}, "BenchmarkX/n=1 1 5 ns/op\nBenchmarkX/n=2 1 5 ns/op\n")
	if got := tables.Tables[0].Rows[0].Cells[0].Varies; !slices.Equal(got, []string{".fullname"}) {
		t.Errorf("varies %q, want .fullname", got)
	}
}

// What differs from result to result of any run is no sign of two benchmarks.
func TestMomentsOfARunAreNotLumped(t *testing.T) {
	tables := build(t, Options{Table: "pkg"}, "seq: 1\nload-before: 1\nnote: a\nBenchmarkX 1 5 ns/op\nseq: 2\nload-before: 2\nnote: b\nBenchmarkX 1 5 ns/op\n")
	if got := tables.Tables[0].Rows[0].Cells[0].Varies; !slices.Equal(got, []string{"note"}) {
		t.Errorf("varies %q, want note", got)
	}
}

func TestAFileOfWhichNothingIsLeftIsASide(t *testing.T) {
	tables := build(t, Options{Filter: ".name:Y"}, "BenchmarkX 1 5 ns/op\n", "BenchmarkY 1 5 ns/op\n")
	if !slices.Equal(tables.Columns, []string{"a", "b"}) || tables.Tables[0].Rows[0].BaseName != "a" {
		t.Errorf("the columns are %q and the base is %q", tables.Columns, tables.Tables[0].Rows[0].BaseName)
	}
}

func TestMachineAndNotes(t *testing.T) {
	tables := build(t, Options{}, "goos: linux\ncommit: 1\ngo: go1.25\nload-before: 1\nBenchmarkX 1 5 ns/op\n",
		"goos: linux\ncommit: 2\ngo: go1.26\nload-before: 1\ndirty: true\nBenchmarkX 1 5 ns/op\n")
	if want := []KeyValue{{"goos", "linux"}}; !slices.Equal(tables.Machine, want) {
		t.Errorf("machine is %v, want %v", tables.Machine, want)
	}
	want := []string{"go differs: a: go1.25; b: go1.26", "measured on a tree that was changed since its commit: b"}
	if !slices.Equal(tables.Notes, want) {
		t.Errorf("notes are %q, want %q", tables.Notes, want)
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	set := load(t, "BenchmarkX/impl=a 1 5 ns/op\n")
	for _, c := range []struct {
		opt  Options
		flag string
	}{
		{Options{Filter: ".name:("}, "-filter"}, {Options{Row: ",,"}, "-row"}, {Options{Col: "/impl@x"}, "-col"},
		{Options{Table: ".unit"}, "-table"}, {Options{Ignore: "a b@("}, "-ignore"}, {Options{Col: "/impl", Baseline: "b"}, "-baseline"},
	} {
		_, err := Build(set, c.opt)
		var wrong *OptionError
		if !errors.As(err, &wrong) || wrong.Flag != c.flag || !strings.Contains(err.Error(), wrong.Value) || wrong.Unwrap() == nil {
			t.Errorf("%+v: %v, want an error of %s", c.opt, err, c.flag)
		}
	}
	if _, err := Build(set, Options{Filter: ".name:Y"}); !errors.Is(err, ErrNothing) {
		t.Errorf("a filter that matches nothing: %v, want ErrNothing", err)
	}
	if _, err := Build(set, Options{Filter: ".unit:B/op"}); !errors.Is(err, ErrNothing) {
		t.Errorf("a unit that is not there: %v, want ErrNothing", err)
	}
}
