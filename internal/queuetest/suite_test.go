package queuetest

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheReferenceQueueConforms(t *testing.T) { Run(t, referenceForm(none)) }

// recorder is a T that keeps what went wrong. Errors may come from several
// goroutines.
type recorder struct {
	failures chan string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	select {
	case r.failures <- fmt.Sprintf(format, args...):
	default:
	}
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failure runs one case against a form and returns its first failure, "" if
// it passed.
func failure(c testCase, f Form) string {
	r := &recorder{failures: make(chan string, 1)}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		c.run(r, f)
	}()
	<-finished
	select {
	case s := <-r.failures:
		return s
	default:
		return ""
	}
}

// pairing is a fault and a case that finds it.
type pairing struct {
	wrong fault
	name  string
}

// pairings has a case for every fault, the one that is about it, and some
// cases that are about several.
func pairings() []pairing {
	return []pairing{
		{losesLast, "one goroutine in bursts across segment edges"},
		{swapsTwo, "one goroutine in bursts across segment edges"},
		{doubles, "one goroutine in bursts across segment edges"},
		{acceptsLate, "Close keeps what was pushed and refuses the rest"},
		{refusesAndAdds, "close against push: delivered or refused"},
		{halfBatch, "close against batches: all or nothing"},
		{stopsAtGap, "a stalled producer delays its own element alone"},
		{endsEarly, "Wait does not end before an unfinished push"},
		{losesWake, "park against the last push"},
		{contextFirst, "Wait answers by element, closed, context, in this order"},
		{lenAhead, "Len is exact when quiet and in range beside pushes"},
		{failedStays, "a callback that panics has consumed its element alone"},
		{failedTakesAll, "a callback that exits has consumed its element alone"},
		{endless, "Drain ends while its callback pushes"},
		{noGuard, "a consumer call in a callback panics"},
		{overfills, "DrainTo moves no more than fits"},
		{keepsPopped, "popped elements are not kept alive"},
		{refusesAndAdds, "first pushes, the consumer and Close meet on a new queue"},
		{losesLast, "pointers survive every scheduler and collector setting"},
		{failedTakesAll, "a callback that panics beside a stalled producer loses nothing"},
	}
}

// Every fault must be found by the case that is about it: a suite that a
// broken queue passes shows nothing about the others. Without a fault the
// cases pass, and have all the patience they want for that: the next test lets
// them lose it soon.
func TestWithoutTheFaultTheCasePasses(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range pairings() {
		if seen[p.name] {
			continue
		}
		seen[p.name] = true
		t.Run(p.name, func(t *testing.T) {
			if s := failure(named(t, referenceForm(p.wrong), p.name), referenceForm(none)); s != "" {
				t.Errorf("it fails without the fault %q: %s", p.wrong, s)
			}
		})
	}
}

func TestTheSuiteFindsBrokenQueues(t *testing.T) {
	defer func(p time.Duration) { patience = p }(patience)
	patience = 300 * time.Millisecond
	for _, p := range pairings() {
		t.Run(fmt.Sprintf("%s/%s", p.wrong, p.name), func(t *testing.T) {
			f := referenceForm(p.wrong)
			c := named(t, f, p.name)
			// A fault that needs two goroutines to meet may need several tries.
			for range 20 {
				if failure(c, f) != "" {
					return
				}
			}
			t.Fatalf("%q passes with the fault", p.name)
		})
	}
}

// named returns the case of that name.
func named(t *testing.T, f Form, name string) testCase {
	for _, c := range covered(f) {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no case is called %q", name)
	return testCase{}
}

// The random program finds the order and the loss faults as well.
func TestTheModelFindsBrokenQueues(t *testing.T) {
	for _, wrong := range []fault{losesLast, swapsTwo, doubles, stopsAtGap, lenAhead, acceptsLate, failedStays, failedTakesAll} {
		c := testCase{run: randomOperations}
		if failure(c, referenceForm(wrong)) == "" {
			t.Errorf("random operations do not find: %s", wrong)
		}
	}
	if s := failure(testCase{run: randomOperations}, referenceForm(none)); s != "" {
		t.Errorf("random operations fail without a fault: %s", s)
	}
}
