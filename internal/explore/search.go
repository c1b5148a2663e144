package explore

import (
	"fmt"
	"runtime/debug"
	"time"
)

// Search says which executions of a program are made.
type Search struct {
	bound int // of preemptions; -1: none; -2: random
	limit int
	seed  uint64
}

// Exhaust makes at least one execution of each class of equal ones: those that
// differ only in the order of operations that do not depend on each other. To
// need more than limit executions is a failure.
func Exhaust(limit int) Search { return Search{bound: -1, limit: limit} }

// Bound makes every execution with no preemption, then every one with at most
// one, and so on up to the given number. To need more than limit executions
// together is a failure.
func Bound(preemptions, limit int) Search { return Search{bound: preemptions, limit: limit} }

// Random makes that many executions with choices from a seed.
func Random(executions int, seed uint64) Search {
	return Search{bound: -2, limit: executions, seed: seed}
}

func (s Search) random() bool { return s.bound == -2 }

// String names the bound of the search.
func (s Search) String() string {
	switch {
	case s.random():
		return fmt.Sprintf("random, seed %d", s.seed)
	case s.bound < 0:
		return "none"
	}
	return fmt.Sprintf("%d preemptions", s.bound)
}

// Result is what came of a search.
type Result struct {
	Executions int // made, with those that were abandoned as redundant
	Abandoned  int
	Steps      int           // shared operations in all of them
	Time       time.Duration // of all of them
	Failure    string        // what is wrong, or ""
	Schedule   string        // of the execution that failed
}

// Explore makes the executions that a search asks for, up to the first that
// fails.
func (s Search) Explore(setup func() Program) Result {
	// Executions are short and leave garbage only.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	start := time.Now()
	var result Result
	switch {
	case s.random():
		result = s.roll(setup)
	case s.bound < 0:
		result.walk(newTree(-1), s.limit, setup)
	default:
		for bound := 0; bound <= s.bound && result.Failure == ""; bound++ {
			result.walk(newTree(bound), s.limit, setup)
		}
	}
	result.Time = time.Since(start)
	return result
}

// roll makes random executions.
func (s Search) roll(setup func() Program) (result Result) {
	r := newRun(newDice(s.seed))
	defer r.close()
	for result.Executions < s.limit && result.Failure == "" {
		result.add(r, r.execute(setup))
	}
	result.Steps = r.steps
	return result
}

// walk makes the executions of a tree.
func (result *Result) walk(d *tree, limit int, setup func() Program) {
	r := newRun(d)
	defer r.close()
	for more := true; more && result.Failure == ""; more = d.advance() {
		if result.Executions == limit {
			result.Failure = fmt.Sprintf("not finished after %d executions", limit)
			break
		}
		result.add(r, r.execute(setup))
		if result.Failure == "" && d.depth < len(d.path) {
			result.Failure = fmt.Sprintf("the program is not deterministic: it ended after %d choices, of which %d were to be repeated", d.depth, len(d.path))
		}
	}
	result.Steps += r.steps
}

// add counts one execution.
func (result *Result) add(r *run, o outcome) {
	result.Executions++
	switch o {
	case abandoned:
		result.Abandoned++
	case failed:
		result.Failure, result.Schedule = r.failed, formatSchedule(r.schedule)
	}
}

// Repeat makes the one execution that a schedule names. It returns what is
// wrong with it, or "", and what its threads did, a line for each operation.
func Repeat(schedule string, setup func() Program) (failure string, trace []string, err error) {
	s, err := parseSchedule(schedule)
	if err != nil {
		return "", nil, err
	}
	p := &repeat{schedule: s}
	r := newRun(p)
	r.tracing = true
	defer r.close()
	r.execute(setup)
	return r.failed, p.trace, nil
}
