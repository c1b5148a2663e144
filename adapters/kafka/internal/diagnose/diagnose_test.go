package diagnose

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
)

// fake is a source with an identity and one partition.
type fake timing.ProcessIdentity

func (f fake) LiveProcessIdentity() (timing.ProcessIdentity, error) {
	return timing.ProcessIdentity(f), nil
}

func (fake) Snapshot(int) checkpoint.Snapshot {
	return checkpoint.Snapshot{Time: time.Now(), Begun: true, Admitted: 1, Partitions: []checkpoint.PartitionSnapshot{{Partition: 7, Committed: 40}}}
}

func (fake) PartitionName(id checkpoint.PartitionID) string { return fmt.Sprint("orders/", id) }
func (fake) PartitionLabels(id checkpoint.PartitionID) []string {
	return []string{"orders", fmt.Sprint(id)}
}

var self = fake{Participant: timing.Participant{NodeID: 7, BootIncarnation: uuid.New()}, ProcessTerm: 1}

func contextOf(attempt uint64) timing.Context {
	return timing.Context{
		Process: timing.ProcessIdentity(self), Attempt: timing.CanonicalAttempt(attempt), Role: timing.Leader,
		AssignmentVersion: 1, AssignmentDigest: [32]byte{1},
	}
}

// add records barriers that took so long, with attempts from 1 on.
func (d *Diagnostics) add(stalls ...time.Duration) {
	for i, stall := range stalls {
		d.ledger.TryRecord(timing.Observation{Context: contextOf(uint64(i) + 1), PipelineStall: stall})
	}
}

func newDiagnostics(t *testing.T, capacity int) *Diagnostics {
	t.Helper()
	d, err := New(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func get(t *testing.T, d *Diagnostics, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// metrics reads what has no labels.
func metrics(t *testing.T, d *Diagnostics) map[string]float64 {
	t.Helper()
	status, text := get(t, d, metricsPath)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	values := map[string]float64{}
	for line := range strings.SplitSeq(text, "\n") {
		var name string
		var v float64
		if n, _ := fmt.Sscan(line, &name, &v); n == 2 {
			values[name] = v
		}
	}
	return values
}

func TestLongestBarriersComeFirstAndTheEarlierOfEquals(t *testing.T) {
	for _, c := range []struct {
		capacity, n int
		stalls      []time.Duration
		want        []uint64
	}{
		{16, 3, nil, nil},
		{16, 3, []time.Duration{5}, []uint64{1}},
		{16, 3, []time.Duration{1, 9, 3, 9, 2}, []uint64{2, 4, 3}},
		{16, 3, []time.Duration{4, 4, 4, 4}, []uint64{1, 2, 3}},
		{2, 3, []time.Duration{9, 8, 1, 2}, []uint64{4, 3}},
		{1, 3, []time.Duration{9, 8, 1}, []uint64{3}},
		{256, 2, append(slices.Repeat([]time.Duration{1}, 150), 7, 8), []uint64{152, 151}}, // over pages
	} {
		d := newDiagnostics(t, c.capacity)
		d.add(c.stalls...)
		longest, last, err := d.Longest(c.n)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, r := range longest {
			got = append(got, r.Sequence)
		}
		if !slices.Equal(got, c.want) || last.NextSequence != uint64(len(c.stalls))+1 {
			t.Errorf("of %v the longest are %v, want %v; the next is %d", c.stalls, got, c.want, last.NextSequence)
		}
	}
}

func TestMetricsAgreeWithTheLedger(t *testing.T) {
	d := newDiagnostics(t, 4)
	b := d.Barriers()
	known := func() (timing.Context, bool) { return contextOf(1), true }
	for range 6 {
		g := timing.StartGuard(b.Ledger, b.Histograms, time.Time{}, known)
		g.FinishLocalBarrierWithHandoff()
		g.BeginAlignedResume()
		g.FinishAlignedResume()
		g.Close()
	}
	timing.StartGuard(b.Ledger, b.Histograms, time.Time{}, known).Close() // hands nothing off
	timing.StartGuard(b.Ledger, b.Histograms, time.Time{}, nil).Close()   // leaves no record
	open := timing.StartGuard(b.Ledger, b.Histograms, time.Time{}, known)
	time.Sleep(time.Millisecond)
	got := metrics(t, d)
	for name, want := range map[string]float64{
		"tidemark_pipeline_stall_seconds_count":      8,
		"tidemark_local_barrier_seconds_count":       8,
		"tidemark_aligned_resume_seconds_count":      6,
		"tidemark_barrier_records_total":             7,
		"tidemark_barrier_records_overwritten_total": 3,
		"tidemark_barrier_record_losses_total":       1,
		"tidemark_barriers_open":                     1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if age := got["tidemark_barrier_open_age_seconds"]; age < 1e-3 || age > 60 {
		t.Errorf("the open barrier's age is %v s", age)
	}
	open.Close()
	if got := metrics(t, d); got["tidemark_barriers_open"] != 0 || got["tidemark_barrier_open_age_seconds"] != 0 || got["tidemark_pipeline_stall_seconds_count"] != 9 {
		t.Errorf("after it was closed: %v", got)
	}
}

func TestPartitionsAreShownOnceThereIsASource(t *testing.T) {
	d := newDiagnostics(t, 4)
	const metric = `tidemark_partition_committed_offset{partition="7",topic="orders"} 40`
	_, page := get(t, d, livePath+"?format=json")
	if _, text := get(t, d, metricsPath); !strings.Contains(page, `"checkpointer":null`) || strings.Contains(text, "tidemark_admitted_partitions") {
		t.Fatalf("before there is a source: %s", page)
	}
	d.Follow(self)
	_, page = get(t, d, livePath+"?format=json")
	if _, text := get(t, d, metricsPath); !strings.Contains(page, `"name":"orders/7"`) || !strings.Contains(text, metric) {
		t.Fatalf("the page says %s, the metrics %s", page, text)
	}
	if status, text := get(t, d, livePath); status != http.StatusOK || !strings.Contains(text, "<html") {
		t.Fatalf("status %d: %.100s", status, text)
	}
}

func TestBucketsAreInOrder(t *testing.T) {
	if !slices.IsSorted(buckets) || len(slices.Compact(slices.Clone(buckets))) != len(buckets) {
		t.Fatalf("buckets %v", buckets)
	}
}

func TestOpenBarriersAreListedWithTheProcess(t *testing.T) {
	d := newDiagnostics(t, 4)
	read := func() (page openPage) {
		t.Helper()
		status, text := get(t, d, openPath)
		if err := json.Unmarshal([]byte(text), &page); err != nil || status != http.StatusOK {
			t.Fatalf("status %d, %v: %s", status, err, text)
		}
		return page
	}
	if _, text := get(t, d, openPath); text != `{"process":null,"open":[],"unlisted":0}`+"\n" {
		t.Fatalf("before there is a source: %s", text)
	}
	d.Follow(self)
	g := timing.StartGuard(d.ledger, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) { return contextOf(3), true })
	first := read()
	if len(first.Open) != 1 || first.Open[0].Attempt.Epoch != 3 || *first.Process != timing.ProcessIdentity(self) {
		t.Fatalf("one is open: %+v", first)
	}
	if again := read(); again.Open[0].Age <= first.Open[0].Age {
		t.Fatalf("its age went from %v to %v", first.Open[0].Age, again.Open[0].Age)
	}
	g.Close()
	if page := read(); len(page.Open) != 0 {
		t.Fatalf("it is closed: %+v", page)
	}
}

func TestPagesAreUnavailableBeforeThereIsASource(t *testing.T) {
	d := newDiagnostics(t, 4)
	if status, text := get(t, d, pagesPath); status != http.StatusServiceUnavailable || !strings.Contains(text, "nothing to read") {
		t.Fatalf("status %d: %s", status, text)
	}
	if _, text := get(t, d, "/"); !strings.Contains(text, "nothing to read") {
		t.Fatalf("the list says %q", text)
	}
	d.Follow(self)
	if status, text := get(t, d, pagesPath); status != http.StatusOK || !strings.Contains(text, `"records":[]`) {
		t.Fatalf("status %d: %s", status, text)
	}
}

func TestTheListNamesEveryPageAndTheProcess(t *testing.T) {
	d := newDiagnostics(t, 2)
	d.Follow(self)
	d.add(1, 2, 3)
	_, text := get(t, d, "/")
	for _, path := range []string{livePath, pagesPath, openPath, metricsPath} {
		if status, _ := get(t, d, path); !strings.Contains(text, path+" ") || status == http.StatusNotFound {
			t.Errorf("%s answers %d; the list is\n%s", path, status, text)
		}
	}
	// What it says of the process is what a request for a page takes.
	_, process, _ := strings.Cut(text, "This process: ")
	status, page := get(t, d, pagesPath+"?after=1&"+strings.TrimSpace(process))
	if status != http.StatusOK || !strings.Contains(page, `"sequence":2`) {
		t.Errorf("the page after 1: %d, %s", status, page)
	}
	if status, _ := get(t, d, "/other"); status != http.StatusNotFound {
		t.Errorf("status %d of a page that is not there", status)
	}
}

func TestServerAnswersUntilItIsClosed(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	d := newDiagnostics(t, 4)
	// A machine that stands still makes one close slow, and not each.
	closing := closesIn(t, d, log)
	for try := 0; closing >= closeTimeout && try < 5; try++ {
		closing = min(closing, closesIn(t, d, log))
	}
	if closing >= closeTimeout {
		t.Errorf("closing took at least %v", closing)
	}
	all, err := d.Listen(":0", log)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if !strings.HasPrefix(all.URLs()[0], "http://localhost:") {
		t.Errorf("on every address: %v", all.URLs())
	}
}

// closesIn serves, asks for each page, and returns how long Close takes while
// the client keeps a connection.
func closesIn(t *testing.T, d *Diagnostics, log *slog.Logger) time.Duration {
	t.Helper()
	s, err := d.Listen("127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	for _, url := range s.URLs() {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if _, err := d.Listen(s.addr.String(), log); err == nil || !strings.Contains(err.Error(), "name a free port") {
		t.Errorf("listening twice: %v", err)
	}
	start := time.Now()
	s.Close()
	took := time.Since(start)
	if _, err := client.Get(s.URLs()[0]); err == nil {
		t.Error("answered after Close")
	}
	return took
}

func TestCapacityThatIsNotLegalIsRefused(t *testing.T) {
	if _, err := New(0); err == nil || !strings.Contains(err.Error(), "capacity is 0") {
		t.Errorf("got %v", err)
	}
}
