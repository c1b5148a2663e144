//go:build explore

package ringbuf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// note is a record that says who wrote it. check must follow from by.
type note struct{ by, check uint64 }

func noteOf(by uint64) note { return note{by, by * 0x9e3779b97f4a7c15} }

// lap is a ring, what its writers have appended and what its readers have
// read, by sequence number.
type lap struct {
	r        *Ring[note]
	appended map[uint64]uint64
	read     map[uint64]uint64
}

func newLap(capacity int, next uint64) *lap {
	r, err := newAt[note](capacity, next)
	if err != nil {
		panic(err)
	}
	return &lap{r: r, appended: map[uint64]uint64{}, read: map[uint64]uint64{}}
}

// write returns a thread that appends n records.
func (x *lap) write(writer uint64, n int) func() {
	return func() {
		for i := range n {
			v := noteOf(writer*10 + uint64(i))
			seq, ok := x.r.Append(&v)
			if !ok {
				explore.Fail("Append was refused")
			}
			x.appended[seq] = v.by
		}
	}
}

// follow returns a thread that reads so many pages of so many records from a
// cursor on. Records that were overwritten are skipped as the error says.
func (x *lap) follow(cursor uint64, pages, size int) func() {
	return func() {
		dst := make([]note, size)
		for range pages {
			n, err := x.r.ReadAfter(cursor, dst)
			var over *CursorOverwrittenError
			switch {
			case errors.As(err, &over):
				if over.AfterSequence != cursor || over.OldestRetained <= cursor+1 {
					explore.Fail("after %d: %v", cursor, err)
				}
				cursor = over.OldestRetained - 1
				continue
			case err != nil:
				var ahead *CursorAheadError
				if !errors.As(err, &ahead) {
					explore.Fail("after %d: %v", cursor, err)
				}
			}
			for i, v := range dst[:n] {
				x.saw(cursor+1+uint64(i), v)
			}
			cursor += uint64(n)
		}
	}
}

func (x *lap) saw(seq uint64, v note) {
	if v != noteOf(v.by) {
		explore.Fail("record %d is a mix: %+v", seq, v)
	}
	if by, ok := x.read[seq]; ok && by != v.by {
		explore.Fail("record %d is %d and was %d", seq, v.by, by)
	}
	x.read[seq] = v.by
}

// rest checks a ring at rest: sequence numbers without holes from first on,
// the newest records there, everything read what was appended, and no buffer
// lost or in two places.
func (x *lap) rest(first uint64, n int) error {
	if next := x.r.Next(); next != first+uint64(n) || len(x.appended) != n {
		return fmt.Errorf("the next number is %d after %v from %d on", next, x.appended, first)
	}
	oldest := x.r.oldest(first + uint64(n))
	for seq := max(first, oldest); seq < first+uint64(n); seq++ {
		dst := make([]note, 1)
		if got, err := x.r.ReadAfter(seq-1, dst); got != 1 || err != nil {
			return fmt.Errorf("record %d at rest: %d, %v", seq, got, err)
		}
		x.saw(seq, dst[0])
	}
	for seq, by := range x.read {
		if want, ok := x.appended[seq]; !ok || want != by {
			return fmt.Errorf("record %d was read as that of %d, appended were %v", seq, by, x.appended)
		}
	}
	at, spare, all := x.r.Buffers()
	buffers := append(slices.Clone(at), spare...)
	slices.Sort(buffers)
	if len(buffers) != all || len(slices.Compact(buffers)) != all {
		return fmt.Errorf("buffers at positions %v and spare %v, %d in all", at, spare, all)
	}
	for _, id := range buffers {
		if n := x.r.Holds(id); n != 0 {
			return fmt.Errorf("buffer %d has %d holders at rest", id, n)
		}
	}
	return nil
}

// laps is writers, each appending so many records, and a reader.
func laps(capacity, writers, each, pages, size int) func() explore.Program {
	return func() explore.Program {
		x := newLap(capacity, 1)
		var threads []func()
		for w := range writers {
			threads = append(threads, x.write(uint64(w+1), each))
		}
		if pages > 0 {
			threads = append(threads, x.follow(0, pages, size))
		}
		return explore.Program{Threads: threads, Check: func() error { return x.rest(1, writers*each) }}
	}
}

func TestExploreRing(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "ring-2x1", Title: "capacity 1: 2 writers append 1 each beside a page", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: laps(1, 2, 1, 1, 1)},
		{Name: "ring-2x2", Title: "capacity 2: 2 writers append 2 each beside a page of 1", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: laps(2, 2, 2, 1, 1)},
		{Name: "ring-2x2-page", Title: "capacity 2: 2 writers append 2 each beside a page of 2", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: laps(2, 2, 2, 1, 2)},
		{Name: "ring-2x2-pages", Title: "capacity 2: 2 writers append 2 each beside 2 pages of 2", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: laps(2, 2, 2, 2, 2)},
		{Name: "ring-one", Title: "capacity 1: 2 writers append 2 each beside a page", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: laps(1, 2, 2, 1, 1)},
		{Name: "ring-3x1", Title: "capacity 1: 3 writers append 1 each beside a page", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: laps(1, 3, 1, 1, 1)},
		{Name: "ring-2x3", Title: "capacity 2: 2 writers append 3 each beside 2 pages of 2", Level: explore.Usual, Search: explore.Bound(3, 2e6), Setup: laps(2, 2, 3, 2, 2)},
		{Name: "ring-3x2", Title: "capacity 2: 3 writers append 2 each beside 2 pages of 2", Level: explore.Usual, Search: explore.Bound(3, 3e6), Setup: laps(2, 3, 2, 2, 2)},
		{Name: "ring-4x3", Title: "capacity 2: 4 writers append 3 each beside 4 pages of 2", Level: explore.Usual, Search: explore.Random(2e5, 1), Setup: laps(2, 4, 3, 4, 2)},
	} {
		explore.Run(t, c)
	}
}

// Two readers of one record while it is overwritten: the buffer is free when
// both are done and not before.
func TestExploreRingReaders(t *testing.T) {
	readers := func(writes int) func() explore.Program {
		return func() explore.Program {
			x := newLap(1, 1)
			x.write(9, 1)()
			return explore.Program{
				Threads: []func(){x.follow(0, 1, 1), x.follow(0, 1, 1), x.write(1, writes)},
				Check:   func() error { return x.rest(1, 1+writes) },
			}
		}
	}
	for _, c := range []explore.Config{
		{Name: "ring-readers", Title: "capacity 1: 2 readers of a record beside a writer", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: readers(1)},
		{Name: "ring-readers-2", Title: "capacity 1: 2 readers of a record beside a writer of 2", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: readers(2)},
	} {
		explore.Run(t, c)
	}
}

// The last numbers are handed out once each, and then no more.
func TestExploreRingEnd(t *testing.T) {
	end := func(first uint64, writers int) func() explore.Program {
		return func() explore.Program {
			x := newLap(2, first)
			refused := 0
			write := func(writer uint64) func() {
				return func() {
					for range 2 {
						v := noteOf(writer)
						if seq, ok := x.r.Append(&v); !ok {
							refused++
						} else if _, twice := x.appended[seq]; twice || seq == math.MaxUint64 {
							explore.Fail("number %d, twice or too large", seq)
						} else {
							x.appended[seq] = v.by
						}
					}
				}
			}
			var threads []func()
			for w := range writers {
				threads = append(threads, write(uint64(w+1)))
			}
			return explore.Program{Threads: threads, Check: func() error {
				left := min(math.MaxUint64-first, uint64(2*writers))
				if refused != 2*writers-int(left) || x.r.Next() != first+left {
					return fmt.Errorf("%d refused, next %d, appended %v", refused, x.r.Next(), x.appended)
				}
				return nil
			}}
		}
	}
	for _, c := range []explore.Config{
		{Name: "ring-end", Title: "2 writers of 2 and 3 numbers left", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: end(math.MaxUint64-3, 2)},
		{Name: "ring-end-zone", Title: "2 writers of 2 where numbers begin to be handed out one by one", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: end(endZone-1, 2)},
	} {
		explore.Run(t, c)
	}
}
