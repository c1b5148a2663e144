package peers

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/puzpuzpuz/xsync/v4"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/bench/internal/latency"
	"github.com/tidemark-go/tidemark/bench/internal/queuerows"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

func TestMain(m *testing.M) {
	units := []rows.Unit{
		{Name: "ns/msg", Better: "lower"}, {Name: "msgs/s", Better: "higher"},
		{Name: "allocs/msg", Better: "lower"}, {Name: "bounce-ns", Better: "lower"},
	}
	for _, u := range latency.Units() {
		units = append(units, rows.Unit{Name: u, Better: "lower"})
	}
	rows.Begin(units)
	goleak.VerifyTestMain(m)
}

// others lists the queues of other libraries.
var others = []queuerows.Impl{
	{Name: "umpsc", Create: func() queuerows.Subject { return umpscQueue{xsync.NewUMPSCQueue[queuerows.Msg]()} }, Waits: true},
	{Name: "mpmc", Create: func() queuerows.Subject {
		return mpmcQueue{xsync.NewMPMCQueue[queuerows.Msg](queuerows.Backlog)}
	}},
}

func all() []queuerows.Impl { return slices.Concat(queuerows.Common(), others) }

func BenchmarkQueuePushPop(b *testing.B)   { queuerows.PushPop(b, all()) }
func BenchmarkQueueBurst(b *testing.B)     { queuerows.Burst(b, all()) }
func BenchmarkQueueProducers(b *testing.B) { queuerows.Producers(b, all()) }
func BenchmarkQueueCores(b *testing.B)     { queuerows.Cores(b, all()) }
func BenchmarkLatencyPush(b *testing.B)    { queuerows.PushLatency(b, all()) }

func TestPeersKeepOrder(t *testing.T) { queuerows.Check(t, others) }

type umpscQueue struct {
	q *xsync.UMPSCQueue[queuerows.Msg]
}

func (q umpscQueue) Producer() queuerows.Producer { return q }
func (q umpscQueue) Close()                       {}

func (q umpscQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		q.q.Enqueue(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
	}
}

func (q umpscQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Enqueue(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
		s.Take(q.q.Dequeue())
	}
}

func (q umpscQueue) Consume(s *queuerows.Sink, total int, _ bool) {
	for range total {
		s.Take(q.q.Dequeue())
	}
}

type mpmcQueue struct {
	q *xsync.MPMCQueue[queuerows.Msg]
}

func (q mpmcQueue) Producer() queuerows.Producer { return q }
func (q mpmcQueue) Close()                       {}

func (q mpmcQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		for !q.q.TryEnqueue(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1}) {
			runtime.Gosched()
		}
	}
}

func (q mpmcQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.TryEnqueue(queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1})
		if m, ok := q.q.TryDequeue(); ok {
			s.Take(m)
		}
	}
}

func (q mpmcQueue) Consume(s *queuerows.Sink, total int, _ bool) {
	for total > 0 {
		if m, ok := q.q.TryDequeue(); ok {
			s.Take(m)
			total--
		} else {
			runtime.Gosched()
		}
	}
}

func TestMPMCQueueIsBounded(t *testing.T) {
	q := xsync.NewMPMCQueue[int](queuerows.Backlog)
	for i := range queuerows.Backlog {
		if !q.TryEnqueue(i) {
			t.Fatalf("refused after %d, want %d", i, queuerows.Backlog)
		}
	}
	if q.TryEnqueue(0) {
		t.Errorf("took more than %d", queuerows.Backlog)
	}
}

func TestUMPSCQueueSleepsWhenEmpty(t *testing.T) {
	q := xsync.NewUMPSCQueue[int]()
	got := make(chan int)
	go func() { got <- q.Dequeue() }()
	select {
	case v := <-got:
		t.Errorf("popped %d from an empty queue", v)
	case <-time.After(10 * time.Millisecond):
		q.Enqueue(7)
		if v := <-got; v != 7 {
			t.Errorf("popped %d, want 7", v)
		}
	}
}

func TestUMPSCQueueKeepsWhatWasPopped(t *testing.T) {
	q := xsync.NewUMPSCQueue[*[64]int]()
	v := new([64]int)
	w := weak.Make(v)
	q.Enqueue(v)
	v = q.Dequeue()
	runtime.KeepAlive(v)
	v = nil
	runtime.GC()
	if w.Value() == nil {
		t.Error("the popped value is gone, and the package comment says that it stays")
	}
	runtime.KeepAlive(q)
}
