package bench

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidemark-go/tidemark/internal/pad"
)

// NearBounce is the limit in nanoseconds below which two cores count as near
// to each other: cores that share a cache need about 50, others 150 and more.
const NearBounce = 100

const (
	bounceRounds = 9
	bounceTurns  = 500
	// bouncePatience is how many looks a player takes before it yields: the
	// other one is not running.
	bouncePatience = 1 << 14
)

// Bounce measures how many nanoseconds a cache line takes from one core to
// another and back: two goroutines pass a word to and fro, and the median of
// some short rounds counts. It takes about a millisecond, and it returns 0 if
// there is only one processor to run on.
func Bounce() float64 {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var line struct {
		_    pad.Line
		turn atomic.Int64
		_    pad.Line
	}
	const turns = bounceTurns * bounceRounds
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := int64(1); n < 2*turns; n += 2 {
			await(&line.turn, n)
			line.turn.Store(n + 1)
		}
	}()
	var rounds []float64
	n := int64(0)
	for range bounceRounds {
		start := time.Now()
		for range bounceTurns {
			await(&line.turn, n)
			line.turn.Store(n + 1)
			n += 2
		}
		rounds = append(rounds, float64(time.Since(start).Nanoseconds())/bounceTurns)
	}
	<-done
	slices.Sort(rounds)
	return rounds[len(rounds)/2]
}

func await(turn *atomic.Int64, n int64) {
	for i := 0; turn.Load() != n; i++ {
		if i == bouncePatience {
			runtime.Gosched()
			i = 0
		}
	}
}
