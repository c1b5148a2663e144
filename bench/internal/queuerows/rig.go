package queuerows

import "sync"

// rig is a queue with its producers and its consumer.
type rig struct {
	q         Subject
	producers []Producer
	credits   []Credit
	sink      *Sink
	total     int // messages of one run
	from      int // messages that each producer has pushed
	batch     int
	wait      bool
}

func newRig(q Subject, total, producers, batch int, wait bool) *rig {
	s, window := newSink(producers)
	r := &rig{q: q, sink: s, total: total, batch: batch, wait: wait}
	for id := range producers {
		r.producers = append(r.producers, q.Producer())
		r.credits = append(r.credits, Credit{ID: uint64(id), lane: &s.lanes[id], window: window})
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
			p.Push(&c, r.from, each, r.batch)
		})
	}
	r.q.Consume(r.sink, each*len(r.producers), r.wait)
	wg.Wait()
	r.from += each
}

func (r *rig) close() {
	for _, p := range r.producers {
		p.Close()
	}
}
