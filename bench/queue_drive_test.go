package bench

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/bench/mutexqueue"
	"github.com/tidemark-go/tidemark/bench/rejected/queues"
	"github.com/tidemark-go/tidemark/internal/pad"
	"github.com/tidemark-go/tidemark/mpsc"
)

// msg is what the queues carry: 24 bytes.
type msg struct {
	producer uint64
	seq      uint64
	payload  uint64
}

// backlog bounds the messages that wait: it is the capacity of the channel
// and of the ring; for the unbounded queues the producers share it, but have
// at least 64 messages each.
const backlog = 4096

// queueSubject is a queue under measurement. A call handles many messages,
// with direct calls to the queue inside.
type queueSubject interface {
	producer() queueProducer
	// consume hands total messages to s. With wait it sleeps while there are
	// none, otherwise it yields.
	consume(s *sink, total int, wait bool)
}

// queueProducer belongs to one goroutine.
type queueProducer interface {
	// push pushes the messages from…from+n-1 of a producer, batch at a time
	// where the queue can do that. n is a multiple of batch.
	push(c *credit, from, n, batch int)
	close()
}

// sink is the consumer's end: it checks the order of each producer and gives
// back credit.
type sink struct {
	lanes []sinkLane
	every uint64 // messages between two updates of acked, a power of two
	wrong int
	each  func(msg) // take, made once: a method value is an allocation
}

type sinkLane struct {
	next uint64
	_    pad.Line
	// acked is written by the consumer, read by the producer when it is out
	// of credit.
	acked atomic.Uint64
	_     pad.Line
}

func newSink(producers int) (*sink, uint64) {
	// Few messages a producer would make it wait for the consumer's turn all
	// the time, which no user of an unbounded queue does.
	window := uint64(max(64, backlog/producers))
	s := &sink{lanes: make([]sinkLane, producers), every: min(64, window/4)}
	s.each = s.take
	return s, window
}

func (s *sink) take(m msg) {
	l := &s.lanes[m.producer]
	if m.seq != l.next {
		s.wrong++
	}
	l.next++
	if l.next&(s.every-1) == 0 {
		l.acked.Store(l.next)
	}
}

// credit bounds what a producer of an unbounded queue has under way.
type credit struct {
	lane   *sinkLane
	id     uint64
	window uint64
	end    uint64 // the producer may push messages below it
}

func (c *credit) wait(upTo uint64) {
	for upTo > c.end {
		if c.end = c.lane.acked.Load() + c.window; upTo > c.end {
			runtime.Gosched()
		}
	}
}

// The channel: nothing around it. A push is a send, a consumer that waits
// receives, one that does not wait receives if it can.
type channelQueue chan msg

func (q channelQueue) producer() queueProducer { return q }
func (q channelQueue) close()                  {}

func (q channelQueue) push(c *credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		q <- msg{c.id, uint64(i), 1}
	}
}

func (q channelQueue) consume(s *sink, total int, wait bool) {
	if wait {
		for range total {
			s.take(<-q)
		}
		return
	}
	for total > 0 {
		select {
		case m := <-q:
			s.take(m)
			total--
		default:
			runtime.Gosched()
		}
	}
}

// drainer is how every other queue is consumed.
type drainer interface {
	Drain(f func(msg)) int
}

// drainInto consumes without waiting.
func drainInto(q drainer, s *sink, total int) {
	for total > 0 {
		n := q.Drain(s.each)
		total -= n
		if n == 0 {
			runtime.Gosched()
		}
	}
}

// waiterQueue is a queue with Wait.
type waiterQueue interface {
	drainer
	Wait(ctx context.Context) error
}

func consumeWaiting(q waiterQueue, s *sink, total int, wait bool) {
	if !wait {
		drainInto(q, s, total)
		return
	}
	ctx := context.Background()
	for total > 0 {
		if err := q.Wait(ctx); err != nil {
			panic(err)
		}
		total -= q.Drain(s.each)
	}
}

// mpsc.Queue with its shared Push.
type sharedQueue struct{ q *mpsc.Queue[msg] }

func (q sharedQueue) producer() queueProducer { return q }
func (q sharedQueue) close()                  {}

func (q sharedQueue) push(c *credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.wait(uint64(i + 1))
		q.q.Push(msg{c.id, uint64(i), 1})
	}
}

func (q sharedQueue) consume(s *sink, total int, wait bool) { consumeWaiting(q.q, s, total, wait) }

// mpsc.Queue with a lane for each producer.
type laneQueue struct{ q *mpsc.Queue[msg] }

type laneProducer struct {
	p   *mpsc.Producer[msg]
	buf []msg
}

func (q laneQueue) producer() queueProducer { return &laneProducer{p: q.q.Producer()} }
func (p *laneProducer) close()              { p.p.Close() }

func (p *laneProducer) push(c *credit, from, n, batch int) {
	if batch > 1 {
		inBatches(c, from, n, batch, &p.buf, p.p.PushBatch)
		return
	}
	for i := from; i < from+n; i++ {
		c.wait(uint64(i + 1))
		p.p.Push(msg{c.id, uint64(i), 1})
	}
}

// inBatches fills a buffer and pushes it, again and again.
func inBatches(c *credit, from, n, batch int, buf *[]msg, push func([]msg) int) {
	if len(*buf) != batch {
		*buf = make([]msg, batch)
	}
	for i := from; i < from+n; i += batch {
		for k := range *buf {
			(*buf)[k] = msg{c.id, uint64(i + k), 1}
		}
		c.wait(uint64(i + batch))
		push(*buf)
	}
}

func (q laneQueue) consume(s *sink, total int, wait bool) { consumeWaiting(q.q, s, total, wait) }

// The slice under a mutex.
type mutexQueue struct{ q *mutexqueue.Queue[msg] }

type mutexProducer struct {
	q   *mutexqueue.Queue[msg]
	buf []msg
}

func (q mutexQueue) producer() queueProducer { return &mutexProducer{q: q.q} }
func (p *mutexProducer) close()              {}

func (p *mutexProducer) push(c *credit, from, n, batch int) {
	if batch > 1 {
		inBatches(c, from, n, batch, &p.buf, p.q.PushBatch)
		return
	}
	for i := from; i < from+n; i++ {
		c.wait(uint64(i + 1))
		p.q.Push(msg{c.id, uint64(i), 1})
	}
}

func (q mutexQueue) consume(s *sink, total int, wait bool) { consumeWaiting(q.q, s, total, wait) }

// The rejected queues. They have no Wait.
type ringQueue struct{ q *queues.Ring[msg] }

func (q ringQueue) producer() queueProducer { return q }
func (q ringQueue) close()                  {}

func (q ringQueue) push(c *credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		q.q.Push(msg{c.id, uint64(i), 1})
	}
}

func (q ringQueue) consume(s *sink, total int, _ bool) { drainInto(q.q, s, total) }

type ticketQueue struct{ q *queues.Ticket[msg] }

func (q ticketQueue) producer() queueProducer { return q }
func (q ticketQueue) close()                  {}

func (q ticketQueue) push(c *credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.wait(uint64(i + 1))
		q.q.Push(msg{c.id, uint64(i), 1})
	}
}

func (q ticketQueue) consume(s *sink, total int, _ bool) { drainInto(q.q, s, total) }

type stackQueue struct{ q *queues.Stack[msg] }

func (q stackQueue) producer() queueProducer { return q }
func (q stackQueue) close()                  {}

func (q stackQueue) push(c *credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.wait(uint64(i + 1))
		q.q.Push(msg{c.id, uint64(i), 1})
	}
}

func (q stackQueue) consume(s *sink, total int, _ bool) { drainInto(q.q, s, total) }
