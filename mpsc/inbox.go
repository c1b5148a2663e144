package mpsc

import "slices"

// Inbox collects the news of the InOrder queues that report to it: which of
// them have cells that were reserved or published since the last look. One
// consumer collects; its cost grows with the segments that changed since the
// last two Collects, not with the number of queues nor with the cells that
// wait in them.
//
// Inbox does not serialise its consumer: Collect, News and the consumer
// methods of its queues must not run at the same time.
type Inbox[T, O any] struct {
	ready ReadySet[Segment[T, O]]
	// onNews is called by the goroutine that pushed a segment or noted it.
	onNews func()
	// hot are the segments in which the last Collect found something. Their
	// mark is left set: the next operations on them cost a load and no push,
	// and the next Collect looks at them without being told. Consumer only.
	hot []*Segment[T, O]
	// late are segments noted beside ready, to be looked at once. Consumer only.
	late []*Segment[T, O]
	// taken is what the consumer took out of ready and has not looked at yet,
	// linked. Consumer only.
	taken *Ready[Segment[T, O]]
}

// NewInbox returns an empty Inbox. onNews, if not nil, is called after
// something became ready that the consumer is not going to look at by
// itself; it runs on the goroutine of a Reserve or Release and must not
// block. It is what wakes a consumer that waits: see News.
func NewInbox[T, O any](onNews func()) *Inbox[T, O] {
	return &Inbox[T, O]{onNews: onNews}
}

// push marks a segment that the caller did not find in the set: the one that r
// is bound to, which need not be the one it is in, see Reservation.Watched.
func (in *Inbox[T, O]) push(r *Ready[Segment[T, O]]) {
	if in.ready.push(&r.owner.ready) && in.onNews != nil {
		in.onNews()
	}
}

// Collect looks at every queue that had something reserved or published
// before the call, and calls visit, once or more, with the queue and the
// numbers of cells seen reserved and seen published for the first time. Each
// reservation and each publication is reported exactly once, the publication
// not before the reservation. What was reported as published can be taken
// once Collect has returned. visit must not panic and must not call the Inbox
// or the consumer methods of a queue.
func (in *Inbox[T, O]) Collect(visit func(q *InOrder[T, O], reserved, published int)) {
	if visit == nil {
		panic("mpsc: Inbox.Collect needs a function, got nil")
	}
	in.fetch() // before the hot ones: their news may come first
	hot := in.hot
	keep := hot[:0]
	for _, s := range hot {
		if in.look(s, visit) {
			keep = append(keep, s)
		}
	}
	for in.taken != nil {
		s := in.taken.owner
		in.taken = in.taken.unlink()
		if in.look(s, visit) {
			keep = append(keep, s)
		}
	}
	if len(keep) < len(hot) {
		clear(hot[len(keep):])
	}
	in.hot = trim(keep)
	for i, s := range in.late {
		in.late[i] = nil
		if s.live {
			if reserved, published := s.scan(); reserved+published > 0 {
				s.queue.open += reserved - published
				visit(s.queue, reserved, published)
			}
		}
		s.queue.link(visit)
	}
	in.late = in.late[:0]
}

// trim returns s, in a smaller array if a burst has left a large one nearly
// empty.
func trim[E any](s []E) []E {
	const always = 1024
	if cap(s) <= always || len(s) > cap(s)/4 {
		return s
	}
	return append(make([]E, 0, max(always, 2*len(s))), s...)
}

// fetch takes the marked segments out of the set, and those beside it.
func (in *Inbox[T, O]) fetch() {
	if in.taken == nil {
		in.taken = in.ready.takeAll()
	}
	in.late = in.ready.takeLate(in.late)
}

// look visits a segment whose mark is set, and reports whether the mark was
// left set, so that the segment must be looked at again without being told.
func (in *Inbox[T, O]) look(s *Segment[T, O], visit func(q *InOrder[T, O], reserved, published int)) (hot bool) {
	q := s.queue
	if !s.live {
		// Either the consumer does not know it yet: then link finds it,
		// and the mark must be clear before that. Or it was passed, and a
		// holder brought it here late.
		s.ready.clear()
	} else {
		reserved, published := s.scan()
		hot = reserved+published > 0 && !s.complete()
		if hot {
			s.ready.keep()
		} else {
			s.ready.clear()
			if !s.complete() { // something may have come before the mark was clear
				reserved, published = s.scan()
			}
		}
		if reserved+published > 0 {
			q.open += reserved - published
			visit(q, reserved, published)
		}
		if q.mode != takeInOrder && s != q.last && s.complete() {
			q.drop(s)
		}
	}
	q.link(visit)
	return hot
}

// News reports whether a Collect would report something. It looks at what
// changed, like Collect, but reports nothing and takes nothing over. When it
// reports false, the next reservation or publication calls onNews.
func (in *Inbox[T, O]) News() bool {
	in.fetch()
	for in.taken != nil {
		in.taken.keep()
		in.hot = append(in.hot, in.taken.owner)
		in.taken = in.taken.unlink()
	}
	in.late = slices.DeleteFunc(in.late, func(s *Segment[T, O]) bool { return !s.news() })
	keep, news := 0, len(in.late) > 0
	for i, s := range in.hot {
		if !news {
			news = s.news()
		}
		if !news {
			s.ready.clear()
			if !s.news() {
				continue // told again when something comes
			}
			news = true
			if !s.ready.retake() {
				// It is marked again meanwhile, and may not be linked yet.
				in.late = append(in.late, s)
				continue
			}
		}
		in.hot[keep] = in.hot[i]
		keep++
	}
	clear(in.hot[keep:])
	in.hot = in.hot[:keep]
	return news
}

// news reports whether looking at s would find something, in s or behind it.
func (s *Segment[T, O]) news() bool {
	if s.live && s.peek() {
		return true
	}
	q := s.queue
	if q.last != nil && !q.last.full() {
		return q.last != s && q.last.peek()
	}
	next, base := q.following()
	return next != nil && next.cells[0].word.Load()>>stampShift == stampOf(base)
}
