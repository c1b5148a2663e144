package pipeline

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
)

func fetched(p int32, last int64, ago time.Duration) kafka.Batch {
	return kafka.Batch{Partition: p, Records: []*kgo.Record{{Offset: last}}, FetchedAt: time.Now().Add(-ago)}
}

func isComplete(tr *Tracker) bool {
	select {
	case <-tr.Complete():
		return true
	default:
		return false
	}
}

func TestTrackerIsCompleteWhenEveryPartitionIs(t *testing.T) {
	tr := NewTracker(map[int32]int64{0: 10, 1: 5, 2: 0}, map[int32]int64{0: 10, 1: 2})
	if tr.Left() != 3 || isComplete(tr) {
		t.Fatalf("%d left, complete %v; want 3 left", tr.Left(), isComplete(tr))
	}
	tr.Committed(1, 4)
	tr.Observed(map[int32]int64{1: 3}) // an older look at the same
	if tr.Left() != 1 || isComplete(tr) {
		t.Fatalf("%d left, complete %v; want 1 left", tr.Left(), isComplete(tr))
	}
	tr.Observed(map[int32]int64{1: 5})
	if tr.Left() != 0 || !isComplete(tr) {
		t.Fatalf("%d left, complete %v; want nothing left", tr.Left(), isComplete(tr))
	}
	tr.Committed(1, 6) // complete stays complete
}

func TestTrackerTellsWhenOnlyWhatIsHeldBackIsLeft(t *testing.T) {
	tr := NewTracker(map[int32]int64{0: 10, 1: 10}, map[int32]int64{1: 10})
	held := func(p int32) bool { return p == 0 }
	none := func(int32) bool { return false }
	if !tr.CompleteBut(held) || tr.CompleteBut(none) {
		t.Error("partition 0 is all that is left")
	}
	if tr.Committed(0, 10); !tr.CompleteBut(none) {
		t.Error("nothing is left")
	}
}

func TestTrackerOfAnEmptyTopicIsCompleteAtOnce(t *testing.T) {
	if !isComplete(NewTracker(map[int32]int64{0: 0, 1: 0}, nil)) {
		t.Error("it waits for nothing")
	}
}

func TestTrackerMeasuresFromFetchToTheCommitThatCoversABatch(t *testing.T) {
	begin := time.Now()
	// most is what a batch can have taken by now, in microseconds, with the
	// width of a histogram's bucket.
	most := func(ago time.Duration) int64 { return (ago + time.Since(begin)).Microseconds() * 101 / 100 }
	tr := NewTracker(map[int32]int64{0: 100}, nil)
	tr.Fetched(fetched(0, 9, 3*time.Second))
	tr.Fetched(fetched(0, 19, 2*time.Second))
	tr.Fetched(fetched(1, 9, time.Hour))
	tr.Committed(0, 10)
	if h := tr.Latency(); h.TotalCount() != 1 || h.Max() < 3e6 || h.Max() > most(3*time.Second) {
		t.Fatalf("%d batches, %d µs; want one of 3 s", h.TotalCount(), h.Max())
	}
	tr.Committed(0, 15) // in the middle of a batch
	if n := tr.Latency().TotalCount(); n != 1 {
		t.Fatalf("%d batches after a commit inside the second", n)
	}
	tr.Committed(0, 20)
	if h := tr.Latency(); h.TotalCount() != 2 || h.Min() > most(2*time.Second) {
		t.Fatalf("%d batches, shortest %d µs; want the second with 2 s", h.TotalCount(), h.Min())
	}
	tr.Committed(1, 10)
	if h := tr.Latency(); h.TotalCount() != 3 || h.Max() > 2*maxLatency.Microseconds() {
		t.Errorf("%d batches, longest %d µs; want it capped", h.TotalCount(), h.Max())
	}
}

// A partition that was given up and comes back is read from its commit again;
// the batches in flight at that time are never committed as such.
func TestTrackerForgetsWhatIsFetchedAgain(t *testing.T) {
	tr := NewTracker(map[int32]int64{0: 100}, nil)
	tr.Fetched(fetched(0, 9, time.Minute))
	tr.Fetched(fetched(0, 19, time.Minute))
	tr.Fetched(fetched(0, 9, 0))
	tr.Fetched(fetched(0, 19, 0))
	tr.Committed(0, 20)
	if h := tr.Latency(); h.TotalCount() != 2 || h.Max() > 30e6 {
		t.Errorf("%d batches, longest %d µs; want the two of the second fetch", h.TotalCount(), h.Max())
	}
}
