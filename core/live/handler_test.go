package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/live"
	"github.com/tidemark-go/tidemark/core/timing"
)

var errSink = errors.New("sink is down")

// TestJSONIsAsDocumented compares an answer with a file, but for the instance
// and the ages of open guards, which differ from run to run.
func TestJSONIsAsDocumented(t *testing.T) {
	e := start(t, 3, time.Unix(1000, 0).UTC())
	e.issue(1, 41).Release()
	e.step()
	e.issue(0, 9).Done(errSink)
	e.step()
	e.now = e.now.Add(1500 * time.Millisecond)
	e.issue(1, 99)
	e.step()
	e.now = e.now.Add(500 * time.Millisecond)
	l := newLedger(t, 4)
	record(t, l, 7, 1, 6)
	guard := timing.StartGuard(l, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) { return contextOf(7, 7), true })
	defer guard.Close()
	_, _, got := get(live.Handler(live.Config{Title: "orders", Snapshot: e.Snapshot, Name: topicName, Ledger: l}), http.MethodGet, "/?format=json&n=2")
	got = regexp.MustCompile(`"instance":"[^"]{36}"`).ReplaceAllString(got, `"instance":"…"`)
	got = regexp.MustCompile(`"age_ns":\d+`).ReplaceAllString(got, `"age_ns":0`)
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(got), "", "  "); err != nil {
		t.Fatal(err)
	}
	got = indented.String()
	const file = "testdata/state.json"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\n%s has\n%s", got, file, want)
	}
	var round live.State
	if err := json.Unmarshal(want, &round); err != nil {
		t.Fatal(err)
	}
	if again, err := json.MarshalIndent(round, "", "  "); err != nil || string(again)+"\n" != string(want) {
		t.Errorf("read and written again it is\n%s\n%v", again, err)
	}
}

func TestWhatIsMissingIsNull(t *testing.T) {
	var current *checkpoint.Checkpointer
	late := live.Handler(live.Config{Snapshot: func(n int) checkpoint.Snapshot {
		if current == nil {
			return checkpoint.Snapshot{}
		}
		return current.Snapshot(n)
	}})
	for name, h := range map[string]http.Handler{"no sources": live.Handler(live.Config{}), "no checkpointer yet": late} {
		if s := state(t, h, ""); s.Checkpointer != nil || s.Barriers != nil || s.Version != live.Version || s.Title != "Tidemark" || s.Instance == "" || s.HeldBackAfter != live.DefaultHeldBackAfter {
			t.Errorf("%s: %+v", name, s)
		}
	}
	current = checkpoint.New()
	if s := state(t, late, ""); s.Checkpointer == nil || s.Checkpointer.Begun || s.Checkpointer.Partitions == nil {
		t.Errorf("before the first epoch: %+v", s.Checkpointer)
	}
	empty := live.Handler(live.Config{Ledger: newLedger(t, 4)})
	if b := state(t, empty, "").Barriers; b == nil || b.Process != nil || b.Cursor != "" || b.Records == nil || b.Open == nil || b.NextSequence != 1 || !b.Fresh {
		t.Errorf("an empty ledger: %+v", b)
	}
}

func TestPartitionsAreBounded(t *testing.T) {
	e := start(t, live.MaxPartitions+5, time.Time{})
	h := live.Handler(live.Config{Snapshot: e.Snapshot})
	for parameters, want := range map[string]int{"": live.DefaultPartitions, "&n=0": 0, "&n=7": 7, "&n=10000": live.MaxPartitions} {
		s := state(t, h, parameters)
		if got := len(s.Checkpointer.Partitions); got != want || !s.Checkpointer.Truncated || s.Checkpointer.Admitted != live.MaxPartitions+5 {
			t.Errorf("%q: %d partitions, want %d", parameters, got, want)
		}
	}
	if name := state(t, h, "&n=3").Checkpointer.Partitions[2].Name; name != "2" {
		t.Errorf("without names partition 2 is called %q", name)
	}
}

func TestAgesAreNeverNegative(t *testing.T) {
	e := start(t, 1, time.Unix(1000, 0))
	e.issue(0, 1)
	e.step()
	e.now = e.now.Add(-time.Hour)
	if p := state(t, live.Handler(live.Config{Snapshot: e.Snapshot}), "").Checkpointer.Partitions[0]; p.HeldBack != 0 || p.Head == nil {
		t.Errorf("after the clock was set back: %+v", p)
	}
}

func TestMistakesInRequestsAreTold(t *testing.T) {
	h := live.Handler(live.Config{Ledger: newLedger(t, 4)})
	for _, c := range []struct {
		method, query string
		status        int
		part          string
	}{
		{"POST", "", 405, "legal are GET and HEAD"},
		{"PUT", "format=json", 405, "legal are GET and HEAD"},
		{"DELETE", "format=nonsense", 405, "legal are GET and HEAD"},
		{"GET", "format=xml", 400, "legal are json and html"},
		{"GET", "format=", 400, "legal are json and html"},
		{"GET", "format=json&n=-1", 400, "legal are 0 to 10000"},
		{"GET", "format=json&n=10001", 400, "legal are 0 to 10000"},
		{"GET", "format=json&n=x", 400, "legal are 0 to 10000"},
		{"GET", "n=", 400, "legal are 0 to 10000"},
		{"GET", "format=json&n=1&n=1", 400, "once is legal"},
		{"GET", "format=json&cursor=5", 400, "legal is what the last answer said"},
		{"GET", "format=json&cursor=7.x.3.5", 400, "legal is what the last answer said"},
		{"GET", "format=json&cursor=7.b0000000-0000-0000-0000-000000000007.3.-5", 400, "legal is what the last answer said"},
		{"HEAD", "n=%zz", 400, "malformed query"},
		{"GET", "format=json&cursor=&other=1", 200, ""},
		{"HEAD", "format=json", 200, ""},
		{"HEAD", "format=html", 200, ""},
	} {
		status, header, body := get(h, c.method, "/deep/down/?"+c.query)
		if status != c.status || header.Get("Cache-Control") != "no-store" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s ?%s: status %d, %v", c.method, c.query, status, header)
		}
		if (header.Get("Allow") != "") != (status == http.StatusMethodNotAllowed) {
			t.Errorf("%s ?%s: Allow is %q", c.method, c.query, header.Get("Allow"))
		}
		var problem struct{ Error string }
		if c.part != "" && (json.Unmarshal([]byte(body), &problem) != nil || !strings.HasPrefix(problem.Error, "live: ") || !strings.Contains(problem.Error, c.part)) {
			t.Errorf("%s ?%s: %s", c.method, c.query, body)
		}
	}
}

func sequences(b *live.Barriers) (first, last uint64, n int) {
	for i, r := range b.Records {
		if i > 0 && r.Sequence != last+1 {
			return 0, 0, -1
		}
		if i == 0 {
			first = r.Sequence
		}
		last = r.Sequence
	}
	return first, last, len(b.Records)
}

func TestRecordsFollowTheCursor(t *testing.T) {
	l := newLedger(t, 1024)
	h := live.Handler(live.Config{Ledger: l})
	cursor := ""
	for i, c := range []struct {
		add         uint64
		first, last uint64
		fresh       bool
		missed      uint64
	}{
		{0, 0, 0, true, 0},
		{3, 1, 3, true, 0}, // an empty ledger has no process yet
		{0, 0, 0, false, 0},
		{1, 4, 4, false, 0},
		{200, 5, 204, false, 0},
		{1000, 965, 1204, false, 760},   // more than an answer holds
		{3000, 3965, 4204, false, 2760}, // and more than the ledger does
	} {
		next := state(t, h, "").Barriers.NextSequence
		record(t, l, 7, next, next+c.add-1)
		b := state(t, h, "&cursor="+cursor).Barriers
		first, last, n := sequences(b)
		if first != c.first || last != c.last || n < 0 || b.Fresh != c.fresh || b.Missed != c.missed || b.Error != "" {
			t.Errorf("step %d: records %d to %d (%d), fresh %v, missed %d %s", i, first, last, n, b.Fresh, b.Missed, b.Error)
		}
		cursor = b.Cursor
	}
	if first, last, _ := sequences(state(t, h, "").Barriers); first != 4204-live.MaxRecords+1 || last != 4204 {
		t.Errorf("without a cursor the records are %d to %d, want the newest", first, last)
	}
}

func TestCursorOfAnotherProcessStartsAfresh(t *testing.T) {
	old, fresh := newLedger(t, 16), newLedger(t, 16)
	record(t, old, 7, 1, 5)
	record(t, fresh, 8, 1, 9) // its sequence is past the old cursor, which must not hide records
	cursor := state(t, live.Handler(live.Config{Ledger: old}), "").Barriers.Cursor
	b := state(t, live.Handler(live.Config{Ledger: fresh}), "&cursor="+cursor).Barriers
	if first, last, _ := sequences(b); first != 1 || last != 9 || !b.Fresh || b.Missed != 0 || *b.Process != process(8) {
		t.Errorf("records %d to %d, %+v", first, last, b)
	}
	ahead := strings.TrimSuffix(b.Cursor, ".9") + ".10"
	if b := state(t, live.Handler(live.Config{Ledger: fresh}), "&cursor="+ahead).Barriers; !b.Fresh || len(b.Records) != 9 {
		t.Errorf("a cursor that is ahead: %+v", b)
	}
}

func TestRecordsOfALedgerThatIsWrittenMeanwhile(t *testing.T) {
	l := newLedger(t, 64)
	h := live.Handler(live.Config{Ledger: l})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for attempt := uint64(1); ; attempt++ {
			select {
			case <-stop:
				return
			default:
				l.TryRecord(timing.Observation{Context: contextOf(7, attempt), PipelineStall: time.Millisecond})
			}
		}
	}()
	cursor, last := "", uint64(0)
	for range 300 {
		b := state(t, h, "&cursor="+cursor).Barriers
		first, end, n := sequences(b)
		if n < 0 || n > live.MaxRecords {
			t.Fatalf("%d records, not in order", n)
		}
		if n > 0 && !b.Fresh && first != last+1+b.Missed {
			t.Fatalf("records %d to %d after %d, missed %d", first, end, last, b.Missed)
		}
		if n > 0 {
			last = end
		}
		cursor = b.Cursor
	}
	close(stop)
	<-done
}

// The time is that of a bubble: it passes while the loop and the reader wait,
// whatever else the machine does.
func TestStallIsInTheAnswerWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 500, time.Time{})
		h := live.Handler(live.Config{Snapshot: e.Snapshot})
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { // the loop of an engine
			defer close(done)
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					e.step()
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			<-done
		}()
		bad := e.issue(321, math.MaxInt64-1)
		state(t, h, "")
		failed := time.Now()
		bad.Done(errSink)
		for {
			p := state(t, h, "").Checkpointer.Partitions[0]
			if p.Partition == 321 && p.Head != nil && p.Head.Failed && p.Head.LastOffset == math.MaxInt64-1 {
				break
			}
			if time.Since(failed) > 2*time.Second {
				t.Fatalf("after %v the first partition is %+v", time.Since(failed), p)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}
