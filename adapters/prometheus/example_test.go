package tidemarkprom_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
)

func Example() {
	cp := checkpoint.New()
	ledger, err := timing.NewLedger(timing.DefaultCapacity)
	if err != nil {
		panic(err)
	}
	topics := []string{"orders", "orders", "payments"} // by PartitionID
	partitions := []string{"0", "1", "0"}
	collector, err := tidemarkprom.NewCheckpoints(tidemarkprom.Checkpoints{
		Snapshot: cp.Snapshot,
		Labels:   []string{"topic", "partition"},
		Values:   func(p checkpoint.PartitionID) []string { return []string{topics[p], partitions[p]} },
	})
	if err != nil {
		panic(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector, tidemarkprom.NewBarriers(ledger))

	_ = cp.BeginEpoch(1, 0, 1, 2)
	ack, _ := cp.Issuer().Issue(1, 99)
	ack.Release()
	cp.Drain()
	cp.TakeWatermarks(nil)

	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "tidemark_partition_watermark_offset") {
			fmt.Print(line)
		}
	}
	// Output: tidemark_partition_watermark_offset{partition="1",topic="orders"} 100
}
