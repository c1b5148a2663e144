package rows

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProcsArePowersOfTwoAndAll(t *testing.T) {
	for most, want := range map[int][]int{
		1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 4: {1, 2, 4}, 6: {1, 2, 4, 6}, 64: {1, 2, 4, 8, 16, 32, 64},
	} {
		if got := procs(most); !slices.Equal(got, want) {
			t.Errorf("procs(%d) = %v, want %v", most, got, want)
		}
	}
	before := runtime.GOMAXPROCS(0)
	On(1, func() {
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("GOMAXPROCS is %d in On(1), want 1", n)
		}
	})
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS is %d after On, want %d", n, before)
	}
}

func TestTimerReportsPartsByElement(t *testing.T) {
	const part, between = time.Millisecond, 5 * time.Millisecond
	var kept []*[8]int
	r := testing.Benchmark(func(b *testing.B) {
		var timer Timer
		var least, most time.Duration // what was between Begin and End, and with both of them
		for range 2 {
			before := time.Now()
			timer.Begin()
			begun := time.Now()
			for range 1000 {
				kept = append(kept, new([8]int))
			}
			time.Sleep(part)
			least += time.Since(begun)
			timer.End()
			most += time.Since(before)
			time.Sleep(between) // does not count
		}
		if timer.Total < least || timer.Total > most || least < 2*part {
			// Of the test, not of the benchmark: that would have no result.
			t.Errorf("2 parts of %v took %v, want %v to %v", part, timer.Total, least, most)
		}
		timer.Report(b, 2000, "thing", "things")
	})
	runtime.KeepAlive(kept)
	ns, each, allocs := r.Extra["ns/thing"], r.Extra["things/s"], r.Extra["allocs/thing"]
	if ns < 1000 || ns*each < 0.99e9 || ns*each > 1.01e9 || allocs < 1 || allocs > 1.1 {
		t.Errorf("got %v ns a thing, %v things a second, %v allocations a thing; want the first two to agree and 1 allocation", ns, each, allocs)
	}
	if r.Extra["ns/op"] != 0 {
		t.Errorf("ns/op is %v, want 0, which go test leaves out", r.Extra["ns/op"])
	}
}

func TestCoresOfARow(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkQueueBurst/impl=lane/burst=256/batch=1":         "one",
		"BenchmarkQueueProducers/impl=lane/producers=1/batch=1":   "several",
		"BenchmarkQueueCores/impl=lane/producers=4/procs=1":       "one",
		"BenchmarkQueueCores/impl=lane/producers=4/procs=16":      "several",
		"BenchmarkCheckpointCycle/impl=channel/tick=16":           "one",
		"BenchmarkCheckpointCycleOther/impl=channel/tick=procs=1": "several",
	} {
		if got := cores(name); got != want {
			t.Errorf("cores(%q) = %s, want %s", name, got, want)
		}
	}
}

// The names are those of go test: the benchmarks' own test looks at them.
func TestRowsAreListedInsteadOfRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	old := *listed
	*listed = path
	defer func() { *listed = old }()
	testing.Benchmark(func(b *testing.B) {
		Run(b, "impl=a/n=1", func(b *testing.B) { t.Error("a row ran") })
	})
	if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
		t.Errorf("the list is %q, %v; want a line for each row", text, err)
	}
	*listed = ""
	ran := false
	testing.Benchmark(func(b *testing.B) {
		Run(b, "impl=a/n=1", func(*testing.B) { ran = true })
	})
	if !ran {
		t.Error("without a list the row did not run")
	}
}
