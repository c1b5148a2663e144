package main

import (
	"bytes"
	"encoding/csv"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/overview"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// root is the root of the module.
const root = "../.."

// theirTable is a table of benchstat's CSV.
type theirTable struct {
	unit    string
	columns []string
	rows    map[string][][4]string // center, interval, delta, p; by column
}

// benchstat runs the benchstat that tools/go.mod pins.
func benchstat(t *testing.T, args ...string) []theirTable {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "-modfile=" + filepath.Join("tools", "go.mod"), "benchstat", "-format", "csv"}, args...)...)
	cmd.Dir = root
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, &errOut)
	}
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var tables []theirTable
	for i, rec := range records {
		// The line of units follows that of the columns' names.
		if len(rec) < 3 || rec[0] != "" || rec[2] != "CI" {
			continue
		}
		table := theirTable{unit: rec[1], rows: map[string][][4]string{}}
		starts := []int{}
		for c := range rec {
			if rec[c] == "CI" {
				starts = append(starts, c-1)
				table.columns = append(table.columns, records[i-1][c-1])
			}
		}
		for _, row := range records[i+1:] {
			if len(row) < 2 || row[0] == "geomean" {
				break
			}
			cells := make([][4]string, len(starts))
			for k, c := range starts {
				for f := range 4 {
					if (k > 0 || f < 2) && c+f < len(row) {
						cells[k][f] = row[c+f]
					}
				}
			}
			table.rows[row[0]] = cells
		}
		tables = append(tables, table)
	}
	return tables
}

func alike(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

// sameAsBenchstat compares every median, interval and p-value.
func sameAsBenchstat(t *testing.T, opt pair.Options, files ...string) (medians, ps int) {
	t.Helper()
	var args, paths []string
	for flag, value := range map[string]string{"-filter": opt.Filter, "-row": opt.Row, "-col": opt.Col, "-ignore": opt.Ignore} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	for i, f := range files {
		label := strconv.Itoa(i)
		args, paths = append(args, label+"="+f), append(paths, label+"="+f)
	}
	theirs := benchstat(t, args...)
	t.Chdir(root)
	set, err := parse.Read(paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt.Table = ".config"
	tables, err := pair.Build(set, opt)
	if err != nil {
		t.Fatal(err)
	}
	o := verdict.Defaults(100)
	o.Correct = verdict.None
	report, sums := verdict.Judge(tables, o), overview.Of(tables, o)
	for _, their := range theirs {
		if their.unit == "bounce-sec" {
			continue
		}
		own := sums.Tables[0]
		sums.Tables = sums.Tables[1:]
		if own.Tidy != their.unit || len(own.Rows) != len(their.rows) {
			t.Fatalf("a table of %s with %d rows, benchstat has %s with %d", own.Tidy, len(own.Rows), their.unit, len(their.rows))
		}
		for _, row := range own.Rows {
			cells := their.rows[row.Name]
			for _, c := range row.Cells {
				their := cells[indexOf(their.columns, c.Column)]
				center, _ := benchunit.Tidy(c.Summary.Center, own.Unit)
				want, err := strconv.ParseFloat(their[0], 64)
				interval := benchmath.Summary{Center: c.Summary.Center, Lo: c.Summary.Lo, Hi: c.Summary.Hi}.PctRangeString()
				if err != nil || !alike(center, want) || interval != their[1] {
					t.Errorf("%s %s %s: %v ± %s, benchstat has %v", row.Name, own.Unit, c.Column, center, interval, their)
				}
				medians++
			}
			for _, c := range comparisons(report, own.Table, row.Row) {
				their, base := cells[indexOf(their.columns, c.Column)], their.columns[0]
				if c.Base.N == 0 || c.New.N == 0 || c.BaseColumn != base {
					continue
				}
				if got := (benchmath.Comparison{P: c.P, N1: c.Base.N, N2: c.New.N}).String(); got != their[3] {
					t.Errorf("%s %s %s: %s, benchstat has %s", row.Name, own.Unit, c.Column, got, their[3])
				}
				ps++
			}
		}
	}
	if len(sums.Tables) > 0 {
		t.Errorf("%d tables that benchstat does not have", len(sums.Tables))
	}
	return medians, ps
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s || x == "" && s == "(none)" {
			return i
		}
	}
	return 0
}

// comparisons finds the comparisons of a row.
func comparisons(r *verdict.Report, t *pair.Table, row *pair.Row) []*verdict.Comparison {
	for _, vt := range r.Tables {
		if vt.Table != t {
			continue
		}
		for _, vr := range vt.Rows {
			if vr.Row == row {
				return vr.Comparisons
			}
		}
	}
	return nil
}

func TestMediansAndPValuesAreBenchstats(t *testing.T) {
	if longtest.LeftOut(t, "its statistics run in one goroutine, on floats of 64 bits") {
		return
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/perf").Output()
	if err != nil {
		t.Fatal(err)
	}
	perf := strings.TrimSpace(string(out))
	in := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(perf, n)
		}
		return names
	}
	const stat = "cmd/benchstat/testdata/"
	// What the runner writes beside every result.
	const moment = "seq,load-before,load-after"
	const series = "cmd/benchseries/testdata/"
	for name, c := range map[string]struct {
		opt   pair.Options
		files []string
	}{
		"old new":      {pair.Options{}, in(stat+"old.txt", stat+"new.txt")},
		"crc":          {pair.Options{Ignore: "note"}, in(stat+"crc-old.txt", stat+"crc-new.txt")},
		"crc by poly":  {pair.Options{Filter: "/align:0", Row: "/size", Col: "/poly"}, in(stat + "crc-new.txt")},
		"format":       {pair.Options{Col: "/format"}, in(stat + "new.txt")},
		"issue19565":   {pair.Options{Col: "note"}, in(stat + "issue19565.txt")},
		"issue19634":   {pair.Options{Col: "note"}, in(stat + "issue19634.txt")},
		"small":        {pair.Options{Col: "note"}, in(stat + "smallSample.txt")},
		"units":        {pair.Options{Col: "note"}, in(stat + "units.txt")},
		"zero":         {pair.Options{Col: "note"}, in(stat + "zero.txt")},
		"suffixarray":  {pair.Options{}, in("benchproc/testdata/suffixarray.bench")},
		"series":       {pair.Options{Filter: ".unit:ns/op", Ignore: "toolchain,tip,base"}, in(series+"odd/24239120bf-opt.20220112T213211", series+"odd/Go1.17-opt.20220112T213211")},
		"bent":         {pair.Options{}, in("benchfmt/testdata/bent/20200101T213604.Base.stdout", "benchfmt/testdata/bent/20200101T213604.Tip.stdout")},
		"own figures":  {pair.Options{Ignore: moment, Filter: ".name:/^(Checkpoint|Queue)/", Col: "/impl@(channel tidemark mutex shared lane)"}, []string{"bench/results/figures.txt"}},
		"own topics":   {pair.Options{Ignore: moment, Filter: ".name:/^Ledger/", Col: "/impl@(mutex trylock ring)"}, []string{"bench/results/figures.txt"}},
		"own rejected": {pair.Options{Ignore: moment, Filter: ".name:/^Queue/", Col: "/impl@(shared ring ticket stack)"}, []string{"bench/results/figures.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			medians, ps := sameAsBenchstat(t, c.opt, c.files...)
			t.Logf("%d medians and %d p-values", medians, ps)
			if medians == 0 || ps == 0 && name != "suffixarray" {
				t.Errorf("%d medians and %d p-values were compared", medians, ps)
			}
		})
	}
}
