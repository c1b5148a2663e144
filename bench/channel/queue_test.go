package channel_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/queuetest"
)

// channelQueue describes a plain buffered channel, as the queue benchmarks use
// it: a push is a send, a pop a receive if there is something.
func channelQueue[T any](cfg queuetest.Config) queuetest.Queue[T] {
	ch := make(chan T, cfg.Buffer)
	tryPop := func() (v T, ok bool) {
		select {
		case v = <-ch:
			return v, true
		default:
			return v, false
		}
	}
	return queuetest.Queue[T]{
		Producer: func() queuetest.Producer[T] {
			return queuetest.Producer[T]{Push: func(v T) bool {
				ch <- v
				return true
			}}
		},
		TryPop: tryPop,
		Drain: func(f func(T)) int {
			n := len(ch)
			for range n {
				f(<-ch)
			}
			return n
		},
		DrainTo: func(dst []T) int {
			for n := range dst {
				v, ok := tryPop()
				if !ok {
					return n
				}
				dst[n] = v
			}
			return len(dst)
		},
		Len: func() int { return len(ch) },
	}
}

func TestQueueConformance(t *testing.T) {
	queuetest.Run(t, queuetest.Form{
		Ints:      channelQueue[uint64],
		Empty:     channelQueue[struct{}],
		Pointers:  channelQueue[*queuetest.Payload],
		PanicSafe: true,
		ExactLen:  true,
	})
}
