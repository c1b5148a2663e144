package explore

import (
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// finals makes the executions of a tree and returns the states they end in.
func finals(t *testing.T, p toyProgram, d policy, executions int) (states map[toyState]bool, made, abandons int) {
	t.Helper()
	setup, state := p.setup()
	r := newRun(d)
	defer r.close()
	states = map[toyState]bool{}
	tree, isTree := d.(*tree)
	for more := true; more && made < executions; {
		o := r.execute(setup)
		made++
		switch {
		case o == abandoned:
			abandons++
		case o == failed && !strings.HasPrefix(r.failed, "deadlock"):
			t.Fatalf("%v: %s", p, r.failed)
		default:
			states[state()] = true
		}
		if isTree {
			more = tree.advance()
		}
	}
	return states, made, abandons
}

const unlimited = math.MaxInt

// toys are the programs that searches are compared on.
func toys(n int) []toyProgram {
	r := rand.New(rand.NewPCG(7, 11))
	list := make([]toyProgram, n)
	for i := range list {
		list[i] = randomToy(r)
	}
	return list
}

// sleepOnly is a search that tries every thread that does not sleep.
func sleepOnly() *tree {
	d := newTree(-1)
	d.all = true
	return d
}

func TestExhaustReachesEveryFinalState(t *testing.T) {
	programs, deadlocks, waits := toys(4000), 0, 0
	if testing.Short() {
		programs = programs[:800]
	}
	for _, p := range programs {
		want := naive(p)
		for _, d := range []*tree{newTree(-1), sleepOnly()} {
			if got, _, _ := finals(t, p, d, unlimited); !maps.Equal(got, want) {
				t.Fatalf("all %v: %v\nreached %v\nwant %v", d.all, p, got, want)
			}
		}
		for s := range want {
			waits++
			for i := range p {
				if s.pc[i] < len(p[i]) {
					deadlocks++
					break
				}
			}
		}
	}
	if least := len(programs) / 40; deadlocks < least || waits-deadlocks < least {
		t.Errorf("%d of %d final states are deadlocks: the programs show too little", deadlocks, waits)
	}
}

// With more preemptions than there are operations, a bound excludes nothing.
func TestALargeBoundReachesEveryFinalState(t *testing.T) {
	for _, p := range toys(300) {
		steps := 0
		for _, thread := range p {
			steps += len(thread)
		}
		if steps > 7 {
			continue
		}
		got, _, _ := finals(t, p, newTree(100), unlimited)
		if want := naive(p); !maps.Equal(got, want) {
			t.Fatalf("%v\nreached %v\nwant %v", p, got, want)
		}
	}
}

func TestRandomReachesNothingElse(t *testing.T) {
	all := true
	for _, p := range toys(200) {
		got, _, _ := finals(t, p, newDice(1), 300)
		want := naive(p)
		for s := range got {
			if !want[s] {
				t.Fatalf("%v\nreached %v, which no order leads to", p, s)
			}
		}
		all = all && len(got) == len(want)
	}
	if all {
		t.Error("random executions reached every state of every program: the programs are too small to tell anything")
	}
}

// Relations that miss a dependence must miss final states.
func TestBrokenRelationsAreCaught(t *testing.T) {
	pair := func(a, b *op, x, y kind) bool {
		return a.kind == x && b.kind == y || a.kind == y && b.kind == x
	}
	programs := toys(20000)
	for name, broken := range map[string]relation{
		"nothing depends on anything": func(a, b *op) bool { return false },
		"stores commute":              func(a, b *op) bool { return !pair(a, b, opStore, opStore) && dependent(a, b) },
		"loads and stores commute":    func(a, b *op) bool { return !pair(a, b, opLoad, opStore) && dependent(a, b) },
		"loads and updates commute":   func(a, b *op) bool { return !pair(a, b, opLoad, opUpdate) && dependent(a, b) },
		"updates commute":             func(a, b *op) bool { return !pair(a, b, opUpdate, opUpdate) && dependent(a, b) },
		"a compare-and-swap reads":    func(a, b *op) bool { return a.kind != opCompare && b.kind != opCompare && dependent(a, b) },
		"two of them commute":         func(a, b *op) bool { return !pair(a, b, opCompare, opCompare) && dependent(a, b) },
		"locks and unlocks commute": func(a, b *op) bool {
			return !pair(a, b, opLock, opLock) && !pair(a, b, opLock, opUnlock) && dependent(a, b)
		},
		"parks commute with unparks": func(a, b *op) bool { return !pair(a, b, opTryPark, opUnpark) && dependent(a, b) },
		"a park sees no context":     func(a, b *op) bool { return a.obj == b.obj && dependent(a, b) },
	} {
		caught := false
		for _, p := range programs {
			d := newTree(-1)
			d.dependent = broken
			if got, _, _ := finals(t, p, d, unlimited); !maps.Equal(got, naive(p)) {
				caught = true
				break
			}
		}
		if !caught {
			t.Errorf("%s: every final state was reached all the same", name)
		}
	}
}

// So must a search that takes some writes for reads when it looks for races.
func TestBrokenRacesAreCaught(t *testing.T) {
	programs := toys(20000)
	for _, k := range []kind{opStore, opUpdate, opCompare, opLock, opTryPark} {
		caught := false
		for _, p := range programs {
			d := newTree(-1)
			d.writes = func(o *op) bool { return o.kind != k && o.writes() }
			if got, _, _ := finals(t, p, d, unlimited); !maps.Equal(got, naive(p)) {
				caught = true
				break
			}
		}
		if !caught {
			t.Errorf("%v taken for a read: every final state was reached all the same", k)
		}
	}
}

// The reduction must be worth its name, and a failed compare-and-swap must
// count as a load.
func TestSleepSetsSaveExecutions(t *testing.T) {
	exact, coarse, all := 0, 0, 0
	for _, p := range toys(150) {
		steps := 0
		for _, thread := range p {
			steps += len(thread)
		}
		if steps > 7 {
			continue
		}
		_, n, _ := finals(t, p, newTree(-1), unlimited)
		exact += n
		d := newTree(-1)
		d.dependent = func(a, b *op) bool {
			return dependent(a, b) || a.obj == b.obj && (a.kind == opCompare || b.kind == opCompare)
		}
		_, n, _ = finals(t, p, d, unlimited)
		coarse += n
		_, n, _ = finals(t, p, newTree(100), unlimited)
		all += n
	}
	if exact >= coarse || coarse*2 >= all {
		t.Errorf("%d executions, %d if failed compare-and-swaps count as writes, %d without reduction", exact, coarse, all)
	}
}

func TestFewerPreemptionsMeanFewerExecutions(t *testing.T) {
	p := toyProgram{
		{{op: toyStore, n: 1}, {op: toyLoad, x: 1}, {op: toyStore, n: 2}},
		{{op: toyStore, x: 1, n: 1}, {op: toyLoad}, {op: toyStore, x: 1, n: 2}},
	}
	var counts []int
	for bound := range 4 {
		_, n, _ := finals(t, p, newTree(bound), unlimited)
		counts = append(counts, n)
	}
	// One preemption: after 1 or 2 operations of either thread.
	if counts[0] != 2 || counts[1] != 6 || counts[2] <= 6 || counts[3] <= counts[2] {
		t.Errorf("bounds 0 to 3 make %v executions, want 2, 6 and more and more", counts)
	}
}
