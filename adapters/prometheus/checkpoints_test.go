package tidemarkprom_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func topicAndPartition(p checkpoint.PartitionID) []string {
	return []string{"orders", fmt.Sprint(p)}
}

func collector(tb testing.TB, cfg tidemarkprom.Checkpoints) prometheus.Collector {
	tb.Helper()
	c, err := tidemarkprom.NewCheckpoints(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// worst makes an engine in which partition 1 is stalled and 2 is slow.
func worst(tb testing.TB) *engine {
	e := start(tb, 4)
	e.issue(2, 41).Release()
	e.step()
	e.issue(1, 9).Done(errSink)
	e.issue(1, 19)
	e.step()
	e.now = e.now.Add(1500 * time.Millisecond)
	e.issue(2, 99)
	e.step()
	e.issue(7, 3) // of nobody
	ack := e.issue(3, 8)
	ack.Release()
	ack.Release()
	e.Drain()
	e.now = e.now.Add(500 * time.Millisecond)
	return e
}

// TestExposition compares the whole text with a file.
func TestExposition(t *testing.T) {
	e := worst(t)
	c := collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, Labels: []string{"topic", "partition"}, Values: topicAndPartition})
	golden, err := os.Open("testdata/checkpoints.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	if err := testutil.CollectAndCompare(c, golden); err != nil {
		t.Error(err)
	}
}

func TestNamesAndHelpFollowTheConventions(t *testing.T) {
	e := worst(t)
	problems, err := testutil.CollectAndLint(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot}))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestSeriesAreBounded(t *testing.T) {
	const many = 10_000
	e := start(t, many)
	for p := range checkpoint.PartitionID(many) {
		e.issue(many-1-p, 5)
		if p == 2 {
			e.step()
			e.now = e.now.Add(time.Second)
		}
	}
	e.step()
	const sums = 15
	for _, c := range []struct{ partitions, heads, want int }{
		{0, 0, sums + 4*tidemarkprom.DefaultMaxPartitions + 2*tidemarkprom.DefaultMaxHeads},
		{3, 3, sums + 4*3 + 2*3},
		{-1, -1, sums},
		{-1, 5, sums + 2*5},
		{5, -1, sums + 4*5},
		{2, 5, sums + 4*2 + 2*5},
		{many + 1, 1, sums + 4*many + 2},
	} {
		got := testutil.CollectAndCount(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, MaxPartitions: c.partitions, MaxHeads: c.heads}))
		if got != c.want {
			t.Errorf("with %d partitions and %d heads there are %d series, want %d", c.partitions, c.heads, got, c.want)
		}
	}
	if err := testutil.CollectAndCompare(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, MaxPartitions: 2, MaxHeads: -1}), strings.NewReader(`
# HELP tidemark_max_held_back_seconds For how long the partition that is held back longest has been, 0 if none is.
# TYPE tidemark_max_held_back_seconds gauge
tidemark_max_held_back_seconds 1
# HELP tidemark_partition_held_back_seconds For how long the same batch has held the partition back, 0 if none does.
# TYPE tidemark_partition_held_back_seconds gauge
tidemark_partition_held_back_seconds{partition="9997"} 1
tidemark_partition_held_back_seconds{partition="9998"} 1
# HELP tidemark_unlisted_partitions Partitions that have no series of their own.
# TYPE tidemark_unlisted_partitions gauge
tidemark_unlisted_partitions 9998
`), "tidemark_max_held_back_seconds", "tidemark_partition_held_back_seconds", "tidemark_unlisted_partitions"); err != nil {
		t.Error(err)
	}
}

// labelValues returns the values of all labels of a scrape.
func labelValues(t *testing.T, r prometheus.Gatherer) (values []string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
		}
	}
	return values
}

func TestARevokedPartitionIsGone(t *testing.T) {
	e := worst(t)
	c := collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot})
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	has := func() bool { return slices.Contains(labelValues(t, r), "1") }
	if !has() {
		t.Error("partition 1 is not there before it is revoked")
	}
	e.Revoke(1)
	if has() {
		t.Error("partition 1 is there after it was revoked")
	}
	if err := e.ExtendEpoch(1); err != nil {
		t.Fatal(err)
	}
	if !has() {
		t.Error("partition 1 has not come back")
	}
}

func TestWithoutACheckpointerThereAreNoMetrics(t *testing.T) {
	c := collector(t, tidemarkprom.Checkpoints{Snapshot: func(int) checkpoint.Snapshot { return checkpoint.Snapshot{} }})
	if n := testutil.CollectAndCount(c); n != 0 {
		t.Errorf("%d series without a Checkpointer", n)
	}
	c = collector(t, tidemarkprom.Checkpoints{Snapshot: checkpoint.New().Snapshot})
	if n := testutil.CollectAndCount(c, "tidemark_epoch"); n != 0 {
		t.Error("there is an epoch before the first one")
	}
	if n := testutil.CollectAndCount(c, "tidemark_admitted_partitions"); n != 1 {
		t.Error("the number of admitted partitions is missing before the first epoch")
	}
}

func TestLabelsThatDoNotFitFailTheScrape(t *testing.T) {
	e := worst(t)
	for want, values := range map[string]func(checkpoint.PartitionID) []string{
		"legal are 2":                  func(checkpoint.PartitionID) []string { return []string{"orders"} },
		"have the same label values":   func(checkpoint.PartitionID) []string { return []string{"orders", "0"} },
		`partition 1 has the label va`: func(checkpoint.PartitionID) []string { return []string{} },
	} {
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, Labels: []string{"topic", "partition"}, Values: values}))
		if _, err := r.Gather(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "tidemarkprom: ") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, Labels: []string{"name"}, Values: func(p checkpoint.PartitionID) []string {
		if p == 1 {
			return nil // is left out
		}
		return []string{fmt.Sprintf("\xff%d", p)} // is no valid text
	}}))
	if values := labelValues(t, r); !slices.Contains(values, "\uFFFD2") || slices.Contains(values, "\uFFFD1") {
		t.Errorf("the label values are %q", values)
	}
}

func TestMistakesInTheConfigurationAreTold(t *testing.T) {
	e := start(t, 1)
	for want, cfg := range map[string]tidemarkprom.Checkpoints{
		"Snapshot is nil":    {},
		"has 1 Labels":       {Snapshot: e.Snapshot, Labels: []string{"topic"}},
		"legal are both or ": {Snapshot: e.Snapshot, Values: topicAndPartition},
	} {
		if _, err := tidemarkprom.NewCheckpoints(cfg); err == nil || !strings.HasPrefix(err.Error(), "tidemarkprom: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	c := collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, Labels: []string{"\xff"}, Values: func(checkpoint.PartitionID) []string { return []string{"x"} }})
	if err := prometheus.NewRegistry().Register(c); err == nil {
		t.Error("a label name that is not legal was registered")
	}
}

// TestManyScrapesAtOnce: every scrape is of one Snapshot, so what partitions
// have agrees with the sums, also while they come and go.
func TestManyScrapesAtOnce(t *testing.T) {
	e := start(t, 50)
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collector(t, tidemarkprom.Checkpoints{Snapshot: e.Snapshot, MaxHeads: 50}))
	stop := make(chan struct{})
	var scrapes, pipeline sync.WaitGroup
	pipeline.Go(func() {
		for i := int64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			a := e.issue(checkpoint.PartitionID(i%50), i)
			if i%3 > 0 {
				a.Release()
			}
			if i%7 == 0 {
				e.step()
			}
			if i%1000 == 0 {
				e.Revoke(49)
				_ = e.ExtendEpoch(49)
			}
		}
	})
	for range 4 {
		scrapes.Go(func() {
			for range 50 {
				families, err := r.Gather()
				if err != nil {
					t.Error(err)
					return
				}
				values, series := map[string]float64{}, map[string]int{}
				for _, f := range families {
					series[f.GetName()] = len(f.GetMetric())
					values[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
				}
				admitted, heads := series["tidemark_partition_pending_batches"], series["tidemark_head_last_offset"]
				if values["tidemark_admitted_partitions"] != float64(admitted) || values["tidemark_held_back_partitions"] != float64(heads) || values["tidemark_unlisted_partitions"] != 0 {
					t.Errorf("%d partitions and %d heads, but the sums are %v", admitted, heads, values)
					return
				}
			}
		})
	}
	scrapes.Wait()
	close(stop)
	pipeline.Wait()
}
