package kafka

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// restored is a Source whose partition starts at 10 and has 20 to 39 restored,
// in records of leader epoch 3.
func restored(t *testing.T) (*Source, *partition) {
	t.Helper()
	s, p := offline(t, Config{BatchRecords: 10, DeliveredBytes: checkpoint.RangesLimit})
	assigned(t, s, 10, told(t, 20, 40))
	if got := p.delivered.restored.Ranges(); !slices.Equal(got, []checkpoint.OffsetRange{{From: 20, To: 40}}) || p.delivered.epoch != 3 {
		t.Fatalf("restored %v of epoch %d", got, p.delivered.epoch)
	}
	return s, p
}

// told is the metadata for one range.
func told(t *testing.T, from, to int64) string {
	t.Helper()
	return formatDelivered([]checkpoint.OffsetRange{{From: from, To: to}}, func(int64) int32 { return 3 }, checkpoint.RangesLimit)
}

// assigned fetches a commit of in/0 as the client does.
func assigned(t *testing.T, s *Source, at int64, metadata string) {
	t.Helper()
	fetch := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	fetch.Offset, fetch.Metadata = at, &metadata
	topic := kmsg.NewOffsetFetchResponseGroupTopic()
	topic.Topic, topic.Partitions = "in", append(topic.Partitions, fetch)
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Topics = append(group.Topics, topic)
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.Groups = append(resp.Groups, group)
	if err := s.onFetched(t.Context(), s.cl, resp); err != nil {
		t.Fatal(err)
	}
	if _, err := s.onOffsets(t.Context(), map[string]map[int32]kgo.Offset{"in": {0: kgo.NewOffset().At(at).WithEpoch(2)}}); err != nil {
		t.Fatal(err)
	}
}

// fetchIn is fetchOf with a leader epoch.
func fetchIn(epoch int32, first int64, n int) kgo.Fetches {
	f := fetchOf(first, n, nil)
	for _, r := range f.Records() {
		r.LeaderEpoch = epoch
	}
	return f
}

// handedOut takes everything that is queued, and returns the offsets.
func handedOut(t *testing.T, s *Source) (offsets []int64) {
	t.Helper()
	for {
		b, ok, err := s.next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return offsets
		}
		for _, r := range b.Records {
			offsets = append(offsets, r.Offset)
		}
	}
}

// upTo returns the numbers from from up to, and without, to.
func upTo(from, to int64) (all []int64) {
	for ; from < to; from++ {
		all = append(all, from)
	}
	return all
}

func TestRestoredOffsetsAreIssuedAndNotHandedOut(t *testing.T) {
	s, p := restored(t)
	s.ingest(fetchIn(3, 10, 25), time.Now()) // ends within the range
	s.ingest(fetchIn(4, 35, 0), time.Now())
	s.ingest(fetchIn(3, 35, 25), time.Now())
	if got, want := handedOut(t, s), append(upTo(10, 20), upTo(40, 60)...); !slices.Equal(got, want) {
		t.Fatalf("handed out %v, want %v", got, want)
	}
	if !p.delivered.restored.Empty() || s.stats.Restored != 20 {
		t.Fatalf("%d are restored, %v still to come", s.stats.Restored, p.delivered.restored.Ranges())
	}
	sent, offsets, _ := s.collect(nil, func() {}, nil, time.Time{})
	if len(sent) != 0 {
		t.Fatalf("a commit that tells what the last one told: %v", offsets)
	}
}

// A log that was cut and written again while nobody read it has later epochs
// where something was delivered.
func TestRestoredOffsetsOfALogThatWasRewrittenAreHandedOut(t *testing.T) {
	s, p := restored(t)
	s.ingest(fetchIn(3, 10, 10), time.Now())
	s.ingest(append(fetchIn(3, 20, 5), fetchIn(4, 25, 25)...), time.Now())
	if got, want := handedOut(t, s), append(upTo(10, 20), upTo(25, 50)...); !slices.Equal(got, want) {
		t.Fatalf("handed out %v, want %v", got, want)
	}
	if !p.delivered.restored.Empty() {
		t.Fatal("what was restored is kept")
	}
}

func TestRestoredOffsetsAreForgottenAfterALoss(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *Source, *partition){
		"truncated": func(_ *testing.T, s *Source, p *partition) {
			s.ingest(fetchIn(3, 10, 5), time.Now())
			s.truncated(p, 15, 12)
		},
		"before anything was read": func(_ *testing.T, s *Source, p *partition) { s.truncated(p, 10, 10) },
		"expired": func(_ *testing.T, s *Source, _ *partition) {
			f := fetchIn(3, 15, 1)
			f[0].Topics[0].Partitions[0].LogStartOffset = 15
			s.ingest(f, time.Now())
		},
		"recreated": func(t *testing.T, s *Source, p *partition) {
			s.forget("in")
			s.mu.Lock()
			s.admit(p)
			s.mu.Unlock()
			assigned(t, s, 10, told(t, 20, 40)) // the commit to the topic that was
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := restored(t)
			lose(t, s, p)
			if !p.delivered.restored.Empty() {
				t.Fatalf("%v are kept", p.delivered.restored.Ranges())
			}
			if name == "recreated" {
				return // nothing is committed before something is read
			}
			sent, offsets, _ := s.collect(nil, func() {}, nil, time.Time{})
			c := sent[topicPartition{"in", 0}]
			if c == nil || c.metadata != "" || c.offset != 10 {
				t.Fatalf("the next commit is %+v in %v, want one at 10 that tells nothing", c, offsets)
			}
		})
	}
}

// A commit for the metadata alone keeps the offset and the epoch of the last.
func TestACommitForTheMetadataKeepsTheEpoch(t *testing.T) {
	s, _ := offline(t, Config{BatchRecords: 10, DeliveredBytes: checkpoint.RangesLimit})
	assigned(t, s, 10, "")
	s.ingest(fetchIn(3, 10, 20), time.Now())
	pollOffline(t, s, 2)[1].Ack.Done(nil)
	sent, offsets, _ := s.collect(nil, func() {}, nil, time.Time{})
	if c := sent[topicPartition{"in", 0}]; c == nil || c.moves || c.metadata != told(t, 20, 30) || offsets["in"][0] != (kgo.EpochOffset{Epoch: 2, Offset: 10}) {
		t.Fatalf("the commit is %+v at %v", c, offsets)
	}
}

func TestMetadataOfOthersTellsNothing(t *testing.T) {
	good := told(t, 20, 40)
	ranges, _, _ := strings.Cut(good, epochMark)
	for _, text := range []string{"member-1", ranges, ranges + "@", ranges + "@-1", ranges + "@4294967296", ranges + "@3x", good[1:], good + "@3", "@3"} {
		if d, _, err := parseDelivered(0, text); err == nil && !d.Empty() {
			t.Errorf("%q is taken for %v", text, d.Ranges())
		}
	}
	for _, c := range []struct {
		at   int64
		want []checkpoint.OffsetRange
	}{{0, []checkpoint.OffsetRange{{From: 20, To: 40}}}, {30, []checkpoint.OffsetRange{{From: 30, To: 40}}}, {40, nil}} {
		if d, epoch, err := parseDelivered(c.at, good); err != nil || epoch != 3 || !slices.Equal(d.Ranges(), c.want) {
			t.Errorf("from %d: %v of epoch %d, %v", c.at, d.Ranges(), epoch, err)
		}
	}
	noEpoch := func(int64) int32 { return unknown }
	if text := formatDelivered([]checkpoint.OffsetRange{{From: 20, To: 40}}, noEpoch, 100); text != "" {
		t.Errorf("without epochs it tells %q", text)
	}
	if text := formatDelivered(nil, noEpoch, 100); text != "" {
		t.Errorf("of nothing it tells %q", text)
	}
}

func TestTooFewDeliveredBytesAreRefused(t *testing.T) {
	cfg := Config{Brokers: []string{"b:1"}, Group: "g", Topics: []string{"t"}}
	for bytes, legal := range map[int]bool{-1: false, 1: false, 63: false, 64: true, 0: true} {
		cfg.DeliveredBytes = bytes
		if _, err := Open(canceled(t), cfg); strings.Contains(err.Error(), "DeliveredBytes") == legal {
			t.Errorf("%d: %v", bytes, err)
		}
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
