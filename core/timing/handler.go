package timing

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Handler serves pages of a ledger as JSON: GET with the query parameters
//
//	after             the cursor, default 0
//	limit             the largest number of records, default 64
//	node_id, boot_incarnation, process_term
//	                  the process that the cursor is of: all three, or none
//	                  with cursor 0
//
// It answers 200 with a Page, or with an object that holds error and the
// fields of the error's type: 400 for parameters that are malformed, given
// twice or in part, for ErrProcessIdentityRequired and InvalidLimitError; 405
// for other methods; 409 for ProcessIdentityMismatchError and
// CursorAheadError; 410 for CursorOverwrittenError; 503 for
// ErrProcessIdentityUnavailable, ProcessIdentityChangedError and ErrBusy; 500
// for LedgerProcessMismatchError. No answer may be stored by caches. Unknown
// parameters are ignored.
func Handler(src IdentitySource, l *Ledger) http.Handler {
	if src == nil || l == nil {
		panic("timing: Handler needs an IdentitySource and a Ledger")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			answer(w, http.StatusMethodNotAllowed, problem{Error: fmt.Sprintf("timing: method is %s, legal is GET", r.Method)})
			return
		}
		q, err := parseQuery(r.URL.RawQuery)
		if err != nil {
			answer(w, http.StatusBadRequest, problem{Error: err.Error()})
			return
		}
		page, err := ReadPage(src, l, q.expected, q.after, q.limit)
		if err != nil {
			status, p := problemOf(err)
			answer(w, status, p)
			return
		}
		answer(w, http.StatusOK, page)
	})
}

// answer writes a JSON answer. A client that is gone is no concern.
func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("timing: cannot marshal an answer: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// query is a request's parameters.
type query struct {
	after    uint64
	limit    int
	expected *ProcessIdentity
}

func parseQuery(raw string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, fmt.Errorf("timing: malformed query: %w", err)
	}
	q := query{limit: MaxPageRecords}
	var id ProcessIdentity
	given := 0
	for _, p := range []struct {
		name     string
		identity bool
		parse    func(string) error
	}{
		{"after", false, number(&q.after)},
		{"limit", false, func(s string) (err error) { q.limit, err = parseLimit(s); return err }},
		{"node_id", true, number(&id.Participant.NodeID)},
		{"boot_incarnation", true, func(s string) (err error) { id.Participant.BootIncarnation, err = parseUUID(s); return err }},
		{"process_term", true, number(&id.ProcessTerm)},
	} {
		v := values[p.name]
		switch {
		case len(v) == 0:
			continue
		case len(v) > 1:
			return query{}, fmt.Errorf("timing: parameter %s is given %d times, once is legal", p.name, len(v))
		}
		if err := p.parse(v[0]); err != nil {
			return query{}, fmt.Errorf("timing: malformed parameter %s=%q: %w", p.name, v[0], err)
		}
		if p.identity {
			given++
		}
	}
	switch given {
	case 0:
	case 3:
		q.expected = &id
	default:
		return query{}, fmt.Errorf("timing: %d of node_id, boot_incarnation and process_term are given, legal are all three or none", given)
	}
	return q, nil
}

func number(dst *uint64) func(string) error {
	return func(s string) (err error) {
		*dst, err = strconv.ParseUint(s, 10, 64)
		return err
	}
}

// parseLimit takes a number as the other parameters do, or a negative one: the
// ledger says whether it is legal. One beyond 32 bits is malformed, so that the
// answer does not depend on the size of an int.
func parseLimit(s string) (int, error) {
	if strings.HasPrefix(s, "+") {
		return 0, errors.New("a sign that no number needs")
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err
}

// parseUUID takes the form that pages have, and not the others that the uuid
// package knows.
func parseUUID(s string) (uuid.UUID, error) {
	if len(s) != 36 {
		return uuid.UUID{}, fmt.Errorf("a UUID has 36 characters, got %d", len(s))
	}
	return uuid.Parse(s)
}

// problem is the body of an answer that is no page.
type problem struct {
	Error          string           `json:"error"`
	Limit          *int             `json:"limit,omitempty"`
	AfterSequence  *uint64          `json:"after_sequence,omitempty"`
	OldestRetained *uint64          `json:"oldest_retained_sequence,omitempty"`
	NextSequence   *uint64          `json:"next_sequence,omitempty"`
	Expected       *ProcessIdentity `json:"expected,omitempty"`
	Actual         *ProcessIdentity `json:"actual,omitempty"`
	Before         *ProcessIdentity `json:"before,omitempty"`
	After          *ProcessIdentity `json:"after,omitempty"`
}

// problemOf returns the status and the body for an error of ReadPage.
func problemOf(err error) (int, problem) {
	p := problem{Error: err.Error()}
	var (
		limit       *InvalidLimitError
		ahead       *CursorAheadError
		overwritten *CursorOverwrittenError
		mismatch    *ProcessIdentityMismatchError
		changed     *ProcessIdentityChangedError
		ledger      *LedgerProcessMismatchError
	)
	switch {
	case errors.Is(err, ErrProcessIdentityUnavailable): // first: it wraps any error
		return http.StatusServiceUnavailable, p
	case errors.Is(err, ErrProcessIdentityRequired):
		return http.StatusBadRequest, p
	case errors.As(err, &limit):
		p.Limit = &limit.Limit
		return http.StatusBadRequest, p
	case errors.As(err, &mismatch):
		p.Expected, p.Actual = &mismatch.Expected, &mismatch.Actual
		return http.StatusConflict, p
	case errors.As(err, &ahead):
		p.AfterSequence, p.NextSequence = &ahead.AfterSequence, &ahead.NextSequence
		return http.StatusConflict, p
	case errors.As(err, &overwritten):
		p.AfterSequence, p.OldestRetained = &overwritten.AfterSequence, &overwritten.OldestRetained
		return http.StatusGone, p
	case errors.As(err, &changed):
		p.Before, p.After = &changed.Before, &changed.After
		return http.StatusServiceUnavailable, p
	case errors.Is(err, ErrBusy):
		return http.StatusServiceUnavailable, p
	case errors.As(err, &ledger):
		p.Expected, p.Actual = &ledger.Expected, &ledger.Actual
	}
	return http.StatusInternalServerError, p
}
