package timing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/core/timing"
)

// identityQuery returns the parameters of an identity.
func identityQuery(p timing.ProcessIdentity) string {
	return fmt.Sprintf("node_id=%d&boot_incarnation=%s&process_term=%d", p.Participant.NodeID, p.Participant.BootIncarnation, p.ProcessTerm)
}

// get makes a request and checks what every answer has.
func get(t testing.TB, h http.Handler, method, query string) (int, http.Header, map[string]any) {
	t.Helper()
	rec := httptest.NewRecorder()
	r := &http.Request{Method: method, URL: &url.URL{Path: "/barriers", RawQuery: query}}
	h.ServeHTTP(rec, r)
	if got := rec.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s ?%s: Cache-Control is %q, want no-store", method, query, got)
	}
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s ?%s: Content-Type is %q", method, query, got)
	}
	var body map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s ?%s: %v in %q", method, query, err, rec.Body)
	}
	return rec.Code, rec.Header(), body
}

func TestStatusesOfTheHandler(t *testing.T) {
	one, two := process(1), process(2)
	mine := identityQuery(one)
	boot := one.Participant.BootIncarnation.String()
	for _, c := range []struct {
		query  string
		status int
		fields string // beside error, or the page
	}{
		{"", 200, "process snapshot"},
		{"after=0", 200, "process snapshot"},
		{"limit=1", 200, "process snapshot"},
		{mine, 200, "process snapshot"},
		{"after=2&limit=64&" + mine, 200, "process snapshot"},
		{"after=4&" + mine, 200, "process snapshot"},
		{"other=x&after=0", 200, "process snapshot"},

		{"after=", 400, ""},
		{"after=x", 400, ""},
		{"after=-1", 400, ""},
		{"after=1.0", 400, ""},
		{"after=0x1", 400, ""},
		{"after=%201", 400, ""},
		{"after=18446744073709551616", 400, ""},
		{"after=0&after=0", 400, ""},
		{"limit=", 400, ""},
		{"limit=x", 400, ""},
		{"limit=1&limit=2", 400, ""},
		{"limit=%2B1", 400, ""},
		{"after=%2B1", 400, ""},
		{"limit=4294967297", 400, ""}, // on 32 bits too
		{"limit=99999999999999999999", 400, ""},
		{"after=%zz", 400, ""},
		{"after=1;limit=2", 400, ""},
		{"node_id=1", 400, ""},
		{"process_term=3", 400, ""},
		{"boot_incarnation=" + boot, 400, ""},
		{"node_id=1&process_term=3", 400, ""},
		{"node_id=1&boot_incarnation=" + boot, 400, ""},
		{strings.Replace(mine, "node_id=1", "node_id=one", 1), 400, ""},
		{strings.Replace(mine, "process_term=3", "process_term=", 1), 400, ""},
		{strings.Replace(mine, boot, "b0", 1), 400, ""},
		{strings.Replace(mine, boot, "urn:uuid:"+boot, 1), 400, ""},
		{strings.Replace(mine, boot, strings.ReplaceAll(boot, "-", "x"), 1), 400, ""},
		{mine + "&node_id=1", 400, ""},
		{"after=2", 400, ""}, // required
		{"limit=0", 400, "limit"},
		{"limit=65", 400, "limit"},
		{"limit=-1", 400, "limit"},

		{identityQuery(two), 409, "actual expected"},
		{"after=77&limit=0&" + identityQuery(two), 409, "actual expected"},
		{"after=5&" + mine, 409, "after_sequence next_sequence"},
		{"after=18446744073709551615&" + mine, 409, "after_sequence next_sequence"},
	} {
		l := newLedger(t, 4)
		record(t, l, 4)
		status, _, body := get(t, timing.Handler(fixed(one), l), http.MethodGet, c.query)
		if status != c.status {
			t.Errorf("?%s: status %d, want %d (%v)", c.query, status, c.status, body)
		}
		checkFields(t, c.query, body, c.status != 200, c.fields)
	}
}

func checkFields(t testing.TB, name string, body map[string]any, problem bool, fields string) {
	t.Helper()
	want := map[string]bool{}
	if problem {
		want["error"] = true
		if s, _ := body["error"].(string); s == "" {
			t.Errorf("%s: error is %v", name, body["error"])
		}
	}
	for _, f := range strings.Fields(fields) {
		want[f] = true
	}
	got := map[string]bool{}
	for f := range body {
		got[f] = true
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: fields %v, want %v", name, got, want)
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	l := newLedger(t, 4)
	h := timing.Handler(fixed(process(1)), l)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE"} {
		status, header, body := get(t, h, method, "after=x")
		if status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET" {
			t.Errorf("%s: status %d, Allow %q", method, status, header.Get("Allow"))
		}
		checkFields(t, method, body, true, "")
	}
}

func TestStatusesOfErrorsOfTheSourceAndTheLedger(t *testing.T) {
	one, two := process(1), process(2)
	for name, c := range map[string]struct {
		source []answer
		query  string
		status int
		fields string
	}{
		"unavailable":                     {[]answer{{err: errSource}}, "", 503, ""},
		"unavailable afterwards":          {[]answer{{process: one}, {err: errSource}}, "", 503, ""},
		"unavailable, whatever the cause": {[]answer{{err: &timing.CursorAheadError{}}}, "", 503, ""},
		"unavailable for want of another": {[]answer{{err: timing.ErrProcessIdentityRequired}}, "", 503, ""},
		"changed":                         {[]answer{{process: one}, {process: two}}, "", 503, "after before"},
		"ledger of another":               {[]answer{{process: two}}, "", 500, "actual expected"},
		"overwritten":                     {[]answer{{process: one}}, "", 410, "after_sequence oldest_retained_sequence"},
	} {
		l := newLedger(t, 2)
		record(t, l, 5)
		status, _, body := get(t, timing.Handler(&source{answers: c.source}, l), http.MethodGet, c.query)
		if status != c.status {
			t.Errorf("%s: status %d, want %d (%v)", name, status, c.status, body)
		}
		checkFields(t, name, body, true, c.fields)
		if name == "overwritten" && (body["after_sequence"] != 0.0 || body["oldest_retained_sequence"] != 4.0) {
			t.Errorf("%s: %v", name, body)
		}
		if name == "ledger of another" && !strings.Contains(fmt.Sprint(body["expected"]), "node_id:2") {
			t.Errorf("%s: expected is %v, want the live one", name, body["expected"])
		}
	}
	l := newLedger(t, 2)
	record(t, l, 1)
	l.FillWithReaders(1)
	if status, _, body := get(t, timing.Handler(fixed(one), l), http.MethodGet, ""); status != 503 {
		t.Errorf("busy: status %d (%v)", status, body)
	}
	if status := timing.ProblemOf(errors.New("anything else")); status != 500 {
		t.Errorf("an unknown error has status %d", status)
	}
}

// The page over HTTP is the page in Go.
func TestHandlerAnswersThePage(t *testing.T) {
	l := newLedger(t, 128)
	record(t, l, 100)
	server := httptest.NewServer(timing.Handler(fixed(process(1)), l))
	defer server.Close()
	cursor, pages := uint64(0), 0
	for {
		response, err := server.Client().Get(fmt.Sprintf("%s/?after=%d&%s", server.URL, cursor, identityQuery(process(1))))
		if err != nil {
			t.Fatal(err)
		}
		var got timing.Page
		err = json.NewDecoder(response.Body).Decode(&got)
		response.Body.Close()
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("status %d, %v", response.StatusCode, err)
		}
		want, err := timing.ReadPage(fixed(process(1)), l, ptr(process(1)), cursor, 64)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("after %d: got %+v\nwant %+v, %v", cursor, got, want, err)
		}
		pages++
		cursor += uint64(len(got.Snapshot.Records))
		if !got.Snapshot.HasMore {
			break
		}
	}
	if cursor != 100 || pages != 2 {
		t.Errorf("%d records in %d pages, want 100 in 2", cursor, pages)
	}
}

func TestHandlerNeedsASourceAndALedger(t *testing.T) {
	for name, make := range map[string]func(){
		"source": func() { timing.Handler(nil, newLedger(t, 1)) },
		"ledger": func() { timing.Handler(fixed(process(1)), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no %s was accepted", name)
				}
			}()
			make()
		}()
	}
}
