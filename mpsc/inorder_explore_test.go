//go:build explore

package mpsc

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/internal/atomics"
	"github.com/tidemark-go/tidemark/internal/explore"
)

// order is an InOrder queue of sequence numbers, its reservations and what its
// consumer saw.
type order struct {
	q                   InOrder[int64, order]
	inbox               *Inbox[int64, order]
	r                   []Reservation[int64, order]
	reserved, published int
	taken               []int64
	failed              bool // Advance has met a failed cell
}

// newOrder returns a queue with n reservations, all but the last open of them
// released and taken.
func newOrder(n, open int) *order {
	x := &order{inbox: NewInbox[int64, order](nil)}
	x.q.Init(x.inbox, x)
	x.reserve(n)
	for _, r := range x.r[:n-open] {
		r.Release()
	}
	x.collect()
	x.advance()
	return x
}

func (x *order) reserve(n int) {
	for range n {
		r, ok := x.q.Reserve(int64(len(x.r)))
		if !ok || r.Seq() != uint64(len(x.r)) {
			explore.Fail("reservation %d has the number %d, %v", len(x.r), r.Seq(), ok)
		}
		x.r = append(x.r, r)
	}
}

func (x *order) collect() {
	x.inbox.Collect(func(q *InOrder[int64, order], reserved, published int) {
		if q != &x.q {
			explore.Fail("news of a queue that does not exist")
		}
		x.reserved += reserved
		x.published += published
		if x.published > x.reserved {
			explore.Fail("%d cells are published of %d reserved", x.published, x.reserved)
		}
	})
	if seen, open := x.q.Seen(), x.q.Open(); seen != uint64(x.reserved) || open != x.reserved-x.published {
		explore.Fail("Collect told of %d reserved and %d published, the queue says %d seen and %d open", x.reserved, x.published, seen, open)
	}
}

// advance takes what there is, and must end with the cell of that number.
func (x *order) advance() {
	last, n, failed := x.q.Advance()
	for range n {
		x.taken = append(x.taken, int64(len(x.taken)))
	}
	if n > 0 && last != int64(len(x.taken)-1) {
		explore.Fail("Advance passed %d cells up to that of %d, want %d", n, last, len(x.taken)-1)
	}
	x.failed = x.failed || failed
}

func (x *order) take() { x.q.Take(func(v int64) { x.taken = append(x.taken, v) }) }

// end checks a queue all of whose cells are released, n in all, of which the
// one with the number stuck failed (-1: none).
func (x *order) end(n, stuck int) error {
	x.collect()
	x.advance()
	x.collect()
	want := n
	if stuck >= 0 {
		want = stuck
	}
	if x.reserved != n || x.published != n || x.failed != (stuck >= 0) {
		return fmt.Errorf("saw %d reserved and %d published, stopped by a failed cell %v; want %d, %d, %v",
			x.reserved, x.published, x.failed, n, n, stuck >= 0)
	}
	if len(x.taken) != want || !slices.IsSorted(x.taken) || x.q.Outstanding() != n-want {
		return fmt.Errorf("took %v, %d outstanding; want %d and %d", x.taken[max(0, len(x.taken)-5):], x.q.Outstanding(), want, n-want)
	}
	return nil
}

// late is a Release of a cell that is published: it must change nothing.
func (x *order) late(seq int) {
	if x.r[seq].Release() {
		explore.Fail("a late Release of %d succeeded", seq)
	}
}

// Segments have 16, 16, 32, 64, 64, … cells, and those of 64 are used again: with
// 191 reservations the next but one goes to the first segment of 64.
const nearReuse = 191

func TestExploreInOrder(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "inorder-releasers", Title: "2 goroutines release 2 cells beside Reserve, Collect and Take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(2, 2)
			return explore.Program{Threads: []func(){
				func() { x.r[1].Release() },
				func() { x.r[0].Release() },
				func() { x.reserve(1) },
				func() { x.collect(); x.take() },
			}, Check: func() error { x.r[2].Release(); return x.end(3, -1) }}
		}},
		{Name: "inorder-holders", Title: "2 holders of one cell fail and release it, retain and release it, beside 2 collections", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(2, 2)
			x.r[0].Retain(1)
			return explore.Program{Threads: []func(){
				func() { x.r[0].Fail(); x.r[0].Release() },
				func() { x.r[0].Retain(1); x.r[0].ReleaseN(2, false) },
				func() { x.r[1].Release() },
				func() { x.collect(); x.advance(); x.collect() },
			}, Check: func() error { x.late(0); return x.end(2, 0) }}
		}},
		{Name: "inorder-reuse", Title: "Reserve into a segment that is used again, a late and two due Releases, Collect and Take", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(nearReuse, 1)
			return explore.Program{Threads: []func(){
				func() { x.reserve(2); x.r[nearReuse+1].Release() },
				func() { x.r[nearReuse-1].Release(); x.late(64) },
				func() { x.collect(); x.take() },
			}, Check: func() error { x.r[nearReuse].Release(); return x.end(nearReuse+2, -1) }}
		}},
		{Name: "inorder-reuse-2", Title: "Reserve into a segment that is used again, 2 goroutines with a late and a due Release, Collect and Take", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: func() explore.Program {
			x := newOrder(nearReuse, 2)
			return explore.Program{Threads: []func(){
				func() { x.reserve(2); x.r[nearReuse+1].Release() },
				func() { x.late(64); x.r[nearReuse-2].Release() },
				func() { x.r[nearReuse-1].Release() },
				func() { x.collect(); x.take() },
			}, Check: func() error { x.r[nearReuse].Release(); return x.end(nearReuse+2, -1) }}
		}},
		{Name: "inorder-return", Title: "Take that returns a segment beside Reserve that needs one, and a late Release", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(nearReuse+1, 1)
			x.r[nearReuse].Release()
			x.reserve(64) // the segment used again is full, the one before it not passed
			for _, r := range x.r[nearReuse+1:] {
				r.Release()
			}
			x.collect()
			return explore.Program{Threads: []func(){
				func() { x.reserve(1) },
				func() { x.advance(); x.collect() },
				func() { x.late(nearReuse) },
			}, Check: func() error { x.r[nearReuse+65].Release(); return x.end(nearReuse+66, -1) }}
		}},
		{Name: "inorder-discard", Title: "Discard that drops the passed segments beside Reserve that needs one", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(nearReuse+1, 1)
			x.r[nearReuse].Release()
			x.reserve(64)
			for _, r := range x.r[nearReuse+1:] {
				r.Release()
			}
			x.collect()
			x.advance()
			if x.q.returned.Load() == nil {
				panic("setup: no segment was passed")
			}
			return explore.Program{Threads: []func(){
				func() { x.reserve(1) },
				func() { x.q.Discard(false) },
			}, Check: func() error { x.r[nearReuse+65].Release(); x.collect(); return nil }}
		}},
		{Name: "inorder-head", Title: "Reserve and Release beside Collect and Head of a segment that is watched", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(1, 0)
			x.reserve(1)
			x.collect() // the mark stays set: from here on the cells alone tell
			x.r[1].Release()
			x.collect()
			x.advance()
			return explore.Program{Threads: []func(){
				func() { x.reserve(2) },
				func() {
					x.collect()
					if seq, v, failed, ok := x.q.Head(); ok && (seq != 2 || v != 2 || failed) {
						explore.Fail("the head is %d with %d, failed %v", seq, v, failed)
					}
				},
			}, Check: func() error {
				x.r[2].Release()
				x.r[3].Release()
				return x.end(4, -1)
			}}
		}},
		{Name: "inorder-outstanding", Title: "Outstanding beside Reserve into a segment that is used again, and Take, in turns", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(nearReuse, 2)
			return explore.Program{Threads: []func(){
				func() {
					for i := range 2 {
						x.reserve(1)
						x.r[nearReuse-2+i].Release()
						x.collect()
						x.advance()
					}
				},
				func() {
					if n := x.q.Outstanding(); n < 2 || n > 4 {
						explore.Fail("%d outstanding, want 2 to 4", n)
					}
				},
			}, Check: func() error {
				x.r[nearReuse].Release()
				x.r[nearReuse+1].Release()
				return x.end(nearReuse+2, -1)
			}}
		}},
	} {
		explore.Run(t, c)
	}
}

// What was done before a Release or Reserve returned is seen by the next
// Collect, whatever other goroutines are in the middle of.
func TestExploreInbox(t *testing.T) {
	prompt := func(collects int, news bool) func() explore.Program {
		return func() explore.Program {
			x := newOrder(3, 3)
			var released, reserved atomics.Int64
			release := func(i int) func() {
				return func() { x.r[i].Release(); released.Add(1) }
			}
			return explore.Program{
				Threads: []func(){release(0), release(1), func() { x.reserve(1); reserved.Add(1) }, func() {
					for range collects {
						published, registered := int(released.Load()), 3+int(reserved.Load())
						if news && !x.inbox.News() && (x.published < published || x.reserved < registered) {
							explore.Fail("there is news and News says no")
						}
						x.collect()
						if x.published < published || x.reserved < registered {
							explore.Fail("Collect saw %d published and %d reserved, %d and %d were before", x.published, x.reserved, published, registered)
						}
					}
				}},
				Check: func() error {
					if x.collect(); x.published != 2 || x.reserved != 4 {
						return fmt.Errorf("saw %d published and %d reserved in the end, want 2 and 4", x.published, x.reserved)
					}
					x.r[2].Release()
					x.r[3].Release()
					return x.end(4, -1)
				},
			}
		}
	}
	for _, c := range []explore.Config{
		{Name: "inbox-prompt", Title: "2 goroutines release and one reserves in a segment beside 2 collections", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: prompt(2, false)},
		{Name: "inbox-news", Title: "2 goroutines release and one reserves in a segment beside News and a collection", Level: explore.Usual, Search: explore.Exhaust(3e6), Setup: prompt(1, true)},
		{Name: "inbox-edge", Title: "a segment fills and the next begins, beside 2 collections that may not see it full", Level: explore.Short, Search: explore.Exhaust(1e6), Setup: func() explore.Program {
			x := newOrder(14, 1)
			x.reserve(1)
			x.collect() // the mark stays set: from here on the cells alone tell
			var reserved atomics.Int64
			return explore.Program{
				Threads: []func(){func() { x.reserve(2); reserved.Store(2); x.r[16].Release() }, func() {
					for range 2 {
						before := 15 + int(reserved.Load())
						x.collect()
						x.advance()
						if x.reserved < before {
							explore.Fail("Collect saw %d reserved, %d were before", x.reserved, before)
						}
					}
				}},
				Check: func() error {
					for _, i := range []int{13, 14, 15} {
						x.r[i].Release()
					}
					return x.end(17, -1)
				},
			}
		}},
	} {
		explore.Run(t, c)
	}
}
