package mpsc_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/queuetest"
)

// FuzzQueueOps runs single-goroutine programs on a queue with shared pushes,
// lanes and stalled pushes, against the naive model of the conformance suite.
func FuzzQueueOps(f *testing.F) {
	f.Add([]byte{0, 0, 3, 5, 0, 7, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 1024 {
			program = program[:1024]
		}
		queuetest.Operate(t, mixedForm(), program)
	})
}
