//go:build (amd64 || arm64) && !race

package peers

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/bytedance/gopkg/collection/lscq"

	"github.com/tidemark-go/tidemark/bench/internal/queuerows"
)

func init() {
	others = append(others, queuerows.Impl{
		Name: "lscq", Create: func() queuerows.Subject { return lscqQueue{lscq.NewPointer()} },
	})
}

type lscqQueue struct{ q *lscq.PointerQueue }

func (q lscqQueue) Producer() queuerows.Producer { return q }
func (q lscqQueue) Close()                       {}

func (q lscqQueue) Push(c *queuerows.Credit, from, n, _ int) {
	for i := from; i < from+n; i++ {
		c.Wait(uint64(i + 1))
		q.q.Enqueue(unsafe.Pointer(&queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1}))
	}
}

func (q lscqQueue) PushPop(c *queuerows.Credit, s *queuerows.Sink, from, n int) {
	for i := from; i < from+n; i++ {
		q.q.Enqueue(unsafe.Pointer(&queuerows.Msg{Producer: c.ID, Seq: uint64(i), Payload: 1}))
		if p, ok := q.q.Dequeue(); ok {
			s.Take(*(*queuerows.Msg)(p))
		}
	}
}

func (q lscqQueue) Consume(s *queuerows.Sink, total int, _ bool) {
	for total > 0 {
		if p, ok := q.q.Dequeue(); ok {
			s.Take(*(*queuerows.Msg)(p))
			total--
		} else {
			runtime.Gosched()
		}
	}
}

func TestLSCQAllocatesTwiceAMessage(t *testing.T) {
	q := lscq.NewPointer()
	if n := testing.AllocsPerRun(1000, func() {
		q.Enqueue(unsafe.Pointer(&queuerows.Msg{Payload: 1}))
		q.Dequeue()
	}); n != 2 {
		t.Errorf("a message allocates %v times, and the package comment says twice", n)
	}
}
