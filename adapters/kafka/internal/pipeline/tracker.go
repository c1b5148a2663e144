package pipeline

import (
	"maps"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
)

// Tracker follows batches from their fetch to their commit: how long that
// takes, and whether everything up to the log's end is committed. It is safe
// for concurrent use.
type Tracker struct {
	mu        sync.Mutex
	ends      map[int32]int64
	committed map[int32]int64
	flying    map[int32][]flight
	latency   *hdrhistogram.Histogram // of batches, in microseconds
	complete  chan struct{}
	done      bool
}

type flight struct {
	last int64
	at   time.Time
}

// Latencies are recorded from one microsecond to ten minutes, to three
// digits.
const maxLatency = 10 * time.Minute

// NewTracker knows where each partition ends and up to where it is committed
// already.
func NewTracker(ends, committed map[int32]int64) *Tracker {
	t := &Tracker{
		ends:      maps.Clone(ends),
		committed: map[int32]int64{},
		flying:    map[int32][]flight{},
		latency:   hdrhistogram.New(1, maxLatency.Microseconds(), 3),
		complete:  make(chan struct{}),
	}
	maps.Copy(t.committed, committed)
	t.check()
	return t
}

// Complete is closed when every partition is committed up to its end.
func (t *Tracker) Complete() <-chan struct{} { return t.complete }

// Fetched is told of every batch.
func (t *Tracker) Fetched(b kafka.Batch) {
	last := b.Records[len(b.Records)-1].Offset
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.flying[b.Partition]
	if n := len(queue); n > 0 && queue[n-1].last >= last {
		// The partition was given up and came back: what was in flight then
		// is fetched again.
		queue = queue[:0]
	}
	t.flying[b.Partition] = append(queue, flight{last, b.FetchedAt})
}

// Committed is told of every commit of this process.
func (t *Tracker) Committed(partition int32, offset int64) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.flying[partition]
	n := 0
	for n < len(queue) && queue[n].last < offset {
		took := min(now.Sub(queue[n].at), maxLatency)
		// Within the bounds of the histogram there is no error.
		_ = t.latency.RecordValue(max(took.Microseconds(), 1))
		n++
	}
	t.flying[partition] = append(queue[:0], queue[n:]...)
	t.committed[partition] = offset
	t.check()
}

// Observed is told what the group has committed, by whichever member.
func (t *Tracker) Observed(committed map[int32]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, offset := range committed {
		t.committed[p] = max(t.committed[p], offset)
	}
	t.check()
}

// Left is how many offsets are not committed.
func (t *Tracker) Left() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left int64
	for p, end := range t.ends {
		left += max(end-t.committed[p], 0)
	}
	return left
}

// CompleteBut reports whether every partition is committed up to its end but
// those that held reports.
func (t *Tracker) CompleteBut(held func(partition int32) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, end := range t.ends {
		if t.committed[p] < end && !held(p) {
			return false
		}
	}
	return true
}

// Latency returns a copy of the times from fetch to commit, in microseconds,
// one a batch.
func (t *Tracker) Latency() *hdrhistogram.Histogram {
	t.mu.Lock()
	defer t.mu.Unlock()
	return hdrhistogram.Import(t.latency.Export())
}

// check runs under mu.
func (t *Tracker) check() {
	for p, end := range t.ends {
		if t.committed[p] < end {
			return
		}
	}
	if !t.done {
		t.done = true
		close(t.complete)
	}
}
