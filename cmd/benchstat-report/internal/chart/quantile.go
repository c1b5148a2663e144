package chart

import (
	"math"
	"slices"
	"strconv"
)

// QuantileAt is where a quantile p lies on the axis of a latency curve:
// log10(1/(1-p)), so that 90 %, 99 % and 99.9 % are as far from one another.
func QuantileAt(p float64) float64 { return -math.Log10(1 - min(p, 1-1e-12)) }

// QuantileAxis is the axis for these quantiles, and returns where the largest
// sample belongs if there is one: behind all quantiles, because which quantile
// it is depends on how many samples there were.
func QuantileAxis(quantiles []float64, largest bool) (Axis, float64) {
	a := Axis{Label: "part of the samples that took at most this long"}
	end := 0.0
	for _, p := range slices.Compact(slices.Sorted(slices.Values(quantiles))) {
		text := strconv.FormatFloat(rounded(p*100), 'f', -1, 64) + " %"
		a.Ticks = append(a.Ticks, Tick{QuantileAt(p), text})
		end = max(end, QuantileAt(p))
	}
	end += 0.7
	if largest {
		a.Ticks = append(a.Ticks, Tick{end, "all"})
	}
	return a, end
}
