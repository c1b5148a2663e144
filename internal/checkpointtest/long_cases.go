package checkpointtest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// takeLong takes lists of many lengths over partitions from the whole range,
// behind a few watermarks that are in dst already.
func takeLong(t testing.TB, s Subject) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{2, 31, 64, 65, 127, 128, 129, 255, 256, 257, 700, 3000} {
		all := map[part]bool{}
		for len(all) < n {
			// Near each other, far apart, and different in any byte alone.
			p := rng.Uint32() >> (8 * rng.IntN(4)) << (8 * rng.IntN(4))
			all[part(p)] = true
		}
		ps := make([]part, 0, n)
		for p := range all {
			ps = append(ps, p)
		}
		r := newRig(t, s, ps...)
		for round := range int64(3) {
			want := []mark{at(9, 9), at(1, 1), at(5, 5)}
			dst := slices.Clone(want)
			var failing []part
			for k, p := range ps {
				if round < 2 && k%3 == int(round) {
					continue
				}
				a := r.issue(p, 10*round)
				if round == 2 && k%5 == 0 {
					fail(a)
					failing = append(failing, p)
					continue
				}
				a.Release()
				want = append(want, at(p, 10*round+1))
			}
			slices.SortFunc(want[3:], func(a, b mark) int { return cmp.Compare(a.Partition, b.Partition) })
			r.c.Drain()
			if got := r.c.TakeWatermarks(dst); !slices.Equal(got, want) {
				t.Fatalf("TakeWatermarks with %d partitions: %d watermarks are not the %d expected ones in order", n, len(got)-3, len(want)-3)
			}
			slices.Sort(failing)
			stalls := r.c.Stalled(nil)
			if !slices.EqualFunc(stalls, failing, func(st checkpoint.Stall, p part) bool { return st.Partition == p }) {
				t.Fatalf("Stalled with %d partitions: %d stalls are not the %d expected ones in order", n, len(stalls), len(failing))
			}
		}
	}
}
