// Package rows is what the benchmarks of this tree have in common: how a row
// is named and listed, what is measured beside it, and in which units it
// reports.
package rows

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench"
)

// listed makes every row write its name to a file instead of running, for
// programs that run rows one by one.
var listed = flag.String("rows", "", "write the name of each selected row to this `file`, and run none")

// Unit is a unit that Go does not know, and in which direction it gets better.
type Unit struct{ Name, Better string }

// Begin parses the flags and declares the units, if benchmarks are going to
// run. Call it in TestMain.
func Begin(units []Unit) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" || *listed != "" {
		return
	}
	for _, u := range units {
		fmt.Printf("Unit %s better=%s\n", u.Name, u.Better)
	}
}

// alone are the topics whose rows do all of their work on one goroutine.
var alone = []string{
	"QueuePushPop", "QueueBurst", "CheckpointCycle", "CheckpointPartitions", "CheckpointFanout", "CheckpointStuckHead",
	"CheckpointSparse", "CheckpointRebalance", "CheckpointMemory", "LedgerPage",
}

// cores says on how many cores the row of a benchmark does its work. Where it
// is one, how far apart the cores are is of no matter.
func cores(name string) string {
	topic, dims, _ := strings.Cut(strings.TrimPrefix(name, "Benchmark"), "/")
	if slices.Contains(alone, topic) || slices.Contains(strings.Split(dims, "/"), "procs=1") {
		return "one"
	}
	return "several"
}

// said is the last line of configuration. Rows run one after the other.
var said string

// Run runs one row of a topic. Its name is key=value pairs, the first of them
// impl. How long a cache line takes between two cores is measured on both
// sides of the row, and the larger figure reported as bounce-ns. A line of
// configuration says whether the row depends on it.
func Run(b *testing.B, name string, run func(b *testing.B)) {
	b.Run(name, func(b *testing.B) {
		if *listed != "" {
			write(b)
			return
		}
		// The line is there before the name: go test prints that when the
		// row has run for the first time.
		if line := "cores: " + cores(b.Name()); line != said {
			said = line
			fmt.Println(line)
		}
		before := bench.Bounce()
		run(b)
		if worst := max(before, bench.Bounce()); worst > 0 {
			b.ReportMetric(worst, "bounce-ns")
		}
	})
}

func write(b *testing.B) {
	f, err := os.OpenFile(*listed, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, b.Name()); err != nil {
		b.Fatal(err)
	}
}

// Procs returns the numbers of processors that rows with the dimension procs
// run on: the powers of two up to what the machine has, and all it has.
//
// The dimension is not called gomaxprocs because benchproc reads that key
// from the suffix that go test adds to a name, which is the GOMAXPROCS of the
// process.
func Procs() []int { return procs(runtime.NumCPU()) }

func procs(most int) []int {
	var list []int
	for i := range bits.Len(uint(most)) {
		list = append(list, 1<<i)
	}
	if most&(most-1) != 0 {
		list = append(list, most)
	}
	return list
}

// On runs f with GOMAXPROCS set to n.
func On(n int, f func()) {
	old := runtime.GOMAXPROCS(n)
	defer runtime.GOMAXPROCS(old)
	f()
}

// Timer adds up the parts of a benchmark that count, with what they allocate.
type Timer struct {
	Total  time.Duration
	Allocs uint64
	start  time.Time
	before uint64
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// Begin begins a part that counts.
func (t *Timer) Begin() {
	t.before = mallocs()
	t.start = time.Now()
}

// End ends it.
func (t *Timer) End() {
	t.Total += time.Since(t.start)
	t.Allocs += mallocs() - t.before
}

// Report tells the time and the allocations of one of n elements, instead of
// those of one call. Without a plural the time is all it tells.
func (t *Timer) Report(b *testing.B, n int, element, plural string) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(t.Total.Nanoseconds())/float64(n), "ns/"+element)
	if plural != "" {
		b.ReportMetric(float64(n)/t.Total.Seconds(), plural+"/s")
		b.ReportMetric(float64(t.Allocs)/float64(n), "allocs/"+element)
	}
}
