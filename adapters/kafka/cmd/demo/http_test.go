package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/timing"
)

// served is what the -http address of a process answers.
type served struct {
	t    *testing.T
	base string
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

// http waits for the line that says where the process serves.
func (p *process) http() served {
	p.t.Helper()
	var base string
	p.until("the -http address", func() bool {
		_, rest, _ := strings.Cut(p.out.String(), "\nhttp     ")
		var ok bool
		base, _, ok = strings.Cut(rest, "/live")
		return ok
	})
	return served{p.t, base}
}

func (s served) get(path string) (status int, body string) {
	s.t.Helper()
	resp, err := client.Get(s.base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// json expects a status and decodes the body.
func (s served) json(path string, want int, into any) {
	s.t.Helper()
	status, body := s.get(path)
	if status != want {
		s.t.Fatalf("%s answers %d, want %d: %s", path, status, want, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		s.t.Fatalf("%s: %v in %s", path, err, body)
	}
}

// page asks for records after a cursor of a process.
func (s served) page(id timing.ProcessIdentity, after uint64, limit int) (page timing.Page) {
	s.t.Helper()
	s.json(pagePath(id, after, limit), http.StatusOK, &page)
	return page
}

func pagePath(id timing.ProcessIdentity, after uint64, limit int) string {
	return fmt.Sprintf("/barriers?after=%d&limit=%d&node_id=%d&boot_incarnation=%s&process_term=%d", after, limit,
		id.Participant.NodeID, id.Participant.BootIncarnation, id.ProcessTerm)
}

// metric returns a metric without labels.
func (s served) metric(name string) (v float64) {
	s.t.Helper()
	_, text := s.get("/metrics")
	_, rest, _ := strings.Cut(text, "\n"+name+" ")
	if _, err := fmt.Sscan(rest, &v); err != nil {
		s.t.Fatalf("no metric %s in\n%s", name, text)
	}
	return v
}

type openBarriers struct {
	Process *timing.ProcessIdentity
	Open    []timing.OpenGuard
}

func (s served) open() (page openBarriers) {
	s.t.Helper()
	s.json("/barriers/open", http.StatusOK, &page)
	return page
}

// problem is an answer that is no page.
type problem struct {
	Error          string                  `json:"error"`
	OldestRetained uint64                  `json:"oldest_retained_sequence"`
	Actual         *timing.ProcessIdentity `json:"actual"`
}

// stays waits until the work is done and the process goes on serving.
func (p *process) stays() {
	p.t.Helper()
	p.until("the end of the work", func() bool { return strings.Contains(p.out.String(), "Serving until Ctrl-C") })
}

// interrupt expects that one signal ends the process well.
func (p *process) interrupt() {
	p.t.Helper()
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != exitDone {
		p.t.Fatalf("exit code %d after Ctrl-C:\n%s\n%s", code, p.out, p.err)
	}
}

// busy makes a run of many commits.
var busy = []string{"-http", "127.0.0.1:0", "-batch", "5", "-pending", "2", "-commit-interval", "1ms"}

var barriersTitle = regexp.MustCompile(`The longest barriers, (\d+) of (\d+)`)

func TestBarriersCanBeReadPageByPageAndMetricsAgree(t *testing.T) {
	p := start(t, t.TempDir(), append(busy, "-ledger-capacity", "8192")...)
	p.stays()
	s := p.http()
	var first timing.Page
	s.json("/barriers?limit=5", http.StatusOK, &first)
	all := first.Snapshot.Records
	for len(all) < int(first.Snapshot.NextSequence-1) {
		next := s.page(first.Process, uint64(len(all)), 5)
		if len(next.Snapshot.Records) == 0 || next.Process != first.Process {
			t.Fatalf("after %d of %d records: %+v", len(all), first.Snapshot.NextSequence-1, next)
		}
		all = append(all, next.Snapshot.Records...)
	}
	if len(all) < 20 || !first.Snapshot.HasMore {
		t.Fatalf("%d records are too few for pages of 5", len(all))
	}
	var aligned int
	for i, r := range all {
		if r.Sequence != uint64(i+1) || r.Attempt != timing.CanonicalAttempt(uint64(i+1)) || !r.Observation.Canonical() || r.Process != first.Process {
			t.Fatalf("record %d is %+v", i+1, r)
		}
		if r.AlignedResume.Valid {
			aligned++
		}
	}
	for name, want := range map[string]int{
		"tidemark_pipeline_stall_seconds_count": len(all), "tidemark_local_barrier_seconds_count": len(all),
		"tidemark_aligned_resume_seconds_count": aligned, "tidemark_barrier_records_total": len(all), "tidemark_barriers_open": 0,
	} {
		if got := s.metric(name); got != float64(want) {
			t.Errorf("%s is %v, want %d", name, got, want)
		}
	}
	m := barriersTitle.FindStringSubmatch(p.out.String())
	if m == nil || m[1] != "10" || m[2] != fmt.Sprint(len(all)) {
		t.Errorf("the summary has %q, want the 10 longest of %d", m, len(all))
	}
	if status, list := s.get("/"); status != http.StatusOK || !strings.Contains(list, first.Process.Participant.BootIncarnation.String()) {
		t.Errorf("the list answers %d: %s", status, list)
	}
	p.interrupt()
}

func TestCursorsThatAreOverwrittenOrOfAnotherProcessAreRefused(t *testing.T) {
	p := start(t, t.TempDir(), append(busy, "-ledger-capacity", "4")...)
	p.stays()
	s := p.http()
	var gone, foreign, ahead, problem problem
	s.json("/barriers", http.StatusGone, &gone)
	id := s.open().Process
	if gone.OldestRetained < 2 || id == nil {
		t.Fatalf("%+v of process %v", gone, id)
	}
	// A little past the oldest, as the ledger tells its clients.
	if page := s.page(*id, gone.OldestRetained, 64); len(page.Snapshot.Records) != 3 || page.Snapshot.Records[0].Sequence != gone.OldestRetained+1 {
		t.Errorf("past the oldest retained, %d: %+v", gone.OldestRetained, page)
	}
	other := *id
	other.Participant.BootIncarnation = uuid.New()
	s.json(pagePath(other, gone.OldestRetained, 64), http.StatusConflict, &foreign)
	if foreign.Actual == nil || *foreign.Actual != *id {
		t.Errorf("the cursor of another boot: %+v", foreign)
	}
	s.json(pagePath(*id, 1<<40, 64), http.StatusConflict, &ahead)
	for path, want := range map[string]string{
		"/barriers?after=1":     "process identity",
		"/barriers?limit=65":    "limit is 65",
		"/barriers?limit=x":     "malformed parameter limit",
		"/barriers?node_id=1":   "all three or none",
		"/barriers?after=1&":    "process identity",
		"/barriers?after=-1":    "malformed parameter after",
		pagePath(*id, 1, 0):     "limit is 0",
		"/barriers?after=1;a=b": "malformed query",
	} {
		if s.json(path, http.StatusBadRequest, &problem); !strings.Contains(problem.Error, want) {
			t.Errorf("%s answers %q, want %q", path, problem.Error, want)
		}
	}
	if !strings.Contains(p.out.String(), "The longest barriers, 4 of") || !strings.Contains(p.out.String(), "the ledger retains the last 4") {
		t.Errorf("the summary does not say what it cannot show:\n%s", p.out)
	}
	p.interrupt()
}

func TestABarrierThatIsStuckIsOpenUntilTheBrokerAnswers(t *testing.T) {
	dir := t.TempDir()
	b, addr := startBroker(t, dir)
	// A barrier for each of 8000 lines at most: none is overwritten.
	p := start(t, dir, append(busy, "-brokers", addr, "-input", logFile(t, dir, 8000), "-batch", "1", "-pending", "2", "-ledger-capacity", "8192")...)
	s := p.http()
	p.until("records", func() bool { return s.metric("tidemark_barrier_records_total") > 0 })
	b.signal(syscall.SIGSTOP)
	const stuck = time.Second
	var seen timing.OpenGuard
	p.until("an open barrier", func() bool {
		open := s.open().Open
		if len(open) == 1 {
			seen = open[0]
		}
		return seen.Age >= stuck
	})
	if seen.Attempt.Epoch == 0 || seen.Role != timing.Leader {
		t.Errorf("it is open as %+v", seen)
	}
	if age := s.metric("tidemark_barrier_open_age_seconds"); age < stuck.Seconds() || s.metric("tidemark_barriers_open") != 1 {
		t.Errorf("its age is %v s as a metric", age)
	}
	count := s.metric("tidemark_pipeline_stall_seconds_count")
	if count != float64(seen.Attempt.Epoch-1) {
		t.Errorf("%v samples with attempt %d open", count, seen.Attempt.Epoch)
	}
	b.signal(syscall.SIGCONT)
	p.stays()
	id := s.open().Process
	if r := s.page(*id, seen.Attempt.Epoch-1, 1).Snapshot.Records[0]; r.Attempt != seen.Attempt || r.PipelineStall < stuck || r.LocalBarrier > stuck/2 {
		t.Errorf("it left %+v", r)
	}
	p.interrupt()
}

func TestAnAddressThatCannotBeServedEndsTheProgramBeforeItsWork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"-http " + l.Addr().String(), "cannot serve on " + l.Addr().String(), exitFailed},
		{"-http 192.0.2.1:80", "cannot serve on 192.0.2.1:80", exitFailed}, // of no machine
		{"-http 8080", "want host:port", exitUsage},
		{"-http localhost:", "want host:port", exitUsage},
		{"-http localhost:0 -verify", "drop one of them", exitUsage},
		{"-http localhost:0 -broker-only", "drop one of them", exitUsage},
		{"-ledger-capacity 0", "-ledger-capacity is 0, want 1 to", exitUsage},
		{"-ledger-capacity 1048577", "-ledger-capacity is 1048577", exitUsage},
	} {
		dir := t.TempDir()
		p := start(t, dir, strings.Fields(c.args)...)
		if code := p.wait(); code != c.code || !strings.Contains(p.err.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.want, p.err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: it had begun to work: %v, %v", c.args, left, err)
		}
	}
}

func TestAnInterruptedRunDoesNotStayToServe(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, slowly("-http", "127.0.0.1:0", "-input", logFile(t, dir, slowLines))...)
	p.until("output", func() bool { return sizeOf(filepath.Join(dir, "out", "events.ndjson")) > someOutput })
	p.interrupt()
	if s := summaryOf(t, p.out.String()); !strings.Contains(s.text, "Not finished") || strings.Contains(s.text, "Serving until") {
		t.Errorf("stopped in the middle:\n%s", s.text)
	}
}

func TestARunThatReadsNothingSaysWhyItHasNoPages(t *testing.T) {
	dir := t.TempDir()
	complete(t, dir)
	p := start(t, dir, "-http", "127.0.0.1:0")
	p.stays()
	var unavailable problem
	p.http().json("/barriers", http.StatusServiceUnavailable, &unavailable)
	if !strings.Contains(unavailable.Error, "nothing to read") || !strings.Contains(p.out.String(), "The longest barriers, 0 of 0\n") {
		t.Errorf("%q\n%s", unavailable.Error, p.out)
	}
	// The data directory is free while it stays.
	if s := complete(t, dir, "-group", "other", "-out", "other"); s.in == 0 {
		t.Errorf("beside it, another run read nothing:\n%s", s.text)
	}
	p.interrupt()
}
