//go:build explore

package mpsc

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/tidemark-go/tidemark/internal/explore"
	"github.com/tidemark-go/tidemark/internal/explore/linear"
)

// What a queue without Close may do, one call at a time. Its state is what was
// pushed and not popped, in that order: two letters an element, its producer
// and its number there.
//
// Close is not in it: a push that it accepts takes effect twice, when it claims
// its cell and when it publishes it, and no order of whole calls explains
// what a pop between the two sees.
type (
	pushCall string // output bool
	popCall  struct{}
)

var sharedModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s := state.(string)
		if in, ok := input.(pushCall); ok {
			return output == true, s + string(in)
		}
		v := output.(string)
		if v == "" {
			return s == "", s
		}
		// The first of its producer, whatever others have pushed before it.
		for i := 0; i+1 < len(s); i += 2 {
			if s[i] == v[0] {
				return s[i:i+2] == v, s[:i] + s[i+2:]
			}
		}
		return false, s
	},
}

// recorded is a queue whose calls are recorded.
type recorded struct {
	q *Queue[string]
	h explore.History
}

func (r *recorded) push(vs ...string) func() {
	return func() {
		for _, v := range vs {
			r.h.Do(pushCall(v), func() any { return r.q.Push(v) })
		}
	}
}

func (r *recorded) pop(n int) func() {
	return func() {
		for range n {
			r.h.Do(popCall{}, func() any { v, _ := r.q.TryPop(); return v })
		}
	}
}

// legal is a program whose history must have a legal order.
func legal(size int, threads func(r *recorded) []func()) func() explore.Program {
	c := linear.NewChecker(sharedModel)
	return func() explore.Program {
		r := &recorded{q: New[string](WithSegmentSize(size), WithMaxFree(1))}
		return explore.Program{Threads: threads(r), Check: func() error {
			if err := c.Check(&r.h); err != nil {
				return fmt.Errorf("not linearizable: %w", err)
			}
			return nil
		}}
	}
}

func TestExploreHistories(t *testing.T) {
	for _, c := range []explore.Config{
		{Name: "history-2x1", Title: "history of 2 producers and 2 pops, segments of 1", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: legal(1, func(r *recorded) []func() { return []func(){r.push("a0"), r.push("b0"), r.pop(2)} })},
		{Name: "history-1x2", Title: "history of 2 pushes and 3 pops, segments of 1", Level: explore.Short, Search: explore.Exhaust(1e6),
			Setup: legal(1, func(r *recorded) []func() { return []func(){r.push("a0", "a1"), r.pop(3)} })},
		{Name: "history-2x2", Title: "history of 2 producers with 2 pushes and 2 pops, segments of 2", Level: explore.Usual, Search: explore.Bound(3, 1e6),
			Setup: legal(2, func(r *recorded) []func() { return []func(){r.push("a0", "a1"), r.push("b0", "b1"), r.pop(2)} })},
	} {
		explore.Run(t, c)
	}
}
