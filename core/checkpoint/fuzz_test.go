package checkpoint_test

import (
	"testing"

	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

// FuzzCheckpointer runs the operations that the input spells out on the
// checkpointer and on the reference model and compares them at every step.
// The committed corpus runs with the ordinary tests.
func FuzzCheckpointer(f *testing.F) {
	s := subject()
	f.Fuzz(func(t *testing.T, data []byte) {
		// Longer inputs find nothing that shorter ones do not.
		checkpointtest.RunBytes(t, s, data[:min(len(data), 1<<14)])
	})
}
