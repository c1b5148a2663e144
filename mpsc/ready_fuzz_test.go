package mpsc

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzReadySet marks a few things in any order, also by goroutines that stall
// between mark and link, and compares what each Drain visits with what it owes.
func FuzzReadySet(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 3, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runReadySet(t, program) })
}

// The same with random bytes.
func TestReadySetAgreesWithItsModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	runs := 5000
	if testing.Short() {
		runs = 500
	}
	for range runs {
		program := make([]byte, 2*rng.IntN(200))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runReadySet(t, program)
	}
}

// readyMachine is a set beside what it owes.
type readyMachine struct {
	t      testing.TB
	s      ReadySet[thing]
	things []*thing
	owed   []bool // marked, by a call that returned, since the last visit began
	marks  []int  // marks that no visit has used up
	stalls []func()
	stuck  []int // the things of stalls
}

func runReadySet(t testing.TB, program []byte) {
	const n = 5
	m := &readyMachine{t: t, things: newThings(n), owed: make([]bool, n), marks: make([]int, n)}
	for ops := program[:min(len(program), 2048)]; len(ops) >= 2; ops = ops[2:] {
		m.step(ops[0], int(ops[1]))
	}
	for len(m.stalls) > 0 {
		m.goOn(0)
	}
	m.drain(0)
	if !m.s.Empty() || m.s.Drain(func(*thing) {}) != 0 {
		t.Fatal("something is left")
	}
}

func (m *readyMachine) step(op byte, arg int) {
	switch op % 8 {
	case 0, 1, 2:
		m.mark(arg % len(m.things))
	case 3, 4:
		m.drain(arg)
	case 5, 6:
		// A stalled goroutine owes its own mark: it has not returned.
		if i := arg % len(m.things); m.things[i].ready.mark.Load()&markState == markClear && len(m.stalls) < 8 {
			m.stalls, m.stuck = append(m.stalls, stallMark(&m.s, &m.things[i].ready)), append(m.stuck, i)
		}
	case 7:
		if len(m.stalls) > 0 {
			m.goOn(arg % len(m.stalls))
		}
	}
}

func (m *readyMachine) mark(i int) {
	added := m.s.Mark(&m.things[i].ready)
	m.owed[i] = true
	m.marks[i]++
	if added && m.s.Empty() {
		m.t.Fatalf("thing %d was added to a set that says it is empty", i)
	}
}

func (m *readyMachine) goOn(k int) {
	m.stalls[k]()
	i := m.stuck[k]
	m.owed[i] = true
	m.marks[i]++
	m.stalls, m.stuck = append(m.stalls[:k:k], m.stalls[k+1:]...), append(m.stuck[:k:k], m.stuck[k+1:]...)
}

var errVisit = errors.New("visit")

// drain lets the callback mark again or panic if arg says so.
func (m *readyMachine) drain(arg int) {
	fail, visits, ended := -1, 0, false
	missing := slices.Clone(m.owed)
	if arg >= 0x80 {
		fail = arg % len(m.things)
	}
	func() {
		defer func() {
			if v := recover(); (v == nil) != ended {
				m.t.Fatalf("Drain panicked with %v after %d visits, the one to fail was %d", v, visits, fail)
			}
		}()
		n := m.s.Drain(func(x *thing) {
			if m.marks[x.id] == 0 {
				m.t.Fatalf("thing %d was visited more often than it was marked", x.id)
			}
			m.owed[x.id], missing[x.id] = false, false
			m.marks[x.id]--
			if arg&0x40 != 0 {
				m.mark(x.id)
			}
			if visits++; visits == fail+1 {
				panic(errVisit)
			}
		})
		if ended = true; n != visits {
			m.t.Fatalf("Drain returned %d after %d visits", n, visits)
		}
	}()
	if i := slices.Index(missing, true); ended && i >= 0 {
		m.t.Fatalf("thing %d was marked and not visited", i)
	}
}
