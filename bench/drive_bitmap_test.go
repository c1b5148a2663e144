package bench_test

import (
	"runtime"

	"github.com/tidemark-go/tidemark/bench/rejected/bitmap"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type bitmapSubject struct {
	cp *bitmap.Checkpointer
	marks
}

func (s *bitmapSubject) begin(epoch uint32, partitions []partition) error {
	return s.cp.BeginEpoch(epoch, partitions...)
}

func (s *bitmapSubject) drain() int { return s.cp.Drain().Applied }

func (s *bitmapSubject) take() int {
	s.buf = s.cp.TakeWatermarks(s.buf[:0])
	return s.count()
}

func (s *bitmapSubject) worker(partitions []partition) worker {
	return &bitmapWorker{s.cp.Issuer(), partitions, make([]int64, len(partitions)), 0}
}

type bitmapWorker struct {
	issuer     *bitmap.Issuer
	partitions []partition
	next       []int64
	at         int
}

func (w *bitmapWorker) hold(capacity int) held {
	return &bitmapHeld{make([]bitmap.Ack, 0, capacity)}
}

func (w *bitmapWorker) issue(into held, n int) {
	h := into.(*bitmapHeld)
	for range n {
		k := w.at
		if w.at++; w.at == len(w.partitions) {
			w.at = 0
		}
		a, err := w.issuer.Issue(w.partitions[k], w.next[k])
		for err != nil {
			if err != checkpoint.ErrPendingLimit {
				panic(err)
			}
			runtime.Gosched()
			a, err = w.issuer.Issue(w.partitions[k], w.next[k])
		}
		w.next[k]++
		h.acks = append(h.acks, a)
	}
}

type bitmapHeld struct{ acks []bitmap.Ack }

func (h *bitmapHeld) retain(more int) {
	for _, a := range h.acks {
		for range more {
			a.Retain()
		}
	}
}

func (h *bitmapHeld) release(order []int32) {
	for _, k := range order {
		h.acks[k].Release()
	}
}

func (h *bitmapHeld) clear() { h.acks = h.acks[:0] }
