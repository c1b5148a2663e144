package checkpoint_test

import (
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

// subject is this package under the conformance suite, nothing left out.
func subject(more ...checkpoint.Option) checkpointtest.Subject {
	s := checkpointtest.Adapt("core/checkpoint", 0, func(cfg checkpointtest.Config) *checkpoint.Checkpointer {
		opts := slices.Clone(more)
		if cfg.Shards != 0 {
			opts = append(opts, checkpoint.WithShards(cfg.Shards))
		}
		if cfg.PendingLimit != 0 {
			opts = append(opts, checkpoint.WithPendingLimit(cfg.PendingLimit))
		}
		if cfg.Now != nil {
			opts = append(opts, checkpoint.WithClock(cfg.Now))
		}
		return checkpoint.New(opts...)
	})
	return checkpointtest.WithAckSet(s, func() *checkpoint.AckSet { return new(checkpoint.AckSet) })
}

func TestConformance(t *testing.T) { checkpointtest.Run(t, subject()) }
