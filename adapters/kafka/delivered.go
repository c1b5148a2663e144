package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The metadata of a commit is a text of checkpoint.FormatRanges, epochMark, and
// the leader epoch of the last record in the ranges, in decimal. A log that was
// rewritten above the commit while nobody read it has records of later epochs
// there: the epoch of the commit itself does not tell, as it is of a record
// below.
const (
	epochMark = "@"
	// epochRoom is what mark and epoch take at most.
	epochRoom = len(epochMark) + len("2147483647")
	// minDelivered is the smallest Config.DeliveredBytes besides 0. A few
	// ranges have room in it.
	minDelivered = 64
)

// delivered is what a partition keeps about offsets above its commit. It is of
// one admission.
type delivered struct {
	// restored are offsets that were delivered before the admission, in
	// records of leader epochs up to epoch. They are not handed out again.
	restored checkpoint.Delivered
	epoch    int32
	// text is the metadata that the next commit carries, committed the one of
	// the last commit, as far as it is ours.
	text, committed string
}

// formatDelivered makes the metadata of a commit, in at most limit bytes.
func formatDelivered(ranges []checkpoint.OffsetRange, epochOf func(end int64) int32, limit int) string {
	text, kept, err := checkpoint.FormatRanges(ranges, limit-epochRoom)
	if err != nil {
		panic(fmt.Sprintf("kafka: delivered ranges: %v", err))
	}
	if kept == 0 {
		return ""
	}
	epoch := epochOf(ranges[kept-1].To)
	if epoch < 0 {
		return "" // a broker without epochs: nothing would tell that the log was rewritten
	}
	return text + epochMark + strconv.Itoa(int(epoch))
}

// parseDelivered reads what formatDelivered made. Anything else is an error.
func parseDelivered(committed int64, text string) (d checkpoint.Delivered, epoch int32, err error) {
	if text == "" {
		return d, unknown, nil
	}
	ranges, decimal, _ := strings.Cut(text, epochMark)
	d, err = checkpoint.RestoreDelivered(committed, ranges)
	if err != nil {
		return d, unknown, err
	}
	n, err := strconv.ParseUint(decimal, 10, 31)
	if err != nil {
		return checkpoint.Delivered{}, unknown, fmt.Errorf("kafka: the epoch behind delivered ranges: %w", err)
	}
	return d, int32(n), nil
}

// onFetched keeps the metadata of fetched commits for onOffsets, which the
// client calls next.
func (s *Source) onFetched(ctx context.Context, _ *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	if len(resp.Groups) != 1 {
		return nil // the client asks for one group
	}
	topics := resp.Groups[0].Topics
	names := s.namesOf(ctx, topics)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched = make(map[topicPartition]fetchedCommit)
	for _, t := range topics {
		topic := t.Topic
		if topic == "" {
			topic = names[t.TopicID]
		}
		for _, p := range t.Partitions {
			if p.Metadata != nil {
				s.fetched[topicPartition{topic, p.Partition}] = fetchedCommit{p.Offset, *p.Metadata}
			}
		}
	}
	return nil
}

// namesOf returns the names of topics by ID, if topics lack their names, as
// those of newer answers do.
func (s *Source) namesOf(ctx context.Context, topics []kmsg.OffsetFetchResponseGroupTopic) map[[16]byte]string {
	if !slices.ContainsFunc(topics, func(t kmsg.OffsetFetchResponseGroupTopic) bool { return t.Topic == "" }) {
		return nil
	}
	ids, err := topicIDs(ctx, s.cl, s.cfg.Topics)
	if err != nil {
		s.log.Warn("asking for topics, to know what was delivered; it may be delivered again", "err", err)
	}
	names := make(map[[16]byte]string)
	for name, id := range ids {
		names[id] = name
	}
	return names
}

// fetchedCommit is a commit as the group keeps it.
type fetchedCommit struct {
	offset   int64
	metadata string
}

// restore takes over what was fetched with the commit that p starts from. It
// reports whether that is of another program. mu is held.
func (s *Source) restore(p *partition) (foreign bool) {
	c, ok := s.fetched[topicPartition{p.topic, p.num}]
	if s.cfg.DeliveredBytes == 0 || !ok || c.offset != p.base {
		return false
	}
	d, epoch, err := parseDelivered(p.base, c.metadata)
	if err != nil {
		return true
	}
	p.delivered = delivered{restored: d, epoch: epoch, text: c.metadata, committed: c.metadata}
	return false
}

// beginsAt notes where the admission of p begins to read.
func (s *Source) beginsAt(p *partition, offset int64) {
	p.base = offset
	s.cp.StartAt(p.id, offset)
}

// describe makes the metadata of the next commit of each of parts: what is
// delivered above the commit, and what was before and is not read again yet. mu
// is held, and everything is drained.
func (s *Source) describe(parts []*partition) {
	if s.cfg.DeliveredBytes == 0 {
		return
	}
	for _, p := range parts {
		if !p.admitted {
			continue
		}
		p.delivered.text = ""
		if s.deliveredLimit > 0 && (s.cp.Pending(p.id) > 0 || !p.delivered.restored.Empty()) {
			s.ranges, _ = s.cp.DeliveredRanges(p.id, s.ranges[:0], s.deliveredLimit) // one takes more than a byte
			s.ranges = p.appendRestored(s.ranges)
			p.delivered.text = formatDelivered(s.ranges, p.epochAt, s.deliveredLimit)
		}
	}
}

// appendRestored appends what was restored and is above what is issued.
func (p *partition) appendRestored(dst []checkpoint.OffsetRange) []checkpoint.OffsetRange {
	for _, r := range p.delivered.restored.Ranges() {
		if r.From = max(r.From, p.issued); r.From >= r.To {
			continue
		}
		if n := len(dst); n > 0 && dst[n-1].To == r.From {
			dst[n-1].To = r.To
			continue
		}
		dst = append(dst, r)
	}
	return dst
}

// epochAt is the leader epoch of the last record below end, or a later one that
// bounds it.
func (p *partition) epochAt(end int64) int32 {
	if end > p.issued {
		return p.delivered.epoch
	}
	return p.epochs.at(end)
}

// split returns how many of the first records make one batch of at most most,
// and whether they were delivered before: then it can be larger.
func (p *partition) split(records []*kgo.Record, most int) (n int, before bool) {
	if p.delivered.restored.Empty() {
		return min(len(records), most), false
	}
	restored := &p.delivered.restored
	if before = restored.Contains(records[0].Offset); before {
		most = len(records)
	}
	for n = 1; n < len(records) && n < most && restored.Contains(records[n].Offset) == before; n++ {
	}
	return n, before
}

// rewritten forgets what was restored, and reports true, if records show that
// the log was written anew since.
func (p *partition) rewritten(records []*kgo.Record) bool {
	if p.delivered.restored.Empty() {
		return false
	}
	for _, r := range records {
		if r.LeaderEpoch > p.delivered.epoch && p.delivered.restored.Contains(r.Offset) {
			p.delivered.restored = checkpoint.Delivered{}
			return true
		}
	}
	return false
}

// lastLook has the client look, before it sends the commit, under which name it
// does, and put the metadata of sent into it.
func (s *Source) lastLook(ctx context.Context, sent map[topicPartition]*commitment) context.Context {
	return kgo.PreCommitFnContext(ctx, func(req *kmsg.OffsetCommitRequest) error {
		if err := s.commitsAs(req.MemberID); err != nil || s.cfg.DeliveredBytes == 0 {
			return err
		}
		for i := range req.Topics {
			t := &req.Topics[i]
			for j := range t.Partitions {
				if c := sent[topicPartition{t.Topic, t.Partitions[j].Partition}]; c != nil {
					t.Partitions[j].Metadata = &c.metadata
				}
			}
		}
		return nil
	})
}

// shrink follows a broker that takes less metadata than it was sent: the next
// commit has half of it, or none in the end. mu is held.
func (s *Source) shrink(sent map[topicPartition]*commitment) (shrunk bool) {
	for _, c := range sent {
		if errors.Is(c.err, kerr.OffsetMetadataTooLarge) {
			if s.deliveredLimit /= 2; s.deliveredLimit < minDelivered {
				s.deliveredLimit = 0
			}
			return true
		}
	}
	return false
}
