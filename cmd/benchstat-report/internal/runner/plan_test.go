package runner

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tidemark-go/tidemark/bench"
)

const ms = time.Millisecond

// made returns a row whose arms take so long for an iteration, as a
// calibration of 10 ms sees them, and need so long beside that.
func made(beside time.Duration, iterations ...time.Duration) *row {
	r := &row{name: "X", pkg: &pkg{}}
	for _, d := range iterations {
		n := max(1, int(10*ms/d))
		r.arms = append(r.arms, &arm{binary: &binary{leg: &leg{}}, probe: &probe{iterations: n, took: beside + time.Duration(n)*d}})
	}
	return r
}

func TestPinsSuitTheSlowestAndTheFastestArm(t *testing.T) {
	wanted := Benchtime{Duration: 100 * ms}
	for _, c := range []struct {
		why  string
		row  *row
		want int
	}{
		{"one arm runs as long as wanted", made(0, time.Microsecond), 100_000},
		{"two that are alike too", made(0, time.Microsecond, time.Microsecond), 100_000},
		{"at 4 to 1 both miss by the same factor", made(0, time.Microsecond, 4*time.Microsecond), 50_000},
		{"at 1000 to 1 the slowest runs 4 times as long as wanted", made(0, time.Microsecond, ms), 400},
		{"an iteration of a second is one iteration", made(0, time.Second), 1},
		{"what is around an iteration does not count", made(50*ms, time.Microsecond), 100_000},
	} {
		pin([]*row{c.row}, wanted, 10*ms)
		if n := c.row.iterations; n < c.want*99/100 || n > c.want*101/100 {
			t.Errorf("%s: %d iterations, want %d", c.why, n, c.want)
		}
	}
	broken := made(0, time.Microsecond, time.Second)
	broken.arms[1].failed = errors.New("broken")
	if pin([]*row{broken}, wanted, 10*ms); broken.iterations != 100_000 {
		t.Errorf("an arm that failed counts: %d iterations", broken.iterations)
	}
	own := made(0, time.Microsecond)
	own.pkg.request.benchtime = Benchtime{Count: 3}
	if pin([]*row{own}, wanted, 10*ms); own.iterations != 3 {
		t.Errorf("a package with its own benchtime of 3x has %d iterations", own.iterations)
	}
}

func TestABudgetChoosesRoundsAndTime(t *testing.T) {
	suite := func() (rows []*row) {
		for range 100 {
			rows = append(rows, made(20*ms, time.Microsecond, 2*time.Microsecond))
		}
		return rows
	}
	slow := func() []*row { return []*row{made(0, time.Minute)} }
	for _, c := range []struct {
		why    string
		rows   []*row
		o      Options
		left   time.Duration
		rounds int
		time   string
	}{
		{"200 arms in 10 minutes", suite(), Options{}, 10 * time.Minute, 10, "200ms"},
		{"less time is shorter first", suite(), Options{}, 2 * time.Minute, 9, "20ms"},
		{"down to 8 rounds", suite(), Options{}, 90 * time.Second, 8, "10ms"},
		{"then fewer rounds, but at least 3", suite(), Options{}, 30 * time.Second, 3, "5ms"},
		{"more time is more rounds in the end", suite(), Options{}, 30 * time.Minute, 13, "500ms"},
		{"with a limit", suite(), Options{}, 30 * time.Hour, 20, "500ms"},
		{"given rounds stay", suite(), Options{Rounds: 5}, 10 * time.Minute, 5, "400ms"},
		{"a given time stays", suite(), Options{Benchtime: Benchtime{Duration: 100 * ms}}, 10 * time.Minute, 18, "100ms"},
		{"a given count too", suite(), Options{Benchtime: Benchtime{Count: 7}}, time.Minute, 7, "7x"},
		{"what does not fit gets the least", slow(), Options{}, time.Minute, 3, "5ms"},
		{"without a budget nothing is chosen", suite(), Options{Rounds: 10, Benchtime: Benchtime{Duration: ms}}, 0, 10, "1ms"},
	} {
		p := c.o.choose(c.rows, c.left, 10*ms)
		if p.rounds != c.rounds || p.benchtime.String() != c.time {
			t.Errorf("%s: %v, want %d rounds of %s", c.why, p, c.rounds, c.time)
		}
		fits := float64(p.expected) <= planned*float64(c.left)
		if least := p.rounds == leastRounds && p.benchtime.Duration == leastBenchtime; c.left > 0 && !fits && !least {
			t.Errorf("%s: the plan %v does not fit", c.why, p)
		}
	}
}

func TestArmsComeInEachPlaceEquallyOften(t *testing.T) {
	r := made(0, ms, ms, ms)
	seen := map[*arm][3]int{}
	for round := range 6 {
		for place, a := range r.rotated(round) {
			counts := seen[a]
			counts[place]++
			seen[a] = counts
		}
	}
	for _, counts := range seen {
		if counts != [3]int{2, 2, 2} {
			t.Errorf("in 6 rounds an arm came first, second and third %v times, want 2 each", counts)
		}
	}
}

func TestRegimes(t *testing.T) {
	with := func(counts ...[2]int) *row {
		r := made(0)
		for _, c := range counts {
			r.arms = append(r.arms, &arm{near: c[0], far: c[1]})
		}
		return r
	}
	busy := with([2]int{0, 0}, [2]int{0, 0})
	for _, a := range busy.arms {
		for range 10 {
			a.count(2 * bench.BusyBounce)
		}
	}
	for _, c := range []struct {
		row  *row
		want bool
	}{
		{with([2]int{10, 0}, [2]int{10, 0}), false},
		{with([2]int{6, 4}, [2]int{6, 4}), false},
		{with([2]int{4, 6}, [2]int{3, 7}), false},
		{with([2]int{6, 4}, [2]int{5, 5}), true},
		{with([2]int{10, 0}, [2]int{0, 10}), true},
		{with([2]int{0, 0}, [2]int{0, 0}), false}, // nobody measured it
		{busy, true},
	} {
		if got := c.row.lacks(10); got != c.want {
			t.Errorf("arms with %+v of 10 lack samples: %v, want %v", c.row.arms, got, c.want)
		}
	}
}

// A panicking benchmark lets the next one begin before the process ends.
func TestThePanicIsOfTheOneThatDidNotEnd(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"BenchmarkX", "BenchmarkX/a", "BenchmarkX/a-2 1 5 ns/op", "BenchmarkX/b"}, "X/a:ok X/b:failed"},
		{[]string{"BenchmarkX", "BenchmarkX/a", "BenchmarkX/a-2 1 5 ns/op", "BenchmarkX/b", "BenchmarkX/c"}, "X/a:ok X/b:failed"},
		{[]string{"BenchmarkX", "BenchmarkX/a", "BenchmarkX/a-2 1 5 ns/op", "BenchmarkX/b", "BenchmarkY"}, "X/a:ok X/b:failed"},
		{[]string{"BenchmarkX", "BenchmarkX/a", "BenchmarkX/a-2 1 5 ns/op", "BenchmarkY"}, "X/a:ok Y:failed"},
		{[]string{"BenchmarkX", "BenchmarkX/a"}, "X/a:failed"},
		{[]string{"BenchmarkX", "BenchmarkX/a", "BenchmarkY", "BenchmarkY/b"}, "X/a:failed"},
	} {
		l := listing{suffix: "-2", see: func(string) {}}
		for _, text := range c.lines {
			l.line(text + "\n")
		}
		var got []string
		for _, p := range l.rows(true) {
			got = append(got, strings.TrimPrefix(p.name, "Benchmark")+map[bool]string{true: ":ok", false: ":failed"}[p.err == nil])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q are %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestListingReadsWhatGoPrints(t *testing.T) {
	var seen []string
	l := listing{suffix: "-2", see: func(name string) { seen = append(seen, name) }}
	for line := range strings.Lines(`goos: linux
BenchmarkA
BenchmarkA-2   	     100	       131.0 ns/op
BenchmarkB
BenchmarkB/n=-2
BenchmarkB/n=-2-2  	       7	       130.0 ns/op	 3 frogs/op
BenchmarkB/bad
    x_test.go:4: no broker
--- FAIL: BenchmarkB/bad
BenchmarkB/late
BenchmarkB/late-2 --- FAIL: BenchmarkB/late-2
--- FAIL: BenchmarkB
BenchmarkSkipped
--- SKIP: BenchmarkSkipped
    x_test.go:9: not here
BenchmarkSilent
BenchmarkSilent some words that are no result
`) {
		l.line(line)
	}
	var got []string
	for _, p := range l.rows(false) {
		text := p.name
		if p.err != nil {
			text += " bad"
		}
		got = append(got, text)
	}
	want := "BenchmarkA, BenchmarkB/n=-2, BenchmarkB/bad bad, BenchmarkB/late bad, BenchmarkSilent bad"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the rows are %s, want %s", s, want)
	}
	if len(seen) != 7 || seen[0] != "BenchmarkA" {
		t.Errorf("seen were %q, want the 7 that began", seen)
	}
	if l.all[0].iterations != 100 || !strings.Contains(l.rows(false)[2].err.Error(), "no broker") {
		t.Errorf("iterations are %d, want 100; the error is %v", l.all[0].iterations, l.rows(false)[2].err)
	}
}

func TestWrongUse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rounds 0", "-rounds 0"}, {"-time 0s", "-time"}, {"-timeout 0s", "-timeout"}, {"-extra -1", "-extra"},
		{"-bench (", "-bench"}, {"-impl (", "-impl"}, {"-by impl", "-by"}, {"-cpu 1,x", `"x"`}, {"-cpu 0", `"0"`},
		{"-aa -base HEAD", "one of them"}, {"-dirty", "-base"}, {"-base=", "-base"},
	} {
		if _, err := options(strings.Fields(c.args)...); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("options(%s): %v, want ErrUsage with %q", c.args, err, c.want)
		}
	}
	for _, bad := range []string{"", "x", "0x", "-1x", "0s", "fast"} {
		var b Benchtime
		if err := b.Set(bad); err == nil {
			t.Errorf("a benchtime of %q is taken as %v", bad, b)
		}
	}
}

func TestTheCommandMeasuresTheSameAgain(t *testing.T) {
	args := []string{"-time", "10m", "-rounds", "5", "-benchtime", "3x", "-bench", "Queue.*/n=1$", "-by", "/kind", "-impl", "a|b",
		"-base", "HEAD~1", "-dirty", "-benchmem", "-cpu", "1,2", "-extra", "2", "./a", "it's,rounds=3"}
	o := parsed(t, append([]string{"-o", "file"}, args...)...)
	want := `benchstat-report run -time 10m -rounds 5 -benchtime 3x -bench 'Queue.*/n=1$' -by /kind -impl 'a|b' -base HEAD~1 -dirty -benchmem -cpu 1,2 -extra 2 ./a 'it'\''s,rounds=3'`
	if got := o.command(); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	o = parsed(t, "-time", "90s")
	if got := o.command(); got != "benchstat-report run -time 1m30s" {
		t.Errorf("with a budget alone the command is %s", got)
	}
	o = parsed(t)
	if got := o.command(); got != "benchstat-report run -rounds 10 -benchtime 100ms" {
		t.Errorf("without flags the command is %s", got)
	}
}

func TestHelpIsNoError(t *testing.T) {
	if _, err := options("-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v, want flag.ErrHelp", err)
	}
}

func TestQuotaIsTheTightestOfAllGroups(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	for _, c := range []struct {
		why  string
		fs   fstest.MapFS
		want string
	}{
		{"no Linux", fstest.MapFS{}, ""},
		{"version 2, own group", fstest.MapFS{"proc/self/cgroup": file("0::/a/b"), "sys/fs/cgroup/a/b/cpu.max": file("150000 100000"), "sys/fs/cgroup/a/cpu.max": file("max 100000")}, "1.5"},
		{"version 2, a group above", fstest.MapFS{"proc/self/cgroup": file("0::/a/b"), "sys/fs/cgroup/a/b/cpu.max": file("400000 100000"), "sys/fs/cgroup/a/cpu.max": file("200000 100000")}, "2"},
		{"version 2, no limit", fstest.MapFS{"proc/self/cgroup": file("0::/a"), "sys/fs/cgroup/a/cpu.max": file("max 100000")}, "none"},
		{"version 2, in a container", fstest.MapFS{"proc/self/cgroup": file("0::/"), "sys/fs/cgroup/cpu.max": file("50000 100000")}, "0.5"},
		{"version 1", fstest.MapFS{"proc/self/cgroup": file("3:memory:/m\n2:cpu,cpuacct:/a"), "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": file("250000"), "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": file("100000")}, "2.5"},
		{"version 1, no limit", fstest.MapFS{"proc/self/cgroup": file("1:cpu:/"), "sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("-1"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000")}, "none"},
	} {
		if got := (host{c.fs}).quota(); got != c.want {
			t.Errorf("%s: quota %q, want %q", c.why, got, c.want)
		}
	}
	h := host{fstest.MapFS{"proc/loadavg": file("0.25 1 2 1/9 7"), "sys/devices/system/clocksource/clocksource0/current_clocksource": file("hpet")}}
	if h.load() != "0.25" || h.clocksource() != "hpet" {
		t.Errorf("load %q and clocksource %q, want 0.25 and hpet", h.load(), h.clocksource())
	}
}

func TestProgressWritesOverItsLineOnATerminalOnly(t *testing.T) {
	var b strings.Builder
	p := progress{w: &b, terminal: true}
	p.state(1, 9, time.Second, "round 1 "+strings.Repeat("x", 100))
	p.state(2, 9, time.Second, "round 1 y")
	p.say("done")
	lines := strings.Split(b.String(), "\r\x1b[K")
	if len(lines) != 4 || lines[2] != "[2/9, 1s left] round 1 y" || lines[3] != "done\n" || len([]rune(lines[1])) != 79 {
		t.Errorf("on a terminal: %q", lines)
	}
	b.Reset()
	p = progress{w: &b}
	for i := range 1000 {
		p.state(i, 1000, time.Second, "x")
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("elsewhere: %d lines at once, want 1", n)
	}
}
