package timing_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
)

// signed is an observation that can tell whether it is whole: everything in
// it follows from who wrote it and which of its records it is.
func signed(writer, n uint64) timing.Observation {
	x := (writer<<32 + n + 1) * 0x9e3779b97f4a7c15
	o := observation(1, writer<<32+n+1)
	o.Role = timing.Role(1 + x>>63)
	o.AssignmentVersion = x | 1
	for i := range 4 {
		x = x*0xd1342543de82ef95 + 1
		binary.LittleEndian.PutUint64(o.AssignmentDigest[8*i:], x)
	}
	o.LocalBarrier = time.Duration(x >> 40)
	o.AlignedResume.Duration = time.Duration(x & 0xffffff)
	o.PipelineStall = o.LocalBarrier + o.AlignedResume.Duration + time.Duration(x>>60)
	o.DeadlineExhausted = x&1 == 1
	return o
}

// follow pages through a ledger until stop is set and all is read.
func follow(t *testing.T, l *timing.Ledger, limit int, stop *atomic.Bool) (read, missed uint64) {
	cursor := uint64(0)
	for {
		stopped := stop.Load()
		s, err := l.SnapshotAfter(cursor, limit)
		var o *timing.CursorOverwrittenError
		switch {
		case errors.As(err, &o):
			if o.AfterSequence != cursor || o.OldestRetained <= cursor+1 {
				t.Errorf("after %d: %v", cursor, err)
				return
			}
			missed += o.OldestRetained - 1 - cursor
			cursor = o.OldestRetained - 1
			continue
		case err != nil:
			t.Errorf("after %d: %v", cursor, err)
			return
		}
		retained := min(s.NextSequence-1, uint64(l.Capacity()))
		oldest := uint64(0)
		if retained > 0 {
			oldest = s.NextSequence - retained
		}
		if s.OldestRetained != oldest || s.OverwrittenCount != s.NextSequence-1-retained || s.RecordingLossCount != 0 ||
			s.HasMore != (cursor+uint64(len(s.Records)) < s.NextSequence-1) {
			t.Errorf("after %d: not one sample: %+v", cursor, s)
			return
		}
		for i := range s.Records {
			r := &s.Records[i]
			if id := r.Attempt.Epoch - 1; r.Sequence != cursor+1 || r.Observation != signed(id>>32, id&0xffffffff) {
				t.Errorf("after %d: torn or out of turn: %+v", cursor, *r)
				return
			}
			cursor++
		}
		read += uint64(len(s.Records))
		if stopped && !s.HasMore {
			return read, missed
		}
		if len(s.Records) == 0 {
			runtime.Gosched()
		}
	}
}

func TestEveryRecordOfConcurrentWritersIsAccountedFor(t *testing.T) {
	const writers, readers = 4, 2
	each := uint64(100_000)
	if testing.Short() {
		each = 2000
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for _, capacity := range []int{1, 2, timing.DefaultCapacity} {
			t.Run(fmt.Sprintf("procs=%d/capacity=%d", procs, capacity), func(t *testing.T) {
				l := newLedger(t, capacity)
				var writing, reading sync.WaitGroup
				var stop atomic.Bool
				var accepted atomic.Uint64
				for w := range uint64(writers) {
					writing.Go(func() {
						for n := range each {
							if l.TryRecord(signed(w, n)) {
								accepted.Add(1)
							}
						}
					})
				}
				for i := range readers {
					reading.Go(func() {
						if read, missed := follow(t, l, 1+i*63, &stop); read+missed != writers*each && !t.Failed() {
							t.Errorf("a reader got %d records and missed %d of %d", read, missed, writers*each)
						}
					})
				}
				writing.Wait()
				stop.Store(true)
				reading.Wait()
				next := writers*each + 1
				s := snapshot(t, l, next-1, 1)
				if accepted.Load() != writers*each || s.NextSequence != next || s.RecordingLossCount != 0 {
					t.Errorf("%d attempted, %d accepted, next %d, %d lost", writers*each, accepted.Load(), s.NextSequence, s.RecordingLossCount)
				}
			})
		}
	}
}

// Of several processes that come first at once, one stays; everything else is
// a loss, and nothing is counted twice.
func TestFirstProcessIsBoundByOneOfManyWriters(t *testing.T) {
	for range 50 {
		const writers, each = 8, 20
		l := newLedger(t, 512)
		var wg sync.WaitGroup
		var accepted [writers]int
		start := make(chan struct{})
		for w := range writers {
			wg.Go(func() {
				<-start
				for range each {
					if l.TryRecord(observation(uint64(w+1), 1)) {
						accepted[w]++
					}
				}
			})
		}
		close(start)
		wg.Wait()
		s := snapshot(t, l, 0, 64)
		for w, n := range accepted {
			if want := *s.Process == process(uint64(w+1)); n != 0 && !want || n != each && want {
				t.Fatalf("process %d: %d accepted, the ledger is of %+v", w+1, n, *s.Process)
			}
		}
		if s.NextSequence != each+1 || s.RecordingLossCount != (writers-1)*each {
			t.Fatalf("next %d, %d lost", s.NextSequence, s.RecordingLossCount)
		}
	}
}

func TestLossesOfManyWritersAreCountedOnce(t *testing.T) {
	const losses = 2000
	for name, c := range map[string]struct {
		before, after uint64
		exhausted     bool
	}{
		"far from the end": {0, losses, false},
		"near the end":     {math.MaxUint64 - 1<<32 - 500, math.MaxUint64 - 1<<32 - 500 + losses, false},
		"to the end":       {math.MaxUint64 - 500, math.MaxUint64, true},
	} {
		l := timing.NewLedgerAt(2, 5, c.before)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range losses / 8 {
					l.NoteLoss()
				}
			})
		}
		wg.Wait()
		if s := snapshot(t, l, 4, 1); s.RecordingLossCount != c.after || s.MetadataExhausted != c.exhausted {
			t.Errorf("%s: %d losses, exhausted %t, want %d, %t", name, s.RecordingLossCount, s.MetadataExhausted, c.after, c.exhausted)
		}
	}
}
