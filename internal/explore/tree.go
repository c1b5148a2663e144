package explore

import "fmt"

// node is one choice of a depth-first search.
type node struct {
	enabled set
	kinds   [MaxThreads]kind // what each thread was about to do
	chosen  int
	wanted  set // threads to be chosen here, and those that were
	// sleep are threads whose turn leads only to executions that are seen
	// elsewhere, and those that were chosen here and are done with.
	sleep set
	// Bounded: preemptions before this choice, and who went before it.
	spent int
	last  int
}

// tree is a depth-first search. It keeps the choices of the present execution
// and makes the next one by changing the last of them that can be changed.
//
// Without a bound it uses sleep sets (P. Godefroid, Partial-Order Methods for
// the Verification of Concurrent Systems, 1996): once everything that begins
// with a thread's operation was seen, the thread sleeps in the executions
// that begin otherwise, until somebody makes an operation that its own depends
// on. Every order of dependent operations is still seen.
//
// With a bound it sees the executions with at most that many preemptions
// (M. Musuvathi and S. Qadeer, Iterative Context Bounding, PLDI 2007): choices
// of another thread while the last one could go on. No reduction, because
// orders that are equal may differ in preemptions.
type tree struct {
	bound     int  // -1: none
	all       bool // unbounded: try every thread that does not sleep
	dependent relation
	writes    func(*op) bool
	sources
	path  []node
	depth int
	sleep set // of the node to come
}

func newTree(bound int) *tree {
	return &tree{bound: bound, dependent: dependent, writes: (*op).writes}
}

func (d *tree) pick(r *run, enabled set) int {
	if d.depth < len(d.path) {
		return d.replay(r, enabled)
	}
	n := node{enabled: enabled, kinds: r.kinds, last: r.last, sleep: d.sleep, wanted: enabled}
	if d.bound >= 0 {
		n.spent = d.spent()
		if n.last >= 0 && enabled.has(n.last) && n.spent == d.bound {
			n.wanted = one(n.last)
		}
	}
	// The one that went last, if it may: it need not be switched to.
	switch awake := n.wanted &^ n.sleep; {
	case awake == 0:
		return -1
	case n.last >= 0 && awake.has(n.last):
		n.chosen = n.last
	default:
		n.chosen = awake.first()
	}
	if d.bound < 0 && !d.all {
		n.wanted = one(n.chosen)
	}
	d.path = append(d.path, n)
	d.depth++
	d.descend(r, &n, true)
	return n.chosen
}

// replay makes a choice again, and sees to it that nothing else changed.
func (d *tree) replay(r *run, enabled set) int {
	n := &d.path[d.depth]
	if n.enabled != enabled || n.kinds != r.kinds {
		r.fail(fmt.Sprintf("the program is not deterministic: after the same %d choices threads %08b could go before %v, now %08b before %v",
			d.depth, n.enabled, n.kinds, enabled, r.kinds))
		return -1
	}
	d.depth++
	d.descend(r, n, d.depth == len(d.path))
	return n.chosen
}

// descend works out who sleeps behind a choice, and what it adds to earlier
// ones if it was not made before.
func (d *tree) descend(r *run, n *node, fresh bool) {
	if d.bound >= 0 {
		return
	}
	if !d.all {
		d.happen(r, n.chosen, fresh)
	}
	if d.stale {
		r.fail("an object is left from an earlier execution: Setup must make all state anew")
	}
	if !fresh {
		return
	}
	d.sleep = 0
	made := &r.threads[n.chosen].op
	for rest := n.sleep; rest != 0; rest &= rest - 1 {
		if id := rest.first(); !d.dependent(&r.threads[id].op, made) {
			d.sleep |= one(id)
		}
	}
}

// spent returns how many preemptions the choices made so far have.
func (d *tree) spent() int {
	if len(d.path) == 0 {
		return 0
	}
	n := &d.path[len(d.path)-1]
	if n.last >= 0 && n.chosen != n.last && n.enabled.has(n.last) {
		return n.spent + 1
	}
	return n.spent
}

func (d *tree) end(r *run) {
	if d.bound < 0 && !d.all {
		d.stuck(r)
	}
}

// advance prepares the execution after the present one. It returns false if
// there is none.
func (d *tree) advance() bool {
	d.depth, d.sleep = 0, 0
	d.sources.reset()
	for len(d.path) > 0 {
		n := &d.path[len(d.path)-1]
		n.sleep |= one(n.chosen)
		if todo := n.wanted &^ n.sleep; todo != 0 {
			n.chosen = todo.first()
			return true
		}
		d.path = d.path[:len(d.path)-1]
	}
	return false
}
