package bench_test

import (
	"runtime"
	"testing"

	"github.com/tidemark-go/tidemark/bench"
)

func TestBounceIsAPlausibleTime(t *testing.T) {
	old := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(old)
	if ns := bench.Bounce(); ns < 1 || ns > 1e9 {
		t.Errorf("Bounce() = %v ns, want between 1 ns and 1 s", ns)
	}
	runtime.GOMAXPROCS(1)
	if ns := bench.Bounce(); ns != 0 {
		t.Errorf("Bounce() = %v on one processor, want 0", ns)
	}
}
