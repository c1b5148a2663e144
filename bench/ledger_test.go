package bench_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/bench/internal/clock"
	"github.com/tidemark-go/tidemark/bench/internal/latency"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
	"github.com/tidemark-go/tidemark/bench/ledger"
	"github.com/tidemark-go/tidemark/core/timing"
)

// ledgerSubject is a ledger under measurement. A call of write makes many
// records, with direct calls inside, so that the interface costs nothing that
// shows.
type ledgerSubject interface {
	// write makes n records and returns how many were lost.
	write(n int) (lost int)
	// time makes n records on the schedule of loop.
	time(n int, loop *latency.Loop) (lost int)
	SnapshotAfter(after uint64, limit int) (timing.Snapshot, error)
}

var ledgers = []struct {
	name   string
	create func() ledgerSubject
}{
	{"ring", func() ledgerSubject {
		l, err := timing.NewLedger(timing.DefaultCapacity)
		if err != nil {
			panic(err)
		}
		return ringLedger{l}
	}},
	{"mutex", func() ledgerSubject { return mutexLedger{ledger.NewMutex(timing.DefaultCapacity)} }},
	{"trylock", func() ledgerSubject { return tryLockLedger{ledger.NewTryLock(timing.DefaultCapacity)} }},
}

type (
	ringLedger    struct{ *timing.Ledger }
	mutexLedger   struct{ *ledger.Mutex }
	tryLockLedger struct{ *ledger.TryLock }
)

// The drivers of the ledgers do the same: their methods have the same text.
func TestLedgerDriversAreTheSame(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "ledger_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]string{}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && (fn.Name.Name == "write" || fn.Name.Name == "time") {
			var text strings.Builder
			if err := format.Node(&text, set, fn.Body); err != nil {
				t.Fatal(err)
			}
			bodies[fn.Name.Name] = append(bodies[fn.Name.Name], text.String())
		}
	}
	for _, name := range []string{"write", "time"} {
		n := len(bodies[name])
		if texts := slices.Compact(bodies[name]); n != len(ledgers) || len(texts) != 1 {
			t.Errorf("%d ledgers have %d methods %s with different texts:\n%s", len(ledgers), n, name, strings.Join(texts, "\n"))
		}
	}
}

// pauseRecord is what the writers record.
func pauseRecord() timing.Observation {
	return timing.Observation{
		Context: timing.Context{
			Process: timing.ProcessIdentity{
				Participant: timing.Participant{NodeID: 1, BootIncarnation: uuid.UUID{1}},
				ProcessTerm: 1,
			},
			Attempt:           timing.CanonicalAttempt(1),
			Role:              timing.Leader,
			AssignmentVersion: 1,
			AssignmentDigest:  [32]byte{1},
		},
		PipelineStall:      9 * time.Millisecond,
		LocalBarrier:       4 * time.Millisecond,
		AlignedResume:      timing.NullDuration{Duration: 5 * time.Millisecond, Valid: true},
		DurableTailHandoff: true,
	}
}

func (l ringLedger) write(n int) (lost int) {
	o := pauseRecord()
	for i := range n {
		o.Attempt = timing.CanonicalAttempt(uint64(i + 1))
		if !l.TryRecord(o) {
			lost++
		}
	}
	return lost
}

func (l mutexLedger) write(n int) (lost int) {
	o := pauseRecord()
	for i := range n {
		o.Attempt = timing.CanonicalAttempt(uint64(i + 1))
		if !l.TryRecord(o) {
			lost++
		}
	}
	return lost
}

func (l tryLockLedger) write(n int) (lost int) {
	o := pauseRecord()
	for i := range n {
		o.Attempt = timing.CanonicalAttempt(uint64(i + 1))
		if !l.TryRecord(o) {
			lost++
		}
	}
	return lost
}

func (l ringLedger) time(n int, loop *latency.Loop) (lost int) {
	o := pauseRecord()
	loop.Run(n, func(int) {
		if !l.TryRecord(o) {
			lost++
		}
	})
	return lost
}

func (l mutexLedger) time(n int, loop *latency.Loop) (lost int) {
	o := pauseRecord()
	loop.Run(n, func(int) {
		if !l.TryRecord(o) {
			lost++
		}
	})
	return lost
}

func (l tryLockLedger) time(n int, loop *latency.Loop) (lost int) {
	o := pauseRecord()
	loop.Run(n, func(int) {
		if !l.TryRecord(o) {
			lost++
		}
	})
	return lost
}

// pollPause is how long a reader that has every record waits before it asks
// again.
const pollPause = 100 * time.Microsecond

// readers page through a ledger while writers write: each reads all there is,
// pauses, and asks again.
type readers int

// page pages through a ledger until stop is set and returns how many pages it
// got that were not empty, and how many records. A reader that falls behind
// resumes a little past the oldest.
func (r readers) page(l ledgerSubject, stop *atomic.Bool) (pages, records int) {
	cursor := uint64(0)
	for !stop.Load() {
		s, err := l.SnapshotAfter(cursor, timing.MaxPageRecords)
		var overwritten *timing.CursorOverwrittenError
		switch {
		case errors.As(err, &overwritten):
			cursor = overwritten.OldestRetained - 1 + timing.DefaultCapacity/8
			continue
		case errors.Is(err, timing.ErrBusy):
			runtime.Gosched()
			continue
		case err != nil:
			panic(err)
		}
		cursor += uint64(len(s.Records))
		records += len(s.Records)
		if len(s.Records) > 0 {
			pages++
		}
		if !s.HasMore {
			time.Sleep(pollPause)
		} else if len(s.Records) == 0 {
			runtime.Gosched() // the next record is being written
		}
	}
	return pages, records
}

// during runs f while the readers page through the ledger.
func (r readers) during(l ledgerSubject, f func()) (pages, records int) {
	var wg sync.WaitGroup
	var stop atomic.Bool
	var mu sync.Mutex
	for range r {
		wg.Go(func() {
			p, n := r.page(l, &stop)
			mu.Lock()
			pages += p
			records += n
			mu.Unlock()
		})
	}
	f()
	stop.Store(true)
	wg.Wait()
	return pages, records
}

// BenchmarkLedgerAppend has writers record as fast as they can, with and
// without readers. lost-% is how many of the records were not taken.
func BenchmarkLedgerAppend(b *testing.B) {
	for _, readers := range []readers{0, 2} {
		for _, writers := range []int{1, 2, 4} {
			for _, im := range ledgers {
				rows.Run(b, fmt.Sprintf("impl=%s/writers=%d/readers=%d", im.name, writers, readers), func(b *testing.B) {
					appendRecords(b, im.create, writers, readers)
				})
			}
		}
	}
}

func appendRecords(b *testing.B, create func() ledgerSubject, writers int, readers readers) {
	const total = 1 << 20
	var c rows.Timer
	var lost atomic.Int64
	n, pages, records := 0, 0, 0
	for b.Loop() {
		l := create()
		p, r := readers.during(l, func() {
			var wg sync.WaitGroup
			c.Begin()
			for range writers {
				wg.Go(func() { lost.Add(int64(l.write(total / writers))) })
			}
			wg.Wait()
			c.End()
		})
		pages, records, n = pages+p, records+r, n+total
	}
	c.Report(b, n, "record", "")
	b.ReportMetric(float64(n)/c.Total.Seconds(), "records/s")
	if readers == 0 { // with readers their pages would count
		b.ReportMetric(float64(c.Allocs)/float64(n), "allocs/record")
	}
	b.ReportMetric(100*float64(lost.Load())/float64(n), "lost-%")
	if pages > 0 {
		b.ReportMetric(float64(records)/float64(pages), "records/page")
		b.ReportMetric(float64(pages)/c.Total.Seconds(), "pages/s")
	}
}

// BenchmarkLedgerLatency tells how long a record takes that one writer makes
// on schedule, with and without readers.
func BenchmarkLedgerLatency(b *testing.B) {
	for _, readers := range []readers{0, 2} {
		for _, im := range ledgers {
			dims := fmt.Sprintf("writers=1/readers=%d/every=%dns", readers, latency.Every.Nanoseconds())
			rows.Run(b, fmt.Sprintf("impl=%s/%s", im.name, dims), func(b *testing.B) {
				recordLatency(b, im.create, readers)
			})
		}
	}
}

func recordLatency(b *testing.B, create func() ledgerSubject, readers readers) {
	const total = 1 << 18
	h := latency.NewHistogram()
	loop := latency.NewLoop(clock.System(), latency.Every, h)
	lost := 0
	for b.Loop() {
		l := create()
		readers.during(l, func() { lost += l.time(total, loop) })
	}
	loop.Report(b)
	b.ReportMetric(100*float64(lost)/float64(h.Count()), "lost-%")
}

// BenchmarkLedgerPage reads full pages of a ledger that nobody writes to.
func BenchmarkLedgerPage(b *testing.B) {
	for _, im := range ledgers {
		for _, size := range []int{1, timing.MaxPageRecords} {
			rows.Run(b, fmt.Sprintf("impl=%s/records=%d", im.name, size), func(b *testing.B) {
				l := im.create()
				l.write(timing.DefaultCapacity)
				var c rows.Timer
				n := 0
				c.Begin()
				for b.Loop() {
					s, err := l.SnapshotAfter(100, size)
					if err != nil || len(s.Records) != size {
						b.Fatalf("%d records, %v", len(s.Records), err)
					}
					n++
				}
				c.End()
				c.Report(b, n, "page", "pages")
			})
		}
	}
}
