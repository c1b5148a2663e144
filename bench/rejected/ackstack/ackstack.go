// Package ackstack is a checkpointer that was measured and not taken: a
// linked lane of nodes per partition for registrations, and one linked stack
// for all acknowledgements, onto which the last release pushes its node.
//
// It is the bare path of one epoch: partitions are given once, handles carry
// no stamp (a release too many corrupts it), and there are no probes. So its
// figures flatter it.
package ackstack

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/pad"
)

// node is one batch. It is linked twice: in its lane in issue order, and on
// the stack of acknowledgements, later on the lane's free stack.
type node struct {
	// holders counts holders. Written by every holder.
	holders atomic.Int32
	// failed goes from false to true. Written by holders before a release.
	failed atomic.Bool
	seen   bool // consumer only: the acknowledgement was taken
	last   int64
	lane   *lane
	// next is the following batch of the lane. Written by the owner, which
	// registers that batch by it; read by the consumer.
	next atomic.Pointer[node]
	link *node // of whoever holds the node: the stack, the free stack
}

type lane struct {
	partition checkpoint.PartitionID
	// passed counts passed batches. Written by the consumer, read by the owner.
	passed atomic.Uint64
	// free holds passed nodes. The consumer pushes, the owner takes all.
	free atomic.Pointer[node]
	_    pad.Line

	// Owner only.
	newest *node
	spare  *node
	issued uint64
	_      pad.Line

	// Consumer only. head is the newest passed node; batches follow it.
	head    *node
	count   uint64
	seen    int // acknowledged batches after head
	touched bool
}

// Checkpointer holds the lanes of one epoch.
type Checkpointer struct {
	// acks is the stack of acknowledged nodes. Written by releases, by CAS,
	// and by Drain, by swap.
	acks    atomic.Pointer[node]
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
		return errors.New("ackstack: BeginEpoch was called before; there is one epoch")
	}
	c.lanes = make(map[checkpoint.PartitionID]*lane, len(partitions))
	for _, p := range partitions {
		first := new(node)
		c.lanes[p] = &lane{partition: p, head: first, newest: first}
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
	n := l.allocate()
	n.last = last
	n.holders.Store(1)
	l.issued++
	l.newest.next.Store(n)
	l.newest = n
	return Ack{n, i.c}, nil
}

// nodesAtOnce is how many nodes an allocation makes.
const nodesAtOnce = 64

func (l *lane) allocate() *node {
	if l.spare == nil {
		l.spare = l.free.Swap(nil)
	}
	if l.spare == nil {
		nodes := new([nodesAtOnce]node)
		for i := range nodes {
			nodes[i].lane, nodes[i].link = l, l.spare
			l.spare = &nodes[i]
		}
	}
	n := l.spare
	l.spare, n.link = n.link, nil
	return n
}

// Ack is one holder's handle.
type Ack struct {
	n *node
	c *Checkpointer
}

// Retain adds a holder.
func (a Ack) Retain() Ack {
	a.n.holders.Add(1)
	return a
}

// Fail marks the batch as failed.
func (a Ack) Fail() { a.n.failed.Store(true) }

// Release ends a hold; the last one pushes the batch on the stack.
func (a Ack) Release() {
	if a.n.holders.Add(-1) > 0 {
		return
	}
	for {
		top := a.c.acks.Load()
		a.n.link = top
		if a.c.acks.CompareAndSwap(top, a.n) {
			return
		}
	}
}

// Drain takes the acknowledgements.
func (c *Checkpointer) Drain() checkpoint.DrainStats {
	var stats checkpoint.DrainStats
	for n := c.acks.Swap(nil); n != nil; {
		next := n.link
		n.link, n.seen = nil, true
		stats.Applied++
		l := n.lane
		l.seen++
		if !l.touched {
			l.touched = true
			c.touched = append(c.touched, l)
		}
		n = next
	}
	return stats
}

// TakeWatermarks appends the watermarks that moved, in no order.
func (c *Checkpointer) TakeWatermarks(dst []checkpoint.Watermark) []checkpoint.Watermark {
	for _, l := range c.touched {
		l.touched = false
		if l.advance() {
			dst = append(dst, checkpoint.Watermark{Partition: l.partition, Offset: l.head.last + 1})
		}
	}
	c.touched = c.touched[:0]
	return dst
}

// advance passes the delivered prefix and gives the passed nodes back in one
// push.
func (l *lane) advance() bool {
	var first, last *node // of the chain to give back
	// A node that is used again has an old next until its successor is
	// registered. While a batch after head was seen, head has a successor.
	for l.seen > 0 {
		n := l.head.next.Load()
		if !n.seen || n.failed.Load() {
			break
		}
		old := l.head
		l.head = n
		l.count++
		l.seen--
		n.seen = false
		if old.lane == nil {
			continue // the lane's first node was never a batch
		}
		old.link = first
		first = old
		if last == nil {
			last = old
		}
	}
	if l.passed.Load() == l.count {
		return false
	}
	l.passed.Store(l.count)
	for last != nil {
		last.link = l.free.Load()
		if l.free.CompareAndSwap(last.link, first) {
			break
		}
	}
	return true
}
