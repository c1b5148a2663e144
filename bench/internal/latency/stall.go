package latency

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
)

// What the latency rows have in common: two million operations a second, for
// half as long again as the consumer pauses.
const (
	Every    = 500 * time.Nanosecond
	Pause    = 10 * time.Millisecond
	StallOps = int(3 * Pause / 2 / Every)

	// rounds is how many pauses a run has. Its 480,000 operations put 480
	// beyond p99.9.
	rounds = 16
)

// Stall has a producer run operations on schedule while the consumer pauses
// at first.
type Stall struct {
	Pause time.Duration
	// Prepare comes before each round, Finish after it. Neither counts.
	Prepare, Finish func()
	// Op is an operation of the producer.
	Op func(i int)
	// Consume begins after the pause, and returns when the producer, whose end
	// closes done, needs it no more.
	Consume func(done <-chan struct{})
}

// Pauses lists the pauses of the rows: none, and one.
func Pauses() []time.Duration { return []time.Duration{0, Pause} }

// Dims returns the dimensions of a row with such a pause.
func Dims(pause time.Duration) string {
	return fmt.Sprintf("pause=%dms/every=%dns", pause.Milliseconds(), Every.Nanoseconds())
}

// Measure runs rounds, the first without counting, and reports the
// percentiles of the operations.
func (s Stall) Measure(b *testing.B) {
	s.Round(NewLoop(clock.System(), Every, NewHistogram()))
	h := NewHistogram()
	l := NewLoop(clock.System(), Every, h)
	for b.Loop() {
		for range rounds {
			s.Round(l)
		}
	}
	l.Report(b)
}

// tooBusy is the share of lost time above which a row warns of its figures.
const tooBusy = 0.05

// Report reports the percentiles of a loop in the place of ns/op, and logs how
// much of its time the loop has lost, if that is too much.
func (l *Loop) Report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	l.h.Report(b.ReportMetric)
	if share := l.lostShare(); share > tooBusy {
		b.Logf("latency: the producer did not run for %.1f %% of the time, the machine is too busy for latencies (want %.0f %% at most)",
			100*share, 100*tooBusy)
	}
}

// lostShare returns how much of the time of all runs was lost.
func (l *Loop) lostShare() float64 {
	planned := float64(l.every) * float64(l.h.Count())
	return float64(l.lost) / (float64(l.lost) + planned)
}

// Round runs one round: StallOps operations, and one pause.
func (s Stall) Round(l *Loop) {
	if s.Prepare != nil {
		s.Prepare()
	}
	begun, done := make(chan struct{}), make(chan struct{})
	var producer sync.WaitGroup
	producer.Go(func() {
		defer close(done)
		l.Run(StallOps, func(i int) {
			if i == 0 {
				close(begun) // after the schedule has begun: the pause lies in it
			}
			s.Op(i)
		})
	})
	<-begun
	time.Sleep(s.Pause)
	s.Consume(done)
	producer.Wait()
	if s.Finish != nil {
		s.Finish()
	}
}
