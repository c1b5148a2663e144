package tidemarkprom_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/timing"
)

func TestBarriersAreThoseOfTheLedger(t *testing.T) {
	l, err := timing.NewLedger(4)
	if err != nil {
		t.Fatal(err)
	}
	c := tidemarkprom.NewBarriers(l)
	compare := func(want string, names ...string) {
		t.Helper()
		if err := testutil.CollectAndCompare(c, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	}
	compare(`
# HELP tidemark_barrier_open_age_seconds Age of the oldest open barrier, 0 if there is none.
# TYPE tidemark_barrier_open_age_seconds gauge
tidemark_barrier_open_age_seconds 0
# HELP tidemark_barrier_record_losses_total Barriers that left no record.
# TYPE tidemark_barrier_record_losses_total counter
tidemark_barrier_record_losses_total 0
# HELP tidemark_barrier_records_overwritten_total Records that the ledger no longer retains.
# TYPE tidemark_barrier_records_overwritten_total counter
tidemark_barrier_records_overwritten_total 0
# HELP tidemark_barrier_records_total Barriers that the ledger recorded.
# TYPE tidemark_barrier_records_total counter
tidemark_barrier_records_total 0
# HELP tidemark_barriers_open Barriers that have begun and not ended.
# TYPE tidemark_barriers_open gauge
tidemark_barriers_open 0
`)
	for attempt := uint64(1); attempt <= 7; attempt++ {
		l.TryRecord(timing.Observation{Context: contextOf(attempt), PipelineStall: time.Millisecond})
	}
	l.NoteLoss()
	var guards []*timing.Guard
	for attempt := uint64(8); attempt < 8+timing.MaxOpenGuards+3; attempt++ {
		guards = append(guards, timing.StartGuard(l, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) { return contextOf(attempt), true }))
	}
	time.Sleep(time.Millisecond)
	compare(`
# HELP tidemark_barrier_record_losses_total Barriers that left no record.
# TYPE tidemark_barrier_record_losses_total counter
tidemark_barrier_record_losses_total 1
# HELP tidemark_barrier_records_overwritten_total Records that the ledger no longer retains.
# TYPE tidemark_barrier_records_overwritten_total counter
tidemark_barrier_records_overwritten_total 3
# HELP tidemark_barrier_records_total Barriers that the ledger recorded.
# TYPE tidemark_barrier_records_total counter
tidemark_barrier_records_total 7
# HELP tidemark_barriers_open Barriers that have begun and not ended.
# TYPE tidemark_barriers_open gauge
tidemark_barriers_open 67
`, "tidemark_barrier_record_losses_total", "tidemark_barrier_records_overwritten_total", "tidemark_barrier_records_total", "tidemark_barriers_open")
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if age := f.GetMetric()[0].GetGauge().GetValue(); f.GetName() == "tidemark_barrier_open_age_seconds" && (age < 1e-3 || age > 600) {
			t.Errorf("the oldest open barrier has an age of %v s", age)
		}
	}
	if problems, err := testutil.CollectAndLint(c); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	for _, g := range guards {
		g.Close()
	}
	if n := testutil.CollectAndCount(c, "tidemark_barrier_open_age_seconds"); n != 1 {
		t.Errorf("%d ages", n)
	}
}

func TestALedgerIsNeeded(t *testing.T) {
	defer func() {
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "tidemarkprom: ") {
			t.Errorf("NewBarriers(nil) panics with %v", text)
		}
	}()
	tidemarkprom.NewBarriers(nil)
}
