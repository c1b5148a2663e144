package bench_test

import (
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/bench/internal/queuerows"
	"github.com/tidemark-go/tidemark/bench/rejected/queues"
)

// queueImplementations lists the queues: those of every comparison, and the
// rejected ones.
func queueImplementations() []queuerows.Impl {
	return slices.Concat(queuerows.Common(), []queuerows.Impl{
		{Name: "ring", Create: func() queuerows.Subject { return ringQueue{queues.NewRing[queuerows.Msg](queuerows.Backlog)} }},
		{Name: "ticket", Create: func() queuerows.Subject { return ticketQueue{queues.NewTicket[queuerows.Msg]()} }},
		{Name: "stack", Create: func() queuerows.Subject { return stackQueue{queues.NewStack[queuerows.Msg]()} }},
	})
}

// BenchmarkQueuePushPop pushes a message and pops one, on one goroutine.
func BenchmarkQueuePushPop(b *testing.B) { queuerows.PushPop(b, queueImplementations()) }

// BenchmarkQueueBurst pushes a burst and then pops it, on one goroutine.
func BenchmarkQueueBurst(b *testing.B) { queuerows.Burst(b, queueImplementations()) }

// BenchmarkQueueProducers has producers push a fixed total while the consumer
// drains, yielding when there is nothing (consumer=poll) or sleeping
// (consumer=wait).
func BenchmarkQueueProducers(b *testing.B) { queuerows.Producers(b, queueImplementations()) }

// BenchmarkQueueBatches pushes 16 messages at a time.
func BenchmarkQueueBatches(b *testing.B) { queuerows.Batches(b, queueImplementations()) }

// BenchmarkQueueCores has four producers on some of the processors.
func BenchmarkQueueCores(b *testing.B) { queuerows.Cores(b, queuerows.Common()) }

// BenchmarkLatencyPush tells how long a push takes while the consumer pauses.
func BenchmarkLatencyPush(b *testing.B) { queuerows.PushLatency(b, queuerows.Common()) }

func TestQueueDriversKeepOrder(t *testing.T) { queuerows.Check(t, queueImplementations()) }

// The rejected queues. They have no Wait.
type ringQueue struct{ q *queues.Ring[queuerows.Msg] }

func (q ringQueue) Producer() queuerows.Producer { return q }
func (q ringQueue) Close()                       {}

func (q ringQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
	}
}

func (q ringQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
		if m, ok := q.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q ringQueue) Consume(s *queuerows.Sink, total int, _ bool) { queuerows.DrainInto(q.q, s, total) }

type ticketQueue struct{ q *queues.Ticket[queuerows.Msg] }

func (q ticketQueue) Producer() queuerows.Producer { return q }
func (q ticketQueue) Close()                       {}

func (q ticketQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
	}
}

func (q ticketQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
		if m, ok := q.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q ticketQueue) Consume(s *queuerows.Sink, total int, _ bool) {
	queuerows.DrainInto(q.q, s, total)
}

type stackQueue struct{ q *queues.Stack[queuerows.Msg] }

func (q stackQueue) Producer() queuerows.Producer { return q }
func (q stackQueue) Close()                       {}

func (q stackQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
	}
}

func (q stackQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Push(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
		if m, ok := q.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q stackQueue) Consume(s *queuerows.Sink, total int, _ bool) { queuerows.DrainInto(q.q, s, total) }
