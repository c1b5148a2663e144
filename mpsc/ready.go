package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// Ready is the hook that a thing embeds to be a member of a ReadySet. Bind it
// to the thing once, before the first Mark. A Ready belongs to one set.
type Ready[T any] struct {
	// marked is set by the goroutine whose Mark adds the thing (false→true by
	// swap) and cleared by the consumer when it takes the thing out
	// (true→false). Everybody may read it. While it is set, the thing is in
	// the set or in the consumer's hands.
	marked atomics.Bool
	// next links the set. It is plain: the goroutine that set marked writes it
	// before the CAS that pushes, and the consumer reads it after taking the
	// whole set and before clearing marked.
	next  *Ready[T]
	owner *T
}

// Bind ties the hook to the thing that embeds it.
func (r *Ready[T]) Bind(owner *T) { r.owner = owner }

// ReadySet is a set of things that have news: any goroutine marks a thing,
// one consumer takes all that are marked. A thing that is marked again before
// it is taken stays in the set once, so the set is never larger than the
// number of things and a Mark that finds the mark set costs one load.
//
// It is an intrusive Treiber stack whose consumer only ever takes everything,
// which leaves no ABA (R. K. Treiber, Systems Programming: Coping with
// Parallelism, 1986). Mark is lock-free: its CAS is tried again only when
// another push or a take went through. No order is promised.
//
// Writes before Mark(r) happen before the visit of r's owner by the Drain
// that takes it, also when Mark found the mark set: Drain clears the mark
// before it visits, so a Mark that came too late for this visit makes a new
// one.
//
// The zero ReadySet is empty and ready for use. Nothing allocates.
type ReadySet[T any] struct {
	// head is CASed by marking goroutines (h→r) and swapped to nil by the
	// consumer.
	head atomics.Pointer[Ready[T]]
	// taken is what the consumer took out and has not visited yet, kept so
	// that a panicking callback loses nothing. Consumer only.
	taken *Ready[T]
	// draining is set while a Drain runs; a second consumer finds it.
	draining atomics.Bool
}

// Mark puts the thing r is bound to into the set and reports whether it was
// not in it yet. Any goroutine may call it.
func (s *ReadySet[T]) Mark(r *Ready[T]) bool {
	if r.marked.Load() {
		return false
	}
	return s.push(r)
}

func (s *ReadySet[T]) push(r *Ready[T]) bool {
	if r.owner == nil {
		panic("mpsc: Mark of a Ready that is not bound; call Bind first")
	}
	if r.marked.Swap(true) {
		return false
	}
	for {
		h := s.head.Load()
		atomics.Write(&r.next)
		r.next = h
		if s.head.CompareAndSwap(h, r) { // r is the consumer's from here on
			return true
		}
	}
}

// Empty reports whether nothing is marked. Any goroutine may call it; the
// answer may be old when it arrives. Things that a panicking Drain left
// behind are not seen by it.
func (s *ReadySet[T]) Empty() bool { return s.head.Load() == nil }

// Drain takes everything that was marked before the call and calls f for
// each thing once, after clearing its mark: a thing that is marked during or
// after its visit comes again in a later Drain. It returns the number of
// visits. f may mark, also the thing it is called for. If f panics, the thing
// it was called for is taken and the rest stays for the next Drain.
//
// Only one goroutine may drain at a time; a second Drain, also one from
// within f, panics.
func (s *ReadySet[T]) Drain(f func(*T)) int {
	if s.draining.Swap(true) {
		panic("mpsc: ReadySet.Drain while another Drain runs; a set has one consumer")
	}
	defer s.draining.Store(false)
	n := s.visitTaken(f)
	if s.taken = s.takeAll(); s.taken != nil {
		n += s.visitTaken(f)
	}
	return n
}

func (s *ReadySet[T]) visitTaken(f func(*T)) (n int) {
	for s.taken != nil {
		r := s.taken
		s.taken = r.unlink()
		r.marked.Store(false)
		n++
		f(r.owner)
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

// unlink returns the next member of a list made by takeAll and clears the
// link, so that no member keeps another one alive.
func (r *Ready[T]) unlink() *Ready[T] {
	atomics.Read(&r.next)
	next := r.next
	atomics.Write(&r.next)
	r.next = nil
	return next
}
