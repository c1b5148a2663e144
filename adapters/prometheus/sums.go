package tidemarkprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// sums are the metrics of all partitions together.
type sums struct {
	epoch, leaks *prometheus.Desc
	plain        []sumDesc
}

// sumDesc is a metric without labels.
type sumDesc struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	// value reads it; unlisted is the number of partitions without series.
	value func(s *checkpoint.Snapshot, unlisted int) float64
}

func newSums() sums {
	type value = func(s *checkpoint.Snapshot, unlisted int) float64
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tidemark_"+name, help, labels, nil)
	}
	gauge := func(name, help string, v value) sumDesc {
		return sumDesc{desc(name, help), prometheus.GaugeValue, v}
	}
	counter := func(name, help string, v value) sumDesc {
		return sumDesc{desc(name, help), prometheus.CounterValue, v}
	}
	return sums{
		epoch: desc("epoch", "Current epoch."),
		leaks: desc("leaks_total", "Mistakes with handles that a leak report found.", "kind"),
		plain: []sumDesc{
			gauge("admitted_partitions", "Partitions that are admitted.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Admitted) }),
			gauge("held_back_partitions", "Partitions with a batch that is not delivered at their head, at this moment.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.HeldBack) }),
			gauge("stalled_partitions", "Partitions that are held back by a failed batch.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Stalled) }),
			gauge("unlisted_partitions", "Partitions that have no series of their own.",
				func(_ *checkpoint.Snapshot, unlisted int) float64 { return float64(unlisted) }),
			gauge("pending_batches", "Batches that were issued and that no watermark has passed.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Pending) }),
			gauge("max_partition_pending_batches", "Pending batches of the partition that has the most.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.MaxPending) }),
			gauge("max_held_back_seconds", "For how long the partition that is held back longest has been, 0 if none is.", longest),
			counter("applied_batches_total", "Batches that were resolved, delivered or failed.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Drained.Applied) }),
			counter("skipped_batches_total", "Failed batches that were let pass.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Skipped) }),
			counter("stale_events_total", "Registrations and resolutions of partitions or epochs that were not current.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Drained.StaleEpoch) }),
			counter("duplicate_releases_total", "Releases of batches that were resolved already.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Drained.Duplicates) }),
			counter("unknown_resolutions_total", "Resolutions without a registration; more than 0 is a bug of Tidemark.",
				func(s *checkpoint.Snapshot, _ int) float64 { return float64(s.Drained.Unknown) }),
		},
	}
}

func longest(s *checkpoint.Snapshot, _ int) float64 {
	if len(s.Partitions) == 0 {
		return 0
	}
	return heldBack(s, &s.Partitions[0]).Seconds()
}

func (d *sums) describe(out chan<- *prometheus.Desc) {
	out <- d.epoch
	out <- d.leaks
	for i := range d.plain {
		out <- d.plain[i].desc
	}
}

func (d *sums) collect(out chan<- prometheus.Metric, s *checkpoint.Snapshot, unlisted int) {
	if s.Begun {
		send(out, d.epoch, prometheus.GaugeValue, float64(s.Epoch))
	}
	send(out, d.leaks, prometheus.CounterValue, float64(s.Leaks.Unreachable), checkpoint.LeakUnreachable.String())
	send(out, d.leaks, prometheus.CounterValue, float64(s.Leaks.OverReleased), checkpoint.LeakOverReleased.String())
	for i := range d.plain {
		p := &d.plain[i]
		send(out, p.desc, p.kind, p.value(s, unlisted))
	}
}
