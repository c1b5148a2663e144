package mpsc

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzInOrder runs single-goroutine programs on one to three in-order queues
// with one inbox, and on a model in which a cell is a struct and a look is a
// copy. Every answer is compared.
func FuzzInOrder(f *testing.F) {
	f.Add([]byte{0, 0, 9, 2, 3, 9, 0, 8, 0, 9, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runInOrder(t, program) })
}

// The same with random bytes.
func TestInOrderAgreesWithItsModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	for range runs {
		program := make([]byte, 1+2*rng.IntN(300))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runInOrder(t, program)
	}
}

// runInOrder decodes a program: the first byte chooses the machine, each pair
// that follows is an operation and its argument.
func runInOrder(t testing.TB, program []byte) {
	if len(program) == 0 {
		return
	}
	program = program[:min(len(program), 2048)]
	if program[0]&1 == 0 {
		newInOrderMachine(t, program[0], func(v int) int { return v }, func(v int) int { return v }).run(program[1:])
	} else {
		newInOrderMachine(t, program[0], func(v int) *int { return &v }, func(p *int) int { return *p }).run(program[1:])
	}
}

// cellModel is one cell and what the consumer has seen of it.
type cellModel struct {
	holds                     int
	failed                    bool
	seenReserved, seenOut     bool // out: published
	seenFailed                bool
	reservedSoon, publishSoon int // what the next Collect must report: 0 or 1
}

// queueModel is a queue beside its model.
type queueModel[T any] struct {
	q       *InOrder[T, queueModel[T]]
	base    uint64
	cells   []cellModel
	handles []Reservation[T, queueModel[T]]
	taken   int
	dropped bool // Discard was called
	// What the running Collect reports.
	reserved, published int
}

type inOrderMachine[T any] struct {
	t      testing.TB
	in     *Inbox[T, queueModel[T]]
	queues []*queueModel[T]
	wrap   func(int) T
	bare   func(T) int
	folds  bool // the consumer folds, and therefore never calls Take
	woken  int
	asleep bool // News said false, so the next event must wake
}

func newInOrderMachine[T any](t testing.TB, choice byte, wrap func(int) T, bare func(T) int) *inOrderMachine[T] {
	m := &inOrderMachine[T]{t: t, wrap: wrap, bare: bare, folds: choice&2 != 0}
	m.in = NewInbox[T, queueModel[T]](func() { m.woken++ })
	for range 1 + int(choice>>2)%3 {
		x := &queueModel[T]{q: new(InOrder[T, queueModel[T]])}
		x.q.Init(m.in, x)
		if choice&0x80 != 0 { // the last sequence numbers
			x.base = maxReserved - 192
			setStart(x.q, x.base)
			// What setStart leaves out: the cells before were used, and the
			// segment with the next one is the tail.
			for i := range x.q.last.cells {
				x.q.last.cells[i].word.Store(stampOf(x.q.last.base+uint64(i)) << stampShift)
			}
			m.reserve(x)
		}
		m.queues = append(m.queues, x)
	}
	return m
}

func (m *inOrderMachine[T]) run(ops []byte) {
	for ; len(ops) >= 2; ops = ops[2:] {
		op, arg := ops[0], int(ops[1])
		x := m.queues[int(op>>4)%len(m.queues)]
		m.step(x, op%16, arg)
		for _, x := range m.queues {
			m.check(x)
		}
	}
	m.finish()
}

func (m *inOrderMachine[T]) step(x *queueModel[T], op byte, arg int) {
	i := x.choose(arg)
	switch op {
	case 0, 1:
		for range 1 + arg%40 {
			m.reserve(x)
		}
	case 2, 3, 4:
		m.release(x, i, 1, false, true)
	case 5:
		if i >= 0 {
			x.handles[i].Retain(arg%4 - 1)
			if x.cells[i].holds > 0 {
				x.cells[i].holds += max(arg%4-1, 0)
			}
		}
	case 6:
		if i >= 0 {
			x.handles[i].Fail()
			x.cells[i].failed = x.cells[i].failed || x.cells[i].holds > 0
		}
	case 7:
		m.release(x, i, arg%5, arg&0x80 != 0, false)
	case 8:
		m.collect()
	case 9:
		m.collect()
		m.take(x, arg)
	case 10:
		m.advance(x)
	case 11:
		if m.advance(x); m.folds {
			x.q.Fold(arg%100, func(a, b T) bool { return m.bare(a) == m.bare(b) })
		}
	case 12:
		m.news()
	case 13:
		m.pardon(x)
	case 14:
		if arg%16 == 7 {
			x.q.Discard(arg&0x80 != 0)
			x.dropped = true
		}
	case 15:
		for k := i; k >= 0 && k < min(len(x.cells), i+arg); k++ {
			m.release(x, k, 1, false, true)
		}
	}
}

// choose returns a cell: odd arguments reach all, even ones the last.
func (x *queueModel[T]) choose(arg int) int {
	n := len(x.cells)
	if n == 0 {
		return -1
	}
	if arg%2 == 1 {
		return arg * 37 % n
	}
	return n - 1 - arg/2%n
}

// event says that something was reserved or published.
func (m *inOrderMachine[T]) event(before int) {
	if m.asleep && m.woken == before {
		m.t.Fatal("no wake-up although News had said false")
	}
	m.asleep = false
}

func (m *inOrderMachine[T]) reserve(x *queueModel[T]) {
	before := m.woken
	n := len(x.cells)
	h, ok := x.q.Reserve(m.wrap(n))
	if end := x.base+uint64(n) == maxReserved; ok == end {
		m.t.Fatalf("Reserve of number %d: %v", x.base+uint64(n), ok)
	} else if end {
		return
	}
	if h.Seq() != x.base+uint64(n) || h.Owner() != x || h.IsZero() {
		m.t.Fatalf("reservation %d has Seq %d", n, h.Seq())
	}
	x.cells = append(x.cells, cellModel{holds: 1, reservedSoon: 1})
	x.handles = append(x.handles, h)
	m.event(before)
}

func (m *inOrderMachine[T]) release(x *queueModel[T], i, n int, failed, single bool) {
	if i < 0 {
		return
	}
	before := m.woken
	c := &x.cells[i]
	want, got := min(n, c.holds), 0
	if single {
		if x.handles[i].Release() {
			got = 1
		}
	} else {
		got = x.handles[i].ReleaseN(n, failed)
	}
	if got != want {
		m.t.Fatalf("cell %d with %d holds gave up %d of %d", i, c.holds, got, n)
	}
	if want == 0 {
		return
	}
	c.holds -= want
	c.failed = c.failed || failed
	if c.holds == 0 {
		c.publishSoon = 1
		m.event(before)
	}
}

func (m *inOrderMachine[T]) collect() {
	m.asleep = false
	for _, x := range m.queues {
		x.reserved, x.published = 0, 0
	}
	m.in.Collect(func(q *InOrder[T, queueModel[T]], reserved, published int) {
		q.Owner().reserved += reserved
		q.Owner().published += published
		if q.Owner().reserved < q.Owner().published-q.Owner().seenOpen() {
			m.t.Fatal("a publication was reported before its reservation")
		}
	})
	for _, x := range m.queues {
		reserved, published := 0, 0
		for i := range x.cells {
			c := &x.cells[i]
			reserved, published = reserved+c.reservedSoon, published+c.publishSoon
			c.seenReserved = true
			if c.publishSoon == 1 {
				c.seenOut, c.seenFailed = true, c.failed
			}
			c.reservedSoon, c.publishSoon = 0, 0
		}
		if x.reserved != reserved || x.published != published {
			m.t.Fatalf("Collect reported %d reserved and %d published, want %d and %d", x.reserved, x.published, reserved, published)
		}
	}
}

// seenOpen counts the cells that were seen reserved and not published.
func (x *queueModel[T]) seenOpen() (n int) {
	for i := range x.cells {
		if x.cells[i].seenReserved && !x.cells[i].seenOut {
			n++
		}
	}
	return n
}

// prefix returns how many cells can be taken, and whether a failed one is next.
func (x *queueModel[T]) prefix() (n int, failed bool) {
	if x.dropped {
		return 0, false
	}
	end := x.taken
	for end < len(x.cells) && x.cells[end].seenOut && !x.cells[end].seenFailed {
		end++
	}
	return end - x.taken, end < len(x.cells) && x.cells[end].seenFailed
}

var errTake = errors.New("callback")

// take panics in the callback at some cell if arg is large.
func (m *inOrderMachine[T]) take(x *queueModel[T], arg int) {
	if m.folds {
		m.advance(x)
		return
	}
	want, _ := x.prefix()
	fail := -1
	if arg >= 0x80 {
		fail = arg % 0x20
	}
	if fail < want && fail >= 0 {
		want = fail + 1
	}
	var got []int
	func() {
		defer func() {
			if v := recover(); (v == nil) == (fail >= 0 && len(got) == fail+1) {
				m.t.Fatalf("Take panicked with %v after %d callbacks, the one to fail was %d", v, len(got), fail)
			}
		}()
		if n := x.q.Take(func(v T) {
			if got = append(got, m.bare(v)); len(got) == fail+1 {
				panic(errTake)
			}
		}); n != len(got) {
			m.t.Fatalf("Take returned %d of %d callbacks", n, len(got))
		}
	}()
	if len(got) != want || !slices.IsSorted(got) || want > 0 && (got[0] != x.taken || got[want-1] != x.taken+want-1) {
		m.t.Fatalf("took %v, want %d from %d on", got, want, x.taken)
	}
	x.taken += want
}

func (m *inOrderMachine[T]) advance(x *queueModel[T]) {
	want, wantFailed := x.prefix()
	last, n, failed := x.q.Advance()
	if n != want || failed != wantFailed || n > 0 && m.bare(last) != x.taken+n-1 {
		m.t.Fatalf("Advance = %v, %d, %v from %d on, want %d, %v", last, n, failed, x.taken, want, wantFailed)
	}
	x.taken += want
}

func (m *inOrderMachine[T]) pardon(x *queueModel[T]) {
	n, failed := x.prefix()
	if x.q.Pardon() != failed {
		m.t.Fatalf("Pardon of a failed cell %d: want %v", x.taken+n, failed)
	}
	if failed {
		x.cells[x.taken+n].seenFailed = false
	}
}

func (m *inOrderMachine[T]) news() {
	want := false
	for _, x := range m.queues {
		for i := range x.cells {
			want = want || x.cells[i].reservedSoon+x.cells[i].publishSoon > 0
		}
	}
	if got := m.in.News(); got != want {
		m.t.Fatalf("News is %v, want %v", got, want)
	}
	m.asleep = !want
}

// check compares what can be seen without changing anything.
func (m *inOrderMachine[T]) check(x *queueModel[T]) {
	n := len(x.cells)
	if x.q.Outstanding() != n-x.taken || x.q.Taken() != x.base+uint64(x.taken) || x.q.Next() != x.base+uint64(n) {
		m.t.Fatalf("Outstanding %d, Taken %d, Next %d, with %d cells of which %d are taken, from %d on",
			x.q.Outstanding(), x.q.Taken(), x.q.Next(), n, x.taken, x.base)
	}
	seq, v, failed, ok := x.q.Head()
	wantOK := !x.dropped && x.taken < n && x.cells[x.taken].seenReserved
	if ok != wantOK || ok && (seq != x.base+uint64(x.taken) || m.bare(v) != x.taken || failed != x.cells[x.taken].seenFailed) {
		m.t.Fatalf("Head is %d, %v, %v, %v with %d taken, want %v", seq, v, failed, ok, x.taken, wantOK)
	}
}

// finish publishes everything and takes what can be taken.
func (m *inOrderMachine[T]) finish() {
	for _, x := range m.queues {
		for i := range x.cells {
			m.release(x, i, x.cells[i].holds+1, false, false)
		}
	}
	m.collect()
	m.news()
	for _, x := range m.queues {
		for more := !x.dropped; more; {
			m.advance(x)
			_, more = x.prefix()
			if more {
				m.pardon(x)
			}
		}
		m.check(x)
	}
}
