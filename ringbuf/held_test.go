package ringbuf_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// distances are how many records others append while somebody is held.
func distances(capacity int) []int {
	return []int{0, 1, capacity - 1, capacity, capacity + 1, 2 * capacity, 3*capacity + 1}
}

// A writer that stalls at any step keeps nobody from anything: others append
// as far as they like, pages end at its record until it is overwritten, and
// it ends well afterwards.
func TestWriterHeldAtEveryStepWhileOthersLapIt(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		for step := ringbuf.Numbered; step < ringbuf.Done; step++ {
			for _, distance := range distances(capacity) {
				for _, before := range []int{0, 2*capacity + 1} {
					m := newMachine(t, capacity, 1)
					m.appendWhole(before)
					a := m.start()
					m.stepTo(a, step)
					m.appendWhole(distance)
					m.check()
					m.finish()
					m.appendWhole(capacity + 1)
					m.finish()
				}
			}
		}
	})
}

// Two writers, any number of laps apart on one position, each held at every
// step and let go in either order.
func TestTwoWritersOnOnePositionHeldAtEveryStep(t *testing.T) {
	for _, capacity := range []int{1, 2, 64} {
		for first := ringbuf.Numbered; first < ringbuf.Done; first++ {
			for second := ringbuf.Numbered; second < ringbuf.Done; second++ {
				for _, laps := range []int{1, 2} {
					m := newMachine(t, capacity, 1)
					m.appendWhole(capacity)
					a := m.start()
					m.stepTo(a, first)
					m.appendWhole(laps*capacity - 1)
					b := m.start()
					m.stepTo(b, second)
					m.check()
					// The first ends first, the second ends first, and in turns.
					switch (first + second) % 3 {
					case 0:
						m.stepTo(a, ringbuf.Done)
					case 1:
						m.stepTo(b, ringbuf.Done)
					case 2:
						for a.At != ringbuf.Done || b.At != ringbuf.Done {
							if a.At != ringbuf.Done {
								m.step(a)
							}
							m.check()
							if b.At != ringbuf.Done {
								m.step(b)
							}
							m.check()
						}
					}
					m.check()
					m.finish()
					m.appendWhole(2 * capacity)
					m.finish()
				}
			}
		}
	}
}

// A reader that stalls at any step gets the record or learns that it was
// overwritten, however far others have gone, and costs no writer anything.
func TestReaderHeldAtEveryStepWhileOthersLapIt(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		for step := ringbuf.ReadNumbered; step < ringbuf.ReadDone; step++ {
			for _, distance := range distances(capacity) {
				for _, which := range []string{"oldest", "newest"} {
					m := newMachine(t, capacity, 1)
					m.appendWhole(capacity + 3)
					seq := m.oldest()
					if which == "newest" {
						seq = m.next - 1
					}
					h := m.startRead(seq)
					m.stepReadTo(h, step)
					m.appendWhole(distance)
					m.check()
					m.stepReadTo(h, ringbuf.ReadDone)
					lapped := seq < m.oldest()
					if held := step >= ringbuf.ReadPinned; (held || !lapped) && h.Result != "pinned" || !held && lapped && h.Result != "overwritten" {
						t.Fatalf("%s record, held at step %d, %d more: %q", which, step, distance, h.Result)
					}
					m.finish()
				}
			}
		}
	})
}

// Writers and a reader hold buffers of one position in several laps at once.
func TestManyHoldersOfOnePositionInDifferentLaps(t *testing.T) {
	for _, capacity := range []int{1, 2} {
		m := newMachine(t, capacity, 1)
		m.appendWhole(capacity)
		for range 5 {
			h := m.startRead(m.oldest())
			m.stepReadTo(h, ringbuf.ReadHalf)
			other := m.startRead(m.oldest())
			m.stepReadTo(other, ringbuf.ReadPinned)
			a := m.start()
			m.stepTo(a, ringbuf.HalfFill)
			m.appendWhole(2*capacity - 1)
			m.check()
		}
		m.finish()
	}
}

// More holders than there are spare buffers make the ring get more of them:
// still nothing is lost and nobody waits.
func TestMoreStalledHoldersThanSpareBuffers(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		const writers, readers = 70, 30
		m := newMachine(t, capacity, 1)
		m.appendWhole(capacity)
		for range readers {
			m.stepReadTo(m.startRead(m.oldest()), ringbuf.ReadHalf)
			m.appendWhole(1)
		}
		for range writers {
			m.stepTo(m.start(), ringbuf.HalfFill)
		}
		m.appendWhole(capacity + 1)
		m.check()
		m.finish()
		_, spare, _ := m.r.Buffers()
		if len(spare) < min(writers, ringbuf.FirstSpares+1) {
			t.Errorf("%d spare buffers at the end: the test did not need more", len(spare))
		}
		// The buffers stay, so the same again allocates nothing.
		if n := testing.AllocsPerRun(10, func() {
			v := payload{}
			for range 3 * capacity {
				m.r.Append(&v)
			}
		}); n != 0 {
			t.Errorf("%v allocations in later appends", n)
		}
	})
}

// With every spare buffer held an append goes on as soon as one comes back.
func TestEverySpareBufferIsHeld(t *testing.T) {
	m := newMachine(t, 1, 1)
	m.appendWhole(1)
	for range ringbuf.MaxSpares + 1 {
		m.stepTo(m.start(), ringbuf.Settled) // takes the position from the one before
	}
	done := make(chan uint64)
	go func() {
		v := valueOf(m.next)
		seq, _ := m.r.Append(&v)
		done <- seq
	}()
	for m.r.Next() == m.next {
		runtime.Gosched()
	}
	select {
	case seq := <-done:
		t.Fatalf("record %d got a buffer, though %d are held", seq, ringbuf.MaxSpares+1)
	case <-time.After(time.Millisecond):
	}
	m.published[m.next] = true
	m.next++
	m.stepTo(m.writers[7], ringbuf.Done)
	if seq := <-done; seq != m.next-1 {
		t.Errorf("the append got number %d, want %d", seq, m.next-1)
	}
	m.finish()
}

// Every step of a writer and every step of a reader of the same position meet.
func TestWriterAndReaderMeetAtEveryPairOfSteps(t *testing.T) {
	for _, capacity := range []int{1, 2} {
		for ws := ringbuf.Numbered; ws <= ringbuf.Done; ws++ {
			for rs := ringbuf.ReadNumbered; rs < ringbuf.ReadDone; rs++ {
				t.Run(fmt.Sprintf("capacity=%d/writer=%d/reader=%d", capacity, ws, rs), func(t *testing.T) {
					for _, readerFirst := range []bool{true, false} {
						m := newMachine(t, capacity, 1)
						m.appendWhole(capacity)
						h := m.startRead(m.oldest())
						if readerFirst {
							m.stepReadTo(h, rs)
						}
						a := m.start() // overwrites what the reader reads
						m.stepTo(a, ws)
						m.check()
						m.stepReadTo(h, rs)
						m.check()
						for a.At != ringbuf.Done || h.At != ringbuf.ReadDone {
							if a.At != ringbuf.Done {
								m.step(a)
							}
							if h.At != ringbuf.ReadDone {
								m.stepRead(h)
							}
							m.check()
						}
						m.finish()
					}
				})
			}
		}
	}
}

// A page that finds too many readers at its first record says so, and at a
// later one ends there.
func TestPositionFullOfReaders(t *testing.T) {
	m := newMachine(t, 4, 1)
	m.appendWhole(4)
	words := m.r.Word(3)
	m.r.SetWord(3, ringbuf.FullOfReaders(words))
	if n, err := m.r.ReadAfter(2, make([]payload, 4)); n != 0 || err != ringbuf.ErrBusy {
		t.Errorf("page at a full position: %d, %v, want ErrBusy", n, err)
	}
	if n, err := m.r.ReadAfter(0, make([]payload, 4)); n != 2 || err != nil {
		t.Errorf("page towards a full position: %d, %v, want 2 records", n, err)
	}
	m.r.SetWord(3, words)
	m.finish()
}

// As many readers as a position takes can hold it at once.
func TestReadersUpToTheLimitHoldOnePosition(t *testing.T) {
	m := newMachine(t, 2, 1)
	m.appendWhole(2)
	for range ringbuf.MaxReaders {
		m.stepReadTo(m.startRead(1), ringbuf.ReadPinned)
	}
	if n, err := m.r.ReadAfter(0, make([]payload, 1)); n != 0 || err != ringbuf.ErrBusy {
		t.Errorf("one reader more: %d, %v, want ErrBusy", n, err)
	}
	m.appendWhole(4) // takes the position from all of them
	m.finish()
}

// A reader that is stalled for so long that the lap comes round in the word
// is not misled.
func TestReaderIsNotMisledByALapThatCameRound(t *testing.T) {
	m := newMachine(t, 2, 1)
	m.appendWhole(2)
	m.r.SetSequence(1, 1<<60+1) // what position 1 holds many laps later
	if n, err := m.r.ReadAfter(1, make([]payload, 1)); n != 1 || err != nil {
		t.Errorf("the untouched record: %d, %v", n, err)
	}
	h := m.startRead(1)
	for h.At != ringbuf.ReadDone {
		h.Step()
	}
	if h.Result != "overwritten" {
		t.Errorf("a record of another lap was read as %q, want overwritten", h.Result)
	}
	checkBuffers(t, m.r)
}

// A writer that is stalled for so long that its lap seems to lie ahead finds
// itself lapped all the same and writes nothing.
func TestWriterIsNotMisledByALapThatCameRound(t *testing.T) {
	for _, capacity := range []int{1, 64} {
		for _, step := range []int{ringbuf.Numbered, ringbuf.Looked} {
			m := newMachine(t, capacity, 1)
			m.appendWhole(capacity)
			a := m.start()
			m.stepTo(a, step)
			bits := 0
			for 1<<bits < capacity {
				bits++
			}
			half := uint64(capacity) << (ringbuf.LapBits(bits) - 1) // the largest distance in laps, and one more
			m.next += half + uint64(capacity)
			m.first = m.next // zero records until there
			ringbuf.Jump(m.r, m.next)
			m.finish()
			if !a.Lapped {
				t.Errorf("capacity %d, held at step %d: the record was written over a later one", capacity, step)
			}
		}
	}
}

// The same for a reader that ends: another buffer is at its position, in what
// looks like its lap.
func TestReaderThatEndsIsNotMisledByALapThatCameRound(t *testing.T) {
	m := newMachine(t, 1, 1)
	m.appendWhole(1)
	h := m.startRead(1)
	m.stepReadTo(h, ringbuf.ReadPinned)
	m.appendWhole(1)
	w := m.r.Word(0)
	ringbuf.Jump(m.r, 2) // back to the lap of the reader, with the buffer that is there now
	m.stepReadTo(h, ringbuf.ReadDone)
	m.r.SetWord(0, w)
	checkBuffers(t, m.r)
}

// A buffer that comes back to the head of the spares while somebody is taking
// it has another one behind it.
func TestSpareBufferThatCameBackIsNotTakenLate(t *testing.T) {
	m := newMachine(t, 1, 1)
	var kept uint32
	if m.r.TakeSpareLate(func() {
		first := m.r.TakeSpare()
		kept = m.r.TakeSpare()
		m.r.GiveBack(first)
	}) {
		t.Fatal("the buffer was taken; the one behind it has two owners")
	}
	m.r.GiveBack(kept)
	m.finish()
}
