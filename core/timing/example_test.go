package timing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/timing"
)

var me = timing.ProcessIdentity{
	Participant: timing.Participant{
		NodeID:          4,
		BootIncarnation: uuid.MustParse("6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
	},
	ProcessTerm: 1,
}

// pause is what an engine does around one barrier.
func pause(ledger *timing.Ledger, h timing.Histograms, checkpoint uint64) {
	guard := timing.StartGuard(ledger, h, time.Now().Add(time.Minute), func() (timing.Context, bool) {
		return timing.Context{
			Process:           me,
			Attempt:           timing.CanonicalAttempt(checkpoint),
			Role:              timing.Leader,
			AssignmentVersion: 12,
			AssignmentDigest:  [32]byte{1, 2, 3},
		}, true
	})
	defer guard.Close()
	// … snapshot the local state, hand off the durable tail …
	guard.FinishLocalBarrierWithHandoff()
	guard.BeginAlignedResume()
	// … wait for the other participants …
	guard.FinishAlignedResume()
}

func Example() {
	ledger, err := timing.NewLedger(timing.DefaultCapacity)
	if err != nil {
		panic(err)
	}
	for checkpoint := uint64(1); checkpoint <= 3; checkpoint++ {
		pause(ledger, timing.Histograms{}, checkpoint)
	}
	page, err := ledger.SnapshotAfter(0, 2)
	if err != nil {
		panic(err)
	}
	for _, r := range page.Records {
		fmt.Println(r.Sequence, r.Role, "of checkpoint", r.Attempt.CheckpointID, "late:", r.DeadlineExhausted)
	}
	fmt.Println("more:", page.HasMore, "lost:", page.RecordingLossCount)
	// Output:
	// 1 leader of checkpoint 1 late: false
	// 2 leader of checkpoint 2 late: false
	// more: true lost: 0
}

// A client that has fallen behind resumes a little past the oldest record:
// the oldest itself may be overwritten before the next request.
func ExampleCursorOverwrittenError() {
	ledger, err := timing.NewLedger(64)
	if err != nil {
		panic(err)
	}
	for checkpoint := uint64(1); checkpoint <= 500; checkpoint++ {
		pause(ledger, timing.Histograms{}, checkpoint)
	}

	cursor := uint64(10) // the last record that the client has
	page, err := ledger.SnapshotAfter(cursor, timing.MaxPageRecords)
	var overwritten *timing.CursorOverwrittenError
	if errors.As(err, &overwritten) {
		resume := overwritten.OldestRetained - 1 + uint64(ledger.Capacity()/8)
		fmt.Printf("missed %d to %d\n", cursor+1, resume)
		cursor = resume
		page, err = ledger.SnapshotAfter(cursor, timing.MaxPageRecords)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(len(page.Records), "records, the first is", page.Records[0].Sequence)
	// Output:
	// missed 11 to 444
	// 56 records, the first is 445
}

type engine struct{ process timing.ProcessIdentity }

func (e engine) LiveProcessIdentity() (timing.ProcessIdentity, error) { return e.process, nil }

// A cursor is good for the process generation it comes from and no other.
func ExampleReadPage() {
	ledger, err := timing.NewLedger(8)
	if err != nil {
		panic(err)
	}
	pause(ledger, timing.Histograms{}, 1)
	page, err := timing.ReadPage(engine{me}, ledger, nil, 0, 64)
	if err != nil {
		panic(err)
	}
	cursor, process := page.Snapshot.Records[0].Sequence, page.Process

	restarted := me
	restarted.ProcessTerm++
	empty, err := timing.NewLedger(8)
	if err != nil {
		panic(err)
	}
	_, err = timing.ReadPage(engine{restarted}, empty, &process, cursor, 64)
	var mismatch *timing.ProcessIdentityMismatchError
	fmt.Println(errors.As(err, &mismatch), "- start again from 0 with term", mismatch.Actual.ProcessTerm)
	// Output:
	// true - start again from 0 with term 2
}

func ExampleHandler() {
	ledger, err := timing.NewLedger(timing.DefaultCapacity)
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/barriers", timing.Handler(engine{me}, ledger))
}

// A barrier that hangs has no record yet; it is listed with its age.
func ExampleLedger_OpenGuards() {
	ledger, err := timing.NewLedger(8)
	if err != nil {
		panic(err)
	}
	guard := timing.StartGuard(ledger, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) {
		return timing.Context{Process: me, Attempt: timing.CanonicalAttempt(31), Role: timing.Follower}, true
	})
	defer guard.Close()
	open, unlisted := ledger.OpenGuards()
	for _, g := range open {
		fmt.Println(g.Role, "of checkpoint", g.Attempt.CheckpointID, "open:", g.Age > 0)
	}
	fmt.Println("not listed:", unlisted)
	// Output:
	// follower of checkpoint 31 open: true
	// not listed: 0
}

// Records marshal to flat objects.
func ExampleRecord_MarshalJSON() {
	text, err := json.MarshalIndent(timing.Record{Sequence: 7, Observation: timing.Observation{
		Context: timing.Context{
			Process: me, Attempt: timing.CanonicalAttempt(31), Role: timing.Leader, AssignmentVersion: 12,
		},
		PipelineStall: 5 * time.Millisecond,
		LocalBarrier:  2 * time.Millisecond,
	}}, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//   "sequence": 7,
	//   "process": {
	//     "participant": {
	//       "node_id": 4,
	//       "boot_incarnation": "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	//     },
	//     "process_term": 1
	//   },
	//   "attempt": {
	//     "epoch": 31,
	//     "checkpoint_id": 31
	//   },
	//   "role": "leader",
	//   "assignment_version": 12,
	//   "assignment_digest": "0000000000000000000000000000000000000000000000000000000000000000",
	//   "pipeline_stall_ns": 5000000,
	//   "local_barrier_ns": 2000000,
	//   "aligned_resume_ns": null,
	//   "durable_tail_handoff": false,
	//   "deadline_exhausted": false
	// }
}
