package timing_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/timing"
)

const recordText = `{"sequence":1,` +
	`"process":{"participant":{"node_id":1,"boot_incarnation":"b0000000-0000-0000-0000-000000000001"},"process_term":3},` +
	`"attempt":{"epoch":7,"checkpoint_id":7},"role":"follower","assignment_version":9,` +
	`"assignment_digest":"d10000000000000000000000000000000000000000000000000000000000009e",` +
	`"pipeline_stall_ns":10000000,"local_barrier_ns":4000000,"aligned_resume_ns":5000000,` +
	`"durable_tail_handoff":true,"deadline_exhausted":false}`

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJSONOfRecords(t *testing.T) {
	r := timing.Record{Sequence: 1, Observation: observation(1, 7)}
	if got := marshal(t, r); got != recordText {
		t.Errorf("got  %s\nwant %s", got, recordText)
	}
	r.AlignedResume = timing.NullDuration{}
	r.Role = timing.Leader
	want := strings.Replace(strings.Replace(recordText, "5000000,", "null,", 1), "follower", "leader", 1)
	if got := marshal(t, &r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONOfSnapshots(t *testing.T) {
	l := newLedger(t, 2)
	empty := `{"process":null,"capacity":2,"oldest_retained_sequence":null,"next_sequence":1,"overwritten_record_count":0,` +
		`"recording_loss_count":0,"metadata_exhausted":false,"has_more":false,"records":[]}`
	if got := marshal(t, snapshot(t, l, 0, 64)); got != empty {
		t.Errorf("got  %s\nwant %s", got, empty)
	}
	if got, want := marshal(t, timing.Snapshot{Capacity: 2, NextSequence: 1}), empty; got != want {
		t.Errorf("without records: got %s\nwant %s", got, want)
	}
	l.TryRecord(observation(1, 7))
	l.NoteLoss()
	full := `{"process":{"participant":{"node_id":1,"boot_incarnation":"b0000000-0000-0000-0000-000000000001"},"process_term":3},` +
		`"capacity":2,"oldest_retained_sequence":1,"next_sequence":2,"overwritten_record_count":0,` +
		`"recording_loss_count":1,"metadata_exhausted":false,"has_more":false,"records":[` + recordText + `]}`
	if got := marshal(t, snapshot(t, l, 0, 64)); got != full {
		t.Errorf("got  %s\nwant %s", got, full)
	}
}

// A client in Go reads what a ledger in Go writes.
func TestJSONIsReadBack(t *testing.T) {
	l := newLedger(t, 2)
	for i := range uint64(5) {
		o := observation(1, i+1)
		o.AlignedResume.Valid = i%2 == 0
		l.TryRecord(o)
	}
	for name, page := range map[string]timing.Page{
		"page":        {Process: process(1), Snapshot: snapshot(t, l, 3, 64)},
		"empty":       {Process: process(1), Snapshot: snapshot(t, newLedger(t, 4), 0, 64)},
		"all maximal": {Snapshot: timing.Snapshot{OldestRetained: math.MaxUint64, NextSequence: math.MaxUint64, MetadataExhausted: true, HasMore: true, Records: []timing.Record{}}},
	} {
		var got timing.Page
		if err := json.Unmarshal([]byte(marshal(t, page)), &got); err != nil || !reflect.DeepEqual(got, page) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, page)
		}
	}
}

func TestJSONThatIsNoRecordIsAnError(t *testing.T) {
	var r timing.Record
	for _, change := range [][2]string{
		{`"follower"`, `"bystander"`},
		{`"follower"`, `2`},
		{`"d1`, `"d`},
		{`"d1`, `"zz`},
		{`5000000`, `"5ms"`},
		{`5000000`, `9223372036854775808`},
		{`b0000000-`, `b000000-`},
		{`"sequence":1`, `"sequence":-1`},
		{`"pipeline_stall_ns":10000000`, `"pipeline_stall_ns":1.5`},
	} {
		text := strings.Replace(recordText, change[0], change[1], 1)
		if text == recordText {
			t.Fatalf("nothing to replace: %s", change[0])
		}
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s instead of %s was read as %+v", change[1], change[0], r)
		}
	}
	var s timing.Snapshot
	if err := json.Unmarshal([]byte(`{"capacity":"two"}`), &s); err == nil {
		t.Error("a snapshot with a capacity in words was read")
	}
}

func TestTextOfRoles(t *testing.T) {
	for role, want := range map[timing.Role]string{timing.Leader: "leader", timing.Follower: "follower", 0: "unknown", 7: "Role(7)"} {
		if got := role.String(); got != want {
			t.Errorf("role %d is %q, want %q", role, got, want)
		}
		text, err := role.MarshalText()
		if (err != nil) != (role > 2) || err == nil && string(text) != want {
			t.Errorf("text of role %d: %q, %v", role, text, err)
		}
		var back timing.Role
		if err := back.UnmarshalText([]byte(want)); (err != nil) != (role > 2) || err == nil && back != role {
			t.Errorf("%q was read as %v, %v", want, back, err)
		}
	}
}

func TestJSONOfNullDurations(t *testing.T) {
	for want, d := range map[string]timing.NullDuration{
		"null":                 {Duration: 5},
		"0":                    {Valid: true},
		"-1":                   {Duration: -1, Valid: true},
		"9223372036854775807":  {Duration: math.MaxInt64, Valid: true},
		"-9223372036854775808": {Duration: math.MinInt64, Valid: true},
		"1500000000":           {Duration: 1500 * time.Millisecond, Valid: true},
	} {
		if got := marshal(t, d); got != want {
			t.Errorf("%+v is %s, want %s", d, got, want)
		}
		back := timing.NullDuration{Duration: 99, Valid: true}
		if !d.Valid {
			d.Duration = 0
		}
		if err := json.Unmarshal([]byte(want), &back); err != nil || back != d {
			t.Errorf("%s was read as %+v, %v", want, back, err)
		}
	}
}
