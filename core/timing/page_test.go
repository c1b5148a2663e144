package timing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/core/timing"
)

func ptr[T any](v T) *T { return &v }

// source answers with its identities and errors in turn, the last one for
// ever.
type source struct {
	answers []answer
	calls   int
}

type answer struct {
	process timing.ProcessIdentity
	err     error
}

func (s *source) LiveProcessIdentity() (timing.ProcessIdentity, error) {
	a := s.answers[min(s.calls, len(s.answers)-1)]
	s.calls++
	return a.process, a.err
}

func fixed(p timing.ProcessIdentity) *source { return &source{answers: []answer{{process: p}}} }

var errSource = errors.New("the authority is gone")

// Every error of ReadPage, where several apply at once: the first in the
// documented order counts.
func TestErrorsOfReadPageComeInOrder(t *testing.T) {
	one, two := process(1), process(2)
	for name, c := range map[string]struct {
		source   []answer
		expected *timing.ProcessIdentity
		after    uint64
		limit    int
		samples  int // of the identity
		check    func(t *testing.T, err error)
	}{
		"required before all others": {[]answer{{err: errSource}}, nil, 99, 0, 0, func(t *testing.T, err error) {
			if !errors.Is(err, timing.ErrProcessIdentityRequired) {
				t.Error(err)
			}
		}},
		"unavailable before mismatch": {[]answer{{process: two, err: errSource}}, &one, 99, 0, 1, func(t *testing.T, err error) {
			if !errors.Is(err, timing.ErrProcessIdentityUnavailable) || !errors.Is(err, errSource) {
				t.Error(err)
			}
		}},
		"unavailable afterwards before mismatch": {[]answer{{process: two}, {err: errSource}}, &one, 99, 0, 2, func(t *testing.T, err error) {
			if !errors.Is(err, timing.ErrProcessIdentityUnavailable) || !errors.Is(err, errSource) {
				t.Error(err)
			}
		}},
		"mismatch before all that follow": {[]answer{{process: two}, {process: one}}, &one, 99, 0, 2, func(t *testing.T, err error) {
			if e := as[*timing.ProcessIdentityMismatchError](t, err); e.Expected != one || e.Actual != two {
				t.Error(e)
			}
		}},
		"unavailable afterwards": {[]answer{{process: two}, {err: errSource}}, &two, 99, 0, 2, func(t *testing.T, err error) {
			if !errors.Is(err, timing.ErrProcessIdentityUnavailable) || !errors.Is(err, errSource) {
				t.Error(err)
			}
		}},
		"changed before the ledger's mismatch": {[]answer{{process: two}, {process: one}}, &two, 99, 0, 2, func(t *testing.T, err error) {
			if e := as[*timing.ProcessIdentityChangedError](t, err); e.Before != two || e.After != one {
				t.Error(e)
			}
		}},
		"the ledger's mismatch before a bad limit": {[]answer{{process: two}}, &two, 99, 0, 2, func(t *testing.T, err error) {
			if e := as[*timing.LedgerProcessMismatchError](t, err); e.Expected != two || e.Actual != one {
				t.Error(e)
			}
		}},
		"the ledger's mismatch of a good page": {[]answer{{process: two}}, nil, 0, 64, 2, func(t *testing.T, err error) {
			if e := as[*timing.LedgerProcessMismatchError](t, err); e.Expected != two || e.Actual != one {
				t.Error(e)
			}
		}},
		"limit": {[]answer{{process: one}}, &one, 99, 0, 2, func(t *testing.T, err error) {
			if e := as[*timing.InvalidLimitError](t, err); e.Limit != 0 {
				t.Error(e)
			}
		}},
		"ahead": {[]answer{{process: one}}, &one, 99, 64, 2, func(t *testing.T, err error) {
			if e := as[*timing.CursorAheadError](t, err); e.AfterSequence != 99 || e.NextSequence != 4 {
				t.Error(e)
			}
		}},
		"overwritten": {[]answer{{process: one}}, nil, 0, 64, 2, func(t *testing.T, err error) {
			if e := as[*timing.CursorOverwrittenError](t, err); e.AfterSequence != 0 || e.OldestRetained != 2 {
				t.Error(e)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			capacity := 4
			if name == "overwritten" {
				capacity = 2
			}
			l := newLedger(t, capacity)
			record(t, l, 3)
			src := &source{answers: c.source}
			page, err := timing.ReadPage(src, l, c.expected, c.after, c.limit)
			if err == nil || page.Snapshot.Records != nil || page.Process != (timing.ProcessIdentity{}) {
				t.Fatalf("%+v, %v, want an error alone", page, err)
			}
			c.check(t, err)
			if !strings.HasPrefix(err.Error(), "timing: ") && !strings.HasPrefix(err.Error(), "ringbuf: ") {
				t.Errorf("error does not name its package: %v", err)
			}
			if src.calls != c.samples {
				t.Errorf("the identity was sampled %d times, want %d", src.calls, c.samples)
			}
		})
	}
}

func TestReadPage(t *testing.T) {
	l := newLedger(t, 4)
	one := process(1)
	page, err := timing.ReadPage(fixed(one), l, nil, 0, 64)
	if err != nil || page.Process != one || page.Snapshot.Process != nil || len(page.Snapshot.Records) != 0 {
		t.Errorf("of an empty ledger: %+v, %v", page, err)
	}
	record(t, l, 3)
	for _, expected := range []*timing.ProcessIdentity{nil, &one} {
		page, err = timing.ReadPage(fixed(one), l, expected, 0, 2)
		if err != nil || page.Process != one || *page.Snapshot.Process != one || len(page.Snapshot.Records) != 2 || !page.Snapshot.HasMore {
			t.Errorf("first page: %+v, %v", page, err)
		}
	}
	page, err = timing.ReadPage(fixed(one), l, &one, 2, 2)
	if err != nil || len(page.Snapshot.Records) != 1 || page.Snapshot.Records[0].Sequence != 3 {
		t.Errorf("second page: %+v, %v", page, err)
	}
}

// After a restart sequence numbers begin again, so the cursor of the process
// before would hide the first records of the new one.
func TestCursorOfTheProcessBeforeIsAnError(t *testing.T) {
	before, now := process(1), process(1)
	now.ProcessTerm++
	l := newLedger(t, 64)
	for range 40 {
		o := observation(1, 1)
		o.Process = now
		l.TryRecord(o)
	}
	_, err := timing.ReadPage(fixed(now), l, &before, 30, 64)
	if e := as[*timing.ProcessIdentityMismatchError](t, err); e.Actual != now {
		t.Error(e)
	}
}
