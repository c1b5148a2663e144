package tidemarkprom

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-go/tidemark/core/timing"
)

// barriers is the collector of a ledger. It is immutable.
type barriers struct {
	ledger                                  *timing.Ledger
	records, overwritten, losses, open, age *prometheus.Desc
}

// NewBarriers returns a collector of a ledger to register, which must not be
// nil. It is safe for concurrent use. The durations of barriers are for
// histograms, which a timing.Guard feeds: see timing.Histograms.
func NewBarriers(l *timing.Ledger) prometheus.Collector {
	if l == nil {
		panic("tidemarkprom: NewBarriers needs a Ledger")
	}
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("tidemark_"+name, help, nil, nil)
	}
	return &barriers{
		ledger:      l,
		records:     desc("barrier_records_total", "Barriers that the ledger recorded."),
		overwritten: desc("barrier_records_overwritten_total", "Records that the ledger no longer retains."),
		losses:      desc("barrier_record_losses_total", "Barriers that left no record."),
		open:        desc("barriers_open", "Barriers that have begun and not ended."),
		age:         desc("barrier_open_age_seconds", "Age of the oldest open barrier, 0 if there is none."),
	}
}

// Describe is part of prometheus.Collector.
func (b *barriers) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.records, b.overwritten, b.losses, b.open, b.age} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (b *barriers) Collect(out chan<- prometheus.Metric) {
	if s, err := newest(b.ledger); err != nil {
		out <- prometheus.NewInvalidMetric(b.records, err)
	} else {
		send(out, b.records, prometheus.CounterValue, float64(s.NextSequence-1))
		send(out, b.overwritten, prometheus.CounterValue, float64(s.OverwrittenCount))
		send(out, b.losses, prometheus.CounterValue, float64(s.RecordingLossCount))
	}
	open, unlisted := b.ledger.OpenGuards()
	age := 0.0
	if len(open) > 0 {
		age = open[0].Age.Seconds()
	}
	send(out, b.open, prometheus.GaugeValue, float64(len(open)+unlisted))
	send(out, b.age, prometheus.GaugeValue, age)
}

// tries is how often newest asks again when what it asked for was overwritten
// meanwhile. Few ledgers lose a lap in the time of one try.
const tries = 100

// newest returns a page of the ledger for what it says besides its records.
func newest(l *timing.Ledger) (s timing.Snapshot, err error) {
	var after uint64
	for range tries {
		s, err = l.SnapshotAfter(after, 1)
		var gone *timing.CursorOverwrittenError
		if !errors.As(err, &gone) {
			return s, err
		}
		after = gone.OldestRetained
	}
	return s, err
}
