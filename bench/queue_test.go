package bench

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tidemark-go/tidemark/bench/mutexqueue"
	"github.com/tidemark-go/tidemark/bench/rejected/queues"
	"github.com/tidemark-go/tidemark/mpsc"
)

// queueImplementations lists the queues and what they can do.
var queueImplementations = []struct {
	name    string
	create  func() queueSubject
	batches bool // it has a batch push
	waits   bool
}{
	{"shared", func() queueSubject { return sharedQueue{mpsc.New[msg]()} }, false, true},
	{"lane", func() queueSubject { return laneQueue{mpsc.New[msg]()} }, true, true},
	{"channel", func() queueSubject { return make(channelQueue, backlog) }, false, true},
	{"mutex", func() queueSubject { return mutexQueue{mutexqueue.New[msg]()} }, true, true},
	{"ring", func() queueSubject { return ringQueue{queues.NewRing[msg](backlog)} }, false, false},
	{"ticket", func() queueSubject { return ticketQueue{queues.NewTicket[msg]()} }, false, false},
	{"stack", func() queueSubject { return stackQueue{queues.NewStack[msg]()} }, false, false},
}

// eachQueue runs one row per queue. In rows with batches the queues without a
// batch push are left out, but for the channel, the baseline, which sends the
// messages one by one.
func eachQueue(b *testing.B, batch int, wait bool, dims string, run func(b *testing.B, create func() queueSubject)) {
	for _, im := range queueImplementations {
		if batch > 1 && !im.batches && im.name != "channel" || wait && !im.waits {
			continue
		}
		row(b, fmt.Sprintf("impl=%s/%s", im.name, dims), func(b *testing.B) { run(b, im.create) })
	}
}

// BenchmarkQueueBurst pushes a burst and then pops it, on one goroutine.
func BenchmarkQueueBurst(b *testing.B) {
	const burst = 256
	for _, batch := range []int{1, 16} {
		dims := fmt.Sprintf("burst=%d/batch=%d", burst, batch)
		eachQueue(b, batch, false, dims, func(b *testing.B, create func() queueSubject) {
			q := create()
			s, window := newSink(1)
			p := q.producer()
			defer p.close()
			cr := &credit{lane: &s.lanes[0], window: window}
			n := 0
			once := func() {
				p.push(cr, n, burst, batch)
				q.consume(s, burst, false)
				n += burst
			}
			for range 64 {
				once()
			}
			warm := n
			var c clock
			c.begin()
			for b.Loop() {
				once()
			}
			c.end()
			if s.wrong > 0 {
				b.Fatalf("%d messages out of order", s.wrong)
			}
			c.report(b, n-warm, "msg", "msgs")
		})
	}
}

const queueTotal = 1 << 18 // messages of one run, of all producers

// BenchmarkQueueProducers has producers push a fixed total while the consumer
// drains, yielding when there is nothing (consumer=poll) or sleeping
// (consumer=wait).
func BenchmarkQueueProducers(b *testing.B) {
	for _, consumer := range []string{"poll", "wait"} {
		for _, producers := range []int{1, 2, 4, 8, 16, 512} {
			queueRows(b, producers, 1, consumer)
		}
	}
}

// BenchmarkQueueBatches pushes 16 messages at a time.
func BenchmarkQueueBatches(b *testing.B) {
	for _, producers := range []int{1, 8} {
		queueRows(b, producers, 16, "poll")
	}
}

func queueRows(b *testing.B, producers, batch int, consumer string) {
	wait := consumer == "wait"
	dims := fmt.Sprintf("producers=%d/batch=%d/consumer=%s", producers, batch, consumer)
	eachQueue(b, batch, wait, dims, func(b *testing.B, create func() queueSubject) {
		r := newRig(create(), queueTotal, producers, batch, wait)
		defer r.close()
		r.run() // the first time without counting
		var c clock
		runs := 0
		c.begin()
		for b.Loop() {
			r.run()
			runs++
		}
		c.end()
		if r.sink.wrong > 0 {
			b.Fatalf("%d messages out of order", r.sink.wrong)
		}
		c.report(b, runs*queueTotal, "msg", "msgs")
	})
}

// rig is a queue with its producers and its consumer.
type rig struct {
	q         queueSubject
	producers []queueProducer
	credits   []credit
	sink      *sink
	total     int // messages of one run
	from      int // messages that each producer has pushed
	batch     int
	wait      bool
}

func newRig(q queueSubject, total, producers, batch int, wait bool) *rig {
	s, window := newSink(producers)
	r := &rig{q: q, sink: s, total: total, batch: batch, wait: wait}
	for id := range producers {
		r.producers = append(r.producers, q.producer())
		r.credits = append(r.credits, credit{lane: &s.lanes[id], id: uint64(id), window: window})
	}
	return r
}

// run moves the fixed total through the queue.
func (r *rig) run() {
	each := r.total / len(r.producers)
	var wg sync.WaitGroup
	for id, p := range r.producers {
		wg.Go(func() {
			c := r.credits[id] // a copy, so that producers share no cache line
			p.push(&c, r.from, each, r.batch)
		})
	}
	r.q.consume(r.sink, each*len(r.producers), r.wait)
	wg.Wait()
	r.from += each
}

func (r *rig) close() {
	for _, p := range r.producers {
		p.close()
	}
}

// TestQueueDriversKeepOrder runs each driver; the sink checks the order.
func TestQueueDriversKeepOrder(t *testing.T) {
	for _, im := range queueImplementations {
		t.Run(im.name, func(t *testing.T) {
			for _, batch := range []int{1, 16} {
				const total, producers = 1 << 15, 4
				r := newRig(im.create(), total, producers, batch, im.waits)
				r.run()
				r.run()
				r.close()
				for id := range r.sink.lanes {
					if n := r.sink.lanes[id].next; n != 2*total/producers {
						t.Errorf("producer %d: %d messages arrived, want %d", id, n, 2*total/producers)
					}
				}
				if r.sink.wrong > 0 {
					t.Errorf("%d messages out of order", r.sink.wrong)
				}
			}
		})
	}
}
