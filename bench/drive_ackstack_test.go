package bench_test

import (
	"runtime"

	"github.com/tidemark-go/tidemark/bench/rejected/ackstack"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type ackstackSubject struct {
	cp *ackstack.Checkpointer
	marks
}

func (s *ackstackSubject) begin(epoch uint32, partitions []partition) error {
	return s.cp.BeginEpoch(epoch, partitions...)
}

func (s *ackstackSubject) drain() int { return s.cp.Drain().Applied }

func (s *ackstackSubject) take() int {
	s.buf = s.cp.TakeWatermarks(s.buf[:0])
	return s.count()
}

func (s *ackstackSubject) worker(partitions []partition) worker {
	return &ackstackWorker{s.cp.Issuer(), partitions, make([]int64, len(partitions)), 0}
}

type ackstackWorker struct {
	issuer     *ackstack.Issuer
	partitions []partition
	next       []int64
	at         int
}

func (w *ackstackWorker) hold(capacity int) held {
	return &ackstackHeld{make([]ackstack.Ack, 0, capacity)}
}

func (w *ackstackWorker) issue(into held, n int) {
	h := into.(*ackstackHeld)
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

type ackstackHeld struct{ acks []ackstack.Ack }

func (h *ackstackHeld) retain(more int) {
	for _, a := range h.acks {
		for range more {
			a.Retain()
		}
	}
}

func (h *ackstackHeld) release(order []int32) {
	for _, k := range order {
		h.acks[k].Release()
	}
}

func (h *ackstackHeld) clear() { h.acks = h.acks[:0] }
