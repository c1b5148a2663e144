package bench

import (
	"runtime"
	"testing"
	"time"
)

func TestBounceIsAPlausibleTime(t *testing.T) {
	old := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(old)
	if ns := Bounce(); ns < 1 || ns > 1e9 {
		t.Errorf("Bounce() = %v ns, want between 1 ns and 1 s", ns)
	}
	runtime.GOMAXPROCS(1)
	if ns := Bounce(); ns != 0 {
		t.Errorf("Bounce() = %v on one processor, want 0", ns)
	}
}

// A process may stand still at any time, also before its first round.
func TestBounceHasARoundHoweverLateItIs(t *testing.T) {
	for _, c := range []struct {
		rounds int
		took   time.Duration
		again  bool
	}{
		{0, 0, true}, {0, time.Hour, true},
		{1, bounceBudget - 1, true}, {1, bounceBudget, false},
		{bounceRounds - 1, 0, true}, {bounceRounds, 0, false},
	} {
		if got := bounceAgain(c.rounds, c.took); got != c.again {
			t.Errorf("after %d rounds in %v there is another: %t, want %t", c.rounds, c.took, got, c.again)
		}
	}
}
