package linear

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/internal/explore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// register is a word that is written (input int) and read (input "read").
var register = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		if v, ok := input.(int); ok {
			return true, v
		}
		return output == state, state
	},
}

// stale is a register whose readers may be given the initial value at any time.
type stale struct {
	word explore.Word[int64]
	late bool
}

func (s *stale) read() any {
	v := int(s.word.Load())
	if s.late {
		v = 0
	}
	return v
}

func program(late bool, c *Checker) func() explore.Program {
	return func() explore.Program {
		h, s := new(explore.History), &stale{late: late}
		return explore.Program{
			Threads: []func(){
				func() { h.Do(1, func() any { s.word.Store(1); return nil }) },
				func() { h.Do("read", s.read) },
			},
			Check: func() error { return c.Check(h) },
		}
	}
}

func TestHistoriesAreJudged(t *testing.T) {
	c := NewChecker(register)
	if result := explore.Exhaust(100).Explore(program(false, c)); result.Failure != "" {
		t.Errorf("a register: %s", result.Failure)
	}
	if n := len(c.verdicts); n < 4 {
		t.Errorf("saw %d histories, want at least read before, after and during the write with either value", n)
	}
	for range 2 { // the second time from memory
		if result := explore.Exhaust(100).Explore(program(true, c)); !strings.HasPrefix(result.Failure, "no order explains") {
			t.Errorf("a read that is stale after the write has ended: %q", result.Failure)
		}
	}
}
