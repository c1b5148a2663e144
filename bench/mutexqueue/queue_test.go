package mutexqueue_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/mutexqueue"
	"github.com/tidemark-go/tidemark/internal/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func describe[T any](queuetest.Config) queuetest.Queue[T] {
	q := mutexqueue.New[T]()
	return queuetest.Queue[T]{
		Producer: func() queuetest.Producer[T] {
			return queuetest.Producer[T]{Push: q.Push, PushBatch: q.PushBatch}
		},
		TryPop: q.TryPop, Drain: q.Drain, DrainTo: q.DrainTo,
		Wait: q.Wait, Len: q.Len, Close: q.Close, Closed: mutexqueue.ErrClosed,
	}
}

func TestConformance(t *testing.T) {
	queuetest.Run(t, queuetest.Form{
		Ints:      describe[uint64],
		Empty:     describe[struct{}],
		Pointers:  describe[*queuetest.Payload],
		PanicSafe: true,
		ExactLen:  true,
	})
}

func TestMemoryIsGivenBackAfterABurst(t *testing.T) {
	q := mutexqueue.New[uint64]()
	for i := range uint64(1 << 20) {
		q.Push(i)
	}
	sum := 0
	count := func(uint64) { sum++ }
	q.Drain(count)
	q.Push(0)
	q.Drain(count)
	if sum != 1<<20+1 {
		t.Fatalf("drained %d elements, want %d", sum, 1<<20+1)
	}
	// Both slices are small again, and stay in use.
	if n := testing.AllocsPerRun(100, func() {
		q.Push(1)
		q.Drain(count)
	}); n != 0 {
		t.Errorf("a push and a drain allocate %v times, want 0", n)
	}
}
