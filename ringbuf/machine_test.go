package ringbuf_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tidemark-go/tidemark/ringbuf"
)

type payload = ringbuf.Payload

// valueOf is the record that a test appends under a sequence number: no word
// of it occurs in another record.
func valueOf(seq uint64) payload {
	var v payload
	for i := range v {
		v[i] = (seq*8 + uint64(i)) * 0x9e3779b97f4a7c15
	}
	return v
}

// machine drives a ring with appends and reads that stand half way, and knows
// what each page must hold: a record is there from its publication until a
// capacity of numbers was given out after it.
type machine struct {
	t         testing.TB
	r         *ringbuf.Ring[payload]
	first     uint64 // the ring's first number; those before hold zero records
	next      uint64
	published map[uint64]bool
	writers   []*ringbuf.HeldAppend
	readers   []*ringbuf.HeldRead
}

func newMachine(t testing.TB, capacity int, first uint64) *machine {
	t.Helper()
	r, err := ringbuf.NewAt[payload](capacity, first)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t: t, r: r, first: first, next: first, published: map[uint64]bool{}}
}

func (m *machine) oldest() uint64 {
	if c := uint64(m.r.Capacity()); m.next > c {
		return m.next - c
	}
	return 1
}

// appendWhole appends n records without stopping.
func (m *machine) appendWhole(n int) {
	for range n {
		v := valueOf(m.next)
		seq, ok := m.r.Append(&v)
		if m.next == math.MaxUint64 {
			if ok {
				m.t.Fatalf("append got number %d beyond the last", seq)
			}
			return
		}
		if !ok || seq != m.next {
			m.t.Fatalf("append got number %d, %t, want %d", seq, ok, m.next)
		}
		m.published[seq] = true
		m.next++
	}
}

// start begins an append that will stop after each step.
func (m *machine) start() *ringbuf.HeldAppend {
	a, ok := ringbuf.StartAppend(m.r, valueOf)
	if m.next == math.MaxUint64 {
		if ok {
			m.t.Fatalf("append got number %d beyond the last", a.Seq)
		}
		return nil
	}
	if !ok || a.Seq != m.next {
		m.t.Fatalf("held append got number %d, %t, want %d", a.Seq, ok, m.next)
	}
	m.next++
	m.writers = append(m.writers, a)
	return a
}

// step makes one step of a held append and tells whether it is done.
func (m *machine) step(a *ringbuf.HeldAppend) bool {
	before := a.At
	a.Step()
	switch {
	case before == ringbuf.Filled && !a.Orphaned:
		m.published[a.Seq] = true
	case a.Lapped || before == ringbuf.Filled:
		if a.Seq >= m.oldest() {
			m.t.Fatalf("record %d was given up, though %d is the oldest retained", a.Seq, m.oldest())
		}
	}
	return a.At == ringbuf.Done
}

// stepTo steps until the append stands at a step or is done. Some steps do
// not occur in every append; it goes on past them.
func (m *machine) stepTo(a *ringbuf.HeldAppend, at int) {
	for a.At < at && !m.step(a) {
	}
}

func (m *machine) startRead(seq uint64) *ringbuf.HeldRead {
	h, ok := ringbuf.StartRead(m.r, seq)
	if !ok {
		m.t.Fatalf("record %d is not retained (oldest %d, next %d)", seq, m.oldest(), m.next)
	}
	m.readers = append(m.readers, h)
	return h
}

// stepRead makes one step of a held read and tells whether it is done.
func (m *machine) stepRead(h *ringbuf.HeldRead) bool {
	h.Step()
	if h.At != ringbuf.ReadDone {
		return false
	}
	switch h.Result {
	case "pinned":
		if want := m.want(h.Seq); h.Value != want {
			m.t.Fatalf("read of record %d got %v, want %v", h.Seq, h.Value, want)
		}
	case "pending":
		// It stood there when the reader looked at the word, which may be long
		// ago; that it was not published yet then is the writer's step to check.
	case "overwritten":
		if h.Seq >= m.oldest() {
			m.t.Fatalf("read of record %d says overwritten, though %d is the oldest retained", h.Seq, m.oldest())
		}
	default:
		m.t.Fatalf("read of record %d says %q", h.Seq, h.Result)
	}
	return true
}

func (m *machine) stepReadTo(h *ringbuf.HeldRead, at int) {
	for h.At < at && !m.stepRead(h) {
	}
}

func (m *machine) want(seq uint64) payload {
	if seq < m.first {
		return payload{}
	}
	return valueOf(seq)
}

func (m *machine) isPublished(seq uint64) bool { return seq < m.first || m.published[seq] }

// page reads one page and compares it with what must be there.
func (m *machine) page(cursor uint64, size int) {
	m.t.Helper()
	dst := make([]payload, size)
	n, err := m.r.ReadAfter(cursor, dst)
	oldest := m.oldest()
	switch {
	case cursor >= m.next:
		var e *ringbuf.CursorAheadError
		if !errors.As(err, &e) || e.AfterSequence != cursor || e.NextSequence != m.next || n != 0 {
			m.t.Fatalf("page after %d: %d, %v, want ahead of %d", cursor, n, err, m.next)
		}
		return
	case cursor+1 < oldest:
		var e *ringbuf.CursorOverwrittenError
		if !errors.As(err, &e) || e.AfterSequence != cursor || e.OldestRetained != oldest || n != 0 {
			m.t.Fatalf("page after %d: %d, %v, want overwritten before %d", cursor, n, err, oldest)
		}
		return
	}
	want := 0
	for want < size && cursor+1+uint64(want) < m.next && m.isPublished(cursor+1+uint64(want)) {
		want++
	}
	if err != nil || n != want {
		m.t.Fatalf("page of %d after %d: %d, %v, want %d records (oldest %d, next %d)", size, cursor, n, err, want, oldest, m.next)
	}
	for i := range n {
		if seq := cursor + 1 + uint64(i); dst[i] != m.want(seq) {
			m.t.Fatalf("record %d is %v, want %v", seq, dst[i], m.want(seq))
		}
	}
	for i := n; i < size; i++ {
		if dst[i] != (payload{}) {
			m.t.Fatalf("record %d was written behind the page", i)
		}
	}
}

// check reads pages that touch every edge.
func (m *machine) check() {
	m.t.Helper()
	oldest := m.oldest()
	for _, cursor := range []uint64{0, oldest - 1, oldest, m.next - 1, m.next, math.MaxUint64} {
		m.page(cursor, 1)
		m.page(cursor, 64)
	}
	if oldest > 1 {
		m.page(oldest-2, 1)
	}
	// Everything behind a record that is not published yet.
	for _, a := range m.writers {
		if a.Seq >= oldest && a.Seq < m.next-1 {
			m.page(a.Seq-1, 3)
			m.page(a.Seq, 64)
		}
	}
	if got := m.r.Next(); got != m.next {
		m.t.Fatalf("Next is %d, want %d", got, m.next)
	}
}

// finish lets all that are held end, and looks for lost buffers.
func (m *machine) finish() {
	m.t.Helper()
	for _, a := range m.writers {
		m.stepTo(a, ringbuf.Done)
	}
	for _, h := range m.readers {
		m.stepReadTo(h, ringbuf.ReadDone)
	}
	m.check()
	checkBuffers(m.t, m.r)
}

// checkBuffers tells whether a ring at rest has each buffer once, at a
// position or spare, and none is held.
func checkBuffers[T any](t testing.TB, r *ringbuf.Ring[T]) {
	t.Helper()
	at, spare, all := r.Buffers()
	seen := map[uint32]string{}
	for where, ids := range map[string][]uint32{"at a position": at, "spare": spare} {
		for _, id := range ids {
			if seen[id] != "" {
				t.Fatalf("buffer %d is %s and %s", id, seen[id], where)
			}
			seen[id] = where
			if n := r.Holds(id); n != 0 {
				t.Fatalf("buffer %d, %s, has %d holders", id, where, n)
			}
		}
	}
	if len(seen) != all {
		t.Fatalf("%d of %d buffers are lost", all-len(seen), all)
	}
}

// starts are first numbers at which something could go wrong: at the
// beginning, where laps wrap in the word, where numbers stop being handed out
// by fetch-and-add, and at the end.
func starts(capacity int) map[string]uint64 {
	bits := 0
	for 1<<bits < capacity {
		bits++
	}
	wrap := uint64(capacity) << ringbuf.LapBits(bits)
	return map[string]uint64{
		"first":         1,
		"lap bits wrap": wrap - uint64(capacity) - 1,
		"sign bit":      wrap/2 - 3,
		"end zone":      ringbuf.EndZone - 5,
		"end":           math.MaxUint64 - 4*uint64(capacity) - 3,
		"last":          math.MaxUint64 - 3,
	}
}

// eachRing runs a test on rings of several capacities.
func eachRing(t *testing.T, run func(t *testing.T, capacity int)) {
	for _, capacity := range []int{1, 2, 64, 1024} {
		t.Run(fmt.Sprintf("capacity=%d", capacity), func(t *testing.T) { run(t, capacity) })
	}
}
