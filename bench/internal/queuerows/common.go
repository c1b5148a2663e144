package queuerows

import (
	"context"
	"runtime"

	"github.com/tidemark-go/tidemark/bench/mutexqueue"
	"github.com/tidemark-go/tidemark/mpsc"
)

// Common lists the queues that every comparison has.
func Common() []Impl {
	return []Impl{
		{"shared", func() Subject { return sharedQueue{mpsc.New[Msg]()} }, false, true},
		{"lane", func() Subject { return laneQueue{mpsc.New[Msg]()} }, true, true},
		{channel, func() Subject { return make(channelQueue, Backlog) }, false, true},
		{"mutex", func() Subject { return mutexQueue{mutexqueue.New[Msg]()} }, true, true},
	}
}

// channel is the baseline. In rows with batches it sends the messages one by
// one, while other queues without a batch push are left out.
const channel = "channel"

// The channel: nothing around it. A push is a send, a consumer that waits
// receives, one that does not wait receives if it can.
type channelQueue chan Msg

func (q channelQueue) Producer() Producer { return q }
func (q channelQueue) Close()             {}

func (q channelQueue) Push(c *Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		q <- Msg{c.ID, uint64(i), 1}
	}
}

func (q channelQueue) PushPop(c *Credit, s *Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q <- Msg{c.ID, uint64(i), 1}
		s.Take(<-q)
	}
}

func (q channelQueue) Consume(s *Sink, total int, wait bool) {
	if wait {
		for range total {
			s.Take(<-q)
		}
		return
	}
	for total > 0 {
		select {
		case m := <-q:
			s.Take(m)
			total--
		default:
			runtime.Gosched()
		}
	}
}

// waiter is a queue with Wait.
type waiter interface {
	Drainer
	Wait(ctx context.Context) error
}

func consume(q waiter, s *Sink, total int, wait bool) {
	if !wait {
		DrainInto(q, s, total)
		return
	}
	ctx := context.Background()
	for total > 0 {
		if err := q.Wait(ctx); err != nil {
			panic(err)
		}
		total -= q.Drain(s.Each)
	}
}

// mpsc.Queue with its shared Push.
type sharedQueue struct{ q *mpsc.Queue[Msg] }

func (q sharedQueue) Producer() Producer { return q }
func (q sharedQueue) Close()             {}

func (q sharedQueue) Push(c *Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		q.q.Push(Msg{c.ID, uint64(i), 1})
	}
}

func (q sharedQueue) PushPop(c *Credit, s *Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Push(Msg{c.ID, uint64(i), 1})
		if m, ok := q.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q sharedQueue) Consume(s *Sink, total int, wait bool) { consume(q.q, s, total, wait) }

// mpsc.Queue with a lane for each producer.
type laneQueue struct{ q *mpsc.Queue[Msg] }

type laneProducer struct {
	q   *mpsc.Queue[Msg]
	p   *mpsc.Producer[Msg]
	buf []Msg
}

func (q laneQueue) Producer() Producer { return &laneProducer{q: q.q, p: q.q.Producer()} }
func (p *laneProducer) Close()         { p.p.Close() }

func (p *laneProducer) Push(c *Credit, from, n, batch int) {
	if batch > 1 {
		InBatches(c, from, n, batch, &p.buf, p.p.PushBatch)
		return
	}
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		p.p.Push(Msg{c.ID, uint64(i), 1})
	}
}

func (p *laneProducer) PushPop(c *Credit, s *Sink, from, n int) {
	for i := from; i < from+n; i++ {
		p.p.Push(Msg{c.ID, uint64(i), 1})
		if m, ok := p.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q laneQueue) Consume(s *Sink, total int, wait bool) { consume(q.q, s, total, wait) }

// The slice under a mutex.
type mutexQueue struct{ q *mutexqueue.Queue[Msg] }

type mutexProducer struct {
	q   *mutexqueue.Queue[Msg]
	buf []Msg
}

func (q mutexQueue) Producer() Producer { return &mutexProducer{q: q.q} }
func (p *mutexProducer) Close()         {}

func (p *mutexProducer) Push(c *Credit, from, n, batch int) {
	if batch > 1 {
		InBatches(c, from, n, batch, &p.buf, p.q.PushBatch)
		return
	}
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		p.q.Push(Msg{c.ID, uint64(i), 1})
	}
}

func (p *mutexProducer) PushPop(c *Credit, s *Sink, from, n int) {
	for i := from; i < from+n; i++ {
		p.q.Push(Msg{c.ID, uint64(i), 1})
		if m, ok := p.q.TryPop(); ok {
			s.Take(m)
		}
	}
}

func (q mutexQueue) Consume(s *Sink, total int, wait bool) { consume(q.q, s, total, wait) }
