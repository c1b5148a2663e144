package queuerows

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
	"github.com/tidemark-go/tidemark/bench/internal/latency"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDriversKeepOrder(t *testing.T) { Check(t, Common()) }

// A push into a channel that is full lasts until the pause ends, and every
// push that was due in the meantime is late as well. The pause is long, so
// that the producer is at its channel's end by then on a busy machine too. A
// round in which it did not run for a quarter of the pause tells nothing: in
// all others every push was due before half of the pause was over.
func TestAPausedConsumerStopsAChannel(t *testing.T) {
	if latency.StallOps < 2*Backlog || latency.Pause < 2*Backlog*latency.Every {
		t.Errorf("%d pushes and a pause of %v do not show in a channel of %d", latency.StallOps, latency.Pause, Backlog)
	}
	const pause = 200 * time.Millisecond
	stall, s := pushStall(make(channelQueue, Backlog), pause)
	var h *latency.Histogram
	for try, lost := 1, pause; lost >= pause/4; try++ {
		if try > 20 {
			t.Fatalf("the producer was kept from running in each of %d rounds, for %v in the last", try-1, lost)
		}
		h = latency.NewHistogram()
		l := latency.NewLoop(clock.System(), latency.Every, h)
		stall.Round(l)
		s.check(t, try*latency.StallOps)
		lost = l.Lost()
	}
	if got := h.Max(); got < pause/2 {
		t.Errorf("the longest push took %v, want %v at least", got, pause/2)
	}
	if got, ok := h.Percentile(50); !ok || got < pause/2 {
		t.Errorf("the median push took %v, want %v at least: all but %d of %d had to wait", got, pause/2, Backlog, latency.StallOps)
	}
}

// The unbounded queues take all of it without a consumer.
func TestAPauseDoesNotStopAQueue(t *testing.T) {
	for _, im := range Common() {
		if im.Name == channel {
			continue
		}
		q := im.Create()
		s, _ := newSink(1)
		p := q.Producer()
		c := unlimited(s, 0)
		h := latency.NewHistogram()
		latency.NewLoop(clock.System(), latency.Every, h).Run(latency.StallOps, func(i int) { p.Push(&c, i, 1, 1) })
		if h.Count() != latency.StallOps {
			t.Errorf("%s: %d pushes, want %d", im.Name, h.Count(), latency.StallOps)
		}
		q.Consume(s, latency.StallOps, false)
		s.check(t, latency.StallOps)
		p.Close()
	}
}

func TestProducersStayWithinTheirCredit(t *testing.T) {
	s, window := newSink(2)
	c := Credit{ID: 1, lane: &s.lanes[1], window: window}
	c.Wait(window)
	passed := make(chan struct{})
	go func() {
		c.Wait(window + 1)
		close(passed)
	}()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case <-passed:
		t.Error("a producer passed its window before anything was consumed")
	default:
	}
	for i := range s.every {
		s.Take(Msg{Producer: 1, Seq: i})
	}
	<-passed
	if s.wrong > 0 {
		t.Errorf("%d messages out of order", s.wrong)
	}
	s.Take(Msg{Producer: 1, Seq: 99})
	if s.wrong != 1 {
		t.Error("a message out of order was not counted")
	}
}
