package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/core/checkpoint"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const goodLine = `203.0.113.7 - ada [30/Nov/2026:10:22:29 +0000] "GET /orders/7 HTTP/1.1" 200 512 "-" "curl/8.5"`

var errBroken = errors.New("broken")

// scripted is a source of batches that were made beforehand. At the end it
// waits for the context, or fails when it is told to.
type scripted struct {
	cp      *checkpoint.Checkpointer
	batches []kafka.Batch
	end     error
	// drained is closed when the last batch was polled.
	drained chan struct{}
	stats   func() kafka.Stats
}

func (s *scripted) Stats() kafka.Stats {
	if s.stats == nil {
		return kafka.Stats{}
	}
	return s.stats()
}

// script issues batches of one partition each, with so many lines a batch.
func script(t *testing.T, partitions, batches, perBatch int) *scripted {
	t.Helper()
	s := &scripted{cp: checkpoint.New(), drained: make(chan struct{})}
	var all []checkpoint.PartitionID
	for p := range partitions {
		all = append(all, checkpoint.PartitionID(p))
	}
	if err := s.cp.BeginEpoch(1, all...); err != nil {
		t.Fatal(err)
	}
	issuer := s.cp.Issuer()
	offsets := make([]int64, partitions)
	for i := range batches {
		p := i % partitions
		b := kafka.Batch{Topic: "t", Partition: int32(p), FetchedAt: time.Now()}
		for range perBatch {
			line := offsets[p]*int64(partitions) + int64(p) + 1
			b.Records = append(b.Records, record(int32(p), offsets[p], line, goodLine))
			offsets[p]++
		}
		var err error
		if b.Ack, err = issuer.Issue(checkpoint.PartitionID(p), offsets[p]-1); err != nil {
			t.Fatal(err)
		}
		s.batches = append(s.batches, b)
	}
	return s
}

func record(p int32, offset, line int64, value string) *kgo.Record {
	return &kgo.Record{Topic: "t", Partition: p, Offset: offset, Key: strconv.AppendInt(nil, line, 10), Value: []byte(value)}
}

func (s *scripted) Poll(ctx context.Context) (kafka.Batch, error) {
	if len(s.batches) == 0 {
		if s.drained != nil {
			close(s.drained)
			s.drained = nil
		}
		if s.end != nil {
			return kafka.Batch{}, s.end
		}
		<-ctx.Done()
		return kafka.Batch{}, ctx.Err()
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	return b, nil
}

func config(t *testing.T) (Config, string) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *sink.File {
		f, err := sink.Open(filepath.Join(dir, name), lines.OriginPrefix)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	return Config{Input: "in", Workers: 4, MaxLine: 1000, MaxBytes: 1 << 20, Events: open("events"), Dead: open("dead")}, dir
}

// run runs the pipeline until everything scripted is on disk.
func run(t *testing.T, s *scripted, cfg Config) (*Stats, error) {
	t.Helper()
	stats := new(Stats)
	return stats, runInto(t, s, cfg, stats)
}

func runInto(t *testing.T, s *scripted, cfg Config, stats *Stats) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	drained := s.drained
	go func() {
		select {
		case <-drained:
			cancel()
		case <-ctx.Done():
		}
	}()
	return Run(ctx, s, cfg, stats)
}

func TestEveryLineBecomesOneLineOfOutputAndEveryBatchIsDelivered(t *testing.T) {
	cfg, dir := config(t)
	s := script(t, 6, 600, 20)
	stats, err := run(t, s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	set := lines.NewSet(12_000)
	for line := range bytes.Lines(text) {
		var n int64
		if _, err := fmt.Sscanf(string(line), `{"src":"in","line":%d,`, &n); err != nil || !set.Add(n) {
			t.Fatalf("unexpected line %s", line)
		}
	}
	if set.Len() != 12_000 || stats.Events.Load() != 12_000 || stats.Fetched.Load() != 12_000 || stats.Batches.Load() != 600 || stats.Dead() != 0 {
		t.Errorf("%d lines in the file; stats %d events, %d fetched, %d batches", set.Len(), stats.Events.Load(), stats.Fetched.Load(), stats.Batches.Load())
	}
	if stats.Bytes.Load() != int64(len(text)) {
		t.Errorf("%d bytes counted, %d written", stats.Bytes.Load(), len(text))
	}
	if drain := s.cp.Drain(); drain.Applied != 600 || drain.Duplicates != 0 {
		t.Errorf("drain %+v, want 600 applied and no duplicate", drain)
	}
	for _, w := range s.cp.TakeWatermarks(nil) {
		if w.Offset != 2000 {
			t.Errorf("partition %d is committable up to %d, want 2000", w.Partition, w.Offset)
		}
	}
}

// At no moment may a watermark cover a line that is not in the file.
func TestNothingIsAcknowledgedBeforeItIsWritten(t *testing.T) {
	cfg, dir := config(t)
	s := script(t, 1, 500, 10)
	stop := make(chan struct{})
	checked := make(chan error, 1)
	go func() {
		var marks []checkpoint.Watermark
		for {
			select {
			case <-stop:
				checked <- nil
				return
			default:
			}
			s.cp.Drain()
			marks = s.cp.TakeWatermarks(marks[:0])
			if len(marks) == 0 {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, "events"))
			if err != nil || int64(bytes.Count(text, []byte{'\n'})) < marks[0].Offset {
				checked <- fmt.Errorf("watermark %d with %d lines in the file, %v", marks[0].Offset, bytes.Count(text, []byte{'\n'}), err)
				return
			}
		}
	}()
	_, err := run(t, s, cfg)
	close(stop)
	if err := errors.Join(err, <-checked); err != nil {
		t.Fatal(err)
	}
}

func TestLinesThatAreNoEventsAreDeadLettered(t *testing.T) {
	cfg, dir := config(t)
	s := script(t, 1, 1, 7)
	records := s.batches[0].Records
	for i, value := range []string{goodLine, "", "\r", "nonsense", "caf\xe9\x00", strings.Repeat("x", 1001), "no key"} {
		records[i].Value = []byte(value)
	}
	records[6].Key = nil
	stats, err := run(t, s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := [...]int64{stats.Events.Load(), stats.Empty.Load(), stats.Oversized.Load(), stats.Unparsable.Load(), stats.Foreign.Load(), stats.Dead()}
	if want := [...]int64{1, 2, 1, 2, 1, 6}; got != want {
		t.Errorf("events, empty, oversized, unparsable, foreign, dead: %v, want %v", got, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dead"))
	if err != nil || bytes.Count(text, []byte{'\n'}) != 6 {
		t.Errorf("%d dead letters, %v", bytes.Count(text, []byte{'\n'}), err)
	}
	if marks := s.drainAndTake(); len(marks) != 1 || marks[0].Offset != 7 {
		t.Errorf("watermarks %v: bad lines hold the partition back", marks)
	}
}

func (s *scripted) drainAndTake() []checkpoint.Watermark {
	s.cp.Drain()
	return s.cp.TakeWatermarks(nil)
}

// A sink that fails must stop the pipeline, commit nothing that it did not
// take, and leave no batch unresolved: closing the source would wait for it.
func TestAFailingSinkDeliversNothingAndLeavesNothingOpen(t *testing.T) {
	for _, broken := range []string{"events", "dead"} {
		t.Run(broken, func(t *testing.T) {
			cfg, _ := config(t)
			s := script(t, 3, 300, 5)
			if broken == "dead" {
				s.batches[0].Records[0].Value = nil
				cfg.Dead.Close()
			} else {
				cfg.Events.Close()
			}
			polled := 0
			cfg.OnFetch = func(kafka.Batch) { polled++ }
			stats, err := run(t, s, cfg)
			if !errors.Is(err, os.ErrClosed) {
				t.Fatalf("error %v, want the file's", err)
			}
			if stats.Batches.Load() != 0 && broken == "events" {
				t.Errorf("%d batches count as durable", stats.Batches.Load())
			}
			drain := s.cp.Drain()
			if drain.Applied != polled {
				t.Errorf("%d of %d polled batches are resolved", drain.Applied, polled)
			}
			for _, w := range s.cp.TakeWatermarks(nil) {
				if broken == "events" || w.Partition == 0 {
					t.Errorf("watermark %v of what was not written", w)
				}
			}
			if stalls := s.cp.Stalled(nil); len(stalls) == 0 {
				t.Error("no stall reported")
			}
		})
	}
}

func TestABatchThatIsRefusedFailsAndIsNotWritten(t *testing.T) {
	s := script(t, 1, 5, 10)
	cfg, dir := config(t)
	cfg.MaxBytes = 1 // one batch at a time: what a refused one held is given back
	cfg.Refuse = func(b kafka.Batch) error {
		if b.Records[0].Offset == 20 {
			return errors.New("not this one")
		}
		return nil
	}
	stats, err := run(t, s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.drainAndTake(); len(got) != 1 || got[0].Offset != 20 || stats.Refused.Load() != 10 || stats.Events.Load() != 40 {
		t.Fatalf("watermarks %v, %d refused, %d written", got, stats.Refused.Load(), stats.Events.Load())
	}
	text, err := os.ReadFile(filepath.Join(dir, "events"))
	if err != nil || bytes.Count(text, []byte("\n")) != 40 || bytes.Contains(text, []byte(`"offset":20,`)) {
		t.Fatalf("%v:\n%s", err, text)
	}
}

func TestAFailingSourceEndsThePipelineAfterWhatItHandedOut(t *testing.T) {
	cfg, _ := config(t)
	s := script(t, 2, 40, 5)
	s.end = errBroken
	stats, err := run(t, s, cfg)
	if !errors.Is(err, errBroken) || stats.Batches.Load() != 40 {
		t.Errorf("error %v after %d batches, want the source's after 40", err, stats.Batches.Load())
	}
	if drain := s.cp.Drain(); drain.Applied != 40 {
		t.Errorf("drain %+v", drain)
	}
}

func TestBatchesThatWereOvertakenAreCounted(t *testing.T) {
	cfg, _ := config(t)
	s := script(t, 2, 6, 1)
	w := writer{pipeline: &pipeline{cfg: cfg, stats: new(Stats)}, seen: map[int32]checkpoint.BatchID{}}
	for _, i := range []int{2, 0, 1, 4, 5, 3} { // 0, 2, 4 of partition 0; 1, 3, 5 of partition 1
		if err := w.add(newChunk(s.batches[i])); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.stats.Overtaken.Load(); got != 2 {
		t.Errorf("%d overtaken, want 2", got)
	}
	w.acks.Deliver()
}

func TestBudgetBoundsWhatIsInFlight(t *testing.T) {
	b := newBudget(100)
	b.take(60)
	b.take(40)
	taken := make(chan struct{})
	go func() {
		b.take(1000) // alone, but it passes
		close(taken)
	}()
	b.give(60)
	select {
	case <-taken:
		t.Fatal("a large batch passed while others were in flight")
	case <-time.After(20 * time.Millisecond):
	}
	b.give(40)
	<-taken
	b.give(1000)
	b.take(100)
}

// owning reports the partition as owned, committed up to what at says.
func owning(at func() int64) func() kafka.Stats {
	return func() kafka.Stats {
		return kafka.Stats{Partitions: []kafka.PartitionStats{{Topic: "t", Committed: at()}}}
	}
}

func TestTheWindowHoldsBackWhatIsTooFarAheadOfTheCommits(t *testing.T) {
	cfg, _ := config(t)
	cfg.Window = 50
	s := script(t, 1, 100, 10)
	var stats Stats
	var committed, ahead int64
	s.stats = owning(func() int64 {
		// The broker commits what is on disk, but only after the window has
		// looked a few times.
		if ahead++; ahead%3 == 0 {
			committed = stats.Events.Load()
		}
		return committed
	})
	cfg.OnFetch = func(b kafka.Batch) {
		if end := b.Records[len(b.Records)-1].Offset + 1; end-committed > 50 {
			t.Errorf("offsets up to %d are worked on with %d committed", end, committed)
		}
	}
	if err := runInto(t, s, cfg, &stats); err != nil || stats.Events.Load() != 1000 {
		t.Errorf("%d lines, %v; want 1000", stats.Events.Load(), err)
	}
}

func TestTheWindowBeginsWhereReadingDoes(t *testing.T) {
	cfg, _ := config(t)
	cfg.Window = 20
	s := script(t, 1, 2, 10)
	for _, b := range s.batches { // retention took what was before
		for _, r := range b.Records {
			r.Offset += 1e9
		}
	}
	s.stats = owning(func() int64 { return -1 })
	if stats, err := run(t, s, cfg); err != nil || stats.Events.Load() != 20 {
		t.Errorf("%d lines, %v; want 20", stats.Events.Load(), err)
	}
}

// A partition that was taken away and given back is read from its commit again.
// A batch of before, far above that, would wait for commits that nobody makes
// while the pipeline waits.
func TestTheWindowDropsWhatIsOfAnEarlierOwnership(t *testing.T) {
	cfg, _ := config(t)
	cfg.Window = 30
	s := script(t, 1, 10, 10)
	for i := range s.batches[1:] {
		s.batches[1+i].Ownership = 2
	}
	for _, r := range s.batches[0].Records {
		r.Offset += 1000 // held back since the first ownership
	}
	s.batches[0], s.batches[1] = s.batches[1], s.batches[0]
	s.batches[1].Ownership = 1
	var stats Stats
	s.stats = func() kafka.Stats {
		return kafka.Stats{Partitions: []kafka.PartitionStats{{Topic: "t", Ownership: 2, Committed: 10 + stats.Events.Load()}}}
	}
	if err := runInto(t, s, cfg, &stats); err != nil || stats.Events.Load() != 90 {
		t.Errorf("%d lines, %v; want the 90 of the ownership there is", stats.Events.Load(), err)
	}
}

func TestTheWindowDropsWhatIsNoLongerOwned(t *testing.T) {
	cfg, _ := config(t)
	cfg.Window = 10
	s := script(t, 1, 30, 10)
	// The first batch fits. The others would have to wait for a commit of a
	// partition that is somebody else's by now.
	if stats, err := run(t, s, cfg); err != nil || stats.Events.Load() != 10 {
		t.Errorf("%d lines, %v; want the 10 that fit", stats.Events.Load(), err)
	}
}
