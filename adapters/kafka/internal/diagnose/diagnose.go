// Package diagnose shows the checkpoint barriers of a kafka.Source to people
// and to Prometheus: pages of the ledger, barriers that are open, metrics, and
// the longest ones at the end.
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
	"github.com/tidemark-go/tidemark/core/timing"
)

// Diagnostics collects the barriers of one Source. It is safe for concurrent
// use.
type Diagnostics struct {
	ledger     *timing.Ledger
	histograms timing.Histograms
	registry   *prometheus.Registry
	// source is who the barriers are of: nil → a source, by Follow; loaded by
	// whoever answers a request.
	source atomic.Pointer[timing.IdentitySource]
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
	d.registry.MustRegister(ledgerCollector{ledger})
	return d, nil
}

// Barriers is for the configuration of the Source.
func (d *Diagnostics) Barriers() kafka.Barriers {
	return kafka.Barriers{Ledger: d.ledger, Histograms: d.histograms}
}

// Follow tells who the barriers are of, once the Source is open.
func (d *Diagnostics) Follow(src timing.IdentitySource) { d.source.Store(&src) }

var errNoSource = errors.New("no source is open: the work has not begun, or there was nothing to read")

// LiveProcessIdentity is that of the Source, and an error before there is one.
func (d *Diagnostics) LiveProcessIdentity() (timing.ProcessIdentity, error) {
	if src := d.source.Load(); src != nil {
		return (*src).LiveProcessIdentity()
	}
	return timing.ProcessIdentity{}, errNoSource
}
