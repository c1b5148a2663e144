package bench_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/internal/latency"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

// units declares the units that the benchmarks report and Go does not know.
var units = []rows.Unit{
	{Name: "ns/msg", Better: "lower"}, {Name: "msgs/s", Better: "higher"},
	{Name: "ns/batch", Better: "lower"}, {Name: "batches/s", Better: "higher"},
	{Name: "allocs/msg", Better: "lower"}, {Name: "allocs/batch", Better: "lower"},
	{Name: "ns/tick", Better: "lower"}, {Name: "ns/rebalance", Better: "lower"},
	{Name: "batches/drain", Better: "higher"},
	{Name: "B/partition", Better: "lower"}, {Name: "B/batch", Better: "lower"},
	{Name: "ns/record", Better: "lower"}, {Name: "records/s", Better: "higher"}, {Name: "allocs/record", Better: "lower"},
	{Name: "lost-%", Better: "lower"},
	{Name: "ns/page", Better: "lower"}, {Name: "pages/s", Better: "higher"}, {Name: "allocs/page", Better: "lower"},
	{Name: "records/page", Better: "higher"},
	{Name: "bounce-ns", Better: "lower"},
}

func TestMain(m *testing.M) {
	for _, u := range latency.Units() {
		units = append(units, rows.Unit{Name: u, Better: "lower"})
	}
	rows.Begin(units)
	goleak.VerifyTestMain(m)
}
