package diagnose

import (
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
