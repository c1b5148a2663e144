package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A toy program runs twice: on this package's types under a search, and in an
// interpreter that knows neither coroutines nor reduction and simply tries
// every order. Both must end in the same set of final states.

type toyOp uint8

const (
	toyLoad    toyOp = iota // r = x
	toyStore                // x = n
	toyCopy                 // x = r
	toyAdd                  // r = x += n
	toySwap                 // r, x = x, n
	toyOr                   // r, x = x, x|n
	toyCompare              // r = CAS(x, n, m)
	toyAwait                // for x != n { Pause }
	toyLock
	toyUnlock
	toyPark
	toyUnpark
	toyCancel // end the context that toyPark waits under
	toyOps
)

type toyStep struct {
	op   toyOp
	x    int
	n, m uint32
}

func (s toyStep) String() string { return fmt.Sprintf("%d(x%d %d %d)", s.op, s.x, s.n, s.m) }

const (
	toyVars    = 2
	toyThreads = 3
)

// toyState is all there is; it is comparable, so states can be told apart.
type toyState struct {
	vars           [toyVars]uint32
	regs           [toyThreads]uint32
	pc             [toyThreads]int
	locked, parked bool // parked: a wake-up is pending
	ended          bool // the context
	looked         [toyThreads]bool
}

type toyProgram [][]toyStep

func (p toyProgram) String() string {
	var b strings.Builder
	for i, t := range p {
		fmt.Fprintf(&b, "\n%s: %v", name(i), t)
	}
	return b.String()
}

// randomToy makes a program. Every thread that locks unlocks at its end.
func randomToy(r *rand.Rand) toyProgram {
	p := make(toyProgram, 2+r.IntN(toyThreads-1))
	for i := range p {
		held := false
		for range 1 + r.IntN(4) {
			s := toyStep{op: toyOp(r.IntN(int(toyOps))), x: r.IntN(toyVars), n: uint32(r.IntN(3)), m: uint32(1 + r.IntN(2))}
			if s.op == toyLock && held || s.op == toyUnlock && !held {
				s.op = toyLoad
			}
			held = s.op == toyLock || held && s.op != toyUnlock
			p[i] = append(p[i], s)
		}
		if held {
			p[i] = append(p[i], toyStep{op: toyUnlock})
		}
	}
	return p
}

// naive returns the final states of every order of p's operations, and
// whether nothing was deadlocked in any.
func naive(p toyProgram) map[toyState]bool {
	seen, final := map[toyState]bool{}, map[toyState]bool{}
	var visit func(s toyState)
	visit = func(s toyState) {
		if seen[s] {
			return
		}
		seen[s] = true
		moved := false
		for i := range p {
			if s.pc[i] < len(p[i]) {
				if next, ok := s.step(i, p[i][s.pc[i]]); ok {
					moved = true
					visit(next)
				}
			}
		}
		if !moved {
			s.looked = [toyThreads]bool{}
			final[s] = true
		}
	}
	visit(toyState{})
	return final
}

// step interprets one operation of thread i; ok is false if it must wait.
func (s toyState) step(i int, o toyStep) (_ toyState, ok bool) {
	x := &s.vars[o.x]
	switch o.op {
	case toyLoad:
		s.regs[i] = *x
	case toyStore:
		*x = o.n
	case toyCopy:
		*x = s.regs[i]
	case toyAdd:
		*x += o.n
		s.regs[i] = *x
	case toySwap:
		s.regs[i], *x = *x, o.n
	case toyOr:
		s.regs[i], *x = *x, *x|o.n
	case toyCompare:
		s.regs[i] = 0
		if *x == o.n {
			s.regs[i], *x = 1, o.m
		}
	case toyAwait:
		if *x != o.n {
			return s, false
		}
	case toyLock:
		if s.locked {
			return s, false
		}
		s.locked = true
	case toyUnlock:
		s.locked = false
	case toyPark:
		return s.park(i)
	case toyUnpark:
		s.parked = true
	case toyCancel:
		s.ended = true
	}
	s.pc[i]++
	return s, true
}

// park looks for a wake-up first and waits then.
func (s toyState) park(i int) (_ toyState, ok bool) {
	switch {
	case !s.looked[i] && !s.parked:
		s.looked[i] = true
		return s, true
	case s.looked[i] && s.ended:
		s.regs[i] = 9
	case s.parked:
		s.parked = false
	default:
		return s, false
	}
	s.looked[i] = false
	s.pc[i]++
	return s, true
}

// setup makes the program on the package's types. state reports the state of
// the latest execution, ended or not.
func (p toyProgram) setup() (setup func() Program, state func() toyState) {
	var s *toyRun
	setup = func() Program {
		s = &toyRun{ctx: NewContext(), parker: NewParker()}
		var threads []func()
		for i := range p {
			threads = append(threads, func() {
				for _, o := range p[i] {
					s.step(i, o)
					s.pc[i]++
				}
			})
		}
		return Program{Threads: threads}
	}
	return setup, func() toyState {
		f := toyState{regs: s.regs, pc: s.pc, locked: s.mutex.held, parked: s.parker.pending, ended: s.ctx.err != nil}
		for i := range f.vars {
			f.vars[i] = s.vars[i].v
		}
		return f
	}
}

type toyRun struct {
	vars   [toyVars]Word[uint32]
	mutex  Mutex
	parker Parker
	ctx    *Context
	regs   [toyThreads]uint32
	pc     [toyThreads]int
}

func (s *toyRun) step(i int, o toyStep) {
	x := &s.vars[o.x]
	switch o.op {
	case toyLoad:
		s.regs[i] = x.Load()
	case toyStore:
		x.Store(o.n)
	case toyCopy:
		x.Store(s.regs[i])
	case toyAdd:
		s.regs[i] = x.Add(o.n)
	case toySwap:
		s.regs[i] = x.Swap(o.n)
	case toyOr:
		s.regs[i] = x.Or(o.n)
	case toyCompare:
		ok := x.CompareAndSwap(o.n, o.m)
		s.regs[i] = 0
		if ok {
			s.regs[i] = 1
		}
	case toyAwait:
		for x.Load() != o.n {
			Pause()
		}
	case toyLock:
		s.mutex.Lock()
	case toyUnlock:
		s.mutex.Unlock()
	case toyPark:
		var ctx context.Context = s.ctx
		if s.parker.Park(ctx) != nil {
			s.regs[i] = 9
		}
	case toyUnpark:
		s.parker.Unpark()
	case toyCancel:
		s.ctx.Cancel()
	}
}
