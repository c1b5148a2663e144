package timing

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

// MaxOpenGuards is how many open guards a ledger lists.
const MaxOpenGuards = 64

// OpenGuard is a pause that has started and not ended. A barrier that is
// stuck leaves no record, so this is where it shows.
type OpenGuard struct {
	Attempt Attempt       `json:"attempt"` // zero while the context is unknown
	Role    Role          `json:"role"`    // zero while the context is unknown
	Age     time.Duration `json:"age_ns"`  // since the start of the pause
}

// openGuards is the list of guards that are started and not closed.
type openGuards struct {
	// places hold the listed guards. StartGuard CASes a free one from nil to
	// its guard, the guard's Close stores nil; OpenGuards loads them.
	places [MaxOpenGuards]atomics.Pointer[Guard]
	// unlisted counts the open guards that found no free place. StartGuard
	// adds one, the guard's Close takes it off; OpenGuards loads it.
	unlisted atomics.Int64
}

// add lists a guard and returns its place, or -1.
func (o *openGuards) add(g *Guard) int {
	for i := range o.places {
		if o.places[i].Load() == nil && o.places[i].CompareAndSwap(nil, g) {
			return i
		}
	}
	o.unlisted.Add(1)
	return -1
}

// remove ends what add began.
func (o *openGuards) remove(g *Guard) {
	if g.place < 0 {
		o.unlisted.Add(-1)
		return
	}
	o.places[g.place].Store(nil)
}

// OpenGuards returns the guards that are started and not closed, the oldest
// first, with the age that each has now. At most MaxOpenGuards are listed;
// unlisted tells how many more were open. A guard that is closed meanwhile
// may or may not be there. It never waits and costs TryRecord nothing.
func (l *Ledger) OpenGuards() (open []OpenGuard, unlisted int) {
	for i := range l.open.places {
		g := l.open.places[i].Load()
		if g == nil {
			continue
		}
		entry := OpenGuard{Age: time.Since(g.start)}
		if g.known.Load() {
			atomics.Read(&g.context)
			entry.Attempt, entry.Role = g.context.Attempt, g.context.Role
		}
		open = append(open, entry)
	}
	slices.SortStableFunc(open, func(a, b OpenGuard) int { return cmp.Compare(b.Age, a.Age) })
	return open, int(l.open.unlisted.Load())
}
