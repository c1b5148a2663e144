// Package bitmap is a checkpointer that was measured and not taken: cells in
// segments, with the resolutions in a bitmap apart from the cells' own words
// and a published tail per lane. A release therefore costs two atomic
// read-modify-writes and an issue two atomic stores.
//
// It is the bare path of one epoch: partitions are given once, handles carry
// no stamp (a release too many corrupts it), and there are no probes. So its
// figures flatter it.
package bitmap

import (
	"errors"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/pad"
)

const cells = 64 // of a segment: one word of the bitmap

type cell struct {
	// holders counts holders. Written by every holder.
	holders atomic.Int32
	last    int64
}

type segment struct {
	// resolved and failed have a bit per cell, set once per use. Written by
	// holders; cleared by the consumer before the owner uses the segment again.
	resolved atomic.Uint64
	failed   atomic.Uint64
	// dirty goes to 1 when the segment is put on the ready stack and to 0
	// when the consumer takes it off.
	dirty atomic.Uint32
	ready *segment // link of the ready stack
	lane  *lane
	seen  uint64   // consumer only: resolved, as of the last Drain
	next  *segment // written by the owner before it publishes a cell in it
	spare *segment // link of the free stack
	cells [cells]cell
}

type lane struct {
	partition checkpoint.PartitionID
	// tail counts registered batches. Written by the owner, read by the consumer.
	tail atomic.Uint64
	// passed counts passed batches. Written by the consumer, read by the owner.
	passed atomic.Uint64
	// free holds passed segments. The consumer pushes, the owner takes all.
	free atomic.Pointer[segment]
	_    pad.Line

	// Owner only.
	current *segment
	unused  *segment
	issued  uint64
	_       pad.Line

	// Consumer only.
	head    *segment
	base    uint64 // count at the first cell of head
	count   uint64
	mark    int64
	touched bool
}

// Checkpointer holds the lanes of one epoch.
type Checkpointer struct {
	// ready is the stack of segments with news. Written by releases, by CAS,
	// and by Drain, by swap.
	ready   atomic.Pointer[segment]
	_       pad.Line
	limit   uint64
	lanes   map[checkpoint.PartitionID]*lane
	touched []*lane
}

// New returns a checkpointer; a pending limit of 0 is none.
func New(limit int) *Checkpointer {
	if limit <= 0 {
		limit = math.MaxInt
	}
	return &Checkpointer{limit: uint64(limit)}
}

// BeginEpoch gives the partitions. It is called once, before anything else.
func (c *Checkpointer) BeginEpoch(_ uint32, partitions ...checkpoint.PartitionID) error {
	if c.lanes != nil {
		return errors.New("bitmap: BeginEpoch was called before; there is one epoch")
	}
	c.lanes = make(map[checkpoint.PartitionID]*lane, len(partitions))
	for _, p := range partitions {
		l := &lane{partition: p}
		l.head = &segment{lane: l}
		l.current = l.head
		c.lanes[p] = l
	}
	return nil
}

// Issuer issues for its own partitions, on one goroutine.
type Issuer struct {
	c     *Checkpointer
	lanes map[checkpoint.PartitionID]*lane
}

// Issuer returns a new issuer.
func (c *Checkpointer) Issuer() *Issuer { return &Issuer{c: c, lanes: c.lanes} }

// Issue registers the next batch of an assigned partition.
func (i *Issuer) Issue(p checkpoint.PartitionID, last int64) (Ack, error) {
	l := i.lanes[p]
	if l.issued-l.passed.Load() >= i.c.limit {
		return Ack{}, checkpoint.ErrPendingLimit
	}
	k := l.issued % cells
	if k == 0 && l.issued > 0 {
		s := l.allocate()
		l.current.next = s
		l.current = s
	}
	cell := &l.current.cells[k]
	cell.last = last
	cell.holders.Store(1)
	l.issued++
	l.tail.Store(l.issued)
	return Ack{l.current, i.c, uint32(k)}, nil
}

func (l *lane) allocate() *segment {
	if l.unused == nil {
		l.unused = l.free.Swap(nil)
	}
	s := l.unused
	if s == nil {
		return &segment{lane: l}
	}
	l.unused, s.spare = s.spare, nil
	return s
}

// Ack is one holder's handle.
type Ack struct {
	s *segment
	c *Checkpointer
	k uint32
}

// Retain adds a holder.
func (a Ack) Retain() Ack {
	a.s.cells[a.k].holders.Add(1)
	return a
}

// Fail marks the batch as failed.
func (a Ack) Fail() { a.s.failed.Or(1 << a.k) }

// Release ends a hold; the last one sets the batch's bit and tells the
// consumer of the segment.
func (a Ack) Release() {
	if a.s.cells[a.k].holders.Add(-1) > 0 {
		return
	}
	a.s.resolved.Or(1 << a.k)
	if a.s.dirty.Load() != 0 || !a.s.dirty.CompareAndSwap(0, 1) {
		return
	}
	for {
		a.s.ready = a.c.ready.Load()
		if a.c.ready.CompareAndSwap(a.s.ready, a.s) {
			return
		}
	}
}

// Drain looks at the segments with news.
func (c *Checkpointer) Drain() checkpoint.DrainStats {
	var stats checkpoint.DrainStats
	for s := c.ready.Swap(nil); s != nil; {
		next := s.ready
		s.ready = nil
		s.dirty.Store(0) // before the bits are read: a later bit marks again
		resolved := s.resolved.Load()
		stats.Applied += bits.OnesCount64(resolved &^ s.seen)
		s.seen = resolved
		if l := s.lane; !l.touched {
			l.touched = true
			c.touched = append(c.touched, l)
		}
		s = next
	}
	return stats
}

// TakeWatermarks appends the watermarks that moved, in no order.
func (c *Checkpointer) TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark {
	for _, l := range c.touched {
		l.touched = false
		if l.advance() {
			dst = append(dst, checkpoint.Watermark{Partition: l.partition, Offset: l.mark + 1})
		}
	}
	c.touched = c.touched[:0]
	return dst
}

// advance passes the delivered prefix. A segment whose cells are all passed
// is given back once the next one exists.
func (l *lane) advance() bool {
	before, tail := l.count, l.tail.Load()
	for l.count < tail {
		s := l.head
		if l.count == l.base+cells {
			l.head = s.next
			l.base += cells
			s.seen, s.next = 0, nil
			s.resolved.Store(0)
			l.give(s)
			s = l.head
		}
		from := l.count - l.base
		n := uint64(bits.TrailingZeros64(^((s.seen &^ s.failed.Load()) >> from)))
		n = min(n, cells-from)
		if n == 0 {
			break
		}
		l.count += n
		l.mark = s.cells[from+n-1].last
	}
	l.passed.Store(l.count)
	return l.count != before
}

func (l *lane) give(s *segment) {
	for {
		s.spare = l.free.Load()
		if l.free.CompareAndSwap(s.spare, s) {
			return
		}
	}
}
