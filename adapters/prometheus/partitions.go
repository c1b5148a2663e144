package tidemarkprom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// partitionDescs are the metrics that a partition has.
type partitionDescs struct {
	watermark, committed, pending, unresolved, heldBack, stalled *prometheus.Desc
	lastOffset, behind                                           *prometheus.Desc
}

func newPartitionDescs(labels []string) partitionDescs {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("tidemark_"+name, help, labels, nil)
	}
	return partitionDescs{
		watermark:  desc("partition_watermark_offset", "First offset that is not known to be delivered, as it was taken last."),
		committed:  desc("partition_committed_offset", "Highest offset whose commit was confirmed."),
		pending:    desc("partition_pending_batches", "Batches that were issued and that the watermark has not passed."),
		unresolved: desc("partition_unresolved_batches", "Pending batches that no holder has resolved."),
		heldBack:   desc("partition_held_back_seconds", "For how long the same batch has held the partition back, 0 if none does."),
		stalled:    desc("partition_stalled", "Whether a failed batch holds the partition back."),
		lastOffset: desc("head_last_offset", "Highest offset of the batch that holds the partition back."),
		behind:     desc("head_behind_batches", "Batches that wait behind the one that holds the partition back."),
	}
}

func (d *partitionDescs) describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.watermark, d.committed, d.pending, d.unresolved, d.heldBack, d.stalled, d.lastOffset, d.behind} {
		out <- desc
	}
}

func (d *partitionDescs) collect(out chan<- prometheus.Metric, p *checkpoint.PartitionSnapshot, held time.Duration, labels []string) {
	gauge := func(desc *prometheus.Desc, v float64) { send(out, desc, prometheus.GaugeValue, v, labels...) }
	if p.Watermark > 0 {
		gauge(d.watermark, float64(p.Watermark))
	}
	if p.Committed > 0 {
		gauge(d.committed, float64(p.Committed))
	}
	gauge(d.pending, float64(p.Pending))
	gauge(d.unresolved, float64(p.Unresolved))
	gauge(d.heldBack, held.Seconds())
	stalled := 0.0
	if p.Head != nil && p.Head.Failed {
		stalled = 1
	}
	gauge(d.stalled, stalled)
}

func (d *partitionDescs) collectHead(out chan<- prometheus.Metric, h *checkpoint.HeadSnapshot, labels []string) {
	send(out, d.lastOffset, prometheus.GaugeValue, float64(h.LastOffset), labels...)
	send(out, d.behind, prometheus.GaugeValue, float64(h.Behind), labels...)
}

// send sends a metric whose labels are known to fit.
func send(out chan<- prometheus.Metric, desc *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(desc, kind, v, labels...)
	if err != nil { // the name of a label is not legal, which registering tells as well
		m = prometheus.NewInvalidMetric(desc, err)
	}
	out <- m
}
