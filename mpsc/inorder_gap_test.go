package mpsc_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/queuetest"
	"github.com/tidemark-go/tidemark/mpsc"
)

// openCells uses an InOrder queue whose cells carry places for values: what is
// reserved and not released stands for a producer that is stalled.
func openCells[T any](queuetest.Config) queuetest.Queue[T] {
	inbox := mpsc.NewInbox[*T, int](nil)
	q := new(mpsc.InOrder[*T, int])
	q.Init(inbox, nil)
	claim := func() func(T) {
		place := new(T)
		r, ok := q.Reserve(place)
		if !ok {
			return nil
		}
		return func(v T) {
			*place = v
			r.Release()
		}
	}
	return queuetest.Queue[T]{
		Producer: func() queuetest.Producer[T] {
			return queuetest.Producer[T]{Push: func(v T) bool {
				claim()(v)
				return true
			}}
		},
		Claim: claim,
		Drain: func(f func(T)) int {
			inbox.Collect(func(*mpsc.InOrder[*T, int], int, int) {})
			return q.Take(func(p *T) { f(*p) })
		},
		Len: q.Outstanding,
	}
}

func TestInOrderBehindOpenReservationsConforms(t *testing.T) {
	queuetest.Run(t, queuetest.Form{
		Ints: openCells[uint64], Empty: openCells[struct{}], Pointers: openCells[*queuetest.Payload],
		SingleProducer: true, GapBlocks: true, PanicSafe: true, ExactLen: true,
	})
}

// What a callback of Take reserves and publishes is taken by a later Take.
func TestTakeEndsWhileItsCallbackReserves(t *testing.T) {
	inbox := mpsc.NewInbox[int, int](nil)
	q := new(mpsc.InOrder[int, int])
	q.Init(inbox, nil)
	publish := func() {
		r, ok := q.Reserve(int(q.Next()))
		if !ok || !r.Release() {
			t.Fatal("a cell cannot be reserved and published")
		}
	}
	publish()
	for round := range 300 { // over segment edges
		inbox.Collect(func(*mpsc.InOrder[int, int], int, int) {})
		if n := q.Take(func(v int) {
			if v != round {
				t.Fatalf("took %d, want %d", v, round)
			}
			publish()
		}); n != 1 || q.Outstanding() != 1 {
			t.Fatalf("took %d cells in round %d, %d outstanding, want 1 and 1", n, round, q.Outstanding())
		}
	}
}

func TestInitNeedsAnInbox(t *testing.T) {
	expectPanic(t, "Init(nil)", func() { new(mpsc.InOrder[int, int]).Init(nil, nil) }, "mpsc: InOrder.Init", "NewInbox")
}
