package kafka_test

import (
	"errors"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-go/tidemark/adapters/kafka"
	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/live"
)

var errSink = errors.New("refused by the sink")

func TestAFailedHeadIsNamedAndSkipped(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 2)
	produce(t, newProducer(t, c), records(c.in, 1, "a", 50)...)
	s := open(t, config(c, c.in))
	bs := pollRecords(t, s, 50)
	for i, err := range []error{nil, errSink, nil, errSink, nil} {
		bs[i].Ack.Done(err)
	}
	head := func() kafka.Head {
		t.Helper()
		var heads []kafka.Head
		eventually(t, "a failed head", func() bool {
			heads = s.Heads(nil, 10)
			return len(heads) == 1 && heads[0].Failed
		})
		if heads[0].Since.IsZero() {
			t.Fatalf("%+v has no time", heads[0])
		}
		return heads[0]
	}
	first := head()
	want := kafka.Head{Topic: c.in, Partition: 1, Batch: bs[1].Ack.ID(), LastOffset: 19, Failed: true, Since: first.Since, Behind: 3}
	if first != want {
		t.Fatalf("the head is %+v, want %+v", first, want)
	}
	eventuallyCommitted(t, c, c.in, 1, 10)
	for _, wrong := range []struct {
		topic     string
		partition int32
		batch     checkpoint.BatchID
	}{{c.in, 1, bs[3].Ack.ID()}, {c.in, 1, bs[2].Ack.ID()}, {c.in, 0, first.Batch}, {c.in, 9, first.Batch}, {"none", 1, first.Batch}} {
		if err := s.SkipFailed(wrong.topic, wrong.partition, wrong.batch); !errors.Is(err, checkpoint.ErrNotFailedHead) || !strings.HasPrefix(err.Error(), "kafka: ") {
			t.Fatalf("skipping %+v: %v", wrong, err)
		}
	}
	if err := s.SkipFailed(c.in, 1, first.Batch); err != nil {
		t.Fatal(err)
	}
	// The batch behind it that failed is a stall of its own, at once.
	if p, _ := state(s, c.in, 1); p.Stalled == nil || p.Stalled.Batch != bs[3].Ack.ID() {
		t.Fatalf("after the skip it is stalled at %+v", p.Stalled)
	}
	eventuallyCommitted(t, c, c.in, 1, 30)
	if err := s.SkipFailed(c.in, 1, head().Batch); err != nil {
		t.Fatal(err)
	}
	eventuallyCommitted(t, c, c.in, 1, 50)
	if st := s.Stats(); st.Skipped != 2 || len(s.Heads(nil, 10)) != 0 || st.Partitions[1].Stalled != nil {
		t.Fatalf("at the end: %+v", st)
	}
}

// A partition that waits at its limit behind a failed batch goes on when that
// is skipped.
func TestASkippedHeadMakesRoom(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 60)...)
	cfg := config(c, c.in)
	cfg.PendingLimit = 3
	s := open(t, cfg)
	bs := pollRecords(t, s, 30)
	bs[0].Ack.Done(errSink)
	ackAll(bs[1:])
	eventually(t, "the limit", func() bool { p, _ := state(s, c.in, 0); return p.Paused && p.Stalled != nil })
	if err := s.SkipFailed(c.in, 0, bs[0].Ack.ID()); err != nil {
		t.Fatal(err)
	}
	ackAll(pollRecords(t, s, 30))
	eventuallyCommitted(t, c, c.in, 0, 60)
}

func TestTheLivePageAndTheMetricsHaveNamesAndTheGroupsCommit(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 20)...)
	s := open(t, config(c, c.in))
	ackAll(pollRecords(t, s, 20))
	eventuallyCommitted(t, c, c.in, 0, 20)
	if err := s.Close(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	produce(t, newProducer(t, c), records(c.in, 0, "b", 10)...)
	s = open(t, config(c, c.in))
	held := poll(t, s)
	defer held.Ack.Done(nil)
	eventually(t, "a head", func() bool { return len(s.Heads(nil, 1)) == 1 })

	w := httptest.NewRecorder()
	live.Handler(live.Config{Snapshot: s.Snapshot, Name: s.PartitionName}).ServeHTTP(w, httptest.NewRequest("GET", "/?format=json", nil))
	for _, want := range []string{`"name":"` + c.in + `/0"`, `"committed":20`, `"lastOffset":29`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page has no %s: %s", want, w.Body)
		}
	}
	collector, err := tidemarkprom.NewCheckpoints(tidemarkprom.Checkpoints{
		Snapshot: s.Snapshot, Labels: []string{"topic", "partition"}, Values: s.PartitionLabels,
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	w = httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	want := "\ntidemark_partition_committed_offset{partition=\"0\",topic=\"" + c.in + "\"} 20\n"
	if !strings.Contains(w.Body.String(), want) {
		t.Errorf("the metrics have no %s: %s", want, w.Body)
	}
	if name, labels := s.PartitionName(7), s.PartitionLabels(7); name != "7" || labels != nil {
		t.Errorf("a partition that was never owned is %q, %v", name, labels)
	}
	if got := s.PartitionLabels(0); !slices.Equal(got, []string{c.in, "0"}) {
		t.Errorf("labels %v", got)
	}
}

func TestABatchThatNobodyHasAnyMoreIsReportedAndFailed(t *testing.T) {
	t.Parallel()
	c := newBroker(t, 1)
	produce(t, newProducer(t, c), records(c.in, 0, "a", 20)...)
	leaks := make(chan checkpoint.Leak, 2)
	cfg := config(c, c.in)
	cfg.OnLeak, cfg.FailLeaked = func(l checkpoint.Leak) { leaks <- l }, true
	s := open(t, cfg)
	poll(t, s) // and forgets it
	last := poll(t, s)
	eventually(t, "the leak", func() bool { runtime.GC(); return len(leaks) > 0 })
	if l := <-leaks; l.Kind != checkpoint.LeakUnreachable || l.Label != c.in+"[0] offsets 0 to 9" || !l.Failed {
		t.Fatalf("reported %+v", l)
	}
	eventually(t, "a failed head", func() bool {
		heads := s.Heads(nil, 1)
		return len(heads) == 1 && heads[0].Failed && heads[0].LastOffset == 9
	})
	last.Ack.Done(nil)
	last.Ack.Done(nil)
	if l := <-leaks; l.Kind != checkpoint.LeakOverReleased || l.Label != c.in+"[0] offsets 10 to 19" {
		t.Fatalf("reported %+v", l)
	}
}
