package explore

import (
	"math/bits"
	"math/rand/v2"
)

// dice chooses at random. In each execution it leaves the running thread with
// another probability, so that some have few preemptions and some many.
type dice struct {
	rand *rand.Rand
	stay int // stays in stay of stay+1 choices
}

func newDice(seed uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(seed, 0))} }

func (d *dice) pick(r *run, enabled set) int {
	if r.last < 0 {
		d.stay = 1<<d.rand.IntN(5) - 1
	} else if enabled.has(r.last) && d.rand.IntN(d.stay+1) != 0 {
		return r.last
	}
	for n := d.rand.IntN(bits.OnesCount8(uint8(enabled))); n > 0; n-- {
		enabled &= enabled - 1
	}
	return enabled.first()
}

func (d *dice) end(*run) {}
