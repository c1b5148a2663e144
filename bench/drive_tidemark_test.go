package bench_test

import (
	"runtime"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type tidemarkSubject struct {
	cp *checkpoint.Checkpointer
	marks
}

func (s *tidemarkSubject) begin(epoch uint32, partitions []partition) error {
	return s.cp.BeginEpoch(epoch, partitions...)
}

func (s *tidemarkSubject) drain() int { return s.cp.Drain().Applied }

func (s *tidemarkSubject) take() int {
	s.buf = s.cp.TakeWatermarks(s.buf[:0])
	return s.count()
}

func (s *tidemarkSubject) worker(partitions []partition) worker {
	return &tidemarkWorker{s.cp.Issuer(), partitions, make([]int64, len(partitions)), 0}
}

type tidemarkWorker struct {
	issuer     *checkpoint.Issuer
	partitions []partition
	next       []int64
	at         int
}

func (w *tidemarkWorker) hold(capacity int) held {
	return &tidemarkHeld{make([]checkpoint.Ack, 0, capacity)}
}

func (w *tidemarkWorker) issue(into held, n int) {
	h := into.(*tidemarkHeld)
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

type tidemarkHeld struct{ acks []checkpoint.Ack }

func (h *tidemarkHeld) retain(more int) {
	for _, a := range h.acks {
		for range more {
			a.Retain()
		}
	}
}

func (h *tidemarkHeld) release(order []int32) {
	for _, k := range order {
		h.acks[k].Release()
	}
}

func (h *tidemarkHeld) clear() { h.acks = h.acks[:0] }
