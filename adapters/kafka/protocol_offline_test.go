package kafka

import (
	"errors"
	"testing"
	"time"
)

// pollOffline returns the next n batches of ten, which are queued already.
func pollOffline(t *testing.T, s *Source, n int) (bs []Batch) {
	t.Helper()
	for range n {
		b, ok, err := s.next()
		if !ok || err != nil {
			t.Fatalf("batch %d of %d: %v, %v", len(bs), n, ok, err)
		}
		bs = append(bs, b)
	}
	return bs
}

// commitOffline builds a commit, and answers it with err. It returns the offset
// it carried, -1 if there was nothing to commit.
func commitOffline(s *Source, err error) int64 {
	sent, offsets, _ := s.collect(nil, func() {}, nil, time.Time{})
	for _, c := range sent {
		c.err = err
	}
	_ = s.settle(sent, nil) // says what err says
	if o, ok := offsets["in"][0]; ok {
		return o.Offset
	}
	return unknown
}

var errRefused = errors.New("refused")

func TestACommitThatFailsIsOfferedAgainUntilItIsConfirmed(t *testing.T) {
	s, p := offline(t, Config{BatchRecords: 10})
	s.ingest(fetchOf(0, 40, nil), time.Now())
	bs := pollOffline(t, s, 4)
	bs[0].Ack.Done(nil)
	for try := range 2 {
		if got := commitOffline(s, errRefused); got != 10 {
			t.Fatalf("try %d carries %d, want 10", try, got)
		}
	}
	bs[1].Ack.Done(nil) // progress between two tries
	if got := commitOffline(s, errRefused); got != 20 {
		t.Fatalf("with progress it carries %d, want 20", got)
	}
	if _, ok := s.cp.Committed(p.id); ok {
		t.Fatal("a commit that failed is confirmed")
	}
	sent, _, _ := s.collect(nil, func() {}, nil, time.Time{})
	bs[2].Ack.Done(nil) // while the commit is on its way
	s.mu.Lock()
	s.advance()
	s.mu.Unlock()
	for _, c := range sent {
		c.err = nil
	}
	if err := s.settle(sent, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.cp.Committed(p.id); got != 20 || p.committed != 20 {
		t.Fatalf("confirmed %d, committed %d, want 20", got, p.committed)
	}
	if got := commitOffline(s, nil); got != 30 {
		t.Fatalf("the next commit carries %d, want 30", got)
	}
	if got := commitOffline(s, nil); got != unknown {
		t.Fatalf("with nothing new it carries %d", got)
	}
}

// Whatever becomes of a stash that outlives its admission: it is of offsets
// that the next admission reads by itself.
func TestRecordsPolledBeforeAnAdmissionAreNeverTrackedUnderIt(t *testing.T) {
	s, p := offline(t, Config{BatchRecords: 10, PendingLimit: 1})
	s.ingest(fetchOf(0, 20, nil), time.Now())
	held := pollOffline(t, s, 1)
	if len(p.stash) != 10 {
		t.Fatalf("%d records are stashed, want 10", len(p.stash))
	}
	s.mu.Lock()
	s.cp.Revoke(p.id)
	if err := s.cp.ExtendEpoch(p.id); err != nil {
		t.Fatal(err)
	}
	s.advance()
	s.mu.Unlock()
	held[0].Ack.Done(nil)
	if _, ok, _ := s.next(); ok || s.cp.Pending(p.id) != 0 || len(p.stash) != 0 {
		t.Fatalf("a batch of an earlier admission was queued: %v, %d pending, %d stashed", ok, s.cp.Pending(p.id), len(p.stash))
	}

	// One poll can hold a partition twice, from two brokers. Records behind a
	// truncation that the first part told of are read again.
	s, p = offline(t, Config{BatchRecords: 10})
	s.ingest(fetchOf(0, 10, nil), time.Now())
	s.ingest(append(fetchOf(5, 3, nil), fetchOf(8, 4, nil)...), time.Now())
	if p.read != 0 || s.cp.Pending(p.id) != 0 {
		t.Fatalf("reads on at %d with %d pending, want 0: all of it again", p.read, s.cp.Pending(p.id))
	}
	s.ingest(fetchOf(0, 12, nil), time.Now())
	if bs := pollOffline(t, s, 2); bs[0].Records[0].Offset != 0 || bs[1].Ack.LastOffset() != 11 || s.Stats().DataLosses != 1 {
		t.Fatalf("got %+v after one loss: %d reported", bs, s.Stats().DataLosses)
	}
}

func TestWhatPartitionsLeaveBehindIsCounted(t *testing.T) {
	s, p := offline(t, Config{BatchRecords: 10})
	s.ingest(fetchOf(0, 100, nil), time.Now())
	bs := pollOffline(t, s, 6)
	for i, err := range []error{nil, nil, errRefused, nil} {
		bs[i].Ack.Done(err)
		if i == 0 && commitOffline(s, nil) != 10 {
			t.Fatal("nothing is committed")
		}
	}
	s.mu.Lock()
	got := s.retire([]*partition{p}, s.unqueue(nil, p))
	s.mu.Unlock()
	want := leftBehind{delivered: 1, pending: 6, failed: 1, neverHandedOut: 4, late: 1}
	if got != want {
		t.Fatalf("left %+v, want %+v", got, want)
	}
	const text = "[delivered=1 pending=6 failed=1 never_handed_out=4 uncommitted_partitions=1]"
	if got.LogValue().String() != text {
		t.Fatalf("logged as %v, want %s", got.LogValue(), text)
	}
	if bs[4].Ack.Done(nil); s.cp.Pending(p.id) != 0 {
		t.Fatal("a late acknowledgement counts")
	}
}
