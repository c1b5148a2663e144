package pipeline

import (
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// groupChunks is how many chunks may wait while a group is being synced; they
// are the next group.
const groupChunks = 64

// write makes chunks durable, a group at a time: one sync costs the same for
// one batch and for many. On a failure it calls stop, and fails all that is
// still handed out.
func (p *pipeline) write(stop func()) error {
	w := writer{pipeline: p, seen: map[int32]checkpoint.BatchID{}}
	// What is still held when this returns is not on disk: it fails.
	defer w.acks.Close()
	for c := range p.chunks {
		if err := w.group(c); err != nil {
			stop()
			for c := range p.chunks {
				w.acks.Add(c.batch.Ack)
				p.budget.give(size(c.batch))
			}
			return err
		}
	}
	return nil
}

// writer is the state of the writing goroutine.
type writer struct {
	*pipeline
	acks checkpoint.AckSet
	// held are the chunks that acks belong to.
	held []*chunk
	// seen is the latest batch of each partition, to count overtaking.
	seen map[int32]checkpoint.BatchID
}

// group writes one chunk and all that wait behind it, syncs and acknowledges.
func (w *writer) group(c *chunk) error {
	err := w.add(c)
	for len(w.held) < groupChunks && err == nil {
		next := w.waiting()
		if next == nil {
			break
		}
		err = w.add(next)
	}
	if err == nil {
		err = w.sync()
	}
	for _, c := range w.held {
		if err == nil {
			w.stats.durable(c)
			if w.cfg.OnDurable != nil {
				w.cfg.OnDurable(c.batch)
			}
		}
		w.budget.give(size(c.batch))
		c.recycle()
	}
	clear(w.held)
	w.held = w.held[:0]
	if err == nil {
		w.acks.Deliver()
	}
	return err
}

// waiting returns the next chunk that is there already, or nil.
func (w *writer) waiting() *chunk {
	select {
	case c := <-w.chunks: // nil when it is closed
		return c
	default:
		return nil
	}
}

// add takes over the chunk's Ack and writes its lines.
func (w *writer) add(c *chunk) error {
	w.acks.Add(c.batch.Ack)
	w.held = append(w.held, c)
	id := c.batch.Ack.ID()
	if last, ok := w.seen[c.batch.Partition]; ok && last.Epoch == id.Epoch && id.Seq < last.Seq {
		w.stats.Overtaken.Add(1)
	} else {
		w.seen[c.batch.Partition] = id
	}
	if err := w.cfg.Events.Append(c.events); err != nil {
		return err
	}
	return w.cfg.Dead.Append(c.dead)
}

func (w *writer) sync() error {
	w.stats.Syncs.Add(1)
	if err := w.cfg.Events.Sync(); err != nil {
		return err
	}
	return w.cfg.Dead.Sync()
}
