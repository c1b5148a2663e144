package timing_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
	"github.com/tidemark-go/tidemark/ringbuf"
)

func record(t testing.TB, l *timing.Ledger, n int) {
	t.Helper()
	for range n {
		if !l.TryRecord(observation(1, 1)) {
			t.Fatal("a canonical observation was refused")
		}
	}
}

func TestCapacityOfLedgers(t *testing.T) {
	for capacity, want := range map[int]int{1: 1, 2: 2, 3: 4, timing.DefaultCapacity: 1024, 1025: 2048} {
		l := newLedger(t, capacity)
		if got := l.Capacity(); got != want {
			t.Errorf("capacity %d became %d, want %d", capacity, got, want)
		}
		if got := snapshot(t, l, 0, 1).Capacity; got != want {
			t.Errorf("a snapshot of capacity %d says %d, want %d", capacity, got, want)
		}
	}
	for _, capacity := range []int{0, -1, math.MinInt, timing.MaxCapacity + 1, math.MaxInt} {
		if l, err := timing.NewLedger(capacity); l != nil || err == nil || !strings.HasPrefix(err.Error(), "timing: capacity is ") {
			t.Errorf("capacity %d: %v, %v, want an error", capacity, l, err)
		}
	}
	if timing.DefaultCapacity != 1024 || timing.MaxCapacity != 1<<20 || timing.MaxPageRecords != 64 {
		t.Error("the constants are not what clients know")
	}
}

func TestLargestLedgerIsMade(t *testing.T) {
	if l := newLedger(t, timing.MaxCapacity-1); l.Capacity() != timing.MaxCapacity {
		t.Errorf("capacity is %d", l.Capacity())
	}
}

func TestEmptyLedger(t *testing.T) {
	l := newLedger(t, 4)
	s := snapshot(t, l, 0, 64)
	if s.Process != nil || s.OldestRetained != 0 || s.NextSequence != 1 || s.OverwrittenCount != 0 ||
		s.RecordingLossCount != 0 || s.MetadataExhausted || s.HasMore || s.Records == nil || len(s.Records) != 0 {
		t.Errorf("empty ledger: %+v", s)
	}
	_, err := l.SnapshotAfter(1, 64)
	if e := as[*timing.CursorAheadError](t, err); *e != (timing.CursorAheadError{AfterSequence: 1, NextSequence: 1}) {
		t.Errorf("after 1: %+v", e)
	}
}

func TestPagesOfALedgerThatIsNotFull(t *testing.T) {
	l := newLedger(t, 4)
	record(t, l, 3)
	for _, c := range []struct {
		after uint64
		limit int
		want  []uint64
		more  bool
	}{
		{0, 2, []uint64{1, 2}, true},
		{2, 2, []uint64{3}, false},
		{3, 2, []uint64{}, false},
		{0, 3, []uint64{1, 2, 3}, false},
		{0, 64, []uint64{1, 2, 3}, false},
		{1, 1, []uint64{2}, true},
	} {
		s := snapshot(t, l, c.after, c.limit)
		if !slices.Equal(sequences(s), c.want) || s.Records == nil || s.HasMore != c.more ||
			s.OldestRetained != 1 || s.NextSequence != 4 || s.OverwrittenCount != 0 || s.Capacity != 4 {
			t.Errorf("after %d, limit %d: %+v, want records %v, more %t", c.after, c.limit, s, c.want, c.more)
		}
		if s.Process == nil || *s.Process != process(1) {
			t.Errorf("after %d: process is %v", c.after, s.Process)
		}
	}
	if _, err := l.SnapshotAfter(4, 64); *as[*timing.CursorAheadError](t, err) != (timing.CursorAheadError{AfterSequence: 4, NextSequence: 4}) {
		t.Errorf("after 4: %v", err)
	}
	if _, err := l.SnapshotAfter(math.MaxUint64, 64); as[*timing.CursorAheadError](t, err).AfterSequence != math.MaxUint64 {
		t.Errorf("after the largest number: %v", err)
	}
}

func TestFullLedgerOverwritesTheOldest(t *testing.T) {
	l := newLedger(t, 2)
	record(t, l, 3)
	_, err := l.SnapshotAfter(0, 64)
	if e := as[*timing.CursorOverwrittenError](t, err); *e != (timing.CursorOverwrittenError{AfterSequence: 0, OldestRetained: 2}) {
		t.Errorf("after 0: %+v", e)
	}
	s := snapshot(t, l, 1, 64)
	if !slices.Equal(sequences(s), []uint64{2, 3}) || s.OverwrittenCount != 1 || s.OldestRetained != 2 || s.NextSequence != 4 || s.HasMore {
		t.Errorf("after 1: %+v", s)
	}
}

func TestRecordsAreWhatWasObserved(t *testing.T) {
	l := newLedger(t, 128)
	for i := range uint64(100) {
		o := observation(1, i+1)
		o.DeadlineExhausted = i%2 == 0
		o.Role = timing.Role(1 + i%2)
		l.TryRecord(o)
	}
	cursor := uint64(0)
	for cursor < 100 {
		s := snapshot(t, l, cursor, 7)
		for _, r := range s.Records {
			o := observation(1, r.Sequence)
			o.DeadlineExhausted = r.Sequence%2 == 1
			o.Role = timing.Role(1 + (r.Sequence-1)%2)
			if r.Observation != o || r.Sequence != cursor+1 {
				t.Fatalf("after %d: %+v", cursor, r)
			}
			cursor++
		}
	}
}

func TestLimitsOfPages(t *testing.T) {
	l := newLedger(t, 128)
	record(t, l, 100)
	for _, limit := range []int{0, -1, 65, math.MaxInt, math.MinInt} {
		// The limit is looked at before the cursor.
		for _, after := range []uint64{0, 1000} {
			_, err := l.SnapshotAfter(after, limit)
			if e := as[*timing.InvalidLimitError](t, err); e.Limit != limit {
				t.Errorf("limit %d: %v", limit, e)
			}
		}
	}
	if s := snapshot(t, l, 0, 64); len(s.Records) != 64 || !s.HasMore {
		t.Errorf("limit 64: %d records, more %t", len(s.Records), s.HasMore)
	}
}

func TestSecondProcessIsALoss(t *testing.T) {
	l := newLedger(t, 4)
	record(t, l, 1)
	others := map[string]timing.ProcessIdentity{"node": process(2), "boot": process(1), "term": process(1)}
	boot, term := others["boot"], others["term"]
	boot.Participant.BootIncarnation[7]++
	term.ProcessTerm++
	for _, other := range []timing.ProcessIdentity{others["node"], boot, term} {
		o := observation(1, 2)
		o.Process = other
		if l.TryRecord(o) {
			t.Errorf("a record of %+v was accepted", other)
		}
	}
	record(t, l, 1)
	s := snapshot(t, l, 0, 64)
	if *s.Process != process(1) || s.RecordingLossCount != 3 || !slices.Equal(sequences(s), []uint64{1, 2}) {
		t.Errorf("%+v", s)
	}
}

// What a caller does to a page must not reach the ledger.
func TestPagesAreCopies(t *testing.T) {
	l := newLedger(t, 4)
	record(t, l, 2)
	s := snapshot(t, l, 0, 64)
	*s.Process = process(9)
	s.Records[0].Sequence = 99
	s.Records = append(s.Records, timing.Record{Sequence: 77})
	if *s.Process != process(9) {
		t.Error("appending to the records changed the process of the page")
	}
	again := snapshot(t, l, 0, 64)
	if *again.Process != process(1) || again.Records[0].Sequence != 1 {
		t.Errorf("a page changed the ledger: %+v", again)
	}
	record(t, l, 1)
}

func TestSequenceEndsBelowTheLargestNumber(t *testing.T) {
	l := timing.NewLedgerAt(2, math.MaxUint64-2, 0)
	if s := snapshot(t, l, math.MaxUint64-3, 64); s.Process != nil || s.HasMore || len(s.Records) != 0 {
		t.Errorf("before: %+v", s)
	}
	record(t, l, 2)
	s := snapshot(t, l, math.MaxUint64-3, 64)
	if !slices.Equal(sequences(s), []uint64{math.MaxUint64 - 2, math.MaxUint64 - 1}) || s.MetadataExhausted ||
		s.NextSequence != math.MaxUint64 || s.OverwrittenCount != math.MaxUint64-3 || s.OldestRetained != math.MaxUint64-2 {
		t.Errorf("at the end: %+v", s)
	}
	for n := range uint64(3) {
		if l.TryRecord(observation(1, 1)) {
			t.Error("a record beyond the last number was accepted")
		}
		s = snapshot(t, l, math.MaxUint64-1, 64)
		if !s.MetadataExhausted || s.RecordingLossCount != n+1 || s.NextSequence != math.MaxUint64 || s.HasMore || len(s.Records) != 0 {
			t.Errorf("after refusal %d: %+v", n+1, s)
		}
	}
	_, err := l.SnapshotAfter(math.MaxUint64, 1)
	as[*timing.CursorAheadError](t, err)
}

// A process whose first record was refused is not reported.
func TestProcessIsReportedOnlyOnceARecordWasAccepted(t *testing.T) {
	l := timing.NewLedgerAt(2, math.MaxUint64, 0)
	if l.TryRecord(observation(1, 1)) {
		t.Fatal("accepted without a number")
	}
	if s := snapshot(t, l, math.MaxUint64-1, 1); s.Process != nil || !s.MetadataExhausted {
		t.Errorf("%+v", s)
	}
	page, err := timing.ReadPage(fixed(process(2)), l, ptr(process(2)), math.MaxUint64-1, 1)
	if err != nil || page.Snapshot.Process != nil {
		t.Errorf("page: %+v, %v", page, err)
	}
	// Nor is it one that a page could be of the wrong process for.
	_, err = timing.ReadPage(fixed(process(2)), l, nil, 0, 0)
	as[*timing.InvalidLimitError](t, err)
}

func TestLossCounterStopsAtItsEnd(t *testing.T) {
	l := timing.NewLedgerAt(2, 1<<40, math.MaxUint64-2)
	for i, want := range []struct {
		losses    uint64
		exhausted bool
	}{
		{math.MaxUint64 - 1, false},
		{math.MaxUint64, false},
		{math.MaxUint64, true},
		{math.MaxUint64, true},
	} {
		l.NoteLoss()
		if s := snapshot(t, l, 1<<40-1, 1); s.RecordingLossCount != want.losses || s.MetadataExhausted != want.exhausted {
			t.Errorf("loss %d: count %d, exhausted %t, want %d, %t", i+1, s.RecordingLossCount, s.MetadataExhausted, want.losses, want.exhausted)
		}
	}
	// Records go on.
	record(t, l, 1)
}

func TestLossCounterCrossesIntoItsLastStretch(t *testing.T) {
	l := timing.NewLedgerAt(2, 1<<40, math.MaxUint64-1<<32-2)
	for range 5 {
		l.NoteLoss()
	}
	if s := snapshot(t, l, 1<<40-1, 1); s.RecordingLossCount != math.MaxUint64-1<<32+3 || s.MetadataExhausted {
		t.Errorf("count %d, exhausted %t", s.RecordingLossCount, s.MetadataExhausted)
	}
}

// A record that is being written ends the page, and HasMore says so.
func TestPageEndsAtARecordThatIsBeingWritten(t *testing.T) {
	l := newLedger(t, 8)
	record(t, l, 2)
	l.HoldNext()
	record(t, l, 2)
	s := snapshot(t, l, 0, 64)
	if !slices.Equal(sequences(s), []uint64{1, 2}) || !s.HasMore || s.NextSequence != 6 {
		t.Errorf("after 0: %+v", s)
	}
	s = snapshot(t, l, 2, 64)
	if len(s.Records) != 0 || s.Records == nil || !s.HasMore || s.OldestRetained != 1 || *s.Process != process(1) {
		t.Errorf("after 2: %+v", s)
	}
	s = snapshot(t, l, 3, 64)
	if !slices.Equal(sequences(s), []uint64{4, 5}) || s.HasMore {
		t.Errorf("after 3: %+v", s)
	}
}

// A position with more readers than fit is the only thing that makes a ledger
// busy, and writers do not mind it.
func TestLedgerWithTooManyReadersIsBusy(t *testing.T) {
	l := newLedger(t, 2)
	record(t, l, 2)
	l.FillWithReaders(1)
	_, err := l.SnapshotAfter(0, 64)
	if !errors.Is(err, timing.ErrBusy) || !errors.Is(err, ringbuf.ErrBusy) || !strings.HasPrefix(err.Error(), "timing: ") {
		t.Errorf("error is %v, want ErrBusy", err)
	}
	record(t, l, 2)
	if s := snapshot(t, l, 2, 64); len(s.Records) != 2 || s.RecordingLossCount != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAllocations(t *testing.T) {
	l := newLedger(t, 64)
	record(t, l, 1)
	o, stranger, broken := observation(1, 1), observation(2, 1), timing.Observation{}
	for name, f := range map[string]func(){
		"a record":               func() { l.TryRecord(o) },
		"a record of a stranger": func() { l.TryRecord(stranger) },
		"a broken observation":   func() { l.TryRecord(broken) },
		"a loss":                 func() { l.NoteLoss() },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
	h := timing.Histograms{PipelineStall: discard{}, LocalBarrier: discard{}, AlignedResume: discard{}}
	if n := testing.AllocsPerRun(1000, func() {
		g := timing.StartGuard(l, h, time.Now(), known)
		g.FinishLocalBarrierWithHandoff()
		g.BeginAlignedResume()
		g.FinishAlignedResume()
		g.Close()
	}); n != 1 {
		t.Errorf("a guard: %v allocations, want 1", n)
	}
	record(t, l, 64)
	_, err := l.SnapshotAfter(math.MaxUint64, 1)
	next := as[*timing.CursorAheadError](t, err).NextSequence
	for _, behind := range []uint64{1, 2, 65} {
		if n := testing.AllocsPerRun(1000, func() { snapshot(t, l, next-behind, 64) }); n != 1 {
			t.Errorf("page of %d records: %v allocations, want 1", behind-1, n)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = l.SnapshotAfter(0, 64) }); n != 1 {
		t.Errorf("a cursor that is overwritten: %v allocations, want the error alone", n)
	}
}

func TestWhatWasNotMadeIsSaid(t *testing.T) {
	var zero timing.Ledger
	const ledger, page = "timing: a Ledger must be made with NewLedger", "timing: ReadPage needs an IdentitySource and a Ledger"
	for _, c := range []struct {
		want string
		f    func()
	}{
		{ledger, func() { zero.TryRecord(observation(1, 1)) }},
		{ledger, func() { _, _ = zero.SnapshotAfter(0, 1) }},
		{ledger, func() { zero.Capacity() }},
		{page, func() { _, _ = timing.ReadPage(nil, newLedger(t, 1), nil, 0, 1) }},
		{page, func() { _, _ = timing.ReadPage(fixed(process(1)), nil, nil, 0, 1) }},
	} {
		func() {
			defer func() {
				if r := recover(); r != c.want {
					t.Errorf("panic with %v, want %q", r, c.want)
				}
			}()
			c.f()
		}()
	}
}

type discard struct{}

func (discard) Observe(float64) {}
