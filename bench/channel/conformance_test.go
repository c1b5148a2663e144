package channel_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/channel"
	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCheckpointerConformance runs the suite of core/checkpoint on the
// baseline. The channels are larger than the largest burst of the suite,
// because a full channel blocks. That alone is more memory than the contract
// allows an idle partition, so the cases on memory are left out.
func TestCheckpointerConformance(t *testing.T) {
	checkpointtest.Run(t, checkpointtest.Adapt("channel",
		checkpointtest.LacksEagerPending|checkpointtest.LacksMemory,
		func(cfg checkpointtest.Config) *channel.Checkpointer {
			opts := []channel.Option{
				channel.WithBuffer(1 << 19),
				channel.WithPendingLimit(cfg.PendingLimit),
			}
			if cfg.Now != nil {
				opts = append(opts, channel.WithClock(cfg.Now))
			}
			return channel.New(opts...)
		}))
}
