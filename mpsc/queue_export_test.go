package mpsc

import "math"

// WithNearWrap starts every index and stamp of a queue three below its
// maximum.
func WithNearWrap() Option {
	return func(c *queueConfig) {
		c.start = math.MaxUint64 - 3
		c.firstGen = math.MaxUint32 - 3
	}
}

// StallPush begins a Push and stops between its claim and its publication,
// which the returned function makes. It returns nil if the queue is closed.
func StallPush[T any](q *Queue[T]) (publish func(T)) {
	s, i := q.claim()
	if s == nil {
		return nil
	}
	return func(v T) { q.publish(s, i, v) }
}

// KeptSegments returns how many segments a quiescent queue keeps for reuse, of
// the shared chain and of lanes.
func KeptSegments[T any](q *Queue[T]) (shared, lane int) {
	return len(q.pool.shared) + len(q.cons.limbo), len(q.pool.lane)
}

// SegmentSize returns the size of all segments but the first ones.
func SegmentSize[T any](q *Queue[T]) int { return q.segmentSize }

// LaneCount returns the number of lanes on the list.
func LaneCount[T any](q *Queue[T]) int { return len(q.lanes.Load().lanes) }

// Parked reports whether the consumer has announced that it sleeps.
func Parked[T any](q *Queue[T]) bool { return q.waiting.Load() }

// HoldSection enters a chain section, as a producer does that appends a
// segment, and returns the way out of it.
func HoldSection[T any](q *Queue[T]) (leave func()) {
	q.sections.Add(1)
	return func() { q.sections.Add(-1) }
}

// StallAppend lets a producer append a segment to a queue whose tail is full
// and stop before it makes that segment the tail, which the returned function
// makes. It reports whether it was the one that appended.
func StallAppend[T any](q *Queue[T]) (resume func(), appended bool) {
	q.sections.Add(1)
	t := q.tail.Load()
	w := t.claim.Load()
	s := newQueueSegment[T](q.segmentSize, q.firstGen)
	s.shut(w>>claimBaseShift + uint64(len(t.cells)))
	appended = t.claimed(w) == len(t.cells) && t.next.CompareAndSwap(nil, s)
	return func() {
		q.tail.CompareAndSwap(t, s)
		q.sections.Add(-1)
	}, appended
}

// StrayClaim adds a claim to the segment that is the tail now whenever it is
// called, as a producer does that was delayed since it loaded the tail. It
// reports whether that claimed a cell.
func StrayClaim[T any](q *Queue[T]) func() bool {
	s := q.tail.Load()
	return func() bool { return (s.claim.Add(1)-1)&claimIndexMask < uint64(len(s.cells)) }
}

// PrepareKept takes a kept segment and prepares it as an appending producer
// does, without appending it.
func PrepareKept[T any](q *Queue[T]) bool {
	s, _ := q.pool.takeShared()
	if s == nil {
		return false
	}
	s.shut(0)
	return true
}
