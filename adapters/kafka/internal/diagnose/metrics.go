package diagnose

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-go/tidemark/core/timing"
)

// buckets reach from a microsecond to thirty seconds: from an interval
// commit's local barrier to a wait that ran into every timeout.
var buckets = []float64{
	1e-6, 2.5e-6, 5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6,
	1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30,
}

// register makes the histograms. They are named after the fields of the
// records that have the same durations.
func register(r prometheus.Registerer) timing.Histograms {
	histogram := func(name, help string) timing.Observer {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
		r.MustRegister(h)
		return h
	}
	return timing.Histograms{
		PipelineStall: histogram("tidemark_pipeline_stall_seconds",
			"Whole barriers, until the commit was answered. The intake is not paused for all of it."),
		LocalBarrier: histogram("tidemark_local_barrier_seconds",
			"Their first part, until the offsets to commit were fixed; the pause of the intake, and the wait of a last commit for its batches."),
		AlignedResume: histogram("tidemark_aligned_resume_seconds",
			"Their second part, until the broker's answer was applied. The intake goes on."),
	}
}

// ledgerCollector reads what only the ledger knows when it is asked.
type ledgerCollector struct{ ledger *timing.Ledger }

var (
	recordsDesc     = prometheus.NewDesc("tidemark_barrier_records_total", "Barriers that the ledger recorded.", nil, nil)
	overwrittenDesc = prometheus.NewDesc("tidemark_barrier_records_overwritten_total", "Records that the ledger no longer retains.", nil, nil)
	lossesDesc      = prometheus.NewDesc("tidemark_barrier_record_losses_total", "Barriers that left no record.", nil, nil)
	openDesc        = prometheus.NewDesc("tidemark_barriers_open", "Barriers that have begun and not ended.", nil, nil)
	ageDesc         = prometheus.NewDesc("tidemark_barrier_open_age_seconds", "Age of the oldest open barrier, 0 if there is none.", nil, nil)
)

// Describe is part of prometheus.Collector.
func (c ledgerCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{recordsDesc, overwrittenDesc, lossesDesc, openDesc, ageDesc} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (c ledgerCollector) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		out <- prometheus.MustNewConstMetric(d, kind, v)
	}
	s, err := head(c.ledger)
	if err != nil {
		out <- prometheus.NewInvalidMetric(recordsDesc, err)
		return
	}
	send(recordsDesc, prometheus.CounterValue, float64(s.NextSequence-1))
	send(overwrittenDesc, prometheus.CounterValue, float64(s.OverwrittenCount))
	send(lossesDesc, prometheus.CounterValue, float64(s.RecordingLossCount))
	open, unlisted := c.ledger.OpenGuards()
	age := 0.0
	if len(open) > 0 {
		age = open[0].Age.Seconds()
	}
	send(openDesc, prometheus.GaugeValue, float64(len(open)+unlisted))
	send(ageDesc, prometheus.GaugeValue, age)
}

// headTries is how often head asks again when the oldest record was
// overwritten meanwhile. Few ledgers lose a lap in the time of one try.
const headTries = 100

// head returns a page of the ledger for what it says besides its records.
func head(l *timing.Ledger) (s timing.Snapshot, err error) {
	var after uint64
	for range headTries {
		s, err = l.SnapshotAfter(after, 1)
		var gone *timing.CursorOverwrittenError
		if !errors.As(err, &gone) {
			return s, err
		}
		after = gone.OldestRetained
	}
	return s, err
}
