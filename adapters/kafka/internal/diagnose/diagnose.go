// Package diagnose shows a kafka.Source and its checkpoint barriers to people
// and to Prometheus: the live page, pages of the ledger, barriers that are open,
// metrics, and the longest barriers at the end.
//
// What to copy from it: the histograms and the ledger come from the same
// barriers, so their counts agree; a barrier that is stuck has no sample and
// no record yet, so the open ones have a page and a gauge of their own.
package diagnose

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
)

// Source is what is shown of a *kafka.Source.
type Source interface {
	timing.IdentitySource
	Snapshot(n int) checkpoint.Snapshot
	PartitionName(checkpoint.PartitionID) string
	PartitionLabels(checkpoint.PartitionID) []string
}

// Diagnostics collects the barriers of one Source. It is safe for concurrent
// use.
type Diagnostics struct {
	ledger     *timing.Ledger
	histograms timing.Histograms
	registry   *prometheus.Registry
	// source is what is shown: nil → a source, by Follow; loaded by
	// whoever answers a request.
	source atomic.Pointer[Source]
}

// New makes a ledger that retains so many records, rounded up to a power of
// two.
func New(capacity int) (*Diagnostics, error) {
	ledger, err := timing.NewLedger(capacity)
	if err != nil {
		return nil, fmt.Errorf("diagnose: %w", err)
	}
	d := &Diagnostics{ledger: ledger, registry: prometheus.NewRegistry()}
	d.histograms = register(d.registry)
	checkpoints, err := tidemarkprom.NewCheckpoints(tidemarkprom.Checkpoints{
		Snapshot: d.snapshot, Labels: []string{"topic", "partition"}, Values: d.labels,
	})
	if err != nil {
		return nil, fmt.Errorf("diagnose: %w", err)
	}
	d.registry.MustRegister(tidemarkprom.NewBarriers(ledger), checkpoints)
	return d, nil
}

// Barriers is for the configuration of the Source.
func (d *Diagnostics) Barriers() kafka.Barriers {
	return kafka.Barriers{Ledger: d.ledger, Histograms: d.histograms}
}

// Follow tells what to show, once the Source is open.
func (d *Diagnostics) Follow(src Source) { d.source.Store(&src) }

// snapshot is that of the Source, and the zero one before there is one.
func (d *Diagnostics) snapshot(n int) checkpoint.Snapshot {
	if src := d.source.Load(); src != nil {
		return (*src).Snapshot(n)
	}
	return checkpoint.Snapshot{}
}

// name and labels are asked for partitions of a snapshot, so there is a Source.
func (d *Diagnostics) name(id checkpoint.PartitionID) string {
	return (*d.source.Load()).PartitionName(id)
}

func (d *Diagnostics) labels(id checkpoint.PartitionID) []string {
	return (*d.source.Load()).PartitionLabels(id)
}

var errNoSource = errors.New("no source is open: the work has not begun, or there was nothing to read")

// LiveProcessIdentity is that of the Source, and an error before there is one.
func (d *Diagnostics) LiveProcessIdentity() (timing.ProcessIdentity, error) {
	if src := d.source.Load(); src != nil {
		return (*src).LiveProcessIdentity()
	}
	return timing.ProcessIdentity{}, errNoSource
}
