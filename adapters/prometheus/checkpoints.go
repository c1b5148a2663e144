package tidemarkprom

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

const (
	DefaultMaxPartitions = 200 // for a Checkpoints.MaxPartitions of 0
	DefaultMaxHeads      = 10  // for a Checkpoints.MaxHeads of 0
)

// Checkpoints says what a collector of checkpoints shows. The functions are
// called by scrapes, so several goroutines may call them at once.
type Checkpoints struct {
	// Snapshot returns the state of a Checkpointer with at most n partitions,
	// as the method of that name does. One that is the zero Snapshot says that
	// there is no Checkpointer yet, or no more: there are no metrics then.
	Snapshot func(n int) checkpoint.Snapshot
	// Labels are the names of the labels that tell one partition from another,
	// such as topic and partition; Values returns those of a partition, in the
	// same order, and nil to leave the partition out. Without both there is
	// one label, partition, with the number.
	Labels []string
	Values func(checkpoint.PartitionID) []string
	// MaxPartitions is the most partitions that have series of their own, and
	// MaxHeads the most heads that have. 0 is the default, less is none.
	MaxPartitions int
	MaxHeads      int
}

// checkpoints is the collector. It is immutable.
type checkpoints struct {
	cfg        Checkpoints
	sums       sums
	partitions partitionDescs
}

// NewCheckpoints returns a collector to register. It is safe for concurrent
// use. What can go wrong in a scrape is a label whose Values have another
// number than Labels, or are those of another partition too: the scrape fails
// then, with an error that says so.
func NewCheckpoints(cfg Checkpoints) (prometheus.Collector, error) {
	if cfg.Snapshot == nil {
		return nil, errors.New("tidemarkprom: Checkpoints.Snapshot is nil, legal is a function such as the Snapshot method of a Checkpointer")
	}
	if (len(cfg.Labels) == 0) != (cfg.Values == nil) {
		return nil, fmt.Errorf("tidemarkprom: Checkpoints has %d Labels and its Values are set: %v, legal are both or none", len(cfg.Labels), cfg.Values != nil)
	}
	if cfg.Values == nil {
		cfg.Labels = []string{"partition"}
		cfg.Values = func(p checkpoint.PartitionID) []string { return []string{strconv.FormatUint(uint64(p), 10)} }
	}
	cfg.Labels = slices.Clone(cfg.Labels)
	cfg.MaxPartitions = orDefault(cfg.MaxPartitions, DefaultMaxPartitions)
	cfg.MaxHeads = orDefault(cfg.MaxHeads, DefaultMaxHeads)
	return &checkpoints{cfg: cfg, sums: newSums(), partitions: newPartitionDescs(cfg.Labels)}, nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return max(n, 0)
}

// Describe is part of prometheus.Collector.
func (c *checkpoints) Describe(out chan<- *prometheus.Desc) {
	c.sums.describe(out)
	c.partitions.describe(out)
}

// Collect is part of prometheus.Collector.
func (c *checkpoints) Collect(out chan<- prometheus.Metric) {
	// One at least: the first one is held back longest.
	s := c.cfg.Snapshot(max(c.cfg.MaxPartitions, c.cfg.MaxHeads, 1))
	if s.Time.IsZero() {
		return
	}
	listed := 0
	seen := map[string]checkpoint.PartitionID{}
	for i := range s.Partitions {
		p := &s.Partitions[i]
		if i >= c.cfg.MaxPartitions && (i >= c.cfg.MaxHeads || p.Head == nil) {
			break // heads come first
		}
		labels, err := c.labels(p.Partition, seen)
		if err != nil {
			out <- prometheus.NewInvalidMetric(c.partitions.pending, err)
			continue
		}
		if labels == nil {
			continue
		}
		if i < c.cfg.MaxPartitions {
			listed++
			c.partitions.collect(out, p, heldBack(&s, p), labels)
		}
		if i < c.cfg.MaxHeads && p.Head != nil {
			c.partitions.collectHead(out, p.Head, labels)
		}
	}
	c.sums.collect(out, &s, s.Admitted-listed)
}

// labels returns the values of a partition's labels, nil to leave it out. It
// notes them in seen.
func (c *checkpoints) labels(p checkpoint.PartitionID, seen map[string]checkpoint.PartitionID) ([]string, error) {
	values := c.cfg.Values(p)
	if values == nil {
		return nil, nil
	}
	if len(values) != len(c.cfg.Labels) {
		return nil, fmt.Errorf("tidemarkprom: partition %d has the label values %q, legal are %d, for %q", p, values, len(c.cfg.Labels), c.cfg.Labels)
	}
	valid := make([]string, len(values))
	for i, v := range values {
		valid[i] = strings.ToValidUTF8(v, "\uFFFD")
	}
	key := strings.Join(valid, "\xff") // which no valid text holds
	if other, taken := seen[key]; taken {
		return nil, fmt.Errorf("tidemarkprom: partitions %d and %d have the same label values %q", other, p, valid)
	}
	seen[key] = p
	return valid, nil
}

// heldBack returns for how long a partition's head has held it back. It is not
// negative, even if the clock was set back.
func heldBack(s *checkpoint.Snapshot, p *checkpoint.PartitionSnapshot) time.Duration {
	if p.Head == nil {
		return 0
	}
	return max(s.Time.Sub(p.Head.Since), 0)
}
