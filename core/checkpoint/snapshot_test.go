package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func TestSnapshotTellsTheWholeState(t *testing.T) {
	r, k := newClockRig(t, 0, 1, 2, 3)
	r.deliver(3, 9)
	r.confirm(r.take(3, 10), 1)
	stuck := r.issue(2, 5, 6)
	stuck[1].Release()
	r.Drain()
	k.at = 160
	bad := r.issue(1, 7)[0]
	bad.Done(errSink)
	bad.Release()
	r.issue(99, 1)
	r.take()
	skip := r.issue(3, 19)[0]
	skip.Done(errSink)
	r.Drain()
	if err := r.SkipFailed(3, skip.ID()); err != nil {
		t.Fatal(err)
	}
	r.taken(3, 20)
	k.at = 200
	got, err := json.Marshal(r.Snapshot(10))
	if err != nil {
		t.Fatal(err)
	}
	at := func(sec int64) string { return time.Unix(sec, 0).Format(time.RFC3339Nano) }
	want := `{"time":"` + at(200) + `","epoch":1,"begun":true,"admitted":4,"heldBack":2,"stalled":1,"pending":3,"maxPending":2,` +
		`"drained":{"applied":4,"staleEpoch":1,"duplicates":1,"unknown":0},"skipped":1,"leaks":{"unreachable":0,"overReleased":0},"partitions":[` +
		`{"partition":2,"watermark":0,"committed":0,"pending":2,"unresolved":1,"skipped":0,` +
		`"head":{"batch":"p2@e1#0","seq":0,"lastOffset":5,"failed":false,"since":"` + at(100) + `","behind":1}},` +
		`{"partition":1,"watermark":0,"committed":0,"pending":1,"unresolved":0,"skipped":0,` +
		`"head":{"batch":"p1@e1#0","seq":0,"lastOffset":7,"failed":true,"since":"` + at(160) + `","behind":0}},` +
		`{"partition":0,"watermark":0,"committed":0,"pending":0,"unresolved":0,"skipped":0},` +
		`{"partition":3,"watermark":20,"committed":10,"pending":0,"unresolved":0,"skipped":1}],"truncated":false}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	stuck[0].Release()
	if r.Snapshot(1).HeldBack != 2 {
		t.Error("a snapshot drained")
	}
}

func TestSnapshotIsBounded(t *testing.T) {
	r := newRig(t, 0, 1, 2, 3, 4)
	r.issue(4, 1)
	r.issue(2, 1)
	r.Drain()
	for n := -1; n < 8; n++ {
		s := r.Snapshot(n)
		var ps []checkpoint.PartitionID
		for _, p := range s.Partitions {
			ps = append(ps, p.Partition)
		}
		want := []checkpoint.PartitionID{2, 4, 0, 1, 3}[:min(max(n, 0), 5)]
		if len(ps) != len(want) || s.Truncated != (n < 5) || s.Admitted != 5 || s.HeldBack != 2 || s.Pending != 2 {
			t.Fatalf("Snapshot(%d) = %+v", n, s)
		}
		for i := range want {
			if ps[i] != want[i] {
				t.Fatalf("Snapshot(%d) has partitions %v, want %v", n, ps, want)
			}
		}
	}
	empty, err := json.Marshal(checkpoint.New().Snapshot(5))
	if err != nil || !strings.Contains(string(empty), `"begun":false`) || !strings.Contains(string(empty), `"partitions":[]`) {
		t.Errorf("before the first epoch: %s, %v", empty, err)
	}
}

// Issuers go on while a snapshot is made; the clock stands for one of them.
func TestSnapshotSumsUpWhatItLists(t *testing.T) {
	var r *rig
	issuing := checkpoint.WithClock(func() time.Time {
		if r != nil {
			r.issue(0, 9)
			r.issue(1, 9)
		}
		return time.Unix(100, 0)
	})
	rig := newRigWith(t, []checkpoint.Option{issuing}, 0, 1, 2)
	bad := rig.issue(0, 9)[0]
	bad.Done(errSink)
	rig.issue(2, 9)[0].Release()
	rig.Drain() // nothing is unresolved: the head of partition 0 has no time yet
	r = rig
	s := r.Snapshot(3)
	sum, most := 0, 0
	for _, p := range s.Partitions {
		sum += p.Pending
		most = max(most, p.Pending)
	}
	if s.Pending != sum || s.MaxPending != most || most < 3 {
		t.Errorf("pending %d, most %d; of the partitions %d, most %d", s.Pending, s.MaxPending, sum, most)
	}
	if s := r.Snapshot(1); s.Pending != r.Pending(0)+r.Pending(1)+r.Pending(2) || s.MaxPending != r.MaxPending() {
		t.Errorf("with one partition: %+v", s)
	}
}

func TestSnapshotIsAGroupOfALogRecord(t *testing.T) {
	r, k := newClockRig(t, 0)
	r.issue(0, 9)
	r.Drain()
	k.at = 130
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("checkpointer", "state", r.Snapshot(1))
	const want = "state.epoch=1 state.admitted=1 state.heldBack=1 state.stalled=0 state.pending=1 state.maxPending=1 " +
		"state.applied=0 state.staleEpoch=0 state.duplicates=0 state.unknown=0 state.skipped=0 state.unreachable=0 state.overReleased=0 " +
		"state.head.batch=p0@e1#0 state.head.lastOffset=9 state.head.failed=false state.head.age=30s state.head.behind=0\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("logged %s", out.String())
	}
}
