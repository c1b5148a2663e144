package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tidemark-go/tidemark/bench"
)

// errWrite marks a failure to write results, which ends a run.
var errWrite = errors.New("run: writing results")

// run is the state of one run.
type run struct {
	Options
	progress
	host     host
	deadline time.Time // zero without a budget
	rows     []*row
	plan     plan
	machine  []benchfmt.Config
	w        *writer
	failures []error
	unmarked []string // labels of arms whose failure is not in the file yet
	// done and all count processes, for the line of state, and rounds those
	// that are complete.
	done, all, rounds int
}

// Run measures what the options say. Its error is nil, or wraps ErrUsage,
// ErrFailed or the cause of ctx's end; in the last two cases what was measured
// is in the file.
func Run(ctx context.Context, o Options) (err error) {
	r := &run{Options: o, progress: progress{w: o.Progress, terminal: o.Terminal}, host: thisHost()}
	if r.bounce == nil {
		r.bounce = bench.Bounce
	}
	if o.Budget > 0 {
		r.deadline = time.Now().Add(o.Budget)
	}
	temp, err := os.MkdirTemp("", "benchstat-report")
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	requests, err := r.requests()
	if err != nil {
		return err
	}
	pkgs, err := resolve(ctx, requests)
	if err != nil {
		return err
	}
	legs, remove, err := r.legs(ctx, pkgs, temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for i, p := range pkgs {
		if err := p.build(ctx, legs, temp, i, r.say); err != nil {
			return err
		}
	}
	defer r.clear()
	return r.measured(ctx, pkgs, legs)
}

// measured does everything after the binaries are built.
func (r *run) measured(ctx context.Context, pkgs []*pkg, legs []*leg) (err error) {
	command := r.command() // before the plan fills in what it does not say
	if err := r.prime(ctx, pkgs); err != nil {
		return err
	}
	r.machine = machine(ctx, r.host, pkgs[0].dir)
	if ctx.Err() != nil {
		return fmt.Errorf("run: %w", ctx.Err())
	}
	out, closeOut, err := r.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	r.w = newWriter(out)
	notes := []string{"planned: " + r.plan.String()}
	if len(legs) > 1 {
		notes = append(notes, fmt.Sprintf("leg base is commit %s, leg new is commit %s (dirty: %s)", legs[0].commit, legs[1].commit, legs[1].dirty))
	}
	if err := errors.Join(r.w.head(command, notes...), r.mark()); err != nil {
		return err
	}
	if err := r.host.quiet(); err != nil {
		r.say("this machine is not quiet:\n%v", err)
	}
	if err := r.measure(ctx); err != nil {
		return err
	}
	return r.finish()
}

// open opens the result file.
func (r *run) open() (io.Writer, func() error, error) {
	if r.Out == "" {
		return r.Stdout, func() error { return nil }, nil
	}
	if err := os.MkdirAll(filepath.Dir(r.Out), 0o755); err != nil {
		return nil, nil, fmt.Errorf("%w: -o %s: %w", ErrUsage, r.Out, err)
	}
	f, err := os.Create(r.Out)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: -o %s: %w", ErrUsage, r.Out, err)
	}
	return f, f.Close, nil
}

// prime calibrates every binary, makes the rows of what it finds, and plans.
func (r *run) prime(ctx context.Context, pkgs []*pkg) error {
	unit, benchtime := r.calibration()
	for _, p := range pkgs {
		var probes []*probe
		var binaries []*binary
		for i := range p.binaries {
			b := &p.binaries[i]
			for _, cpu := range r.CPU {
				what := "priming " + strings.TrimSpace(p.path+" "+b.leg.name)
				r.say("%s", what)
				found, err := r.calibrate(ctx, *b, benchtime, cpu, func(name string) { r.now(what + ": " + name) })
				if err != nil {
					return err
				}
				for _, f := range found {
					f.cpu = cpu
					probes, binaries = append(probes, f), append(binaries, b)
				}
			}
		}
		r.rows = append(r.rows, r.group(p, probes, binaries)...)
	}
	if len(r.rows) == 0 {
		with := ""
		if r.Impl.String() != "" {
			with = " and -impl " + r.Impl.String()
		}
		return fmt.Errorf("%w: no benchmark matches -bench %s%s", ErrUsage, r.Bench, with)
	}
	works := 0
	for _, row := range r.rows {
		for _, a := range row.arms {
			if a.failed == nil {
				works++
			} else {
				r.fail(a, fmt.Errorf("while priming: %w", a.failed))
			}
		}
	}
	if works == 0 {
		return fmt.Errorf("%w: all %d did, the first of them: %w", ErrFailed, len(r.failures), r.failures[0])
	}
	left := time.Until(r.deadline)
	r.plan = r.choose(r.rows, left, unit)
	r.say("%s with %s: %v", counted(len(r.rows), "row"), counted(works, "arm"), r.plan)
	if r.Budget > 0 && r.plan.expected > left {
		r.say("that is more than what is left of %v: the run ends there, with fewer rounds", r.Budget)
	}
	if r.Extra < 0 {
		r.Extra = r.plan.rounds / 2
	}
	r.all = r.processes()
	return nil
}

// calibration returns how long a benchmark runs in a calibration.
func (r *run) calibration() (unit time.Duration, benchtime string) {
	const least, most = 5 * time.Millisecond, 20 * time.Millisecond
	switch {
	case r.Benchtime.Count == 1:
		return least, r.Benchtime.String()
	case r.Benchtime.Count > 1:
		unit = least // it lists the rows, and tells how long they take
	case r.Benchtime.Duration > 0:
		unit = min(max(r.Benchtime.Duration/5, least), most)
	default:
		unit = 2 * least
	}
	return unit, unit.String()
}

// processes is how many of them the rounds take.
func (r *run) processes() (n int) {
	for _, row := range r.rows {
		for _, a := range row.arms {
			if a.failed == nil {
				n += row.rounds(r.plan.rounds)
			}
		}
	}
	return n
}

// fail notes that an arm failed. It is not run again.
func (r *run) fail(a *arm, err error) {
	a.failed = err
	err = fmt.Errorf("%s: %w", a.label(), err)
	r.failures = append(r.failures, err)
	r.unmarked = append(r.unmarked, a.label())
	r.say("%v", err)
}

// mark writes into the file which arms failed.
func (r *run) mark() error {
	for _, label := range r.unmarked {
		if err := r.w.failure(label); err != nil {
			return err
		}
	}
	r.unmarked = nil
	return nil
}

// late reports whether something that takes so long would end after the
// budget.
func (r *run) late(d time.Duration) bool {
	return r.Budget > 0 && time.Now().Add(d).After(r.deadline)
}

// measure runs the rounds.
func (r *run) measure(ctx context.Context) error {
	for round := 0; round < r.most() || r.more(); round++ {
		if round > 0 && r.late(total(r.rows, round+1, round, r.plan.unit)) {
			r.say("%v are over: %d of %d rounds", r.Budget, round, r.plan.rounds)
			return nil
		}
		for i, row := range r.rows {
			if round >= row.rounds(r.plan.rounds) {
				continue
			}
			if r.late(row.round(r.plan.unit)) {
				r.say("%v are over in round %d of %d: %s and what follows lack it", r.Budget, round+1, r.plan.rounds, row.name)
				return nil
			}
			if err := r.runRow(ctx, row, round+i, fmt.Sprintf("round %d", round+1)); err != nil {
				return err
			}
		}
		r.rounds++
	}
	return r.again(ctx)
}

// most is how many rounds the row has that is measured most often.
func (r *run) most() (rounds int) {
	for _, row := range r.rows {
		rounds = max(rounds, row.rounds(r.plan.rounds))
	}
	return rounds
}

// more adds a round to the plan, if the number of rounds was left to the
// budget and the machine turned out to be faster than expected.
func (r *run) more() bool {
	const reserve = 0.05 // of the budget, for rows that are measured again
	if r.Budget == 0 || r.Rounds > 0 || r.plan.rounds >= mostRounds {
		return false
	}
	one := total(r.rows, r.plan.rounds+1, r.plan.rounds, r.plan.unit)
	if one == 0 || r.late(one+time.Duration(reserve*float64(r.Budget))) {
		return false
	}
	r.plan.rounds++
	r.all = r.processes()
	return true
}

// runRow runs the arms of a row once.
func (r *run) runRow(ctx context.Context, row *row, turn int, what string) error {
	for _, a := range row.rotated(turn) {
		if a.failed != nil {
			continue
		}
		r.state(r.done+1, max(r.all, r.done+1), r.left(), what+" "+a.label())
		if err := r.runOnce(ctx, row, a); err != nil {
			return err
		}
		r.done++
	}
	return nil
}

// left estimates the time of the processes that remain.
func (r *run) left() time.Duration {
	sum, n := time.Duration(0), 0
	for _, row := range r.rows {
		for _, a := range row.arms {
			if more := row.rounds(r.plan.rounds) - a.runs; more > 0 && a.failed == nil {
				sum += time.Duration(more) * row.estimate(a, r.plan.unit)
				n += more
			}
		}
	}
	return sum
}

// runOnce runs an arm in a process and writes what it reports. An arm that
// fails is noted; the error is one that ends the run.
func (r *run) runOnce(ctx context.Context, row *row, a *arm) error {
	config := with(nil, "leg", a.binary.leg.name)
	config = with(config, "commit", a.binary.leg.commit)
	config = with(config, "commit-date", a.binary.leg.date)
	config = with(config, "dirty", a.binary.leg.dirty)
	config = with(config, "go", a.binary.goes)
	config = append(config, r.machine...)
	config = with(config, "load-before", r.host.load())
	before, start := r.bounce(), time.Now()
	out, err := r.runArm(ctx, a, row.iterations)
	a.spent += time.Since(start)
	a.runs++
	if ctx.Err() != nil {
		return fmt.Errorf("run: %w", ctx.Err())
	}
	if err != nil {
		r.fail(a, err)
		return r.mark()
	}
	config = with(config, "load-after", r.host.load())
	bounce, err := r.w.write(sample{output: out, name: a.name, config: config, bounce: max(before, r.bounce())})
	switch {
	case errors.Is(err, errWrite):
		return err
	case err != nil:
		r.fail(a, err)
		return r.mark()
	}
	a.count(bounce)
	return nil
}

// finish tells what came of the run.
func (r *run) finish() error {
	where := r.Out
	if where == "" {
		where = "standard output"
	}
	r.say("%s of %s, %s, in %s", counted(r.w.seq, "result"), counted(len(r.rows), "row"), counted(r.rounds, "whole round"), where)
	if len(r.failures) > 0 {
		return fmt.Errorf("%w: %d of the arms did, see above; the others are in %s", ErrFailed, len(r.failures), where)
	}
	return nil
}
