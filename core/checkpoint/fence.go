package checkpoint

import "math"

// Fence stands for the admissions there were at one moment. The zero Fence is
// a moment before the first one. Fences of one Checkpointer can be compared
// with ==, and any goroutine may use one.
type Fence struct {
	admissions uint64
}

// everything is a fence behind all admissions.
var everything = Fence{math.MaxUint64}

// Fence returns a fence behind all admissions so far. Take it before polling,
// and give it to IssueAfter with what was polled. It costs one load.
func (i *Issuer) Fence() Fence { return Fence{i.cp.assignment.Load().admissions} }

// IssueAfter is Issue for a batch that was polled after f was taken. If p was
// admitted after f, the batch may belong to an earlier admission: it is
// untracked then, as if p were not admitted, so that it can move nothing. Of
// the checks only the range of the offset applies to it. So a batch that is
// issued after its partition was revoked and has returned cannot be taken for
// one of the new admission, whatever the order of polling, rebalancing and
// issuing.
//
// An untracked batch holds nothing back either. If a poll whose fence is older
// than an admission can return batches of that admission, read those again:
// Ack.Tracked tells which they are. A source that reads a partition only in
// polls that begin after its admission has none.
func (i *Issuer) IssueAfter(f Fence, p PartitionID, lastOffset int64) (Ack, error) {
	if i.cp.assignment.Load() == i.seen {
		l := i.hot[i.slot(p)]
		if l != nil && l.partition == p && lastOffset >= l.lastOffset &&
			lastOffset < math.MaxInt64 && l.q.Next() < l.room && l.admission <= f.admissions {
			if cell, ok := l.q.Reserve(lastOffset); ok {
				l.lastOffset = lastOffset
				return Ack{cell, lastOffset}, nil
			}
		}
	}
	return i.issueSlow(p, lastOffset, f)
}
