// Package longtest is what the long runs of several packages share: how many
// operations they make, under which settings of the scheduler and the garbage
// collector, and how they tell whether memory stays flat. It also tells which
// tests are left to the run without -short.
//
// A long run is an ordinary test whose name starts with TestLong. In ordinary
// runs it makes a few ten thousand operations under each setting. The
// environment variable LONG_OPERATIONS makes it as long as one likes, and lets
// it say how far it is.
package longtest

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// LeftOut reports whether a test, or the rest of it, is left to the run without
// -short, and logs why. The runs with -short are those under the race detector
// and with 32-bit words: what neither of them can change need not be done
// three times.
func LeftOut(t testing.TB, why string) bool {
	t.Helper()
	if testing.Short() {
		t.Logf("left to the run without -short: %s", why)
	}
	return testing.Short()
}

// A run is cut into this many parts. Memory is looked at after each.
const longStages, shortStages = 10, 3

// asked returns what LONG_OPERATIONS says, 0 if it is not set.
func asked(t testing.TB) int {
	text := os.Getenv("LONG_OPERATIONS")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < longStages {
		t.Fatalf("longtest: LONG_OPERATIONS is %q, legal is a number from %d on", text, longStages)
	}
	return n
}

// Settings runs f under 1, 2 and 8 processors, with the garbage collector at
// its most eager and off.
func Settings(t *testing.T, f func(t *testing.T)) {
	for _, procs := range []int{1, 2, 8} {
		for _, percent := range []int{1, -1} { // -1 is off
			t.Run(fmt.Sprintf("procs=%d/gc=%d", procs, percent), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				defer debug.SetGCPercent(debug.SetGCPercent(percent))
				f(t)
			})
		}
	}
}

// Flat calls work in stages, so that it makes usual operations in all, or as
// many as LONG_OPERATIONS says. work makes n operations and leaves nothing
// running. Flat fails if a stage leaves more than slack bytes beyond what the
// first one left. keep is what must stay alive meanwhile.
func Flat(t testing.TB, usual int, slack int64, keep any, work func(n int)) {
	total, stages, long := usual, shortStages, false
	if n := asked(t); n > 0 {
		total, stages, long = n, longStages, true
	} else if testing.Short() {
		total = max(usual/10, stages)
	}
	begin := time.Now()
	var first int64
	for stage := range stages {
		work(total / stages)
		now := heap()
		if stage == 0 {
			first = now
		}
		if long {
			t.Logf("%d of %d operations after %v, %d KiB in use", total/stages*(stage+1), total,
				time.Since(begin).Round(time.Millisecond), now>>10)
		}
		if grown := now - first; grown > slack {
			t.Errorf("%d bytes more are in use after %d operations than after %d, at most %d may be",
				grown, total/stages*(stage+1), total/stages, slack)
			break
		}
		if t.Failed() {
			break
		}
	}
	runtime.KeepAlive(keep)
}

// heap is what is reachable now. Two cycles: the first may leave what
// finalizers and sweeping still hold.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
