package verdict

import (
	"math"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// Noise is how far apart two equal legs of an A/A run may lie, by benchmark:
// the farther end of the interval of their change.
type Noise map[NoiseKey]float64

// NoiseKey is a benchmark's full name and a unit in its tidy form.
type NoiseKey struct{ Unit, FullName string }

// NoiseOptions are the projections under which the noise of an A/A file is
// measured.
func NoiseOptions() pair.Options {
	return pair.Options{Row: ".fullname", Col: "leg", Baseline: "base"}
}

// MeasureNoise measures the noise from the tables of an A/A run, made with
// NoiseOptions.
func MeasureNoise(tables *pair.Tables, opt Options) Noise {
	opt.Noise = nil
	noise := Noise{}
	for _, t := range Judge(tables, opt).Tables {
		for _, row := range t.Rows {
			for _, c := range row.Comparisons {
				if math.IsNaN(c.Lo) || math.IsInf(c.Hi, 0) {
					continue
				}
				key := NoiseKey{t.Tidy, row.Name}
				noise[key] = max(noise[key], -c.Lo, c.Hi)
			}
		}
	}
	return noise
}

// of returns the noise of a comparison: that of its noisiest benchmark.
func (n Noise) of(unit string, sides ...[]pair.Sample) float64 {
	worst := 0.0
	if n == nil {
		return worst
	}
	for _, side := range sides {
		for _, s := range side {
			worst = max(worst, n[NoiseKey{unit, s.FullName}])
		}
	}
	return worst
}
