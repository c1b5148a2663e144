package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/live"
)

func Example() {
	cp := checkpoint.New()
	_ = cp.BeginEpoch(1, 0, 1, 2)
	mux := http.NewServeMux()
	mux.Handle("/live", live.Handler(live.Config{
		Title:    "orders",
		Snapshot: cp.Snapshot,
		Name:     func(p checkpoint.PartitionID) string { return fmt.Sprintf("orders/%d", p) },
	}))
	// A program of its own has http.ListenAndServe("127.0.0.1:6060", mux).
	server := httptest.NewServer(mux)
	defer server.Close()

	ack, _ := cp.Issuer().Issue(2, 99)
	ack.Fail()
	ack.Release()
	cp.Drain()

	answer, err := http.Get(server.URL + "/live?format=json&n=1")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var state live.State
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		panic(err)
	}
	worst := state.Checkpointer.Partitions[0]
	fmt.Println(worst.Name, "failed:", worst.Head.Failed, "batch:", worst.Head.Batch)
	// Output: orders/2 failed: true batch: p2@e1#0
}
