package mpsc_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/queuetest"
	"github.com/tidemark-go/tidemark/mpsc"
)

// lazyCalls is how many Drain and DrainTo calls may leave an element behind an
// unfinished push: of sixteen, as documented, one takes it.
const lazyCalls = 15

func options(cfg queuetest.Config) []mpsc.Option {
	var opts []mpsc.Option
	if cfg.SegmentSize > 0 {
		opts = append(opts, mpsc.WithSegmentSize(cfg.SegmentSize))
	}
	if cfg.NearWrap {
		opts = append(opts, mpsc.WithNearWrap())
	}
	return opts
}

// describe returns what all ways to push have in common.
func describe[T any](q *mpsc.Queue[T]) queuetest.Queue[T] {
	return queuetest.Queue[T]{
		TryPop: q.TryPop, Drain: q.Drain, DrainTo: q.DrainTo,
		Wait: q.Wait, Len: q.Len, Close: q.Close, Closed: mpsc.ErrClosed,
	}
}

// shared pushes with Queue.Push.
func shared[T any](cfg queuetest.Config) queuetest.Queue[T] {
	q := mpsc.New[T](options(cfg)...)
	d := describe(q)
	d.Producer = func() queuetest.Producer[T] { return queuetest.Producer[T]{Push: q.Push} }
	d.Claim = func() func(T) { return mpsc.StallPush(q) }
	return d
}

// lanes pushes through a Producer of its own.
func lanes[T any](cfg queuetest.Config) queuetest.Queue[T] {
	q := mpsc.New[T](options(cfg)...)
	d := describe(q)
	d.Producer = func() queuetest.Producer[T] {
		p := q.Producer()
		return queuetest.Producer[T]{Push: p.Push, PushBatch: p.PushBatch, Close: p.Close}
	}
	return d
}

// batches pushes single elements as batches of one.
func batches[T any](cfg queuetest.Config) queuetest.Queue[T] {
	q := mpsc.New[T](options(cfg)...)
	d := describe(q)
	d.Producer = func() queuetest.Producer[T] {
		p := q.Producer()
		return queuetest.Producer[T]{
			Push:      func(v T) bool { return p.PushBatch([]T{v}) == 1 },
			PushBatch: p.PushBatch,
			Close:     p.Close,
		}
	}
	return d
}

// mixed gives every other producer a lane.
func mixed[T any](cfg queuetest.Config) queuetest.Queue[T] {
	q := mpsc.New[T](options(cfg)...)
	d := describe(q)
	n := 0
	d.Producer = func() queuetest.Producer[T] {
		if n++; n%2 == 0 {
			return queuetest.Producer[T]{Push: q.Push}
		}
		p := q.Producer()
		return queuetest.Producer[T]{Push: p.Push, Close: p.Close}
	}
	d.Claim = func() func(T) { return mpsc.StallPush(q) }
	return d
}

func form(ints func(queuetest.Config) queuetest.Queue[uint64], empty func(queuetest.Config) queuetest.Queue[struct{}],
	pointers func(queuetest.Config) queuetest.Queue[*queuetest.Payload]) queuetest.Form {
	return queuetest.Form{
		Ints: ints, Empty: empty, Pointers: pointers,
		Lazy: lazyCalls, Segmented: true, Wraps: true, Exclusive: true, PanicSafe: true, ExactLen: true,
	}
}

func mixedForm() queuetest.Form {
	return form(mixed[uint64], mixed[struct{}], mixed[*queuetest.Payload])
}

func TestSharedPushConforms(t *testing.T) {
	queuetest.Run(t, form(shared[uint64], shared[struct{}], shared[*queuetest.Payload]))
}

func TestProducerLanesConform(t *testing.T) {
	queuetest.Run(t, form(lanes[uint64], lanes[struct{}], lanes[*queuetest.Payload]))
}

func TestPushBatchConforms(t *testing.T) {
	queuetest.Run(t, form(batches[uint64], batches[struct{}], batches[*queuetest.Payload]))
}

func TestLanesBesideSharedPushConform(t *testing.T) {
	queuetest.Run(t, mixedForm())
}
