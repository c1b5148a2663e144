package bench

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// listRows makes every row write its name to a file instead of running, for
// programs that run rows one by one.
var listRows = flag.String("rows", "", "write the name of each selected row to this `file`, and run none")

// units declares the units that the benchmarks report and Go does not know.
var units = []struct{ unit, better string }{
	{"ns/msg", "lower"}, {"msgs/s", "higher"},
	{"ns/batch", "lower"}, {"batches/s", "higher"},
	{"allocs/msg", "lower"}, {"allocs/batch", "lower"},
	{"ns/tick", "lower"}, {"ns/rebalance", "lower"},
	{"batches/drain", "higher"},
	{"B/partition", "lower"}, {"B/batch", "lower"},
	{"bounce-ns", "lower"},
}

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.bench"); f.Value.String() != "" && *listRows == "" {
		for _, u := range units {
			fmt.Printf("Unit %s better=%s\n", u.unit, u.better)
		}
	}
	goleak.VerifyTestMain(m)
}

// row runs one row of a topic. Its name is key=value pairs, the first of them
// impl. The bounce is taken on both sides of the row.
func row(b *testing.B, name string, run func(b *testing.B)) {
	b.Run(name, func(b *testing.B) {
		if *listRows != "" {
			writeRow(b)
			return
		}
		before := Bounce()
		run(b)
		if worst := max(before, Bounce()); worst > 0 {
			b.ReportMetric(worst, "bounce-ns")
		}
	})
}

func writeRow(b *testing.B) {
	f, err := os.OpenFile(*listRows, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, b.Name()); err != nil {
		b.Fatal(err)
	}
}

// clock adds up the parts of a benchmark that count, with what they allocate.
type clock struct {
	total  time.Duration
	allocs uint64
	start  time.Time
	before uint64
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func (c *clock) begin() {
	c.before = mallocs()
	c.start = time.Now()
}

func (c *clock) end() {
	c.total += time.Since(c.start)
	c.allocs += mallocs() - c.before
}

// report tells the time and the allocations of one of n elements, instead of
// those of one call.
func (c *clock) report(b *testing.B, n int, element, plural string) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(c.total.Nanoseconds())/float64(n), "ns/"+element)
	if plural != "" {
		b.ReportMetric(float64(n)/c.total.Seconds(), plural+"/s")
		b.ReportMetric(float64(c.allocs)/float64(n), "allocs/"+element)
	}
}
