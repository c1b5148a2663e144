package checkpoint

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/mpsc"
)

type (
	queue = mpsc.InOrder[int64, lane]
	inbox = mpsc.Inbox[int64, lane]
)

// lane tracks one partition under one admission: a queue of batches, each a
// cell that carries its last offset. An untracked lane belongs to an issuer
// and serves the batches of a partition that is not admitted.
type lane struct {
	partition PartitionID
	epoch     uint32
	admission uint64 // its number; 0 for an untracked lane
	cp        *Checkpointer
	// owner is the issuer that issued first. Issuers CAS it from nil, once.
	owner atomics.Pointer[Issuer]
	// retired tells issuers that the admission has ended. Control methods set
	// it under the checkpointer's mutex; issuers load it when the assignment
	// has changed.
	retired atomics.Bool

	// The owner's own: the last offset issued, and the sequence number at
	// which the pending limit must be looked at again.
	lastOffset int64
	room       uint64

	q queue

	// Under the checkpointer's mutex.
	tracked   bool  // admitted now
	touched   bool  // the next take must look at it; in cp.touched
	stalled   bool  // take has reached a failed batch
	rejected  bool  // watermark is to be offered again: see Reject
	watched   bool  // in cp.watched
	watermark int64 // the last one taken, 0 for none
	committed int64 // the highest one confirmed, 0 for none
	skipped   int   // failed batches let pass by SkipFailed
	// start is where the admission began to read, -1 if nobody said: see StartAt.
	start int64
	// held tells since when the batch in front is there; nil until one was
	// seen to stay.
	held *holdUp
}

func newLane(c *Checkpointer, p PartitionID, a *assignment) *lane {
	l := &lane{partition: p, epoch: a.epoch, admission: a.admissions, cp: c, tracked: true, start: -1}
	if c.limit == 0 {
		l.room = math.MaxUint64
	}
	l.q.Init(c.shardOf(p).inbox, l)
	return l
}

// newUntracked returns a lane whose batches are only counted.
func newUntracked(c *Checkpointer, p PartitionID, a *assignment) *lane {
	l := newLane(c, p, a)
	l.tracked, l.admission = false, 0
	l.q.Discard(true)
	return l
}

// pending returns how many batches are pending, on any goroutine. The queue may
// count too many beside a take, and no more than the limit can be pending.
func (l *lane) pending() int {
	n := l.q.Outstanding()
	if limit := l.cp.limit; limit > 0 {
		n = min(n, limit)
	}
	return n
}

// hasRoom reports whether the pending limit lets the owner issue one more. It
// looks at what was taken only when the room found last time is used up.
func (l *lane) hasRoom() bool {
	if l.q.Next() < l.room {
		return true
	}
	l.room = l.q.Taken() + uint64(l.cp.limit)
	return l.q.Next() < l.room
}

func (l *lane) id(seq uint64) BatchID {
	return BatchID{Partition: l.partition, Epoch: l.epoch, Seq: seq}
}

// table is the immutable set of lanes of a shard.
type table struct {
	byPartition map[PartitionID]*lane
	lanes       []*lane // the same, in a fixed order
}

func newTable(lanes []*lane) *table {
	t := &table{byPartition: make(map[PartitionID]*lane, len(lanes)), lanes: lanes}
	for _, l := range lanes {
		t.byPartition[l.partition] = l
	}
	return t
}

// shard holds the lanes of the partitions that hash to it, and the inbox that
// those lanes report to.
type shard struct {
	// table is replaced as a whole under the checkpointer's mutex; issuers
	// and probes load it.
	table atomics.Pointer[table]
	inbox *inbox
}

func (s *shard) find(p PartitionID) *lane { return s.table.Load().byPartition[p] }

// shardIndex returns the shard of p by its xxhash.
func (c *Checkpointer) shardIndex(p PartitionID) int {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(p))
	return int(xxhash.Sum64(b[:]) & uint64(len(c.shards)-1))
}

func (c *Checkpointer) shardOf(p PartitionID) *shard { return &c.shards[c.shardIndex(p)] }
