package checkpointtest

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// stressSettings runs the two broadest stress cases, shorter, with few and many
// processors, and with a garbage collector that always runs or never.
func stressSettings(t testing.TB, s Subject) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, procs := range []int{1, 2, 8} {
		for _, percent := range []int{1, -1} {
			runtime.GOMAXPROCS(procs)
			debug.SetGCPercent(percent)
			watermarksOf(t, s, scale(5000, 300))
			rebalanceOf(t, s, scale(5000, 300))
			if t.Failed() {
				t.Fatalf("with %d processors and GOGC=%d", procs, percent)
			}
		}
	}
}
