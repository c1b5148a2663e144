package queuerows

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/bench/internal/latency"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

// PushLatency tells how long a push takes while the consumer pauses again and
// again. The channel and other bounded queues hold Backlog messages, and a
// push into a full one waits for the end of the pause; the unbounded ones
// take as much as comes.
func PushLatency(b *testing.B, impls []Impl) {
	for _, pause := range latency.Pauses() {
		for _, im := range impls {
			rows.Run(b, fmt.Sprintf("impl=%s/%s", im.Name, latency.Dims(pause)), func(b *testing.B) {
				stall, sink := pushStall(im.Create(), pause)
				stall.Measure(b)
				if sink.wrong > 0 {
					b.Fatalf("%d messages out of order", sink.wrong)
				}
			})
		}
	}
}

// pushStall has one producer push, and the consumer poll after its pause.
func pushStall(q Subject, pause time.Duration) (latency.Stall, *Sink) {
	s, _ := newSink(1)
	p := q.Producer()
	c := unlimited(s, 0)
	from := 0
	return latency.Stall{
		Pause:   pause,
		Op:      func(i int) { p.Push(&c, from+i, 1, 1) },
		Consume: func(<-chan struct{}) { q.Consume(s, latency.StallOps, false) },
		Finish:  func() { from += latency.StallOps },
	}, s
}
