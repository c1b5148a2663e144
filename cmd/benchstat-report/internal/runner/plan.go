package runner

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
)

// arm is what a process measures: one implementation of a row in one leg.
type arm struct {
	name   string // of the benchmark, without the suffix for GOMAXPROCS
	impl   string
	cpu    int
	binary *binary
	probe  *probe
	// failed says why the arm is not run any more.
	failed error
	// spent is the time of all its processes so far.
	spent time.Duration
	runs  int
	// near and far count its samples by how far apart the cores were, busy
	// those of which a busy machine does not tell.
	near, far, busy int
}

// label names the arm to a reader.
func (a *arm) label() string {
	if a.binary.leg.name == "" {
		return a.name
	}
	return a.name + " (" + a.binary.leg.name + ")"
}

// row is the arms that are compared with each other.
type row struct {
	name       string // without what tells the arms apart
	pkg        *pkg
	arms       []*arm
	iterations int // pinned for all arms
}

// rotated returns the arms in the order of a round: each arm comes in each
// place equally often.
func (r *row) rotated(round int) []*arm {
	n := round % len(r.arms)
	return slices.Concat(r.arms[n:], r.arms[:n])
}

// group puts what the calibration found into rows, in order of appearance.
func (o *Options) group(p *pkg, probes []*probe, binaries []*binary) []*row {
	key := regexp.MustCompile(regexp.QuoteMeta(o.By) + `=([^/]*)`)
	type place struct {
		name string
		cpu  int
	}
	at := map[place]*row{}
	var rows []*row
	for i, found := range probes {
		impl := ""
		if m := key.FindStringSubmatch(found.name); m != nil {
			impl = m[1]
		}
		if !o.Impl.MatchString(impl) {
			continue
		}
		where := place{key.ReplaceAllString(found.name, ""), found.cpu}
		r := at[where]
		if r == nil {
			r = &row{name: where.name, pkg: p}
			at[where] = r
			rows = append(rows, r)
		}
		r.arms = append(r.arms, &arm{name: found.name, impl: impl, cpu: found.cpu, binary: binaries[i], probe: found, failed: found.err})
	}
	for _, r := range rows {
		r.pair()
	}
	return rows
}

// pair puts the legs of an implementation beside each other.
func (r *row) pair() {
	place := map[string]int{}
	for i, a := range r.arms {
		if _, ok := place[a.impl]; !ok {
			place[a.impl] = i
		}
	}
	slices.SortStableFunc(r.arms, func(a, b *arm) int { return place[a.impl] - place[b.impl] })
}

// Limits of a plan.
const (
	startup = 15 * time.Millisecond // of a process, and of what is around it
	// slack is how many times the wanted time the slowest arm of a row may
	// run, so that the fastest does not run too short.
	slack = 4

	leastBenchtime = 5 * time.Millisecond
	fairBenchtime  = 20 * time.Millisecond // below it rather fewer rounds
	mostBenchtime  = 500 * time.Millisecond
	leastRounds    = 3
	fairRounds     = 8 // below it rather less time: fewer decide nothing among many rows
	mostRounds     = 20
	// planned is the part of the budget that the rounds are planned to take:
	// the rest is for rows that are measured again, and for surprises.
	planned = 0.85
)

// cost estimates one iteration of an arm, and what a process needs beside
// them, from a calibration in which an arm ran for the time unit.
func (a *arm) cost(unit time.Duration) (iteration, beside time.Duration) {
	n := a.probe.iterations
	if n <= 1 {
		return max(a.probe.took, 1), startup
	}
	iteration = max(min(unit, a.probe.took)/time.Duration(n), 1)
	return iteration, startup + max(0, a.probe.took-iteration*time.Duration(n))
}

// pin sets the iterations of every row so that an arm runs for about the
// wanted time. All arms of a row do the same work, so a slow one runs longer
// than a fast one; the middle between the two counts, and the slowest runs at
// most slack times as long as wanted.
func pin(rows []*row, wanted Benchtime, unit time.Duration) {
	for _, r := range rows {
		r.iterations = r.count(r.benchtime(wanted), unit)
	}
}

// benchtime is what holds for the row.
func (r *row) benchtime(wanted Benchtime) Benchtime {
	if own := r.pkg.request.benchtime; !own.isZero() {
		return own
	}
	return wanted
}

// rounds is how often the row is measured.
func (r *row) rounds(all int) int {
	if r.pkg.request.rounds > 0 {
		return r.pkg.request.rounds
	}
	return all
}

// count is how many iterations make the wanted time.
func (r *row) count(wanted Benchtime, unit time.Duration) int {
	if wanted.Count > 0 {
		return wanted.Count
	}
	fewest, most := math.Inf(1), 0.0
	for _, a := range r.arms {
		if a.failed != nil {
			continue
		}
		iteration, _ := a.cost(unit)
		n := float64(wanted.Duration) / float64(iteration)
		fewest, most = min(fewest, n), max(most, n)
	}
	if most == 0 {
		return 1
	}
	return max(1, int(math.Round(min(math.Sqrt(fewest*most), slack*fewest))))
}

// estimate is how long a process of the arm takes: as long as those before
// it, or what the calibration lets expect.
func (r *row) estimate(a *arm, unit time.Duration) time.Duration {
	if a.failed != nil {
		return 0
	}
	if a.runs > 0 {
		return a.spent / time.Duration(a.runs)
	}
	iteration, beside := a.cost(unit)
	return beside + iteration*time.Duration(r.iterations)
}

// round estimates one round of a row.
func (r *row) round(unit time.Duration) (sum time.Duration) {
	for _, a := range r.arms {
		sum += r.estimate(a, unit)
	}
	return sum
}

// plan is how often and how long the rows are measured.
type plan struct {
	rounds    int
	benchtime Benchtime
	unit      time.Duration // what the calibration ran for
	expected  time.Duration
}

// choose fills in what the caller left to the budget, of which left remains,
// and pins the rows.
func (o *Options) choose(rows []*row, left, unit time.Duration) plan {
	p := plan{rounds: o.Rounds, benchtime: o.Benchtime, unit: unit}
	fits := func() bool {
		pin(rows, p.benchtime, unit)
		p.expected = total(rows, p.rounds, 0, unit)
		return float64(p.expected) <= planned*float64(left)
	}
	switch {
	case !p.benchtime.isZero() && p.rounds > 0:
		fits()
	case !p.benchtime.isZero():
		for p.rounds = mostRounds; p.rounds > leastRounds && !fits(); p.rounds-- {
		}
		fits()
	case p.rounds > 0:
		p.longest(fits, mostBenchtime)
	default:
		for p.rounds = DefaultRounds; ; p.rounds-- {
			enough, most := fairBenchtime, mostBenchtime
			if p.rounds <= fairRounds {
				enough, most = leastBenchtime, fairBenchtime // there may be time for more rounds in the end
			}
			if p.longest(fits, most) && p.benchtime.Duration >= enough || p.rounds == leastRounds {
				break
			}
		}
		for p.rounds < mostRounds && p.benchtime.Duration == mostBenchtime {
			if p.rounds++; !fits() {
				p.rounds--
				break
			}
		}
		fits()
	}
	return p
}

// longest sets the longest time of an arm that fits and is at most so long, in
// steps that read well.
func (p *plan) longest(fits func() bool, most time.Duration) bool {
	ms := time.Millisecond
	for _, d := range []time.Duration{mostBenchtime, 400 * ms, 300 * ms, 200 * ms, 150 * ms, 100 * ms, 80 * ms,
		60 * ms, 50 * ms, 40 * ms, 30 * ms, fairBenchtime, 15 * ms, 10 * ms, leastBenchtime} {
		if p.benchtime = (Benchtime{Duration: d}); d <= most && fits() {
			return true
		}
	}
	return false
}

// total estimates the rounds from the given one on.
func total(rows []*row, rounds, from int, unit time.Duration) (sum time.Duration) {
	for _, r := range rows {
		if n := r.rounds(rounds) - from; n > 0 {
			sum += time.Duration(n) * r.round(unit)
		}
	}
	return sum
}

// String tells the plan to a reader.
func (p plan) String() string {
	return fmt.Sprintf("%s of %s an arm, about %v", counted(p.rounds, "round"), p.benchtime, p.expected.Round(time.Second))
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
