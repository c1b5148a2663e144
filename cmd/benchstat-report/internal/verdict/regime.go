package verdict

import (
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/bench"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// fewest is how many samples a side must have in a regime so that it is worth
// showing by itself, even if they do not suffice to decide.
const fewest = 3

// near and far say whether a sample is from that regime. A bounce that nobody
// measured is in neither, nor is one that a busy machine spoiled.
func near(s pair.Sample, border float64) bool { return s.Bounce > 0 && s.Bounce < border }
func far(s pair.Sample, border float64) bool {
	return s.Bounce >= border && s.Bounce < max(bench.BusyBounce, 10*border)
}

// RegimeOf tells the regime of one sample.
func RegimeOf(s pair.Sample, border float64) Regime {
	switch {
	case s.OneCore:
		return OneCore
	case near(s, border):
		return Near
	case far(s, border):
		return Far
	}
	return Unknown
}

// count returns how many samples are in either regime.
func count(samples []pair.Sample, border float64) (nearN, farN int) {
	for _, s := range samples {
		switch {
		case near(s, border):
			nearN++
		case far(s, border):
			farN++
		}
	}
	return nearN, farN
}

// within returns the samples of a regime, in their order.
func within(samples []pair.Sample, in func(pair.Sample, float64) bool, border float64) []pair.Sample {
	var list []pair.Sample
	for _, s := range samples {
		if in(s, border) {
			list = append(list, s)
		}
	}
	return list
}

// pick returns the samples of each side that count, and their regime. Without
// a correction all of them count, as in benchstat; a mixture is named all the
// same, and decides nothing.
func (o Options) pick(need int, sides ...[]pair.Sample) (Regime, [][]pair.Sample) {
	if o.Correct != None {
		return Pick(need, o.Near, sides...)
	}
	regime, kept := Pick(math.MaxInt, o.Near, sides...)
	for i, side := range kept {
		if len(side) != len(sides[i]) {
			return Mixed, sides
		}
	}
	return regime, sides
}

// Pick returns the samples of each side that may be compared, and their
// regime: near if every side has need samples there, else far if every side
// has, else the one with more on its poorer side, if that is worth showing. Of a
// mixture all samples are returned, to be shown and not to be compared. A
// border of 0 tells no regimes apart.
func Pick(need int, border float64, sides ...[]pair.Sample) (Regime, [][]pair.Sample) {
	oneCore, measured := true, false
	for _, side := range sides {
		for _, s := range side {
			oneCore = oneCore && s.OneCore
			measured = measured || s.Bounce > 0
		}
	}
	switch {
	case oneCore:
		return OneCore, sides
	case !measured, border <= 0:
		return Unknown, sides
	}
	nears, fars := make([][]pair.Sample, len(sides)), make([][]pair.Sample, len(sides))
	for i, side := range sides {
		nears[i], fars[i] = within(side, near, border), within(side, far, border)
	}
	n, f := poorest(nears), poorest(fars)
	switch {
	case n >= need:
		return Near, nears
	case f >= need:
		return Far, fars
	case n >= fewest && n >= f:
		return Near, nears
	case f >= fewest:
		return Far, fars
	case n > 0 && n == longest(sides):
		return Near, nears
	case f > 0 && f == longest(sides):
		return Far, fars
	}
	return Mixed, sides
}

func poorest(sides [][]pair.Sample) int {
	n := len(sides[0])
	for _, s := range sides {
		n = min(n, len(s))
	}
	return n
}

func longest(sides [][]pair.Sample) int {
	n := 0
	for _, s := range sides {
		n = max(n, len(s))
	}
	return n
}

// mixture says how many samples of a side lie where.
func mixture(s Summary, total int) string {
	text := fmt.Sprintf("%d near, %d far", s.NearN, s.FarN)
	if rest := total - s.NearN - s.FarN; rest > 0 {
		text += fmt.Sprintf(", %d unknown", rest)
	}
	return text
}
