package bench_test

import (
	"runtime"

	"github.com/tidemark-go/tidemark/bench/channel"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type channelSubject struct {
	cp *channel.Checkpointer
	marks
}

func (s *channelSubject) begin(epoch uint32, partitions []partition) error {
	return s.cp.BeginEpoch(epoch, partitions...)
}

func (s *channelSubject) drain() int { return s.cp.Drain().Applied }

func (s *channelSubject) take() int {
	s.buf = s.cp.TakeWatermarks(s.buf[:0])
	return s.count()
}

func (s *channelSubject) worker(partitions []partition) worker {
	return &channelWorker{s.cp.Issuer(), partitions, make([]int64, len(partitions)), 0}
}

type channelWorker struct {
	issuer     *channel.Issuer
	partitions []partition
	next       []int64
	at         int
}

func (w *channelWorker) hold(capacity int) held {
	return &channelHeld{make([]channel.Ack, 0, capacity)}
}

func (w *channelWorker) issue(into held, n int) {
	h := into.(*channelHeld)
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

type channelHeld struct{ acks []channel.Ack }

func (h *channelHeld) retain(more int) {
	for _, a := range h.acks {
		for range more {
			a.Retain()
		}
	}
}

func (h *channelHeld) release(order []int32) {
	for _, k := range order {
		h.acks[k].Release()
	}
}

func (h *channelHeld) clear() { h.acks = h.acks[:0] }
