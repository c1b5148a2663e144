package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench"
)

func TestRunWritesEveryArmWithItsConfiguration(t *testing.T) {
	dir := module(t, two)
	path := filepath.Join(t.TempDir(), "deep", "r.txt")
	// An arm that stands still in the first loop of the priming is pinned to
	// one. That does not happen each time.
	var r result
	for range 3 {
		r = runs(t, t.Context(), parsed(t, "-rounds", "3", "-benchtime", "10ms", "-o", path, dir))
		if r.err != nil {
			t.Fatalf("%v\n%s", r.err, r.progress)
		}
		if len(r.list) > 0 && r.list[0].Iters > 1 {
			break
		}
	}
	pinned := map[string]int{}
	for _, size := range []string{"1", "2"} {
		for _, impl := range []string{"channel", "lane"} {
			if n := r.count("Queue/impl=" + impl + "/size=" + size); n != 3 {
				t.Errorf("%d results of %s with size %s, want 3", n, impl, size)
			}
		}
	}
	for i, res := range r.list {
		for key, want := range map[string]string{
			"seq": strconv.Itoa(i + 1), "pkg": "example.com/fake", "leg": "", "commit": "", "dirty": "unknown",
			"gomaxprocs": strconv.Itoa(runtime.GOMAXPROCS(0)), "go": "*", "goos": runtime.GOOS, "goarch": runtime.GOARCH, "kernel": "*",
		} {
			if got := res.GetConfig(key); got != want && (want != "*" || got == "") {
				t.Errorf("result %d has %s %q, want %q", i, key, got, want)
			}
		}
		if bounce, _ := metric(res, BounceUnit); bounce != 55 {
			t.Errorf("result %d has the bounce %v, want the 55 measured beside it", i, bounce)
		}
		loops, _ := metric(res, "loops")
		if int(loops) != res.Iters {
			t.Errorf("result %d reports %v loops of %d iterations", i, loops, res.Iters)
		}
		size := string(res.Name.Full())[strings.Index(string(res.Name.Full()), "size="):]
		if n, ok := pinned[size]; ok && n != res.Iters {
			t.Errorf("%s has %d iterations, and %d before: want the same for all arms and rounds", res.Name, res.Iters, n)
		}
		pinned[size] = res.Iters
	}
	if pinned["size=1"+suffix(0)] < 2 {
		t.Errorf("a loop of next to nothing runs %d times in 10 ms", pinned["size=1"+suffix(0)])
	}
	if n := strings.Count(r.text, "\ngo: "); n != 1 {
		t.Errorf("what does not change is written %d times, want once\n%s", n, r.text)
	}
	if first, _, _ := strings.Cut(r.text, "\n"); first != "# benchstat-report run -rounds 3 -benchtime 10ms "+quote(dir) {
		t.Errorf("the first line is %q", first)
	}
	for _, want := range []string{"building", "priming", "2 rows with 4 arms: 3 rounds of 10ms an arm", "[1/12, ", "12 results of 2 rows, 3 whole rounds, in " + path} {
		if !strings.Contains(r.progress, want) {
			t.Errorf("the progress has no %q:\n%s", want, r.progress)
		}
	}
}

func TestArmsRotateAndUnitsAreDeclaredOnce(t *testing.T) {
	dir := module(t, `
func TestMain(m *testing.M) { fmt.Println("Unit frogs better=higher"); os.Exit(m.Run()) }

func BenchmarkX(b *testing.B) {
	for _, impl := range []string{"a", "b", "c"} {
		b.Run("impl="+impl, func(b *testing.B) { b.ReportMetric(7, "frogs"); b.ReportMetric(55, "bounce-ns") })
	}
}
`)
	r := runs(t, t.Context(), parsed(t, "-rounds", "3", "-benchtime", "1x", dir))
	if r.err != nil {
		t.Fatal(r.err)
	}
	var order strings.Builder
	for _, res := range r.list {
		order.WriteString(strings.TrimPrefix(strings.TrimSuffix(string(res.Name.Full()), suffix(0)), "X/impl="))
		if v, _ := metric(res, BounceUnit); v != 55 {
			t.Errorf("the bounce is %v, want the benchmark's own, 55", v)
		}
	}
	if order.String() != "abcbcacab" {
		t.Errorf("the order of three rounds is %s, want abc bca cab", &order)
	}
	if !slices.Equal(r.units, []string{"frogs"}) {
		t.Errorf("the units are %q, want frogs once", r.units)
	}
}

func TestTheRunnerMeasuresHowFarApartTheCoresAre(t *testing.T) {
	o := parsed(t, "-rounds", "1", "-extra", "0", "-benchtime", "1x", module(t, `func BenchmarkX(b *testing.B) { for b.Loop() {} }`))
	o.bounce = bench.Bounce
	r := runs(t, t.Context(), o)
	if r.err != nil || len(r.list) != 1 {
		t.Fatalf("%v, %d results", r.err, len(r.list))
	}
	if bounce, own := metric(r.list[0], BounceUnit); own != (runtime.GOMAXPROCS(0) > 1) || bounce < 0 {
		t.Errorf("the bounce is %v (%v) with %d processors", bounce, own, runtime.GOMAXPROCS(0))
	}
}

func TestAFailedArmIsReportedAndTheOthersStay(t *testing.T) {
	dir := module(t, `
func BenchmarkX(b *testing.B) {
	b.Run("impl=good", func(b *testing.B) { for b.Loop() {} })
	b.Run("impl=bad", func(b *testing.B) { b.Fatal("it is broken") })
	b.Run("impl=panics", func(b *testing.B) { panic("no queue") })
	b.Run("impl=skips", func(b *testing.B) { b.Skip("not here") })
	b.Run("impl=later", func(b *testing.B) { for b.Loop() { if _, err := os.Stat("later"); err == nil { b.Fatal("too late") } }; os.WriteFile("later", nil, 0o644) })
	b.Run("impl=last", func(b *testing.B) { for b.Loop() {} })
}

func BenchmarkParent(b *testing.B) { b.Fatal("no broker") }

func BenchmarkAfter(b *testing.B) { for b.Loop() {} }
`)
	r := runs(t, t.Context(), parsed(t, "-rounds", "2", "-benchtime", "1x", dir))
	if !errors.Is(r.err, ErrFailed) {
		t.Fatalf("Run: %v, want ErrFailed", r.err)
	}
	for name, want := range map[string]int{"X/impl=good": 2, "X/impl=last": 2, "After": 2, "X/impl=bad": 0, "X/impl=panics": 0, "X/impl=skips": 0, "X/impl=later": 0} {
		if n := r.count(name); n != want {
			t.Errorf("%d results of %s, want %d", n, name, want)
		}
	}
	for _, want := range []string{"impl=bad: while priming: it failed", "it is broken", "impl=panics: while priming: ", "no queue", "BenchmarkParent: while priming: ", "no broker", "impl=later: exit status 1", "too late"} {
		if !strings.Contains(r.progress, want) {
			t.Errorf("the progress has no %q:\n%s", want, r.progress)
		}
	}
	for _, want := range []string{"impl=bad", "impl=panics", "impl=later", "BenchmarkParent"} {
		if !regexp.MustCompile(`(?m)^--- FAIL: .*` + want + `$`).MatchString(r.text) {
			t.Errorf("the file does not say that %s failed:\n%s", want, r.text)
		}
	}
	if strings.Contains(r.progress, "skips") {
		t.Errorf("a skipped benchmark is reported:\n%s", r.progress)
	}
	if n := strings.Count(r.progress, "too late"); n != 1 {
		t.Errorf("an arm that failed ran %d times, want once", n)
	}
	if !strings.Contains(r.err.Error(), "4 of the arms") {
		t.Errorf("the error is %v, want it to count 4 arms", r.err)
	}
}

func TestAHangingArmIsEndedAndTheOthersStay(t *testing.T) {
	if leftOut(t) {
		return
	}
	// What hangs is ended at every timeout. What does not gets more time if
	// the machine was too slow for it.
	for _, timeout := range []string{"4s", "8s", "16s"} {
		r := runs(t, t.Context(), parsed(t, "-rounds", "3", "-benchtime", "1x", "-timeout", timeout, module(t, hanging)))
		if !errors.Is(r.err, ErrFailed) {
			t.Fatalf("Run: %v, want ErrFailed\n%s", r.err, r.progress)
		}
		if r.count("X/impl=hangs") != 0 || r.count("Later") != 0 {
			t.Fatalf("the file is\n%s", r.text)
		}
		if r.count("X/impl=good") != 3 || r.count("X/impl=last") != 3 || strings.Contains(r.progress, "BenchmarkLater: while priming") {
			t.Logf("within %s the file is\n%s\n%s", timeout, r.text, r.progress)
			continue
		}
		for _, want := range []string{"impl=hangs: while priming: it did not end within " + timeout, "BenchmarkLater: it did not end within " + timeout} {
			if !strings.Contains(r.progress, want) {
				t.Errorf("the progress has no %q:\n%s", want, r.progress)
			}
		}
		return
	}
	t.Error("what does not hang has no three results, however long it may take")
}

const hanging = `
func BenchmarkX(b *testing.B) {
	b.Run("impl=good", func(b *testing.B) { for b.Loop() {} })
	b.Run("impl=hangs", func(b *testing.B) { time.Sleep(time.Hour) })
	b.Run("impl=last", func(b *testing.B) { for b.Loop() {} })
}

func BenchmarkLater(b *testing.B) {
	for b.Loop() {}
	if _, err := os.Stat("later"); err == nil { time.Sleep(time.Hour) }
	os.WriteFile("later", nil, 0o644)
}
`

func TestNothingToMeasureIsWrongUse(t *testing.T) {
	if leftOut(t) {
		return
	}
	good := module(t, two)
	cases := map[string][]string{
		"no benchmark matches":        {"-bench", "Nothing", good},
		"and -impl ^z":                {"-impl", "^z", good},
		"no benchmarks":               {tree(t, map[string]string{"go.mod": goMod, "a.go": "package fake\n"})},
		"undefined: wrong":            {module(t, "var _ = wrong")},
		"package /no/such/folder":     {"/no/such/folder"},
		"is not in a git repository":  {"-base", "HEAD", good},
		"-o " + good:                  {"-rounds", "1", "-benchtime", "1x", "-o", good, good},
		"want benchtime=… or rounds=": {good + ",speed=9"},
	}
	for want, args := range cases {
		t.Run(want, func(t *testing.T) {
			r := runs(t, t.Context(), parsed(t, args...))
			if !errors.Is(r.err, ErrUsage) || !strings.Contains(r.err.Error(), want) {
				t.Errorf("Run: %v, want ErrUsage with %q", r.err, want)
			}
		})
	}
}

func TestWhenAllFailThereIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.txt")
	r := runs(t, t.Context(), parsed(t, "-o", path, module(t, `func BenchmarkX(b *testing.B) { b.Fatal("broken") }`)))
	if !errors.Is(r.err, ErrFailed) || !strings.Contains(r.err.Error(), "broken") {
		t.Errorf("Run: %v, want ErrFailed with what it said", r.err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file without a result (%v)", err)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	dir := module(t, `
func BenchmarkX(b *testing.B) {
	b.Run("impl=fast", func(b *testing.B) { for b.Loop() {} })
	b.Run("impl=slow", func(b *testing.B) {
		for b.Loop() {}
		if _, err := os.Stat("primed"); err == nil { os.WriteFile("second", nil, 0o644); time.Sleep(time.Hour) }
		os.WriteFile("primed", nil, 0o644)
	})
}
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "second")); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	r := runs(t, ctx, parsed(t, "-rounds", "5", "-benchtime", "1x", "-o", filepath.Join(t.TempDir(), "r.txt"), dir))
	if !errors.Is(r.err, context.Canceled) {
		t.Errorf("Run: %v, want context.Canceled", r.err)
	}
	if r.count("X/impl=fast") != 1 || len(r.list) != 1 || !strings.HasSuffix(r.text, "\n") {
		t.Errorf("the file is\n%s\nwant the one result before the interrupt, and a whole line", r.text)
	}
}

func TestPackagesOfSeveralModulesWithTheirOwnRounds(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := tree(t, map[string]string{
		"go.mod":              goMod,
		"a/a_test.go":         benchmarks(`func BenchmarkA(b *testing.B) { for b.Loop() {} }`),
		"b/b.go":              "package b\n",
		"c/c_test.go":         benchmarks(`func BenchmarkC(b *testing.B) { for b.Loop() {} }`),
		"nested/go.mod":       "module example.com/nested\n\ngo 1.26\n",
		"nested/here_test.go": benchmarks(`func BenchmarkNested(b *testing.B) { if _, err := os.Stat("data.txt"); err != nil { b.Fatal(err) }; for b.Loop() {} }`),
		"nested/data.txt":     "read in the package's own folder",
	})
	t.Chdir(dir)
	r := runs(t, t.Context(), parsed(t, "-rounds", "2", "-benchtime", "1x", "./...", "./nested,benchtime=7x,rounds=3"))
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.progress)
	}
	if a, c, n := r.count("A", "pkg=example.com/fake/a"), r.count("C"), r.count("Nested", "pkg=example.com/nested"); a != 2 || c != 2 || n != 3 {
		t.Errorf("%d, %d and %d results of the packages, want 2, 2 and 3\n%s", a, c, n, r.text)
	}
	for _, res := range r.list {
		if want := map[bool]int{true: 7, false: 1}[res.GetConfig("pkg") == "example.com/nested"]; res.Iters != want {
			t.Errorf("%s has %d iterations, want %d", res.Name, res.Iters, want)
		}
	}
}

func TestProcessorsMakeRowsOfTheirOwn(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := module(t, `func BenchmarkX(b *testing.B) { for _, n := range []int{1, 2} { b.Run(fmt.Sprintf("impl=a/n=-%d", n), func(b *testing.B) { for b.Loop() {} }) } }`)
	r := runs(t, t.Context(), parsed(t, "-rounds", "2", "-benchtime", "1x", "-cpu", "1,2", dir))
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.progress)
	}
	got := map[string]int{}
	for _, res := range r.list {
		got[string(res.Name.Full())]++
	}
	if want := fmt.Sprint(map[string]int{"X/impl=a/n=-1": 2, "X/impl=a/n=-2": 2, "X/impl=a/n=-1-2": 2, "X/impl=a/n=-2-2": 2}); fmt.Sprint(got) != want {
		t.Errorf("the results are %v, want %s", got, want)
	}
}

func TestRowsWithoutSamplesOfOneRegimeAreMeasuredAgain(t *testing.T) {
	if leftOut(t) {
		return
	}
	// Every run of an arm appends to its file, and is near or far in turn.
	dir := module(t, `
func BenchmarkX(b *testing.B) { split(b) }
func BenchmarkAlone(b *testing.B) { fmt.Println("cores: one"); split(b) }

func split(b *testing.B) {
	for _, impl := range []string{"a", "b"} {
		b.Run("impl="+impl, func(b *testing.B) {
			f, _ := os.OpenFile(b.Name()[9:10]+impl, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			f.WriteString("x")
			info, _ := f.Stat()
			b.ReportMetric([]float64{50, 190}[info.Size()%2], "bounce-ns")
			f.Close()
		})
	}
}
func BenchmarkNear(b *testing.B) { b.ReportMetric(50, "bounce-ns") }
`)
	r := runs(t, t.Context(), parsed(t, "-rounds", "3", "-extra", "9", "-benchtime", "1x", dir))
	if r.err != nil {
		t.Fatal(r.err)
	}
	if a, b, n, one := r.count("X/impl=a"), r.count("X/impl=b"), r.count("Near"), r.count("Alone/impl=a", "cores=one"); a != 5 || b != 5 || n != 3 || one != 3 {
		t.Errorf("%d, %d, %d and %d results, want 5 and 5, 3 of them of one regime, and 3 where it is near or of no matter\n%s", a, b, n, one, r.progress)
	}
	if !strings.Contains(r.progress, "1 row measured again, up to 9 times") || strings.Contains(r.progress, "samples of one regime") {
		t.Errorf("the progress is\n%s", r.progress)
	}
	r = runs(t, t.Context(), parsed(t, "-rounds", "3", "-extra", "1", "-benchtime", "1x", dir))
	if r.count("X/impl=a") != 4 || !strings.Contains(r.progress, "1 row without 3 samples of one regime for some arm: compare them with care, or measure them again:\n  BenchmarkX\n") {
		t.Errorf("with 1 extra round: %d results\n%s", r.count("X/impl=a"), r.progress)
	}
}

// A package that has a fast machine in the rounds: there is time for more.
func TestABudgetIsUsedForMoreRounds(t *testing.T) {
	if leftOut(t) {
		return
	}
	dir := module(t, `
func BenchmarkX(b *testing.B) {
	if _, err := os.Stat("primed"); err != nil {
		os.WriteFile("primed", nil, 0o644)
		time.Sleep(3 * time.Second)
	}
	for b.Loop() {}
}
`)
	r := runs(t, t.Context(), parsed(t, "-time", "60s", "-benchtime", "1ms", dir))
	if r.err != nil {
		t.Fatal(r.err)
	}
	if first, _, _ := strings.Cut(r.text, "\n"); strings.Contains(first, "-extra") {
		t.Errorf("the command is %q, want what was given", first)
	}
	if !strings.Contains(r.text, "## planned: ") || strings.Contains(r.text, "## planned: 20 rounds") || len(r.list) != mostRounds {
		t.Errorf("%d results, want %d rounds and a plan with fewer\n%s", len(r.list), mostRounds, r.progress)
	}
}

func TestABudgetEndsARun(t *testing.T) {
	if leftOut(t) {
		return
	}
	const budget, least = 6 * time.Second, 50 * time.Millisecond // building takes some of the budget
	dir := module(t, `
func BenchmarkX(b *testing.B) { for b.Loop() { time.Sleep(50 * time.Millisecond) } }
`)
	r := runs(t, t.Context(), parsed(t, "-time", budget.String(), "-rounds", "1000000", dir))
	if r.err != nil {
		t.Fatal(r.err)
	}
	// However slow the machine is: none takes less, and the first is always made.
	if n := len(r.list); n < 1 || n > int(budget/least)+1 {
		t.Errorf("%d results of at least %v, want those that fit into %v", n, least, budget)
	}
	if !strings.Contains(r.progress, "are over") {
		t.Errorf("the progress does not say that the time is over:\n%s", r.progress)
	}
}
