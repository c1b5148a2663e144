package checkpoint

// mark returns the watermark of l as it is handed out.
func (l *lane) mark() Watermark {
	return Watermark{Partition: l.partition, admission: uint32(l.admission), Offset: l.watermark}
}

// touch has the next take look at l.
func (c *Checkpointer) touch(l *lane) {
	if !l.touched {
		l.touched = true
		c.touched = append(c.touched, l)
	}
}

// laneOf returns the lane that w was taken from, nil if its admission has
// ended or it was not taken from this Checkpointer.
func (c *Checkpointer) laneOf(w Watermark) *lane {
	l := c.shardOf(w.Partition).find(w.Partition)
	if l == nil || w.admission != uint32(l.admission) || w.Offset <= 0 || w.Offset > l.watermark {
		return nil
	}
	return l
}

// Confirm says that watermarks were committed to the source. Committed tells
// the highest one. A rejected watermark that is not above it is not offered
// again: a later commit of the partition covered it.
//
// Confirm and Reject are for loops whose commits can fail. Without them
// nothing changes: a watermark that was taken is taken for committed.
//
// Watermarks of an admission that has ended are ignored, whether the partition
// has returned or not, and so are those that did not come from this
// Checkpointer. Confirm returns the number of the others. Like all control
// methods it may be called from any goroutine.
func (c *Checkpointer) Confirm(ws []Watermark) int {
	return c.settle(ws, func(l *lane, w Watermark) {
		l.committed = max(l.committed, w.Offset)
		if l.committed == l.watermark {
			l.rejected = false
		}
	})
}

// Reject gives watermarks back whose commit failed. The next TakeWatermarks
// offers each again, or a higher one instead if there is one by then. If a
// higher one of the partition was taken already, or one that is not lower was
// confirmed, nothing is offered again: the fate of the higher one decides.
//
// Wait does not return for it, as there is nothing to drain: a loop that has
// rejected something takes again after a while of its own.
//
// It ignores what Confirm ignores, and returns the number of the others.
func (c *Checkpointer) Reject(ws []Watermark) int {
	return c.settle(ws, func(l *lane, w Watermark) {
		if w.Offset == l.watermark && w.Offset > l.committed {
			l.rejected = true
			c.touch(l)
		}
	})
}

// settle calls f for the watermarks of admissions that last, and returns their
// number.
func (c *Checkpointer) settle(ws []Watermark, f func(*lane, Watermark)) int {
	c.lock()
	defer c.mu.Unlock()
	n := 0
	for _, w := range ws {
		if l := c.laneOf(w); l != nil {
			n++
			f(l, w)
		}
	}
	return n
}

// Committed returns the highest offset of p that was confirmed under its
// current admission; ok is false if there is none.
func (c *Checkpointer) Committed(p PartitionID) (offset int64, ok bool) {
	c.lock()
	defer c.mu.Unlock()
	l := c.shardOf(p).find(p)
	if l == nil || l.committed == 0 {
		return 0, false
	}
	return l.committed, true
}
