package ringbuf_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// program runs a machine as the bytes say: the first two choose the ring, the
// others are operations with an argument each.
func program(t testing.TB, text []byte) {
	if len(text) < 2 {
		return
	}
	capacity := []int{1, 2, 4, 64}[text[0]%4]
	names := []string{"first", "lap bits wrap", "sign bit", "end zone", "end", "last"}
	m := newMachine(t, capacity, starts(capacity)[names[int(text[1])%len(names)]])
	var writers []*ringbuf.HeldAppend
	var readers []*ringbuf.HeldRead
	for ops := text[2:]; len(ops) >= 2; ops = ops[2:] {
		arg := int(ops[1])
		switch ops[0] % 8 {
		case 0:
			m.appendWhole(arg % (2*capacity + 2))
		case 1:
			if a := m.start(); a != nil {
				writers = append(writers, a)
			}
		case 2, 3:
			if len(writers) > 0 {
				i := arg % len(writers)
				if m.step(writers[i]) {
					writers = slices.Delete(writers, i, i+1)
				}
			}
		case 4:
			if m.next > 1 {
				seq := m.next - 1 - uint64(arg)%(m.next-m.oldest())
				readers = append(readers, m.startRead(seq))
			}
		case 5, 6:
			if len(readers) > 0 {
				i := arg % len(readers)
				if m.stepRead(readers[i]) {
					readers = slices.Delete(readers, i, i+1)
				}
			}
		case 7:
			m.page(m.oldest()-1+uint64(arg)%(m.next-m.oldest()+2), 1+arg%5)
		}
	}
	m.check()
	m.finish()
}

// FuzzRing runs appends and reads that stop after any of their steps, in any
// order, against a model that knows what each page holds.
func FuzzRing(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 4, 0, 5, 0, 5, 0, 0, 2, 5, 0, 5, 0, 5, 0})       // a reader is lapped while it copies
	f.Add([]byte{1, 1, 0, 3, 1, 0, 2, 0, 2, 0, 2, 0, 0, 4, 2, 0, 2, 0, 2, 0}) // a writer is lapped while it fills
	f.Add([]byte{0, 5, 1, 0, 1, 0, 1, 0, 2, 2, 2, 2, 2, 1, 2, 1, 2, 0, 7, 1}) // three writers of one position at the end
	f.Fuzz(func(t *testing.T, text []byte) { program(t, text) })
}

// The same as the fuzz target with random bytes.
func TestRandomStepsAgainstTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	for range runs {
		text := make([]byte, 2+2*rng.IntN(200))
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		program(t, text)
	}
}
