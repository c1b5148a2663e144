package longtest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a testing.TB that keeps whether something failed.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Failed() bool { return len(r.failures) > 0 }

func TestFlatMakesAllOperationsAndFindsWhatIsKept(t *testing.T) {
	for _, c := range []struct {
		name     string
		env      string
		each     int // bytes kept for each operation
		ops      int
		failures int
	}{
		{"nothing kept", "2000", 0, 2000, 0},
		{"less than the slack", "100", 16, 100, 0},
		{"too much", "1000", 1 << 10, 200, 1}, // stops at the stage that shows it
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("LONG_OPERATIONS", c.env)
			r := &recorder{TB: t}
			var kept [][]byte
			ops := 0
			Flat(r, 1, 64<<10, &kept, func(n int) {
				for range n {
					if ops++; c.each > 0 {
						kept = append(kept, make([]byte, c.each))
					}
				}
			})
			if ops != c.ops || len(r.failures) != c.failures {
				t.Errorf("%d operations, failures %q, want %d operations and %d failures", ops, r.failures, c.ops, c.failures)
			}
		})
	}
}

func TestSettingsAreMadeAndUndone(t *testing.T) {
	procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	seen := map[string]bool{}
	t.Run("all", func(t *testing.T) {
		Settings(t, func(t *testing.T) {
			percent := debug.SetGCPercent(100)
			debug.SetGCPercent(percent)
			seen[fmt.Sprint(runtime.GOMAXPROCS(0), percent)] = true
		})
	})
	for _, want := range []string{"1 1", "1 -1", "2 1", "2 -1", "8 1", "8 -1"} {
		if !seen[want] {
			t.Errorf("processors and collector %q were not tried, only %v", want, seen)
		}
	}
	if got := debug.SetGCPercent(100); got != 100 || runtime.GOMAXPROCS(0) != procs {
		t.Errorf("afterwards %d processors and the collector at %d, want %d and 100", runtime.GOMAXPROCS(0), got, procs)
	}
}
