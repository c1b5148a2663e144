package producer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const topic = "lines"

type fixture struct {
	cluster *kfake.Cluster
	cfg     Config
	adm     *kadm.Client
	ctx     context.Context
}

// text has so many lines, each of them different.
func text(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line number %d\n", i+1)
	}
	return b.String()
}

func setUp(t *testing.T, content string, opts ...kfake.Opt) *fixture {
	t.Helper()
	cluster, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	in, err := input.Load(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	client := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)}
	cl, err := kgo.NewClient(client...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &fixture{
		cluster: cluster, adm: kadm.NewClient(cl), ctx: ctx,
		cfg: Config{
			Client: client, Input: in, Topic: topic, Partitions: 6, MaxLine: 100,
			Spill: func(num int64, r *lines.Reader) (lines.Spilled, error) {
				var size strings.Builder
				n, err := r.CopyLong(&size)
				return lines.Spilled{File: fmt.Sprint("file of ", num), SHA256: "beef", Bytes: n}, err
			},
		},
	}
}

func (f *fixture) produce(t *testing.T) *Progress {
	t.Helper()
	var p Progress
	if err := Produce(f.ctx, f.cfg, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// records reads the whole topic.
func (f *fixture) records(t *testing.T) []*kgo.Record {
	t.Helper()
	ends, err := f.adm.ListEndOffsets(f.ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	var left int64
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	cl, err := kgo.NewClient(append(f.cfg.Client, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var all []*kgo.Record
	for int64(len(all)) < left {
		fetches := cl.PollFetches(f.ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		all = append(all, fetches.Records()...)
	}
	return all
}

// eachOnce checks that the topic holds every line of the input, once unless
// told otherwise, with its text.
func (f *fixture) eachOnce(t *testing.T, repeats int) {
	t.Helper()
	raw, err := os.ReadFile(f.cfg.Input.Name)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	set := lines.NewSet(f.cfg.Input.Lines)
	for _, r := range f.records(t) {
		line, ok := LineOf(r)
		if !ok || line > int64(len(want)) || (string(r.Value) != want[line-1] && len(r.Headers) == 0) {
			t.Fatalf("record %s=%q at %d/%d", r.Key, r.Value, r.Partition, r.Offset)
		}
		if r.Partition != partitionOf(line, f.cfg.Partitions) {
			t.Errorf("line %d is in partition %d", line, r.Partition)
		}
		if !set.Add(line) {
			repeats--
		}
	}
	if set.Len() != f.cfg.Input.Lines || repeats != 0 {
		t.Errorf("%d of %d lines, first missing %d; repeats are off by %d", set.Len(), f.cfg.Input.Lines, set.FirstMissing(), repeats)
	}
}

func TestProduceBringsEveryLineOnceAndNotAgain(t *testing.T) {
	f := setUp(t, text(5000))
	if p := f.produce(t); p.Acked.Load() != 5000 || p.Found.Load() != 0 {
		t.Errorf("first: %d sent, %d found", p.Acked.Load(), p.Found.Load())
	}
	f.eachOnce(t, 0)
	if p := f.produce(t); p.Acked.Load() != 0 || p.Found.Load() != 5000 {
		t.Errorf("again: %d sent, %d found", p.Acked.Load(), p.Found.Load())
	}
	f.eachOnce(t, 0)
}

func TestProduceOfFewLinesAndNone(t *testing.T) {
	for _, n := range []int{0, 1, 5, 6, 7} {
		f := setUp(t, text(n))
		f.produce(t)
		f.produce(t)
		if got := len(f.records(t)); got != n {
			t.Errorf("%d lines became %d records", n, got)
		}
	}
}

func TestProduceGoesOnAfterAnInterruption(t *testing.T) {
	// More than a few requests carry, so that some of it is left.
	const lines = 300_000
	f := setUp(t, text(lines))
	ctx, cancel := context.WithCancel(f.ctx)
	var p Progress
	var seen atomic.Int32
	f.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.cluster.KeepControl()
		if seen.Add(1) == 3 {
			cancel()
		}
		return nil, nil, false
	})
	if err := Produce(ctx, f.cfg, &p); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if p.Acked.Load() == 0 || p.Acked.Load() != p.Sent.Load() || p.Acked.Load() == lines {
		t.Fatalf("interrupted after %d sent and %d acknowledged", p.Sent.Load(), p.Acked.Load())
	}
	if again := f.produce(t); again.Found.Load() != p.Acked.Load() || again.Acked.Load()+again.Found.Load() != lines {
		t.Errorf("found %d and sent %d after %d", again.Found.Load(), again.Acked.Load(), p.Acked.Load())
	}
	f.eachOnce(t, 0)
}

// Whatever a crash left in the topic, every line is in it in the end: pieces
// in any order, lines twice, lines missing in the middle.
func TestProduceFillsHolesAndToleratesRepeats(t *testing.T) {
	f := setUp(t, text(600))
	if _, err := f.adm.CreateTopic(f.ctx, 6, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(append(f.cfg.Client, kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	// Partition 0 as long as it should be, but with a repeat for a hole;
	// partition 1 complete with repeats; partition 2 backwards.
	for _, line := range slices.Concat(steps(1, 589), []int64{1}, steps(2, 596), []int64{2, 8}, []int64{303, 297, 3}) {
		r := &kgo.Record{Topic: topic, Partition: partitionOf(line, 6), Key: strconv.AppendInt(nil, line, 10), Value: fmt.Appendf(nil, "line number %d", line)}
		if err := cl.ProduceSync(f.ctx, r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	f.produce(t)
	f.eachOnce(t, 3)
	if p := f.produce(t); p.Acked.Load() != 0 {
		t.Errorf("%d lines sent again", p.Acked.Load())
	}
}

// steps is from, from+6, ... up to last.
func steps(from, last int64) (s []int64) {
	for line := from; line <= last; line += 6 {
		s = append(s, line)
	}
	return s
}

func TestLongLinesAreSpilledAndStandInTheirPlace(t *testing.T) {
	f := setUp(t, "short\n"+strings.Repeat("x", 5000)+"\nshort again")
	f.produce(t)
	records := f.records(t)
	slices.SortFunc(records, func(a, b *kgo.Record) int { return strings.Compare(string(a.Key), string(b.Key)) })
	if len(records) != 3 {
		t.Fatalf("%d records, want 3", len(records))
	}
	s, ok := SpilledOf(records[1])
	if want := (lines.Spilled{File: "file of 2", SHA256: "beef", Bytes: 5000}); !ok || s != want || len(records[1].Value) > headBytes {
		t.Errorf("the long line is %+v, %v, with %d bytes", s, ok, len(records[1].Value))
	}
	if _, ok := SpilledOf(records[2]); ok || string(records[2].Value) != "short again" {
		t.Errorf("the line after it is %q", records[2].Value)
	}
}

func TestProduceRefusesATopicWithOtherPartitions(t *testing.T) {
	f := setUp(t, text(10))
	if _, err := f.adm.CreateTopic(f.ctx, 3, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	err := Produce(f.ctx, f.cfg, new(Progress))
	if !errors.Is(err, ErrTopic) || !strings.Contains(err.Error(), "3 partitions, want 6") {
		t.Errorf("error %v", err)
	}
}

func TestARefusedRecordFailsWithItsLineAndAHint(t *testing.T) {
	f := setUp(t, text(100), kfake.BrokerConfigs(map[string]string{"message.max.bytes": "80"}))
	err := Produce(f.ctx, f.cfg, new(Progress))
	if !errors.Is(err, kerr.MessageTooLarge) || !strings.Contains(err.Error(), "smaller limit") || !strings.Contains(err.Error(), "line ") {
		t.Errorf("error %v", err)
	}
}

func TestShareCountsTheLinesOfEachPartition(t *testing.T) {
	for total := int64(0); total < 40; total++ {
		var counts [6]int64
		for line := int64(1); line <= total; line++ {
			counts[partitionOf(line, 6)]++
		}
		for p, want := range counts {
			if got := share(total, int32(p), 6); got != want {
				t.Errorf("%d lines: partition %d has %d, share says %d", total, p, want, got)
			}
		}
	}
}

func TestLineOf(t *testing.T) {
	for key, want := range map[string]int64{"1": 1, "0042": 42, "999999999999999999": 999999999999999999, "": 0, "0": 0, "-1": 0, "x": 0, "1 ": 0, "9999999999999999999": 0} {
		if got, ok := LineOf(&kgo.Record{Key: []byte(key)}); (ok && got != want) || ok != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", key, got, ok, want)
		}
	}
}
