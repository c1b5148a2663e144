package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// queuePool keeps emptied segments of a queue for reuse: at most limit, of the
// shared chain and of lanes together. It has a lock that nobody waits for:
// whoever finds it held goes without, so a taker allocates and a giver leaves
// the segment to the garbage collector. A goroutine that stalls inside costs
// the others allocations, not time.
type queuePool[T any] struct {
	// busy is set by whoever uses the lists (swap to true, store false).
	busy  atomics.Bool
	limit int // fixed
	tries int // fixed: how often a producer looks in before it allocates because others are there

	// Plain, guarded by busy.
	shared []*queueSegment[T]
	lane   []*laneSegment[T]
}

func (p *queuePool[T]) tryLock() bool {
	if p.limit == 0 || p.busy.Swap(true) {
		return false
	}
	atomics.Write(&p.shared)
	atomics.Write(&p.lane)
	return true
}

// takeShared returns a segment of the shared chain or nil. If it is nil, met
// says that this is because another goroutine was there.
func (p *queuePool[T]) takeShared() (s *queueSegment[T], met bool) {
	if !p.tryLock() {
		return nil, p.limit > 0
	}
	s = popSegment(&p.shared)
	p.busy.Store(false)
	return s, false
}

// putShared keeps s if there is room; no other goroutine may use s.
func (p *queuePool[T]) putShared(s *queueSegment[T]) {
	if !p.tryLock() {
		return
	}
	if p.room() || popSegment(&p.lane) != nil {
		p.shared = append(p.shared, s)
	}
	p.busy.Store(false)
}

// takeLane returns a segment of a lane or nil.
func (p *queuePool[T]) takeLane() *laneSegment[T] {
	if !p.tryLock() {
		return nil
	}
	s := popSegment(&p.lane)
	p.busy.Store(false)
	return s
}

// putLane keeps s if there is room; no other goroutine may use s.
func (p *queuePool[T]) putLane(s *laneSegment[T]) {
	if !p.tryLock() {
		return
	}
	if p.room() || popSegment(&p.shared) != nil {
		p.lane = append(p.lane, s)
	}
	p.busy.Store(false)
}

// room reports whether one more may be kept. If not, the newcomer takes the
// place of a segment of the other kind, so that a queue whose use changes from
// shared pushes to lanes, or back, does not go on without reuse.
func (p *queuePool[T]) room() bool { return len(p.shared)+len(p.lane) < p.limit }

// popSegment removes and returns the last element, or nil.
func popSegment[S any](list *[]*S) *S {
	n := len(*list) - 1
	if n < 0 {
		return nil
	}
	s := (*list)[n]
	(*list)[n] = nil
	*list = (*list)[:n]
	return s
}
