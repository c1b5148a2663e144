package kafka_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/core/timing"
)

// Batches go to workers as they come, and are acknowledged when their records
// are delivered, in whatever order that happens.
func Example() {
	brokers, stop := exampleBroker("orders", "apple", "pear", "plum")
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	source, err := kafka.Open(ctx, kafka.Config{
		Brokers: brokers,
		Group:   "billing",
		Topics:  []string{"orders"},
		OnDataLoss: func(topic string, partition int32, loss kafka.DataLoss) {
			log.Printf("%s[%d] was %v upstream; reading on at %d", topic, partition, loss.Kind, loss.ResetTo)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	deliver := func(b kafka.Batch) error {
		for _, r := range b.Records {
			fmt.Printf("%s at offset %d\n", r.Value, r.Offset)
		}
		return nil
	}
	for delivered := 0; delivered < 3; {
		batch, err := source.Poll(ctx)
		if errors.Is(err, kafka.ErrClosed) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		delivered += len(batch.Records)
		go func() { batch.Ack.Done(deliver(batch)) }()
	}
	// Close waits for the workers and commits what they delivered.
	if err := source.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("committed", source.Stats().Commits, "partition")
	// Output:
	// apple at offset 0
	// pear at offset 1
	// plum at offset 2
	// committed 1 partition
}

// A Source that records its commits as barriers: the ledger is served page by
// page, and lists what is stuck.
func ExampleBarriers() {
	brokers, stop := exampleBroker("orders", "apple", "pear")
	defer stop()

	ledger, err := timing.NewLedger(timing.DefaultCapacity)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	source, err := kafka.Open(ctx, kafka.Config{
		Brokers:  brokers,
		Group:    "billing",
		Topics:   []string{"orders"},
		ClientID: "billing-1",
		Barriers: kafka.Barriers{Ledger: ledger}, // and Prometheus histograms, if there are any
	})
	if err != nil {
		log.Fatal(err)
	}
	pages := httptest.NewServer(timing.Handler(source, ledger))
	defer pages.Close()

	for delivered := 0; delivered < 2; {
		batch, err := source.Poll(ctx)
		if err != nil {
			log.Fatal(err)
		}
		delivered += len(batch.Records)
		batch.Ack.Done(nil)
	}
	if err := source.Close(ctx); err != nil {
		log.Fatal(err)
	}
	answer, err := http.Get(pages.URL + "?limit=1")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var page timing.Page
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		log.Fatal(err)
	}
	for _, r := range page.Snapshot.Records {
		fmt.Printf("commit %d as %v; handed off: %v\n", r.Attempt.Epoch, r.Role, r.DurableTailHandoff)
	}
	open, _ := ledger.OpenGuards()
	fmt.Println(len(open), "open")
	// Output:
	// commit 1 as leader; handed off: true
	// 0 open
}

// exampleBroker runs a broker in this process, with one record per value.
func exampleBroker(topic string, values ...string) (brokers []string, stop func()) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		log.Fatal(err)
	}
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DefaultProduceTopic(topic))
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, kgo.StringRecord(v))
	}
	if err := producer.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		log.Fatal(err)
	}
	return cluster.ListenAddrs(), cluster.Close
}
