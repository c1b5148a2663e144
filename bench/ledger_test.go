package bench

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/bench/ledger"
	"github.com/tidemark-go/tidemark/core/timing"
)

func init() {
	units = append(units, []struct{ unit, better string }{
		{"ns/record", "lower"}, {"records/s", "higher"}, {"allocs/record", "lower"},
		{"lost-%", "lower"}, {"records/page", "higher"}, {"pages/s", "higher"}, {"ns/page", "lower"}, {"allocs/page", "lower"},
		{"p50-ns", "lower"}, {"p99-ns", "lower"}, {"p99.9-ns", "lower"},
	}...)
}

// ledgerSubject is a ledger under measurement. A call of write makes many
// records, with direct calls inside, so that the interface costs nothing that
// shows.
type ledgerSubject interface {
	// write makes n records and returns how many were lost.
	write(n int) (lost int)
	// time makes n records and tells t how long each took.
	time(n int, t *took) (lost int)
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

func (l ringLedger) time(n int, t *took) (lost int) {
	o := pauseRecord()
	for range n {
		start := time.Now()
		if !l.TryRecord(o) {
			lost++
		}
		t.add(start)
	}
	return lost
}

func (l mutexLedger) time(n int, t *took) (lost int) {
	o := pauseRecord()
	for range n {
		start := time.Now()
		if !l.TryRecord(o) {
			lost++
		}
		t.add(start)
	}
	return lost
}

func (l tryLockLedger) time(n int, t *took) (lost int) {
	o := pauseRecord()
	for range n {
		start := time.Now()
		if !l.TryRecord(o) {
			lost++
		}
		t.add(start)
	}
	return lost
}

// took collects nanoseconds. It has room for all before it starts.
type took struct{ ns []uint32 }

func (t *took) add(start time.Time) {
	t.ns = append(t.ns, uint32(min(time.Since(start), math.MaxUint32)))
}

// percentile returns the value that so many per cent of the samples do not
// exceed. The samples must be sorted.
func (t *took) percentile(percent float64) float64 {
	return float64(t.ns[min(int(float64(len(t.ns))*percent/100), len(t.ns)-1)])
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
				row(b, fmt.Sprintf("impl=%s/writers=%d/readers=%d", im.name, writers, readers), func(b *testing.B) {
					appendRecords(b, im.create, writers, readers)
				})
			}
		}
	}
}

func appendRecords(b *testing.B, create func() ledgerSubject, writers int, readers readers) {
	const total = 1 << 20
	var c clock
	var lost atomic.Int64
	n, pages, records := 0, 0, 0
	for b.Loop() {
		l := create()
		p, r := readers.during(l, func() {
			var wg sync.WaitGroup
			c.begin()
			for range writers {
				wg.Go(func() { lost.Add(int64(l.write(total / writers))) })
			}
			wg.Wait()
			c.end()
		})
		pages, records, n = pages+p, records+r, n+total
	}
	c.report(b, n, "record", "")
	b.ReportMetric(float64(n)/c.total.Seconds(), "records/s")
	if readers == 0 { // with readers their pages would count
		b.ReportMetric(float64(c.allocs)/float64(n), "allocs/record")
	}
	b.ReportMetric(100*float64(lost.Load())/float64(n), "lost-%")
	if pages > 0 {
		b.ReportMetric(float64(records)/float64(pages), "records/page")
		b.ReportMetric(float64(pages)/c.total.Seconds(), "pages/s")
	}
}

// BenchmarkLedgerLatency tells how long one writer takes for a record, by
// percentiles, with and without readers. The two readings of the clock around
// each record are part of every figure.
func BenchmarkLedgerLatency(b *testing.B) {
	for _, readers := range []readers{0, 2} {
		for _, im := range ledgers {
			row(b, fmt.Sprintf("impl=%s/writers=1/readers=%d", im.name, readers), func(b *testing.B) {
				latency(b, im.create, readers)
			})
		}
	}
}

func latency(b *testing.B, create func() ledgerSubject, readers readers) {
	const total = 1 << 19
	var all took
	lost := 0
	for b.Loop() {
		l := create()
		t := took{make([]uint32, 0, total)}
		readers.during(l, func() { lost += l.time(total, &t) })
		all.ns = append(all.ns, t.ns...)
	}
	slices.Sort(all.ns)
	b.ReportMetric(0, "ns/op")
	for unit, percent := range map[string]float64{"p50-ns": 50, "p99-ns": 99, "p99.9-ns": 99.9} {
		b.ReportMetric(all.percentile(percent), unit)
	}
	b.ReportMetric(100*float64(lost)/float64(len(all.ns)), "lost-%")
}

// BenchmarkLedgerPage reads full pages of a ledger that nobody writes to.
func BenchmarkLedgerPage(b *testing.B) {
	for _, im := range ledgers {
		for _, size := range []int{1, timing.MaxPageRecords} {
			row(b, fmt.Sprintf("impl=%s/records=%d", im.name, size), func(b *testing.B) {
				l := im.create()
				l.write(timing.DefaultCapacity)
				var c clock
				n := 0
				c.begin()
				for b.Loop() {
					s, err := l.SnapshotAfter(100, size)
					if err != nil || len(s.Records) != size {
						b.Fatalf("%d records, %v", len(s.Records), err)
					}
					n++
				}
				c.end()
				c.report(b, n, "page", "pages")
			})
		}
	}
}
