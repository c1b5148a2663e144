package ringbuf_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// signed is a record that can tell whether it is whole: every word follows
// from who wrote it and which of its records it is.
type signed [8]uint64

func sign(writer, n int) *signed {
	s := &signed{uint64(writer), uint64(n)}
	for i := 2; i < len(s); i++ {
		s[i] = s.word(i)
	}
	return s
}

func (s *signed) word(i int) uint64 {
	return (s[0]<<40+s[1]+1)*0x9e3779b97f4a7c15 ^ uint64(i)*0xc2b2ae3d27d4eb4f
}

func (s *signed) whole() bool {
	for i := 2; i < len(s); i++ {
		if s[i] != s.word(i) {
			return false
		}
	}
	return true
}

// follow pages through a ring behind cursor until stop is set and all is read.
// It checks that records are whole, that those of each writer come in its
// order, and that its cursor only moves as pages and errors say.
func follow(t *testing.T, r *ringbuf.Ring[signed], cursor uint64, page int, stop *atomic.Bool) (read, missed uint64) {
	dst := make([]signed, page)
	last := map[uint64]uint64{}
	for {
		stopped := stop.Load()
		n, err := r.ReadAfter(cursor, dst)
		var o *ringbuf.CursorOverwrittenError
		switch {
		case errors.As(err, &o):
			if o.AfterSequence != cursor || o.OldestRetained <= cursor+1 {
				t.Errorf("after %d: %v", cursor, err)
				return
			}
			missed += o.OldestRetained - 1 - cursor
			cursor = o.OldestRetained - 1
		case errors.Is(err, ringbuf.ErrBusy):
			runtime.Gosched()
		case err != nil:
			t.Errorf("after %d: %v", cursor, err)
			return
		}
		for i := range dst[:n] {
			s := &dst[i]
			if !s.whole() {
				t.Errorf("record %d is torn: %x", cursor+1+uint64(i), *s)
				return
			}
			if before, ok := last[s[0]]; ok && s[1] <= before {
				t.Errorf("record %d: number %d of writer %d comes after its %d", cursor+1+uint64(i), s[1], s[0], before)
				return
			}
			last[s[0]] = s[1]
		}
		cursor += uint64(n)
		read += uint64(n)
		if stopped && n == 0 && err == nil && cursor == r.Next()-1 {
			return read, missed
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
}

func atProcs(t *testing.T, run func(t *testing.T, capacity int)) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for _, capacity := range []int{1, 2, 64, 1024} {
			t.Run(fmt.Sprintf("procs=%d/capacity=%d", procs, capacity), func(t *testing.T) { run(t, capacity) })
		}
	}
}

// records is how many records a writer of a concurrent test appends.
func records() int {
	if testing.Short() {
		return 1000
	}
	return 10000
}

func TestWritersAndReadersTogether(t *testing.T) {
	atProcs(t, func(t *testing.T, capacity int) {
		const writers, readers = 4, 2
		total := records()
		r, err := ringbuf.New[signed](capacity)
		if err != nil {
			t.Fatal(err)
		}
		var writing, reading sync.WaitGroup
		var stop atomic.Bool
		sequences := make([][]uint64, writers)
		for w := range writers {
			writing.Go(func() {
				for n := range total {
					seq, ok := r.Append(sign(w, n))
					if !ok {
						t.Errorf("record %d of writer %d was refused", n, w)
						return
					}
					sequences[w] = append(sequences[w], seq)
				}
			})
		}
		for i := range readers {
			reading.Go(func() {
				if read, missed := follow(t, r, 0, 1+i*63, &stop); read+missed != writers*uint64(total) && !t.Failed() {
					t.Errorf("a reader got %d records and missed %d, which is not %d", read, missed, writers*total)
				}
			})
		}
		writing.Wait()
		stop.Store(true)
		reading.Wait()
		checkSequences(t, sequences, 1, r.Next())
		checkBuffers(t, r)
	})
}

// checkSequences tells whether each number from first to below next was given
// out once, in growing order to each writer.
func checkSequences(t *testing.T, sequences [][]uint64, first, next uint64) {
	t.Helper()
	seen := make([]bool, next-first)
	for w, list := range sequences {
		for i, seq := range list {
			if seq < first || seq >= next || seen[seq-first] || i > 0 && seq <= list[i-1] {
				t.Fatalf("writer %d got number %d out of turn", w, seq)
			}
			seen[seq-first] = true
		}
	}
	for i, ok := range seen {
		if !ok {
			t.Fatalf("number %d was given to nobody", first+uint64(i))
		}
	}
}

// While writers and readers run freely, others stall at every step and are
// let go at some other time.
func TestRunningPastStalledWritersAndReaders(t *testing.T) {
	atProcs(t, func(t *testing.T, capacity int) {
		const writers, readers = 2, 2
		total := records() / 2
		r, err := ringbuf.New[payload](capacity)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var running atomic.Int32
		running.Store(writers)
		var published atomic.Uint64
		for range writers {
			wg.Go(func() {
				defer running.Add(-1)
				for range total {
					// A record that says what number it hopes to get: whole or not.
					v := valueOf(published.Add(1))
					if _, ok := r.Append(&v); !ok {
						t.Error("a record was refused")
						return
					}
				}
			})
		}
		for range readers {
			wg.Go(func() {
				dst := make([]payload, 32)
				for running.Load() > 0 {
					cursor := r.Next() - 1
					cursor -= min(cursor, uint64(capacity))
					n, err := r.ReadAfter(cursor, dst)
					var o *ringbuf.CursorOverwrittenError
					if err != nil && !errors.As(err, &o) {
						t.Error(err)
						return
					}
					for i := range dst[:n] {
						if dst[i] != valueOf(indexOf(dst[i])) {
							t.Errorf("record %d is torn: %x", cursor+1+uint64(i), dst[i])
							return
						}
					}
					runtime.Gosched()
				}
			})
		}
		holdAndLetGo(t, r, func() bool { return running.Load() > 0 })
		wg.Wait()
		checkBuffers(t, r)
	})
}

// indexOf undoes valueOf.
func indexOf(v payload) uint64 {
	const inverse = 0xf1de83e19937733d // of valueOf's multiplier, modulo 2^64
	return v[0] * inverse / 8
}

// holdAndLetGo keeps appends and reads of a ring standing at changing steps.
func holdAndLetGo(t *testing.T, r *ringbuf.Ring[payload], more func() bool) {
	var writers []*ringbuf.HeldAppend
	var readers []*ringbuf.HeldRead
	letGo := func(keep int) {
		for len(writers) > keep {
			for writers[0].At != ringbuf.Done {
				writers[0].Step()
			}
			writers = writers[1:]
		}
		for len(readers) > keep {
			for readers[0].At != ringbuf.ReadDone {
				readers[0].Step()
			}
			if v := readers[0].Value; readers[0].Result == "pinned" && v != valueOf(indexOf(v)) {
				t.Errorf("held read of record %d is torn: %x", readers[0].Seq, v)
			}
			readers = readers[1:]
		}
	}
	for i := 0; more() || i < 50; i++ {
		a, ok := ringbuf.StartAppend(r, valueOf)
		if !ok {
			t.Error("a record was refused")
			return
		}
		for range i % 11 {
			if a.At != ringbuf.Done {
				a.Step()
			}
		}
		writers = append(writers, a)
		if h, ok := ringbuf.StartRead(r, r.Next()-1-uint64(i)%min(r.Next()-1, uint64(r.Capacity()))); ok {
			for range i % 7 {
				if h.At != ringbuf.ReadDone {
					h.Step()
				}
			}
			readers = append(readers, h)
		}
		letGo(20)
		runtime.Gosched()
	}
	letGo(0)
}

// At the end of the numbers exactly those that are left are given out.
func TestWritersRacePastTheLastNumber(t *testing.T) {
	for name, first := range map[string]uint64{"near the end": math.MaxUint64 - 1000, "into the end zone": ringbuf.EndZone - 500} {
		t.Run(name, func(t *testing.T) {
			const writers, each = 8, 250
			r, err := ringbuf.NewAt[signed](64, first)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			sequences := make([][]uint64, writers)
			for w := range writers {
				wg.Go(func() {
					for n := range each {
						if seq, ok := r.Append(sign(w, n)); ok {
							sequences[w] = append(sequences[w], seq)
						}
					}
				})
			}
			wg.Wait()
			want := first + writers*each
			if name == "near the end" {
				want = math.MaxUint64
			}
			if r.Next() != want {
				t.Errorf("next is %d, want %d", r.Next(), want)
			}
			if !r.NearEnd() {
				t.Error("numbers are still handed out by fetch-and-add")
			}
			checkSequences(t, sequences, first, r.Next())
			checkBuffers(t, r)
		})
	}
}

// Hundreds of goroutines that all are in the middle of something.
func TestManyMoreGoroutinesThanProcessors(t *testing.T) {
	for _, capacity := range []int{1, 64} {
		const goroutines, each = 512, 40
		r, err := ringbuf.New[signed](capacity)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var stop atomic.Bool
		wg.Go(func() { follow(t, r, 0, 64, &stop) })
		var writing sync.WaitGroup
		for w := range goroutines {
			writing.Go(func() {
				for n := range each {
					if _, ok := r.Append(sign(w, n)); !ok {
						t.Error("a record was refused")
					}
				}
			})
		}
		writing.Wait()
		stop.Store(true)
		wg.Wait()
		if want := uint64(goroutines*each + 1); r.Next() != want {
			t.Errorf("next is %d, want %d", r.Next(), want)
		}
		checkBuffers(t, r)
	}
}
