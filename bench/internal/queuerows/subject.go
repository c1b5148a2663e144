// Package queuerows has the rows of the queue benchmarks, and drivers of the
// queues that every comparison has: those of this module, a channel, and a
// slice under a mutex. Other queues bring a driver of their own and do the
// same work.
package queuerows

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/internal/pad"
)

// Msg is what the queues carry: 24 bytes.
type Msg struct {
	Producer uint64
	Seq      uint64
	Payload  uint64
}

// Backlog bounds the messages that wait: it is the capacity of the channel
// and of other bounded queues; for the unbounded ones the producers share it,
// but have at least 64 messages each.
const Backlog = 4096

// Subject is a queue under measurement. A call handles many messages, with
// direct calls to the queue inside, so that the interface costs nothing that
// shows.
type Subject interface {
	Producer() Producer
	// Consume hands total messages to s. With wait it sleeps while there are
	// none, otherwise it yields.
	Consume(s *Sink, total int, wait bool)
}

// Producer belongs to one goroutine.
type Producer interface {
	// Push pushes the messages from…from+n-1 of a producer, batch at a time
	// where the queue can do that. n is a multiple of batch. Before each it
	// calls Wait of c, unless the queue is bounded.
	Push(c *Credit, from, n, batch int)
	// PushPop does the same one by one, and pops one message after each.
	PushPop(c *Credit, s *Sink, from, n int)
	Close()
}

// Impl is a queue and what it can do.
type Impl struct {
	Name    string
	Create  func() Subject
	Batches bool // it has a batch push
	Waits   bool // its consumer can sleep
}

// Sink is the consumer's end: it checks the order of each producer and gives
// back credit.
type Sink struct {
	// Each is Take, made once: a method value is an allocation.
	Each  func(Msg)
	lanes []sinkLane
	every uint64 // messages between two updates of acked, a power of two
	wrong int
}

type sinkLane struct {
	next uint64
	_    pad.Line
	// acked is written by the consumer, read by the producer when it is out
	// of credit.
	acked atomic.Uint64
	_     pad.Line
}

func newSink(producers int) (*Sink, uint64) {
	// Few messages a producer would make it wait for the consumer's turn all
	// the time, which no user of an unbounded queue does.
	window := uint64(max(64, Backlog/producers))
	s := &Sink{lanes: make([]sinkLane, producers), every: min(64, window/4)}
	s.Each = s.Take
	return s, window
}

// Take takes one message.
func (s *Sink) Take(m Msg) {
	l := &s.lanes[m.Producer]
	if m.Seq != l.next {
		s.wrong++
	}
	l.next++
	if l.next&(s.every-1) == 0 {
		l.acked.Store(l.next)
	}
}

// Credit bounds what a producer of an unbounded queue has under way.
type Credit struct {
	ID     uint64 // the producer
	lane   *sinkLane
	window uint64
	end    uint64 // the producer may push messages below it
}

// unlimited is the credit of a producer that never waits.
func unlimited(s *Sink, id uint64) Credit {
	return Credit{ID: id, lane: &s.lanes[id], end: math.MaxUint64}
}

// Wait yields until the producer may push messages below upTo.
func (c *Credit) Wait(upTo uint64) {
	for upTo > c.end {
		if c.end = c.lane.acked.Load() + c.window; upTo > c.end {
			runtime.Gosched()
		}
	}
}

// Drainer is how most queues are consumed.
type Drainer interface {
	Drain(f func(Msg)) int
}

// DrainInto consumes without sleeping.
func DrainInto(q Drainer, s *Sink, total int) {
	for total > 0 {
		n := q.Drain(s.Each)
		total -= n
		if n == 0 {
			runtime.Gosched()
		}
	}
}

// InBatches fills a buffer and pushes it, again and again.
func InBatches(c *Credit, from, n, batch int, buf *[]Msg, push func([]Msg) int) {
	if len(*buf) != batch {
		*buf = make([]Msg, batch)
	}
	for i := from; i < from+n; i += batch {
		for k := range *buf {
			(*buf)[k] = Msg{c.ID, uint64(i + k), 1}
		}
		c.Wait(uint64(i + batch))
		push(*buf)
	}
}
