package kafka

import (
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kgo"
)

// unknown stands for an offset that is not known yet.
const unknown = -1

// partition is one topic partition this member has ever owned. It keeps its
// PartitionID for the life of the Source; the fields below admitted belong to
// the current admission. Everything is guarded by Source.mu.
type partition struct {
	topic string
	num   int32
	id    checkpoint.PartitionID

	// admitted: the checkpointer tracks the partition. Batches are issued,
	// watermarks taken and offsets committed only while it is set.
	admitted bool
	// gen counts admissions, so that what was started under one is not
	// applied to the next. The checkpointer tells its own watermarks apart,
	// but a rewind is none of them.
	gen uint64

	// committed is the group's commit as far as known: fetched when the
	// partition was assigned, or accepted since.
	committed int64
	// acked is the watermark, or where a rewind goes back to: what the next
	// commit carries. mark is the watermark as the checkpointer gave it out, to
	// be confirmed or rejected, and offered says that no commit carries it yet.
	acked   int64
	mark    checkpoint.Watermark
	offered bool
	// rewind lets the next commit go below committed: the log was reported
	// to be shorter or another one.
	rewind bool
	// base is where the admission began to read, baseEpoch the leader epoch of
	// a commit that it began at.
	base      int64
	baseEpoch int32
	// read is the position after the last record polled, issued the one
	// after the last record issued, handed the one after the last record
	// that Poll returned. handed <= issued <= read.
	read, issued, handed int64
	// delivered is what is known of offsets above the commit.
	delivered delivered
	// epochs are the leader epochs of what was issued and may be committed.
	epochs epochList

	// stash holds polled records, control records included, that wait for
	// pending batches to be acknowledged, and to be issued behind stashFence.
	stash      []*kgo.Record
	stashAt    time.Time
	stashFence checkpoint.Fence
	// paused: fetching is paused, because of the stash.
	paused bool
	// stalled: a failed batch is at the head; acked will not move again.
	stalled bool

	// leaving marks the partition while queued batches are sorted out, dropped
	// counts those that were taken back.
	leaving bool
	dropped int

	// lastRead and lastCommitted are what earlier admissions knew last.
	lastRead, lastCommitted int64

	// stale is the last commit to a topic that has been deleted since: a
	// commit fetched with the same value belongs to the old topic. unknown
	// otherwise. It outlives admissions, until a record was read.
	stale int64
}

// admit starts a fresh admission.
func (p *partition) admit() {
	p.admitted = true
	p.gen++
	p.committed, p.acked, p.base, p.baseEpoch = unknown, unknown, unknown, unknown
	p.delivered = delivered{}
	p.read, p.issued, p.handed = unknown, unknown, unknown
	p.mark, p.offered = checkpoint.Watermark{}, false
	p.rewind, p.stalled, p.dropped = false, false, 0
	p.epochs = p.epochs[:0]
}

// retire ends the admission.
func (p *partition) retire() {
	p.admitted = false
	p.lastRead, p.lastCommitted = p.known()
}

// known returns the read position and the commit as far as any admission knew
// them.
func (p *partition) known() (read, committed int64) {
	read, committed = p.read, p.committed
	if read == unknown {
		read = p.lastRead
	}
	if committed == unknown {
		committed = p.lastCommitted
	}
	return read, committed
}

// start notes the position the admission reads from.
func (p *partition) start(offset int64) {
	p.base, p.read, p.issued = offset, offset, offset
}

// position is what a commit carries: the watermark, or where the admission began
// if there is none yet, which is for the metadata alone.
func (p *partition) position() kgo.EpochOffset {
	if p.acked == unknown {
		return kgo.EpochOffset{Epoch: p.baseEpoch, Offset: p.base}
	}
	return kgo.EpochOffset{Epoch: p.epochs.at(p.acked), Offset: p.acked}
}

// settled reports that no batch Poll returned can still move the watermark.
func (p *partition) settled() bool {
	return p.stalled || p.acked >= p.handed
}

// due reports whether there is something to commit.
func (p *partition) due() bool {
	return p.admitted && (p.offered || p.rewind || p.delivered.text != p.delivered.committed)
}

// partitions interns topic partitions. IDs are dense and never reused.
type partitions struct {
	byID   []*partition
	byName map[string][]*partition // index: partition number; may hold nil
}

// intern returns the partition, creating it at first sight.
func (t *partitions) intern(topic string, num int32) *partition {
	if p := t.lookup(topic, num); p != nil {
		return p
	}
	p := &partition{
		topic: topic, num: num, id: checkpoint.PartitionID(len(t.byID)),
		committed: unknown, acked: unknown, base: unknown,
		read: unknown, issued: unknown, handed: unknown, stale: unknown,
		lastRead: unknown, lastCommitted: unknown,
	}
	t.byID = append(t.byID, p)
	if t.byName == nil {
		t.byName = make(map[string][]*partition)
	}
	row := t.byName[topic]
	for int(num) >= len(row) {
		row = append(row, nil)
	}
	row[num] = p
	t.byName[topic] = row
	return p
}

// lookup returns nil for a partition never seen.
func (t *partitions) lookup(topic string, num int32) *partition {
	row := t.byName[topic]
	if num < 0 || int(num) >= len(row) {
		return nil
	}
	return row[num]
}

// epochStart says that offsets from From on were written under Epoch.
type epochStart struct {
	from  int64
	epoch int32
}

// epochList holds leader epochs in offset order. A commit names the epoch of
// the last record it covers, so that the next reader can tell whether the log
// was rewritten below it.
type epochList []epochStart

// note adds the epochs of records issued next. A broker's epochs only grow
// along the log, so a run whose ends agree has one epoch.
func (l *epochList) note(records []*kgo.Record) {
	last := int32(unknown)
	if n := len(*l); n > 0 {
		last = (*l)[n-1].epoch
	}
	first, end := records[0], records[len(records)-1]
	if first.LeaderEpoch == last && end.LeaderEpoch == last {
		return
	}
	for _, r := range records {
		if r.LeaderEpoch != last {
			last = r.LeaderEpoch
			*l = append(*l, epochStart{r.Offset, last})
		}
		if last == end.LeaderEpoch {
			return
		}
	}
}

// at returns the epoch of the record before offset, or unknown.
func (l epochList) at(offset int64) int32 {
	epoch := int32(unknown)
	for _, e := range l {
		if e.from >= offset {
			break
		}
		epoch = e.epoch
	}
	return epoch
}

// passed forgets what no commit at or above offset needs.
func (l *epochList) passed(offset int64) {
	n := 0
	for n+1 < len(*l) && (*l)[n+1].from < offset {
		n++
	}
	if n > 0 {
		*l = append((*l)[:0], (*l)[n:]...)
	}
}

// cut forgets epochs that begin at or above offset.
func (l *epochList) cut(offset int64) {
	n := len(*l)
	for n > 0 && (*l)[n-1].from >= offset {
		n--
	}
	*l = (*l)[:n]
}
