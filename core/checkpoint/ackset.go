package checkpoint

// AckSet collects holds of data that is not durable yet, to release them
// together when it is, or to fail them together when it will not be:
//
//	var set checkpoint.AckSet
//	defer set.Close() // fails what a panic or an early return left behind
//	…
//	set.Add(ack)
//	…
//	set.Deliver() // after the flush
//
// The zero AckSet is empty and ready for use. It is not for concurrent use
// and must not be copied while it holds something. Holds of one batch that
// are added one after the other take one entry. In steady state nothing
// allocates.
type AckSet struct {
	entries []setEntry
	holds   int
}

type setEntry struct {
	ack   Ack
	holds int
}

// keptEntries is the length of an array that an emptied AckSet keeps in any
// case; a longer one is kept only while a quarter of it is used.
const keptEntries = 1024

// Add takes over one hold of a. A zero Ack is ignored.
func (s *AckSet) Add(a Ack) {
	if !a.cell.IsZero() {
		s.add(a, 1)
	}
}

func (s *AckSet) add(a Ack, holds int) {
	s.holds += holds
	if n := len(s.entries); n > 0 && s.entries[n-1].ack == a {
		s.entries[n-1].holds += holds
		return
	}
	s.entries = append(s.entries, setEntry{a, holds})
}

// Absorb moves every hold of o into s and resolves nothing. Absorbing itself
// or nil does nothing.
func (s *AckSet) Absorb(o *AckSet) {
	if o == nil || o == s {
		return
	}
	if len(s.entries) == 0 {
		s.entries, o.entries = o.entries, s.entries
		s.holds, o.holds = o.holds, 0
		return
	}
	for _, e := range o.entries {
		s.add(e.ack, e.holds)
	}
	o.reset()
}

// Len returns the number of holds, which may be more than that of batches.
func (s *AckSet) Len() int { return s.holds }

// Deliver releases all holds; the set is empty again and can be used on.
func (s *AckSet) Deliver() { s.release(false) }

// Close fails, then releases, whatever the set still holds. It always
// returns nil; the set is empty again and can be used on.
func (s *AckSet) Close() error {
	s.release(true)
	return nil
}

func (s *AckSet) release(failed bool) {
	if failed {
		// A batch may be here more than once, and elsewhere: all of them
		// are failed before the first is released.
		for _, e := range s.entries {
			e.ack.Fail()
		}
	}
	for _, e := range s.entries {
		e.ack.releaseN(e.holds, failed)
	}
	s.reset()
}

func (s *AckSet) reset() {
	used := len(s.entries)
	clear(s.entries)
	s.entries = s.entries[:0]
	if cap(s.entries) > keptEntries && used < cap(s.entries)/4 {
		s.entries = nil
	}
	s.holds = 0
}
