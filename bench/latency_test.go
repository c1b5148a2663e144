package bench_test

import (
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
	"github.com/tidemark-go/tidemark/bench/internal/latency"
)

// A round of the latency rows must fit what a checkpointer may have pending.
const latencyPartitions = 4

// BenchmarkLatencyIssue tells how long it takes to issue a batch while the
// consumer pauses again and again.
//
// The channels of the baseline hold as much as in all other rows, 16,384, and
// the issuer fills one in four fifths of the pause; then it waits.
func BenchmarkLatencyIssue(b *testing.B) { eachPause(b, issueStall) }

// BenchmarkLatencyRelease tells the same of the release of a batch that was
// issued, and seen by a drain, before.
func BenchmarkLatencyRelease(b *testing.B) { eachPause(b, releaseStall) }

func eachPause(b *testing.B, stall func(r *pausedRound) latency.Stall) {
	for _, pause := range latency.Pauses() {
		eachSubject(b, true, latency.Dims(pause), func(b *testing.B, create func() subject) {
			r := newPausedRound(b, create())
			s := stall(r)
			s.Pause = pause
			s.Measure(b)
		})
	}
}

// pausedRound is what a round works with.
type pausedRound struct {
	tb    testing.TB
	s     subject
	w     worker
	h     held
	order []int32
}

func newPausedRound(tb testing.TB, s subject) *pausedRound {
	if err := s.begin(1, upTo(0, latencyPartitions)); err != nil {
		tb.Fatal(err)
	}
	w := s.worker(upTo(0, latencyPartitions))
	return &pausedRound{tb, s, w, w.hold(latency.StallOps), newOrders(latency.StallOps, true).next()}
}

// chunk is how many batches are issued or released at once where it does not
// count, with a drain after each.
const chunk = 250

// issueAll issues the batches of a round, without a pause.
func (r *pausedRound) issueAll() {
	r.h.clear()
	for range latency.StallOps / chunk {
		r.w.issue(r.h, chunk)
		r.s.drain()
	}
}

// releaseAll releases them.
func (r *pausedRound) releaseAll() {
	applied := 0
	for from := 0; from < latency.StallOps; from += chunk {
		r.h.release(r.order[from : from+chunk])
		applied += r.s.drain()
	}
	r.h.clear()
	if passed := r.s.take(); applied != latency.StallOps || passed != latency.StallOps {
		r.tb.Fatalf("a round of %d batches applied %d and passed %d", latency.StallOps, applied, passed)
	}
}

// drainUntil drains at the pace of the live rows until the producer is done,
// and once more.
func (r *pausedRound) drainUntil(done <-chan struct{}) (applied int) {
	tick := time.NewTicker(livePace)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			applied += r.s.drain()
		case <-done:
			return applied + r.s.drain()
		}
	}
}

func issueStall(r *pausedRound) latency.Stall {
	return latency.Stall{
		Op:      func(int) { r.w.issue(r.h, 1) },
		Consume: func(done <-chan struct{}) { r.drainUntil(done) },
		Finish:  r.releaseAll,
	}
}

func releaseStall(r *pausedRound) latency.Stall {
	return latency.Stall{
		Prepare: r.issueAll,
		Op:      func(i int) { r.h.release(r.order[i : i+1]) },
		Consume: func(done <-chan struct{}) {
			applied := r.drainUntil(done)
			if passed := r.s.take(); applied != latency.StallOps || passed != latency.StallOps {
				r.tb.Errorf("a round of %d batches applied %d and passed %d", latency.StallOps, applied, passed)
			}
		},
	}
}

// Issuers and holders of the baseline wait for the rest of a pause that is
// longer than what its channels hold. Here it is so long that they come to
// their end on a busy machine too. A round in which the producer did not run
// for a quarter of the pause tells nothing: in all others every operation was
// due before half of the pause was over.
func TestAPausedConsumerStopsTheChannelBaseline(t *testing.T) {
	if latency.StallOps <= pendingLimit || latency.Pause <= pendingLimit*latency.Every {
		t.Errorf("%d operations and a pause of %v do not show in a channel of %d", latency.StallOps, latency.Pause, pendingLimit)
	}
	const pause = 200 * time.Millisecond
	for name, stall := range map[string]func(*pausedRound) latency.Stall{"issue": issueStall, "release": releaseStall} {
		s := stall(newPausedRound(t, implementations[1].create()))
		s.Pause = pause
		var h *latency.Histogram
		for try, lost := 1, pause; lost >= pause/4; try++ {
			if try > 20 {
				t.Fatalf("%s: the producer was kept from running in each of %d rounds, for %v in the last", name, try-1, lost)
			}
			h = latency.NewHistogram()
			l := latency.NewLoop(clock.System(), latency.Every, h)
			s.Round(l)
			lost = l.Lost()
		}
		if got := h.Max(); got < pause/2 {
			t.Errorf("the longest %s took %v, want %v at least", name, got, pause/2)
		}
		if got, ok := h.Percentile(90); !ok || got < pause/2 {
			t.Errorf("p90 of %s is %v, want %v at least: all but %d of %d had to wait", name, got, pause/2, pendingLimit, latency.StallOps)
		}
	}
}

// The checkpointer takes a round without any consumer.
func TestAPauseDoesNotStopTheCheckpointer(t *testing.T) {
	r := newPausedRound(t, implementations[0].create())
	r.w.issue(r.h, latency.StallOps)
	r.h.release(r.order)
	if applied, passed := r.s.drain(), r.s.take(); applied != latency.StallOps || passed != latency.StallOps {
		t.Errorf("a drain after it applied %d and passed %d, want %d", applied, passed, latency.StallOps)
	}
}
