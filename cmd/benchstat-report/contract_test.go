package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// series is n result lines around a median, by a tenth of a percent.
func series(name, unit string, median float64, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Benchmark%s 1 %v %s\n", name, median*(1+0.001*float64(i-n/2)), unit)
	}
	return b.String()
}

// made is n noisy lines for each row.
func made(rng *rand.Rand, rows, n int, spread float64, factor func(row int) float64, unit string) string {
	var b strings.Builder
	if unit == "msgs/s" {
		b.WriteString("Unit msgs/s better=higher\n")
	}
	for range n {
		for row := range rows {
			fmt.Fprintf(&b, "BenchmarkRow/n=%d 1 %v %s\n", row, 100*factor(row)*math.Exp(spread*rng.NormFloat64()), unit)
		}
	}
	return b.String()
}

func one(int) float64 { return 1 }

// result is the part of the JSON report that these tests look at.
type result struct {
	Counts struct {
		Faster, Slower, Same, Undecided int
		NotComparable                   int `json:"not_comparable"`
	}
	Tables []struct {
		Rows []struct {
			Name        string
			Comparisons []struct {
				Verdict, Reason string
				Needed          int     `json:"samples_needed"`
				P               float64 `json:"p"`
				Adjusted        float64 `json:"p_adjusted"`
			}
		}
	}
}

// gated runs the verb gate on two texts.
func gated(t *testing.T, base, now string, flags ...string) (r result, out string, code int) {
	t.Helper()
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
	for i, text := range []string{base, now} {
		if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"gate", "-format", "json"}, flags...)
	out, errOut, code := inside(t, "", append(args, "old="+paths[0], "new="+paths[1])...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("no report: %v\n%s\n%s", err, out, errOut)
	}
	return r, out, code
}

func TestEqualSidesNeverGate(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		base, now := made(rng, 20, 10, 0.01, one, "ns/op"), made(rng, 20, 10, 0.01, one, "ns/op")
		if r, _, code := gated(t, base, now, "-seed", fmt.Sprint(seed)); code != 0 || r.Counts.Slower+r.Counts.Faster > 0 {
			t.Errorf("seed %d: exit code %d, %+v", seed, code, r.Counts)
		}
	}
}

func TestASlowdownOfAFifthGatesExactlyThatRow(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		slow := func(row int) float64 { return map[bool]float64{true: 1.2, false: 1}[row == 7] }
		r, out, code := gated(t, made(rng, 20, 10, 0.01, one, "ns/op"), made(rng, 20, 10, 0.01, slow, "ns/op"))
		if code != exitRegression || r.Counts.Slower != 1 || r.Counts.Faster != 0 {
			t.Fatalf("seed %d: exit code %d, %+v\n%s", seed, code, r.Counts, out)
		}
		for _, row := range r.Tables[0].Rows {
			if slower := row.Comparisons[0].Verdict == "slower"; slower != (row.Name == "Row/n=7") {
				t.Errorf("seed %d: %s is %s", seed, row.Name, row.Comparisons[0].Verdict)
			}
		}
	}
}

// Without the correction a twentieth of the rows would be flagged but for the
// floor, which this test takes away.
func TestTwoHundredNullRowsFlagNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	base, now := made(rng, 200, 10, 0.05, one, "ns/op"), made(rng, 200, 10, 0.05, one, "ns/op")
	if r, _, code := gated(t, base, now, "-floor", "0"); code != 0 || r.Counts.Slower+r.Counts.Faster > 0 {
		t.Errorf("with Holm: exit code %d, %+v", code, r.Counts)
	}
	if r, _, _ := gated(t, base, now, "-floor", "0", "-correct", "none"); r.Counts.Slower+r.Counts.Faster == 0 {
		t.Errorf("without a correction the rows flag none either, so that the test shows nothing: %+v", r.Counts)
	}
}

func TestTwoHundredRowsWithTenSamplesStillGate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	slow := func(row int) float64 { return map[bool]float64{true: 1.2, false: 1}[row == 150] }
	base := made(rng, 200, 10, 0.01, one, "ns/op")
	if r, _, code := gated(t, base, made(rng, 200, 10, 0.01, slow, "ns/op")); code != exitRegression || r.Counts.Slower != 1 {
		t.Errorf("exit code %d, %+v", code, r.Counts)
	}
}

func TestThreeSamplesAreUndecidedAndSayHowManyAreNeeded(t *testing.T) {
	for _, c := range []struct {
		rows, needed int
		factor       float64
	}{{1, 6, 1.5}, {1, 6, 1}, {30, 7, 1.5}, {200, 10, 1.5}} {
		rng := rand.New(rand.NewPCG(5, 5))
		base := made(rng, c.rows, 3, 0.002, one, "ns/op")
		now := made(rng, c.rows, 3, 0.002, func(int) float64 { return c.factor }, "ns/op")
		r, _, code := gated(t, base, now)
		got := r.Tables[0].Rows[0].Comparisons[0]
		if code != 0 || r.Counts.Undecided != c.rows || got.Needed != c.needed || got.Reason != fmt.Sprintf("n=3, needs ≥ %d", c.needed) {
			t.Errorf("%d rows × %v: exit code %d, %+v, %+v; want all undecided, needing %d", c.rows, c.factor, code, r.Counts, got, c.needed)
		}
	}
}

// What is said to be needed must be enough: the same difference with that many
// samples is decided.
func TestTheNeededSamplesAreEnough(t *testing.T) {
	sizes := []int{1, 10, 100, 200}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for _, rows := range sizes {
		rng := rand.New(rand.NewPCG(6, 6))
		slow := func(int) float64 { return 1.5 }
		r, _, _ := gated(t, made(rng, rows, 3, 0.002, one, "ns/op"), made(rng, rows, 3, 0.002, slow, "ns/op"))
		n := r.Tables[0].Rows[0].Comparisons[0].Needed
		if r, _, code := gated(t, made(rng, rows, n, 0.002, one, "ns/op"), made(rng, rows, n, 0.002, slow, "ns/op")); code != exitRegression || r.Counts.Slower != rows {
			t.Errorf("%d rows with %d samples: exit code %d, %+v", rows, n, code, r.Counts)
		}
		if r, _, code := gated(t, made(rng, rows, n-4, 0.002, one, "ns/op"), made(rng, rows, n-4, 0.002, slow, "ns/op")); code == exitRegression {
			t.Errorf("%d rows with %d samples gate: %+v", rows, n-4, r.Counts)
		}
	}
}

func TestEqualSeedsGiveEqualBytes(t *testing.T) {
	t.Chdir("testdata")
	for _, form := range []string{"text", "markdown", "csv", "json"} {
		args := []string{"compare", "-format", form, "-seed", "42", "old.txt", "new.txt"}
		first, _, _ := inside(t, "", args...)
		for range 3 {
			if again, _, _ := inside(t, "", args...); again != first || first == "" {
				t.Fatalf("%s: two runs with one seed differ", form)
			}
		}
		args[4] = "43"
		if other, _, _ := inside(t, "", args...); other == first && form != "text" && form != "markdown" {
			t.Errorf("%s: the seed changes nothing", form)
		}
	}
}

// Equal files give equal figures wherever they lie and whatever they are called.
func TestIntervalsDoNotDependOnTheNamesOfFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	texts := []string{made(rng, 5, 10, 0.05, one, "ns/op"), made(rng, 5, 10, 0.05, one, "ns/op")}
	var reports []string
	for range 2 {
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
		for i, text := range texts {
			if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, errOut, _ := inside(t, "", "compare", "-format", "csv", paths[0], paths[1])
		if errOut != "" {
			t.Fatal(errOut)
		}
		reports = append(reports, strings.ReplaceAll(out, dir, ""))
	}
	if reports[0] != reports[1] {
		t.Errorf("two folders give two reports:\n%s\n%s", reports[0], reports[1])
	}
}

// Benchmarks that a projection lumps together are named as such.
func TestARowOfSeveralBenchmarksIsNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	text := made(rng, 3, 10, 0.01, one, "ns/op")
	old := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(old, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]bool{".name": true, ".fullname": false} {
		for _, form := range []string{"text", "markdown", "json", "html"} {
			out, errOut, _ := inside(t, "", "compare", "-row", row, "-format", form, "a="+old, "b="+old)
			if got := strings.Contains(out, "more than one benchmark: Row"); got != want {
				t.Errorf("-row %s as %s warns: %v, want %v; %s", row, form, got, want, errOut)
			}
		}
	}
}

func TestALossOfThroughputGates(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	base := made(rng, 3, 10, 0.01, one, "msgs/s")
	loss := func(row int) float64 { return map[bool]float64{true: 0.8, false: 1}[row == 1] }
	gain := func(row int) float64 { return map[bool]float64{true: 1.25, false: 1}[row == 1] }
	if r, _, code := gated(t, base, made(rng, 3, 10, 0.01, loss, "msgs/s")); code != exitRegression || r.Counts.Slower != 1 {
		t.Errorf("a loss: exit code %d, %+v", code, r.Counts)
	}
	if r, _, code := gated(t, base, made(rng, 3, 10, 0.01, gain, "msgs/s")); code != 0 || r.Counts.Faster != 1 {
		t.Errorf("a gain: exit code %d, %+v", code, r.Counts)
	}
	undeclared := strings.NewReplacer("Unit msgs/s better=higher\n", "")
	if r, _, code := gated(t, undeclared.Replace(base), undeclared.Replace(base)); code != exitNothing || r.Counts.NotComparable != 3 {
		t.Errorf("without a direction: exit code %d, %+v", code, r.Counts)
	}
}

// The regimes of a machine differ by a factor of three. Here the new side ran
// mostly while the cores were far apart.
func TestRegimesAreNeverGatedAcross(t *testing.T) {
	side := func(nearN, farN int, factor float64) string {
		var b strings.Builder
		for i := range nearN + farN {
			bounce, ns := 50.0, 100.0
			if i >= nearN {
				bounce, ns = 190, 300
			}
			fmt.Fprintf(&b, "BenchmarkX 1 %v bounce-ns %v ns/op\n", bounce, ns*factor*(1+0.002*float64(i%7)))
		}
		return b.String()
	}
	for _, c := range []struct {
		name                   string
		baseN, baseF, newN, nF int
		factor                 float64
		verdict                string
		code                   int
	}{
		{"all near", 10, 0, 10, 0, 1, "same", 0},
		{"near on one side, far on the other", 10, 0, 0, 10, 1, "undecided", 0},
		{"mixtures that differ, near suffices", 10, 2, 8, 10, 1, "same", 0},
		{"mixtures that differ, far suffices", 3, 9, 2, 10, 1, "same", 0},
		{"too few of either", 5, 3, 2, 4, 1, "undecided", 0},
		{"slower within near", 8, 4, 8, 8, 1.2, "slower", exitRegression},
	} {
		r, _, code := gated(t, side(c.baseN, c.baseF, 1), side(c.newN, c.nF, c.factor))
		if got := r.Tables[0].Rows[0].Comparisons[0]; got.Verdict != c.verdict || code != c.code {
			t.Errorf("%s: %+v, exit code %d, want %s and %d", c.name, got, code, c.verdict, c.code)
		}
	}
}
