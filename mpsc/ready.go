package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// Ready is the hook that a thing embeds to be a member of a ReadySet. Bind it
// to the thing once, before the first Mark. A Ready belongs to one set.
type Ready[T any] struct {
	// mark is turn(30) | state(2), see the states below. A marking goroutine
	// CASes clear→pushing, links the thing, and CASes pushing→in; the consumer
	// stores clear with the next turn when it takes the thing out, or in when
	// it keeps it in its hands. Everybody may load it.
	mark atomics.Uint32
	// next links the set. It is plain: the goroutine that is pushing writes it
	// before the CAS that links, and the consumer reads it after taking the
	// whole set and before it clears the mark.
	next  *Ready[T]
	owner *T
}

const (
	markClear   = 0 // not in the set
	markPushing = 1 // a goroutine is about to link it, or has just done so
	markIn      = 2 // in the set, or in the consumer's hands
	markState   = 3
	// markTurn is added with each clear, so that a goroutine that was delayed
	// after it had linked cannot take a later push for its own.
	markTurn = 4
)

// Bind ties the hook to the thing that embeds it.
func (r *Ready[T]) Bind(owner *T) { r.owner = owner }

// ReadySet is a set of things that have news: any goroutine marks a thing,
// one consumer takes all that are marked. A thing that is marked again before
// it is taken stays in the set once, so the set is never larger than the
// number of things and a Mark that finds the thing in the set costs one load.
//
// A goroutine can be delayed between marking a thing and linking it. Another
// Mark of the same thing does not wait for it and must not rely on it either:
// it notes the thing in one of a few places beside the set, where the consumer
// finds it. If things beyond the number of these places are delayed so at the
// same time, the news of the rest arrive when their goroutines go on.
//
// It is an intrusive Treiber stack whose consumer only ever takes everything,
// which leaves no ABA (R. K. Treiber, Systems Programming: Coping with
// Parallelism, 1986). Mark is lock-free: its CAS is tried again only when
// another push or a take went through. No order is promised.
//
// Writes before Mark(r) happen before the visit of r's owner by the Drain
// that takes it, also when Mark found the thing in the set: Drain clears the
// mark before it visits, so a Mark that came too late for this visit makes a
// new one.
//
// The zero ReadySet is empty and ready for use. Mark allocates nothing; Drain
// only when it finds things beside the set, for a list that it keeps.
type ReadySet[T any] struct {
	// head is CASed by marking goroutines (h→r) and swapped to nil by the
	// consumer.
	head atomics.Pointer[Ready[T]]
	// late are things that were marked while another goroutine was about to
	// link them: CASed from nil by marking goroutines, swapped to nil by the
	// consumer.
	late [latePlaces]atomics.Pointer[Ready[T]]
	// anyLate says that late is worth a look. Set by marking goroutines after
	// they have used a place, cleared by the consumer before it looks.
	anyLate atomics.Bool
	// taken is what the consumer took out and has not visited yet, kept so
	// that a panicking callback loses nothing. Consumer only.
	taken *Ready[T]
	// owed are things found in late that were not visited yet. Consumer only.
	owed []*T
	// draining is set while a Drain runs; a second consumer finds it.
	draining atomics.Bool
}

// latePlaces bounds how many things can be noted as late at a time.
const latePlaces = 16

// Mark puts the thing r is bound to into the set and reports whether it was
// not in it yet. Any goroutine may call it.
func (s *ReadySet[T]) Mark(r *Ready[T]) bool {
	if r.isIn() {
		return false
	}
	return s.push(r)
}

// isIn reports whether the consumer will come to r without being told.
func (r *Ready[T]) isIn() bool { return r.mark.Load()&markState == markIn }

func (s *ReadySet[T]) push(r *Ready[T]) bool {
	if r.owner == nil {
		panic("mpsc: Mark of a Ready that is not bound; call Bind first")
	}
	for {
		m := r.mark.Load()
		switch m & markState {
		case markIn:
			return false
		case markPushing:
			s.note(r)
			return true
		}
		if r.mark.CompareAndSwap(m, m|markPushing) {
			s.link(r)
			r.mark.CompareAndSwap(m|markPushing, m|markIn)
			return true
		}
	}
}

func (s *ReadySet[T]) link(r *Ready[T]) {
	for {
		h := s.head.Load()
		atomics.Write(&r.next)
		r.next = h
		if s.head.CompareAndSwap(h, r) { // r is the consumer's from here on
			return
		}
	}
}

// note leaves word of r beside the set.
func (s *ReadySet[T]) note(r *Ready[T]) {
	for i := range s.late {
		p := s.late[i].Load()
		if p == r || p == nil && s.late[i].CompareAndSwap(nil, r) {
			break
		}
	}
	s.anyLate.Store(true)
}

// Empty reports whether nothing is marked. Any goroutine may call it; the
// answer may be old when it arrives. Things that a panicking Drain left
// behind are not seen by it.
func (s *ReadySet[T]) Empty() bool { return s.head.Load() == nil && !s.anyLate.Load() }

// Drain takes everything that was marked before the call and calls f for
// each thing, not more often than it was marked, after clearing its mark: a
// thing that is marked during or after its visit comes again in a later Drain.
// It returns the number of visits. f may mark, also the thing it is called for. If f panics, the thing
// it was called for is taken and the rest stays for the next Drain.
//
// Only one goroutine may drain at a time; a second Drain, also one from
// within f, panics.
func (s *ReadySet[T]) Drain(f func(*T)) int {
	if f == nil {
		panic("mpsc: ReadySet.Drain needs a function, got nil")
	}
	if s.draining.Swap(true) {
		panic("mpsc: ReadySet.Drain while another Drain runs; a set has one consumer")
	}
	defer s.draining.Store(false)
	n := s.visitTaken(f)
	s.taken = s.takeAll()
	s.owed = s.takeLate(s.owed)
	return n + s.visitTaken(f)
}

func (s *ReadySet[T]) visitTaken(f func(*T)) (n int) {
	for s.taken != nil {
		r := s.taken
		s.taken = r.unlink()
		r.clear()
		n++
		f(r.owner)
	}
	for len(s.owed) > 0 {
		last := len(s.owed) - 1
		owner := s.owed[last]
		s.owed[last] = nil
		s.owed = s.owed[:last]
		n++
		f(owner)
	}
	return n
}

// takeAll empties the set and returns its members, linked by next and still
// marked: whoever gets them must unlink each and clear its mark at last.
func (s *ReadySet[T]) takeAll() *Ready[T] {
	if s.head.Load() == nil {
		return nil
	}
	return s.head.Swap(nil)
}

// takeLate appends the owners of what was noted beside the set. Their marks are
// not the caller's: each of them is, or will be, in the set as well.
func (s *ReadySet[T]) takeLate(owed []*T) []*T {
	if !s.anyLate.Load() {
		return owed
	}
	s.anyLate.Store(false)
	for i := range s.late {
		if s.late[i].Load() != nil {
			owed = append(owed, s.late[i].Swap(nil).owner)
		}
	}
	return owed
}

// clear ends the consumer's hold on a thing it took out: the next Mark pushes
// it again.
func (r *Ready[T]) clear() { r.mark.Store(r.mark.Load()&^markState + markTurn) }

// keep leaves a thing that the consumer took out in its hands: the next Mark
// relies on it.
func (r *Ready[T]) keep() {
	if m := r.mark.Load(); m&markState != markIn {
		r.mark.Store(m&^markState | markIn)
	}
}

// retake takes a thing that was cleared back into the consumer's hands, unless
// somebody has marked it meanwhile.
func (r *Ready[T]) retake() bool {
	m := r.mark.Load()
	return m&markState == markClear && r.mark.CompareAndSwap(m, m|markIn)
}

// unlink returns the next member of a list made by takeAll and clears the
// link, so that no member keeps another one alive.
func (r *Ready[T]) unlink() *Ready[T] {
	atomics.Read(&r.next)
	next := r.next
	atomics.Write(&r.next)
	r.next = nil
	return next
}
