package verdict

import (
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
)

// askFor is what is asked for where the test needs nearly as many: a row that
// has just enough samples decides only if no two of them overlap.
const (
	askFor       = 10
	nearlyAskFor = 8
)

// decide sets the verdict, if it is not set yet. Need is how many samples any
// verdict takes.
func (j *job) decide(opt Options, need int) {
	if j.Verdict != "" {
		return
	}
	if reason := j.incomparable(opt); reason != "" {
		j.Verdict, j.Reason = NotComparable, reason
		return
	}
	n := min(j.Base.N, j.New.N)
	significant := j.Adjusted <= opt.Alpha && (j.Lo > 0 || j.Hi < 0)
	beyond := math.Abs(j.Change) > j.Floor
	inside := j.Lo >= -j.Floor && j.Hi <= j.Floor
	switch {
	case j.Regime == Mixed:
		j.mixed(opt, need)
	// Sides of different sizes can be told apart with fewer than need on one.
	case n < need && !j.table.Exact && !(significant && beyond && n >= boundable(opt.Confidence)):
		j.undecided(n, max(asked(need), j.wanted(opt, need)))
	case zero(j.Base) && zero(j.New):
		j.Verdict = Same
	case significant && beyond:
		j.Verdict = Slower
		if (j.Change > 0) == (j.table.Better > 0) {
			j.Verdict = Faster
		}
	case inside, significant && j.Floor == opt.Floor:
		j.Verdict = Same
	case significant:
		j.Verdict = Undecided
		j.Reason = fmt.Sprintf("within the A/A noise of %.1f%%", j.Floor*100)
	case j.table.Exact:
		j.Verdict, j.Reason = Undecided, "the unit is declared exact, and its values vary"
	default:
		j.undecided(n, max(n+1, asked(need), j.wanted(opt, need)))
	}
}

// mixed sets the verdict of sides that have no regime in common.
func (j *job) mixed(opt Options, need int) {
	what := "no regime in common"
	switch {
	case j.Base.NearN+j.Base.FarN+j.New.NearN+j.New.FarN == 0:
		what = "no regime known"
	case j.Base.NearN+j.New.NearN > 0 && j.Base.FarN+j.New.FarN > 0:
		what = "two regimes"
	}
	j.Verdict = Undecided
	j.Reason = fmt.Sprintf("%s (%s: %s; %s: %s)", what, j.BaseColumn, mixture(j.Base, len(j.base)), j.Column, mixture(j.New, len(j.now)))
	switch {
	case opt.Correct == None:
		j.Reason += ", all of which count without a correction"
	case what == "two regimes":
		j.Needed = asked(need)
		j.Reason += fmt.Sprintf(", needs ≥ %d of one on both sides", j.Needed)
	default:
		j.Needed = asked(need)
		j.Reason += fmt.Sprintf(", needs ≥ %d of one on both sides; -near 0 compares them all the same", j.Needed)
	}
}

func asked(need int) int {
	if need >= nearlyAskFor {
		return max(need, askFor)
	}
	return need
}

func (j *job) undecided(n, needed int) {
	j.Verdict, j.Needed = Undecided, min(needed, maxNeeded)
	have := fmt.Sprintf("n=%d", n)
	if j.Base.N != j.New.N {
		have = fmt.Sprintf("n=%d+%d", j.Base.N, j.New.N)
	}
	j.Reason = fmt.Sprintf("%s, needs ≥ %d", have, j.Needed)
}

// wanted estimates how many samples would decide: the width of an interval
// shrinks with the root of their number, and the normal quantile of the
// p-value grows with it.
func (j *job) wanted(opt Options, need int) int {
	n := float64(min(j.Base.N, j.New.N))
	half := (j.Hi - j.Lo) / 2
	change := math.Abs(j.Change)
	target := max(j.Floor-change, change)
	if n == 0 || math.IsNaN(half) || math.IsInf(half, 0) || target <= 0 {
		return need
	}
	wanted := n * half * half / (target * target)
	// Sides that do not overlap have the smallest p of their number, and the
	// quantile says nothing: need covers them.
	overlap := j.P > 1.01*smallestP()[min(int(n), len(smallestP())-1)]
	if change > j.Floor && j.Adjusted > opt.Alpha && overlap && j.P < 1 {
		// The correction multiplies P by Adjusted/P, so alpha is divided by it.
		has := math.Erfinv(1 - j.P)
		asks := math.Erfinv(1 - opt.Alpha*j.P/j.Adjusted)
		wanted = max(wanted, n*asks*asks/(has*has))
	}
	return int(math.Ceil(min(wanted, maxNeeded)))
}

// incomparable returns why the sides have no verdict, or "".
func (j *job) incomparable(opt Options) string {
	for _, side := range [][]pair.Sample{j.base, j.now} {
		if s := notFinite(side); s != nil {
			return fmt.Sprintf("%v at %s:%d", s.Value, s.File, s.Line)
		}
	}
	switch {
	case j.table.Better == 0:
		return fmt.Sprintf(`no direction: the line "Unit %s better=lower" (or higher) in the file tells it`, j.table.Unit)
	case negative(j.base), negative(j.now):
		return "negative values have no ratio"
	case j.Base.Center == 0 && !(zero(j.Base) && zero(j.New)) && !constant(j.base, j.now) && !(allZero(j.base) && noZero(j.now)) &&
		// From nothing to something is a change, if no single sample makes it.
		!(zero(j.Base) && j.New.Lo > 0 && j.Adjusted <= opt.Alpha):
		return "zero base: nothing is a multiple of a median of 0"
	}
	return ""
}

// zero says whether a median is 0 with its whole interval, though single
// values may not be.
func zero(s Summary) bool { return s.Center == 0 && s.Lo == 0 && s.Hi == 0 }

func negative(side []pair.Sample) bool {
	for _, s := range side {
		if s.Value < 0 {
			return true
		}
	}
	return false
}

func allZero(side []pair.Sample) bool {
	for _, s := range side {
		if s.Value != 0 {
			return false
		}
	}
	return true
}

func noZero(side []pair.Sample) bool {
	for _, s := range side {
		if s.Value == 0 {
			return false
		}
	}
	return true
}

// add counts a verdict.
func (c *Counts) add(v Verdict) {
	switch v {
	case Faster:
		c.Faster++
	case Slower:
		c.Slower++
	case Same:
		c.Same++
	case Undecided:
		c.Undecided++
	case NotComparable:
		c.NotComparable++
	}
}

// Comparable is how many comparisons have a verdict on their figures.
func (c Counts) Comparable() int { return c.Faster + c.Slower + c.Same + c.Undecided }
