package bench

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidemark-go/tidemark/internal/pad"
)

// NearBounce is the limit in nanoseconds below which two cores count as near
// to each other: cores that share a cache need about 50, others several times that.
const NearBounce = 100

// BusyBounce is the limit in nanoseconds from which on a bounce tells nothing of
// the cores: no two cores of a machine are that far apart, so one of the two
// goroutines did not run.
const BusyBounce = 1000

const (
	bounceRounds = 31
	bounceTurns  = 50 // there and back, of one round
	// bounceBudget ends the measurement early where the machine is so busy
	// that one of the two goroutines hardly runs.
	bounceBudget = 10 * time.Millisecond
	// bouncePatience is how many looks a player takes before it yields.
	bouncePatience = 1 << 12
	bounceOver     = -1
)

// Bounce measures how many nanoseconds a cache line takes from one core to
// another and back: two goroutines pass a word to and fro, and the median of
// some short rounds counts. It takes a tenth of a millisecond on a quiet
// machine, and it returns 0 if there is only one processor to run on.
func Bounce() float64 {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var line struct {
		_ pad.Line
		// turn is even when the caller is to move it on, odd when its partner
		// is, and bounceOver at the end.
		turn atomic.Int64
		_    pad.Line
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := int64(1); await(&line.turn, n); n += 2 {
			line.turn.Store(n + 1)
		}
	}()
	var rounds []float64
	begin := time.Now()
	for n := int64(0); bounceAgain(len(rounds), time.Since(begin)); {
		start := time.Now()
		for range bounceTurns {
			line.turn.Store(n + 1)
			n += 2
			await(&line.turn, n)
		}
		rounds = append(rounds, float64(time.Since(start).Nanoseconds())/bounceTurns)
	}
	line.turn.Store(bounceOver)
	<-done
	slices.Sort(rounds)
	return rounds[len(rounds)/2]
}

// bounceAgain reports whether there is another round after so many that took
// so long. The first is always made, also where the process stood still for
// the whole budget before it.
func bounceAgain(rounds int, took time.Duration) bool {
	return rounds == 0 || rounds < bounceRounds && took < bounceBudget
}

// await waits for turn to become n; it returns false when it is over.
func await(turn *atomic.Int64, n int64) bool {
	for i := 0; ; i++ {
		switch turn.Load() {
		case n:
			return true
		case bounceOver:
			return false
		}
		if i == bouncePatience {
			runtime.Gosched()
			i = 0
		}
	}
}
