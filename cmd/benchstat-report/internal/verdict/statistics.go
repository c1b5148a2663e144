package verdict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/perf/benchmath"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// values copies the values of samples, because benchmath sorts what it gets.
func values(samples []pair.Sample) []float64 {
	list := make([]float64, len(samples))
	for i, s := range samples {
		list[i] = s.Value
	}
	return list
}

func (o Options) thresholds() *benchmath.Thresholds {
	t := benchmath.DefaultThresholds
	t.CompareAlpha = o.Alpha
	return &t
}

func assumption(exact bool) benchmath.Assumption {
	if exact {
		return benchmath.AssumeExact
	}
	return benchmath.AssumeNothing
}

// Summarise makes the summary of samples. Samples that are not finite make all
// its figures NaN.
func (o Options) Summarise(samples []pair.Sample, exact bool) Summary {
	nan := math.NaN()
	s := Summary{Center: nan, Lo: nan, Hi: nan, N: len(samples), Samples: samples}
	s.NearN, s.FarN = count(samples, o.Near)
	if len(samples) == 0 || notFinite(samples) != nil {
		return s
	}
	sum := assumption(exact).Summary(benchmath.NewSample(values(samples), o.thresholds()), o.Confidence)
	s.Center, s.Lo, s.Hi = sum.Center, sum.Lo, sum.Hi
	return s
}

// notFinite returns the first sample that is not a number or infinite.
func notFinite(samples []pair.Sample) *pair.Sample {
	for i, s := range samples {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			return &samples[i]
		}
	}
	return nil
}

// constant says whether all values of both sides are equal, so that no test
// can tell the sides apart.
func constant(a, b []pair.Sample) bool {
	for _, s := range slices.Concat(a, b) {
		if s.Value != a[0].Value {
			return false
		}
	}
	return true
}

// test returns the p-value of two sides. With ties and sides of different
// sizes, benchmath's U-test is right only if the side with the smaller values
// comes first: the other way round it takes the wrong tail, down to p = 0.
// Without a correction the caller wants benchstat's figures, so that its order
// stays.
func (o Options) test(base, now []float64, exact bool) float64 {
	a, b := benchmath.NewSample(slices.Clone(base), o.thresholds()), benchmath.NewSample(slices.Clone(now), o.thresholds())
	if o.Correct != None && wins(a.Values, b.Values) > wins(b.Values, a.Values) {
		a, b = b, a
	}
	return min(1, assumption(exact).Compare(a, b).P)
}

// wins returns in how many pairs the value of a is larger.
func wins(a, b []float64) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if x > y {
				n++
			}
		}
	}
	return n
}

// maxNeeded bounds the numbers of samples that are recommended.
const maxNeeded = 1000

// smallestP returns the smallest p-value that a test of two sides with n
// samples each can have. From 25 on it is far below anything asked for.
var smallestP = sync.OnceValue(func() []float64 {
	ps := []float64{1}
	for n := 1; n <= 25; n++ {
		var a, b []float64
		for i := range n {
			a, b = append(a, float64(i)), append(b, float64(n+i))
		}
		t := benchmath.DefaultThresholds
		ps = append(ps, benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &t), benchmath.NewSample(b, &t)).P)
	}
	return ps
})

// testable returns how many samples a side needs so that the test can reach
// alpha after Holm's correction for this many tests.
func testable(alpha float64, tests int) int {
	limit := alpha / float64(max(tests, 1))
	ps := smallestP()
	for n, p := range ps {
		if n >= 2 && p <= limit {
			return n
		}
	}
	return len(ps)
}

// intervals caches what boundable returns.
var intervals sync.Map // of float64 to int

// boundable returns how many samples the order-statistic interval of a median
// needs to be finite.
func boundable(confidence float64) int {
	if n, ok := intervals.Load(confidence); ok {
		return n.(int)
	}
	n := 2
	for ; n < 50; n++ {
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(make([]float64, n), &benchmath.DefaultThresholds), confidence)
		if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
			break
		}
	}
	intervals.Store(confidence, n)
	return n
}

// holm sets the adjusted p-values of the tests of one unit.
func holm(list []*Comparison) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *Comparison) int { return cmp.Compare(a.P, b.P) })
	worst := 0.0
	for i, c := range sorted {
		worst = max(worst, min(1, c.P*float64(len(sorted)-i)))
		c.Adjusted = worst
	}
}

// resamples is how often a comparison is bootstrapped.
const resamples = 2000

// source returns the generator of a comparison. It depends on the names
// alone, so that a row's interval does not change with the rows around it.
func source(seed uint64, names ...string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, xxhash.Sum64String(strings.Join(names, "\x00"))))
}

// bootstrap returns resampled ratios of the median of b to that of a.
func bootstrap(rng *rand.Rand, a, b []float64) []float64 {
	sort.Float64s(a)
	sort.Float64s(b)
	counts := make([]int, max(len(a), len(b)))
	ratios := make([]float64, resamples)
	for i := range ratios {
		ratios[i] = ratio(resampled(rng, counts, a), resampled(rng, counts, b))
	}
	return ratios
}

// resampled returns the median of as many values as sorted has, drawn from it.
func resampled(rng *rand.Rand, counts []int, sorted []float64) float64 {
	n := len(sorted)
	counts = counts[:n]
	clear(counts)
	for range n {
		counts[rng.IntN(n)]++
	}
	// The values of rank (n-1)/2 and n/2, counted from 0, are the middle.
	low, seen := math.NaN(), 0
	for i, c := range counts {
		seen += c
		if math.IsNaN(low) && seen > (n-1)/2 {
			low = sorted[i]
		}
		if seen > n/2 {
			return (low + sorted[i]) / 2
		}
	}
	return low
}

// ratio is new to base. Two zeros are equal; nothing is a multiple of zero.
func ratio(base, now float64) float64 {
	switch {
	case base == now:
		return 1
	case base == 0:
		return math.Inf(1)
	}
	return now / base
}

// percentiles returns the bounds of the middle part of values.
func percentiles(list []float64, confidence float64) (lo, hi float64) {
	sorted := slices.Clone(list)
	sort.Float64s(sorted)
	tail := (1 - confidence) / 2 * float64(len(sorted))
	i := min(int(tail), (len(sorted)-1)/2)
	return sorted[i], sorted[len(sorted)-1-i]
}
