package queuerows

import (
	"sync"
	"testing"
)

// Check holds queues to what the rows count on: that every message of every
// producer arrives once and in its order, whichever way it is pushed and
// consumed.
func Check(t *testing.T, impls []Impl) {
	for _, im := range impls {
		t.Run(im.Name, func(t *testing.T) {
			const total, producers = 1 << 15, 4
			for _, batch := range []int{1, 16} {
				for _, wait := range []bool{false, true} {
					if wait && !im.Waits {
						continue
					}
					r := newRig(im.Create(), total, producers, batch, wait)
					r.run()
					r.run()
					r.close()
					r.sink.check(t, 2*total/producers)
				}
			}
			checkPairs(t, im.Create())
			checkContention(t, im.Create())
		})
	}
}

// checkPairs pushes and pops on one goroutine, over more than any ring holds.
func checkPairs(t *testing.T, q Subject) {
	const waiting, pairs = 100, 3 * Backlog
	s, _ := newSink(1)
	c := unlimited(s, 0)
	p := q.Producer()
	p.Push(&c, 0, waiting, 1)
	p.PushPop(&c, s, waiting, pairs)
	s.check(t, pairs)
	q.Consume(s, waiting, false)
	s.check(t, pairs+waiting)
	p.Close()
}

// checkContention has a new producer for each few messages, all at once.
func checkContention(t *testing.T, q Subject) {
	const producers, each = 64, 64
	s, _ := newSink(producers)
	var wg sync.WaitGroup
	for id := range producers {
		p := q.Producer()
		wg.Go(func() {
			defer p.Close()
			c := unlimited(s, uint64(id))
			p.Push(&c, 0, each, 1)
		})
	}
	q.Consume(s, producers*each, false)
	wg.Wait()
	s.check(t, each)
}

// check fails unless each producer has sent n messages in order.
func (s *Sink) check(t *testing.T, n int) {
	t.Helper()
	for id := range s.lanes {
		if got := s.lanes[id].next; got != uint64(n) {
			t.Errorf("producer %d: %d messages arrived, want %d", id, got, n)
		}
	}
	if s.wrong > 0 {
		t.Errorf("%d messages out of order", s.wrong)
	}
}
