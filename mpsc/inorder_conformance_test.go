package mpsc_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/queuetest"
	"github.com/tidemark-go/tidemark/mpsc"
)

// inOrder uses an InOrder queue as a plain one: a push reserves a cell and
// publishes it at once.
func inOrder[T any](queuetest.Config) queuetest.Queue[T] {
	inbox := mpsc.NewInbox[T, int](nil)
	q := new(mpsc.InOrder[T, int])
	q.Init(inbox, nil)
	return queuetest.Queue[T]{
		Producer: func() queuetest.Producer[T] {
			return queuetest.Producer[T]{Push: func(v T) bool {
				r, ok := q.Reserve(v)
				return ok && r.Release()
			}}
		},
		Drain: func(f func(T)) int {
			inbox.Collect(func(*mpsc.InOrder[T, int], int, int) {})
			return q.Take(f)
		},
		Len: q.Outstanding,
	}
}

func TestInOrderConforms(t *testing.T) {
	queuetest.Run(t, queuetest.Form{
		Ints: inOrder[uint64], Empty: inOrder[struct{}], Pointers: inOrder[*queuetest.Payload],
		SingleProducer: true, GapBlocks: true, PanicSafe: true, ExactLen: true,
	})
}

// readySet uses a ReadySet as a queue: what is pushed is a thing of its own,
// marked once.
func readySet[T any](queuetest.Config) queuetest.Queue[T] {
	type element struct {
		ready mpsc.Ready[element]
		v     T
	}
	s := new(mpsc.ReadySet[element])
	return queuetest.Queue[T]{
		Producer: func() queuetest.Producer[T] {
			return queuetest.Producer[T]{Push: func(v T) bool {
				e := &element{v: v}
				e.ready.Bind(e)
				return s.Mark(&e.ready)
			}}
		},
		Drain: func(f func(T)) int { return s.Drain(func(e *element) { f(e.v) }) },
	}
}

func TestReadySetConforms(t *testing.T) {
	queuetest.Run(t, queuetest.Form{
		Ints: readySet[uint64], Empty: readySet[struct{}], Pointers: readySet[*queuetest.Payload],
		Unordered: true, Exclusive: true, PanicSafe: true,
	})
}
