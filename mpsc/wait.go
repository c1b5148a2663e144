package mpsc

import (
	"context"
	"errors"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// ErrClosed is what Wait returns when the queue is closed, nothing is left in
// it and no unfinished push can still add to it.
var ErrClosed = errors.New("mpsc: the queue is closed and empty")

// Wait blocks the consumer until an element is published, and returns nil; it
// does so also if ctx is done by then. It returns ErrClosed if the queue is
// closed and empty for good: an unfinished push keeps it waiting. Otherwise
// it returns ctx.Err() once ctx is done. The consumer call after a nil finds
// the element.
//
// While it waits, the goroutine is parked and uses no processor time. A push
// that finds the consumer parked wakes it. Wait is for the consumer.
func (q *Queue[T]) Wait(ctx context.Context) error {
	q.mustBeMade("Wait")
	if ctx == nil {
		panic("mpsc: Queue.Wait needs a context, got nil")
	}
	q.enter("Wait")
	defer q.leave(0)
	for {
		// The context first: what is published before it is done must be found.
		err := ctx.Err()
		if ready, done := q.look(); ready {
			return nil
		} else if done {
			return ErrClosed
		}
		if err != nil {
			return err
		}
		// One turn for the producers first: what they push while the consumer
		// does not look costs no wake-up.
		atomics.Yield()
		if ready, _ := q.look(); ready {
			return nil
		}
		q.park(ctx)
	}
}

// park sleeps until the queue may have changed or ctx is done.
func (q *Queue[T]) park(ctx context.Context) {
	// The producer publishes, then loads waiting. We store waiting, then look.
	// In the one order of these four, either it sees that we wait or we see
	// what it published.
	q.waiting.Store(true)
	if ready, done := q.look(); !ready && !done {
		// The error is of ctx, which the caller asks after another look.
		_ = q.parker.Park(ctx)
	}
	q.waiting.Store(false)
}

// wake wakes the consumer if it is parked or about to be. Called after what
// it should see.
func (q *Queue[T]) wake() {
	if q.waiting.Load() {
		q.unpark()
	}
}

func (q *Queue[T]) unpark() {
	if q.waiting.Swap(false) {
		q.parker.Unpark()
	}
}

// look reports whether an element is published, and if not, whether the queue
// is closed, empty and sealed on all sides.
func (q *Queue[T]) look() (ready, done bool) {
	list := q.lanes.Load()
	ready, done = q.lookShared()
	done = done && list.closed
	dead := false
	for _, p := range list.lanes {
		if ready {
			break
		}
		w := p.tail.Load()
		ready = w&^laneSealed != p.cons.taken
		p.cons.dead = w == p.cons.taken|laneSealed
		done = done && p.cons.dead
		dead = dead || p.cons.dead
	}
	if dead {
		q.prune()
	}
	return ready, done && !ready
}

// lookShared is look for the shared chain. Like a strict sweep it loads the
// end first; it takes nothing.
func (q *Queue[T]) lookShared() (ready, done bool) {
	c := &q.cons
	// Most often the next cell is published, and then the end, whose cache
	// line belongs to the producers, need not be looked at.
	if len(c.gaps) == 0 && c.pos < len(c.head.cells) && c.head.cells[c.pos].stamp.Load() == c.head.gen {
		return true, false
	}
	t := q.tail.Load()
	w := t.claim.Load()
	for _, g := range c.gaps {
		if g.seg.cells[g.i].stamp.Load() == g.seg.gen {
			return true, false
		}
	}
	end := t.claimed(w)
	unpublished := len(c.gaps)
	for s, i := c.head, c.pos; ; s, i = s.next.Load(), 0 {
		limit := end
		if s != t {
			limit = len(s.cells)
		}
		for ; i < limit; i++ {
			if s.cells[i].stamp.Load() == s.gen {
				if unpublished > 0 {
					c.lazy = lazyCalls // the next call must find it
				}
				return true, false
			}
			unpublished++
		}
		if s == t {
			return false, unpublished == 0 && w&claimSealed != 0
		}
	}
}
