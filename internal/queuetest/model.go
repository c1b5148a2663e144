package queuetest

import (
	"context"
	"errors"
	"math/rand/v2"
)

// errCallback is what a callback of the model panics with.
var errCallback = errors.New("callback")

// randomOperations runs Operate on random programs.
func randomOperations(t T, f Form) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for range scale(200) {
		program := make([]byte, 20+rng.IntN(400))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		Operate(t, f, program)
	}
}

// Operate runs a program of single-goroutine operations on a queue of the form
// and on a naive model, and compares them after each step. The first byte
// chooses the configuration; every further pair of bytes is an operation and
// its argument. It is the body of the fuzz target as well.
func Operate(t T, f Form, program []byte) {
	if len(program) == 0 {
		return
	}
	cfg := Config{Buffer: 1 << 14}
	if f.Segmented {
		cfg.SegmentSize = []int{1, 2, 3, 40, 0}[int(program[0])%5]
	}
	cfg.NearWrap = f.Wraps && program[0]&0x80 != 0
	m := &model{t: t, f: f, cfg: cfg, program: program, q: f.Ints(cfg), where: map[uint64]*modelElement{}}
	m.open()
	for i := 1; i+1 < len(program) && len(m.where) < 1<<13; i += 2 {
		m.step(program[i], int(program[i+1]))
		m.check()
	}
	m.finish()
}

// modelProducer is a producer and what it has pushed that was not popped yet.
type modelProducer struct {
	Producer[uint64]
	id, seq int
	pending []uint64
	closed  bool
}

type modelElement struct {
	from  *modelProducer // nil: it came from a claim of its own
	calls int            // Drain and DrainTo calls that left it
}

type model struct {
	t       T
	f       Form
	cfg     Config
	program []byte
	q       Queue[uint64]

	producers []*modelProducer
	ids       int
	claims    []func(uint64) // unfinished pushes
	where     map[uint64]*modelElement
	closed    bool
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%+v, program %v: "+format, append([]any{m.cfg, m.program}, args...)...)
}

func (m *model) open() {
	m.producers = append(m.producers, &modelProducer{Producer: m.q.Producer(), id: m.ids})
	m.ids++
}

func (m *model) step(op byte, arg int) {
	p := m.producers[arg%len(m.producers)]
	switch op % 16 {
	case 0, 1, 2, 3:
		for range 1 + arg%5*(arg%7) {
			m.push(p)
		}
	case 4:
		m.pushBatch(p, arg)
	case 5, 6:
		m.tryPop()
	case 7:
		m.drain(arg)
	case 8, 9:
		m.drainTo(arg % 50)
	case 10:
		m.wait()
	case 11:
		if len(m.producers) < 8 && !m.f.SingleProducer {
			m.open()
		}
	case 12:
		if p.Close != nil && arg%4 == 0 {
			p.Close()
			p.closed = true
		}
	case 13:
		if m.q.Claim != nil && !m.f.GapBlocks && !m.closed && len(m.claims) < 20 {
			m.claims = append(m.claims, m.q.Claim())
		}
	case 14:
		m.publish(arg)
	case 15:
		if m.q.Close != nil && arg%32 == 13 {
			m.q.Close()
			m.closed = true
		}
	}
}

func (m *model) accept(p *modelProducer, v uint64) {
	m.where[v] = &modelElement{from: p}
	p.pending = append(p.pending, v)
	p.seq++
}

func (m *model) push(p *modelProducer) {
	v := id(p.id, p.seq)
	if ok := p.Push(v); ok == (m.closed || p.closed) {
		m.failf("Push returned %v; queue closed: %v, producer closed: %v", ok, m.closed, p.closed)
	} else if ok {
		m.accept(p, v)
	}
}

func (m *model) pushBatch(p *modelProducer, n int) {
	if p.PushBatch == nil {
		return
	}
	var vs []uint64
	for i := range n {
		vs = append(vs, id(p.id, p.seq+i))
	}
	want := n
	if m.closed || p.closed {
		want = 0
	}
	if got := p.PushBatch(vs); got != want {
		m.failf("PushBatch of %d returned %d, want %d", n, got, want)
	}
	for _, v := range vs[:want] {
		m.accept(p, v)
	}
}

func (m *model) publish(i int) {
	if len(m.claims) == 0 {
		return
	}
	i %= len(m.claims)
	v := id(m.ids, 0)
	m.ids++
	m.claims[i](v)
	m.where[v] = &modelElement{}
	m.claims = append(m.claims[:i], m.claims[i+1:]...)
}

// popped checks one element that came out.
func (m *model) popped(v uint64) {
	e := m.where[v]
	if e == nil {
		m.failf("popped %#x, which is not in the queue", v)
	}
	delete(m.where, v)
	if e.from == nil || m.f.Unordered {
		return
	}
	if first := e.from.pending[0]; first != v {
		m.failf("popped %#x before %#x of the same producer", v, first)
	}
	e.from.pending = e.from.pending[1:]
}

func (m *model) tryPop() {
	if m.q.TryPop == nil {
		return
	}
	v, ok := m.q.TryPop()
	if ok {
		m.popped(v)
	} else if len(m.where) > 0 {
		m.failf("TryPop found nothing with %d published", len(m.where))
	}
}

// left counts a call that may leave what lies behind unfinished pushes, and
// nothing else.
func (m *model) left() {
	if len(m.where) > 0 && len(m.claims) == 0 {
		m.failf("%d elements left by a call with no push unfinished", len(m.where))
	}
	for v, e := range m.where {
		if e.calls++; e.calls > m.f.Lazy {
			m.failf("%#x was left by %d calls", v, e.calls)
		}
	}
}

// drain lets the callback panic at some element if arg is large.
func (m *model) drain(arg int) {
	if m.q.Drain == nil {
		return
	}
	fail := -1
	if m.f.PanicSafe && arg >= 0x80 {
		fail = arg % 0x40
	}
	had, n, got := len(m.where), 0, 0
	reason := caught(func() {
		got = m.q.Drain(func(v uint64) {
			m.popped(v)
			if n++; n == fail+1 {
				panic(errCallback)
			}
		})
	})
	switch {
	case reason == nil && fail >= 0 && fail < n:
		m.failf("the panic of callback %d did not come through", fail)
	case reason != nil && (reason != errCallback || n != fail+1):
		m.failf("Drain panicked after %d callbacks, the one to fail was %d: %v", n, fail, reason)
	case reason == nil && got != n:
		m.failf("Drain returned %d of %d callbacks with %d published", got, n, had)
	case reason == nil:
		m.left()
	}
}

func (m *model) drainTo(size int) {
	if m.q.DrainTo == nil {
		return
	}
	dst := make([]uint64, size)
	n := m.q.DrainTo(dst)
	for _, v := range dst[:n] {
		m.popped(v)
	}
	if n < size {
		m.left()
	}
}

func (m *model) wait() {
	if m.q.Wait == nil {
		return
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	var want error
	switch {
	case len(m.where) > 0:
	case m.closed && len(m.claims) == 0:
		want = m.q.Closed
	default:
		want = context.Canceled
	}
	if err := m.q.Wait(done); !errors.Is(err, want) {
		m.failf("Wait: %v, want %v", err, want)
	}
}

func (m *model) check() {
	if !m.f.ExactLen {
		return
	}
	if n := m.q.Len(); n != len(m.where)+len(m.claims) {
		m.failf("Len is %d with %d published and %d unfinished", n, len(m.where), len(m.claims))
	}
}

// finish publishes what is unfinished, takes everything and closes.
func (m *model) finish() {
	for len(m.claims) > 0 {
		m.publish(0)
	}
	if m.q.Drain != nil {
		m.drain(0)
	} else {
		takeN(m.t, takers(m.q)[0].take, len(m.where), m.popped)
	}
	m.check()
	for _, p := range m.producers {
		closeProducer(p.Producer)
	}
	if m.q.Close != nil {
		m.q.Close()
		m.closed = true
		m.wait()
	}
	expectEmpty(m.t, m.f, m.q)
}
