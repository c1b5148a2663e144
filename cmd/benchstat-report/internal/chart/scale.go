package chart

import (
	"math"
	"slices"
)

// logSpan is the ratio of the largest to the smallest value above which an
// axis is logarithmic: beyond it the small values of a linear axis lie on one
// another.
const logSpan = 50

// scale maps values to pixels.
type scale struct {
	lo, hi   float64 // values at the two ends, lo < hi
	from, to float64 // pixels at the two ends
	log      bool
}

// at returns the pixel of v. Values beyond an end are put at that end.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	v = math.Min(math.Max(v, lo), hi)
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// within says whether v lies between the ends.
func (s scale) within(v float64) bool { return v >= s.lo && v <= s.hi }

// span returns the smallest and the largest finite value, or false if there is
// none.
func span(values []float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi, lo <= hi
}

// wantsLog says whether an axis over these values is better logarithmic: all
// are above zero, and they span more than logSpan.
func wantsLog(values []float64) bool {
	lo, hi, ok := span(values)
	return ok && lo > 0 && hi/lo > logSpan
}

// evenerInLog says whether chosen values such as 1, 2, 4, 8 and 16 are spread
// better by a logarithmic axis: whether the narrowest gap takes a larger part
// of it.
func evenerInLog(values []float64) bool {
	vs := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(vs) < 3 || vs[0] <= 0 {
		return false
	}
	first, last := vs[0], vs[len(vs)-1]
	linear, log := 1.0, 1.0
	for i := 1; i < len(vs); i++ {
		linear = min(linear, (vs[i]-vs[i-1])/(last-first))
		log = min(log, math.Log(vs[i]/vs[i-1])/math.Log(last/first))
	}
	return log > linear
}

// niceStep returns the smallest of 1, 2 and 5 times a power of ten that is at
// least v.
func niceStep(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*base >= v*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// linearAxis widens lo and hi to multiples of a nice step that cuts the axis
// into about n parts, and returns them with the ticks.
func linearAxis(lo, hi float64, n int) (float64, float64, []float64) {
	if !(hi-lo > max(1e-9*max(math.Abs(lo), math.Abs(hi)), 1e-100)) {
		half := max(math.Abs(lo)/10, 1e-12)
		if lo == 0 {
			half = 1
		}
		lo, hi = lo-half, hi+half
	}
	step := niceStep((hi - lo) / float64(n))
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	var ticks []float64
	for i := first; i <= last; i++ {
		ticks = append(ticks, i*step)
	}
	return first * step, last * step, ticks
}

// logAxis widens lo and hi, both above zero, a little and returns them with
// ticks at 1, 2 and 5 times the powers of ten, at the powers alone when there
// are many, or at every few of them.
func logAxis(lo, hi float64, n int) (float64, float64, []float64) {
	lo, hi = lo/1.15, hi*1.15
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	for _, marks := range [][]float64{{1, 2, 5}, {1}} {
		var ticks []float64
		for e := first; e <= last; e++ {
			for _, m := range marks {
				if v := m * math.Pow10(e); v >= lo && v <= hi {
					ticks = append(ticks, v)
				}
			}
		}
		if len(ticks) <= n || len(marks) == 1 {
			every := (len(ticks) + n - 1) / max(n, 1)
			return lo, hi, each(ticks, every)
		}
	}
	return lo, hi, nil
}

// each keeps the first of every n values.
func each(values []float64, n int) []float64 {
	var out []float64
	for i := 0; i < len(values); i += max(n, 1) {
		out = append(out, values[i])
	}
	return out
}
