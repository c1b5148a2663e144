package timing_test

import (
	"errors"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
)

// model is a ledger as one would write it without a thought for concurrency.
type model struct {
	capacity  uint64
	next      uint64
	records   []timing.Record // those retained
	process   *timing.ProcessIdentity
	losses    uint64
	exhausted bool
}

func (m *model) lose() bool {
	if m.losses == math.MaxUint64 {
		m.exhausted = true
	} else {
		m.losses++
	}
	return false
}

func (m *model) record(o timing.Observation) bool {
	if !o.Canonical() || m.process != nil && *m.process != o.Process {
		return m.lose()
	}
	if m.process == nil {
		m.process = &o.Process
	}
	if m.next == math.MaxUint64 {
		m.exhausted = true
		return m.lose()
	}
	m.records = append(m.records, timing.Record{Sequence: m.next, Observation: o})
	m.next++
	if uint64(len(m.records)) > m.capacity {
		m.records = m.records[1:]
	}
	return true
}

// FuzzLedger compares a ledger with the model. The first byte chooses the
// capacity and where numbers begin; each pair that follows is an operation
// and its argument.
func FuzzLedger(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 3, 0, 4, 0, 2, 9})
	f.Add([]byte{7, 0, 1, 0, 2, 0, 1, 0, 1, 0, 1, 3, 1, 2, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 {
			return
		}
		m := &model{capacity: 1 << (text[0] & 3), next: 1}
		l := newLedger(t, int(m.capacity))
		first := uint64(1)
		if text[0]&4 != 0 {
			first = math.MaxUint64 - uint64(text[0]>>4)
			m.next, m.losses = first, math.MaxUint64-uint64(text[0]>>5)
			l = timing.NewLedgerAt(int(m.capacity), m.next, m.losses)
		}
		for ops := text[1:]; len(ops) >= 2; ops = ops[2:] {
			arg := uint64(ops[1])
			switch ops[0] % 4 {
			case 0:
				o := observation(1+arg%5/4, arg)
				o.DeadlineExhausted = arg&1 == 1
				if got, want := l.TryRecord(o), m.record(o); got != want {
					t.Fatalf("record accepted %t, want %t", got, want)
				}
			case 1:
				l.NoteLoss()
				m.lose()
			default:
				comparePage(t, l, m, first, m.next+arg-64, int(arg%70))
			}
		}
		comparePage(t, l, m, first, m.next-1, 64)
	})
}

func comparePage(t *testing.T, l *timing.Ledger, m *model, first, after uint64, limit int) {
	t.Helper()
	s, err := l.SnapshotAfter(after, limit)
	oldest := uint64(0)
	if m.next > 1 {
		oldest = max(m.next, m.capacity+1) - m.capacity
	}
	switch {
	case limit < 1 || limit > 64:
		if as[*timing.InvalidLimitError](t, err).Limit != limit {
			t.Fatal(err)
		}
		return
	case after >= m.next:
		if *as[*timing.CursorAheadError](t, err) != (timing.CursorAheadError{AfterSequence: after, NextSequence: m.next}) {
			t.Fatal(err)
		}
		return
	case after+1 < oldest:
		if *as[*timing.CursorOverwrittenError](t, err) != (timing.CursorOverwrittenError{AfterSequence: after, OldestRetained: oldest}) {
			t.Fatal(err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	if after+1 < first {
		return // records from before the model
	}
	var want []timing.Record
	for _, r := range m.records {
		if r.Sequence > after && len(want) < limit {
			want = append(want, r)
		}
	}
	if len(s.Records) != len(want) {
		t.Fatalf("after %d, limit %d: %d records, want %d", after, limit, len(s.Records), len(want))
	}
	for i := range want {
		if s.Records[i] != want[i] {
			t.Fatalf("record %+v, want %+v", s.Records[i], want[i])
		}
	}
	overwritten := uint64(0)
	if oldest > 0 {
		overwritten = oldest - 1
	}
	if s.NextSequence != m.next || s.OldestRetained != oldest || s.OverwrittenCount != overwritten || s.RecordingLossCount != m.losses ||
		s.MetadataExhausted != m.exhausted || s.HasMore != (after+uint64(len(want)) < m.next-1) || (s.Process != nil) != (m.next > first) {
		t.Fatalf("%+v, want next %d, oldest %d, overwritten %d, %d losses, exhausted %t", s, m.next, oldest, overwritten, m.losses, m.exhausted)
	}
	if s.Process != nil && *s.Process != *m.process {
		t.Fatalf("process %+v, want %+v", *s.Process, *m.process)
	}
}

// FuzzGuard calls the methods of a guard in any order, with time between, and
// compares what is published with the rules.
func FuzzGuard(f *testing.F) {
	f.Add([]byte{0, 3, 0, 1, 5, 2, 1, 3, 4, 9})
	f.Add([]byte{3, 2, 1, 2, 2, 3, 3, 1, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 2 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			r := &rig{t: t, ledger: newLedger(t, 8)}
			context := known
			if text[0]&1 == 1 {
				context = nil
			}
			g := timing.StartGuard(r.ledger, r.histograms(), time.Now().Add(time.Duration(text[1])), context)
			now := time.Duration(0)
			local, begun, aligned := time.Duration(-1), time.Duration(-1), time.Duration(-1)
			valid := context != nil
			for _, op := range text[2:] {
				time.Sleep(time.Duration(op >> 2))
				now += time.Duration(op >> 2)
				switch op & 3 {
				case 1:
					g.FinishLocalBarrierWithHandoff()
					if local < 0 {
						local = now
					}
				case 2:
					g.BeginAlignedResume()
					valid = valid && begun < 0
					if begun < 0 {
						begun = now
					}
				case 3:
					g.FinishAlignedResume()
					valid = valid && begun >= 0 && aligned < 0
					if begun >= 0 && aligned < 0 {
						aligned = now - begun
					}
				}
			}
			g.Close()
			if begun >= 0 && aligned < 0 {
				aligned = now - begun
			}
			handoff := local >= 0
			if !handoff {
				local = now
			}
			valid = valid && (aligned < 0 || handoff && local+aligned <= now)
			records, losses := 1, uint64(0)
			if !valid {
				records, losses = 0, 1
			}
			s := r.expect(local, aligned, now, records, losses)
			if valid && (s.Records[0].DurableTailHandoff != handoff || s.Records[0].DeadlineExhausted != (now >= time.Duration(text[1]))) {
				t.Errorf("%+v", s.Records[0])
			}
		})
	})
}

// FuzzHandler sends any query to the handler: it answers JSON with one of its
// statuses, and a page only for parameters that name one.
func FuzzHandler(f *testing.F) {
	f.Add("")
	f.Add("after=1&limit=2&" + identityQuery(process(1)))
	f.Add("after=1&limit=0")
	f.Add("node_id=%31&boot_incarnation=&process_term=1;")
	f.Fuzz(func(t *testing.T, query string) {
		l := newLedger(t, 2)
		record(t, l, 3)
		status, _, body := get(t, timing.Handler(fixed(process(1)), l), http.MethodGet, query)
		switch status {
		case 200:
			if body["snapshot"] == nil || body["error"] != nil {
				t.Errorf("?%s: %v", query, body)
			}
		case 400, 409, 410:
			if s, ok := body["error"].(string); !ok || s == "" {
				t.Errorf("?%s: status %d without an error: %v", query, status, body)
			}
		default:
			t.Errorf("?%s: status %d", query, status)
		}
	})
}

// The same error means the same wherever it comes from.
func TestErrorsAreFoundThroughWraps(t *testing.T) {
	l := newLedger(t, 1)
	record(t, l, 2)
	_, err := l.SnapshotAfter(0, 1)
	var e *timing.CursorOverwrittenError
	if wrapped := errors.Join(errors.New("page"), err); !errors.As(wrapped, &e) {
		t.Error(wrapped)
	}
}
