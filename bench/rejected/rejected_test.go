package rejected_test

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/rejected/ackstack"
	"github.com/tidemark-go/tidemark/bench/rejected/bitmap"
	"github.com/tidemark-go/tidemark/bench/rejected/queues"
	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type ack[A any] interface {
	Retain() A
	Fail()
	Release()
}

type issuer[A any] interface {
	Issue(p checkpoint.PartitionID, last int64) (A, error)
}

type checkpointer[I any] interface {
	BeginEpoch(epoch uint32, partitions ...checkpoint.PartitionID) error
	Issuer() I
	Drain() checkpoint.DrainStats
	TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark
}

func TestCheckpointersMatchANaiveModel(t *testing.T) {
	t.Run("ackstack", func(t *testing.T) { matchModel(t, func(l int) *ackstack.Checkpointer { return ackstack.New(l) }) })
	t.Run("bitmap", func(t *testing.T) { matchModel(t, func(l int) *bitmap.Checkpointer { return bitmap.New(l) }) })
}

// held is a batch with holders in the model.
type held[A any] struct {
	a       A
	p       checkpoint.PartitionID
	seq     int
	holders int
	failed  bool
}

// matchModel runs random operations against slices of what was resolved.
func matchModel[C checkpointer[I], I issuer[A], A ack[A]](t *testing.T, create func(limit int) C) {
	const limit, partitions = 300, 3
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := create(limit)
		if err := c.BeginEpoch(1, 0, 1, 2); err != nil {
			t.Fatal(err)
		}
		if err := c.BeginEpoch(2, 0); err == nil {
			t.Fatal("a second BeginEpoch was accepted")
		}
		i := c.Issuer()
		var live []*held[A]
		resolved := [partitions]map[int]bool{{}, {}, {}} // seq → failed
		var issued, passed [partitions]int
		applied := 0
		for range 4000 {
			switch k := rng.IntN(100); {
			case k < 48:
				p := rng.IntN(partitions)
				a, err := i.Issue(checkpoint.PartitionID(p), int64(issued[p]*10+9))
				if full := issued[p]-passed[p] >= limit; full != (err != nil) {
					t.Fatalf("seed %d: %d pending of %d: %v", seed, issued[p]-passed[p], limit, err)
				}
				if err == nil {
					live = append(live, &held[A]{a: a, p: checkpoint.PartitionID(p), seq: issued[p], holders: 1})
					issued[p]++
				}
			case k < 55 && len(live) > 0:
				h := live[rng.IntN(len(live))]
				h.a.Retain()
				h.holders++
			case k == 55 && len(live) > 0 && seed%3 == 0:
				h := live[rng.IntN(len(live))]
				h.a.Fail()
				h.failed = true
			case k < 98 && len(live) > 0:
				n := rng.IntN(min(len(live), 40))
				h := live[n]
				h.a.Release()
				if h.holders--; h.holders == 0 {
					resolved[h.p][h.seq] = h.failed
					applied++
					live = append(live[:n], live[n+1:]...)
				}
			case k >= 98:
				if got := c.Drain(); got != (checkpoint.DrainStats{Applied: applied}) {
					t.Fatalf("seed %d: Drain %+v, want %d applied", seed, got, applied)
				}
				applied = 0
				want := map[checkpoint.PartitionID]int64{}
				for p := range partitions {
					for failed, ok := resolved[p][passed[p]]; ok && !failed; failed, ok = resolved[p][passed[p]] {
						want[checkpoint.PartitionID(p)] = int64(passed[p]*10 + 10)
						passed[p]++
					}
				}
				got := c.TakeWatermarks(nil)
				for _, w := range got {
					if want[w.Partition] != w.Offset {
						t.Fatalf("seed %d: watermark %+v, want %v", seed, w, want)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("seed %d: watermarks %v, want %v", seed, got, want)
				}
			}
		}
	}
}

func TestCheckpointersWithALiveDrainer(t *testing.T) {
	t.Run("ackstack", func(t *testing.T) { liveDrainer(t, ackstack.New(200)) })
	t.Run("bitmap", func(t *testing.T) { liveDrainer(t, bitmap.New(200)) })
}

// liveDrainer issues on two goroutines, releases on two others and drains on
// the test's.
func liveDrainer[C checkpointer[I], I issuer[A], A ack[A]](t *testing.T, c C) {
	const each = 5000
	if err := c.BeginEpoch(1, 0, 1); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for p := range 2 {
		i, acks := c.Issuer(), make(chan A, 64)
		wg.Go(func() {
			defer close(acks)
			for n := 0; n < each; {
				a, err := i.Issue(checkpoint.PartitionID(p), int64(n))
				if err == nil {
					acks <- a.Retain()
					a.Release()
					n++
				}
			}
		})
		wg.Go(func() {
			for a := range acks {
				a.Release()
			}
		})
	}
	applied, marks := 0, map[checkpoint.PartitionID]int64{}
	for applied < 2*each {
		applied += c.Drain().Applied
		for _, w := range c.TakeWatermarks(nil) {
			if w.Offset <= marks[w.Partition] {
				t.Fatalf("watermark %+v after %d", w, marks[w.Partition])
			}
			marks[w.Partition] = w.Offset
		}
	}
	wg.Wait()
	if marks[0] != each || marks[1] != each {
		t.Fatalf("watermarks %v, want %d each", marks, each)
	}
}

// form describes a rejected queue; create makes one that holds buffer elements.
func form[T any, Q queue[T]](create func(buffer int) Q) func(queuetest.Config) queuetest.Queue[T] {
	return func(cfg queuetest.Config) queuetest.Queue[T] {
		q := create(cfg.Buffer)
		return queuetest.Queue[T]{
			Producer: func() queuetest.Producer[T] { return queuetest.Producer[T]{Push: q.Push} },
			TryPop:   q.TryPop, Drain: q.Drain,
		}
	}
}

type queue[T any] interface {
	Push(v T) bool
	TryPop() (T, bool)
	Drain(f func(T)) int
}

func ring[T any](buffer int) *queues.Ring[T] {
	return queues.NewRing[T](1 << bits.Len(uint(max(buffer, 2)-1)))
}

func TestQueueConformance(t *testing.T) {
	t.Run("ring", func(t *testing.T) {
		queuetest.Run(t, queuetest.Form{
			Ints:      form[uint64](ring[uint64]),
			Empty:     form[struct{}](ring[struct{}]),
			Pointers:  form[*queuetest.Payload](ring[*queuetest.Payload]),
			GapBlocks: true, PanicSafe: true,
		})
	})
	t.Run("ticket", func(t *testing.T) {
		queuetest.Run(t, queuetest.Form{
			Ints:      form[uint64](func(int) *queues.Ticket[uint64] { return queues.NewTicket[uint64]() }),
			Empty:     form[struct{}](func(int) *queues.Ticket[struct{}] { return queues.NewTicket[struct{}]() }),
			Pointers:  form[*queuetest.Payload](func(int) *queues.Ticket[*queuetest.Payload] { return queues.NewTicket[*queuetest.Payload]() }),
			GapBlocks: true, PanicSafe: true,
		})
	})
	t.Run("stack", func(t *testing.T) {
		queuetest.Run(t, queuetest.Form{
			Ints:      form[uint64](func(int) *queues.Stack[uint64] { return queues.NewStack[uint64]() }),
			Empty:     form[struct{}](func(int) *queues.Stack[struct{}] { return queues.NewStack[struct{}]() }),
			Pointers:  form[*queuetest.Payload](func(int) *queues.Stack[*queuetest.Payload] { return queues.NewStack[*queuetest.Payload]() }),
			PanicSafe: true,
		})
	})
}
