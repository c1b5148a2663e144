package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// commitTimeout bounds one interval commit, its wait for a rebalance in
	// progress included.
	commitTimeout = 15 * time.Second
	// commitTries is how often a last commit is sent, commitPause the time
	// between the first two; it doubles.
	commitTries = 4
	commitPause = 100 * time.Millisecond
)

var errNoAnswer = errors.New("the broker's answer leaves the partition out")

// drain applies what was acknowledged and moves the partitions' watermarks.
// mu is held: a watermark and the admission it belongs to change together.
func (s *Source) drain() {
	d := s.cp.Drain()
	s.stats.Drain.Applied += d.Applied
	s.stats.Drain.StaleEpoch += d.StaleEpoch
	s.stats.Drain.Duplicates += d.Duplicates
	s.stats.Drain.Unknown += d.Unknown
	s.watermarks = s.cp.TakeWatermarks(s.watermarks[:0])
	for _, w := range s.watermarks {
		p := s.parts.byID[w.Partition]
		p.acked, p.mark, p.offered = w.Offset, w, true
		p.epochs.passed(w.Offset)
	}
	if d.Applied > 0 { // or no batch failed either
		s.noteStalls()
	}
}

// noteStalls finds the stalls that are new.
func (s *Source) noteStalls() {
	s.stalls = s.cp.Stalled(s.stalls[:0])
	for _, st := range s.stalls {
		if p := s.parts.byID[st.Partition]; !p.stalled {
			p.stalled = true
			s.newStalls = append(s.newStalls, newStall{st, p})
		}
	}
}

// newStall is a stall that was not logged yet.
type newStall struct {
	checkpoint.Stall
	p *partition
}

// logStalls logs each stall once. mu is not held: a logger may do anything.
func (s *Source) logStalls() {
	s.mu.Lock()
	news := s.newStalls
	s.newStalls = nil
	s.mu.Unlock()
	for _, st := range news {
		s.log.Error("partition stalled at a failed batch; it and what follows stay uncommitted",
			"topic", st.p.topic, "partition", st.p.num, "batch", st.Batch.String(), "last_offset", st.LastOffset)
	}
}

// commitLoop commits on an interval.
func (s *Source) commitLoop() {
	defer s.wg.Done()
	t := time.NewTicker(s.cfg.CommitInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-s.run.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.run.ctx, commitTimeout)
		if err := s.commit(ctx, nil, nil); err != nil && s.run.ctx.Err() == nil {
			s.log.Warn("commit failed; it is sent again", "err", err)
		}
		cancel()
	}
}

// topicPartition names a partition in a commit's answer.
type topicPartition struct {
	topic string
	num   int32
}

// commitment is one partition's share of a commit.
type commitment struct {
	p      *partition
	gen    uint64
	mark   checkpoint.Watermark // the zero one for a rewind alone
	offset int64
	// moves: not for the metadata alone.
	moves    bool
	metadata string
	err      error
}

// commit sends what was acknowledged and is not committed, of parts or, if
// nil, of every partition, and waits for the answer. What fails is due again
// with the next drain. It is part of barrier b or, if nil, a barrier of its own.
func (s *Source) commit(ctx context.Context, parts []*partition, b *barrier) error {
	select {
	case s.commitSem <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("kafka: waiting for another commit: %w", ctx.Err())
	}
	defer func() { <-s.commitSem }()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	own := b == nil
	deadline, _ := ctx.Deadline()
	sent, offsets, b := s.collect(parts, cancel, b, deadline)
	if own {
		defer b.end()
	}
	s.logStalls()
	if len(sent) == 0 {
		return nil
	}
	s.cl.CommitOffsetsSync(s.lastLook(ctx, sent), offsets, func(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		readAnswer(sent, req, resp, err)
	})
	return s.settle(sent, b)
}

// collect drains and gathers what is due, and hands it off from barrier b. If
// b is nil and something is due, it begins one. cancel ends the commit it is
// for. As long as mu is held nothing is issued and no batch is handed out:
// this is the pause of the intake.
func (s *Source) collect(parts []*partition, cancel context.CancelFunc, b *barrier, deadline time.Time) (
	sent map[topicPartition]*commitment, offsets map[string]map[int32]kgo.EpochOffset, _ *barrier,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parts == nil {
		parts = s.parts.byID
	}
	if b == nil {
		b = s.beginIntervalBarrier(parts, deadline)
	}
	s.advance()
	s.describe(parts)
	for _, p := range parts {
		if !p.due() {
			continue
		}
		if sent == nil {
			sent = make(map[topicPartition]*commitment)
			offsets = make(map[string]map[int32]kgo.EpochOffset)
		}
		if offsets[p.topic] == nil {
			offsets[p.topic] = make(map[int32]kgo.EpochOffset)
		}
		at := p.position()
		offsets[p.topic][p.num] = at
		sent[topicPartition{p.topic, p.num}] = &commitment{
			p: p, gen: p.gen, mark: p.mark, offset: at.Offset, moves: p.offered || p.rewind, metadata: p.delivered.text, err: errNoAnswer,
		}
		p.offered = false
	}
	s.inFlight, s.cancelCommit = sent, cancel
	if sent != nil {
		b.handOff()
	}
	return sent, offsets, b
}

// endCommits makes sure that no commit begun for parts, whose admissions are
// over, is still to come. The client sends a commit again by itself, under
// the member's next epoch if need be: by then the partition may have had
// another owner who committed more.
func (s *Source) endCommits(parts []*partition) {
	s.mu.Lock()
	var cancel context.CancelFunc
	for _, p := range parts {
		if s.inFlight[topicPartition{p.topic, p.num}] != nil {
			cancel = s.cancelCommit
		}
	}
	s.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel() // what it carried of other partitions is offered again
	s.commitSem <- struct{}{}
	<-s.commitSem
}

// readAnswer fills in each partition's result.
func readAnswer(sent map[topicPartition]*commitment, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
	if err != nil {
		for _, c := range sent {
			c.err = err
		}
		return
	}
	names := make(map[[16]byte]string) // newer answers name topics by ID alone
	for _, t := range req.Topics {
		names[t.TopicID] = t.Topic
	}
	for _, t := range resp.Topics {
		topic := t.Topic
		if topic == "" {
			topic = names[t.TopicID]
		}
		for _, rp := range t.Partitions {
			if c := sent[topicPartition{topic, rp.Partition}]; c != nil {
				c.err = kerr.ErrorForCode(rp.ErrorCode)
			}
		}
	}
}

// settle records a commit's results, resumes from its barrier and tells the
// user. It returns the first failure. What the checkpointer knows of admissions
// that ended meanwhile it ignores by itself.
func (s *Source) settle(sent map[topicPartition]*commitment, b *barrier) error {
	var failed int
	var first error
	s.mu.Lock()
	s.inFlight, s.cancelCommit = nil, nil
	for tp, c := range sent {
		if c.err != nil {
			failed++
			s.stats.CommitFailures++
			s.cp.Reject([]checkpoint.Watermark{c.mark})
			if first == nil {
				first = fmt.Errorf("%s[%d] at offset %d: %w", tp.topic, tp.num, c.offset, c.err)
			}
			continue
		}
		s.stats.Commits++
		s.cp.Confirm([]checkpoint.Watermark{c.mark})
		if c.p.admitted && c.p.gen == c.gen {
			c.p.committed, c.p.rewind = c.offset, false
			c.p.delivered.committed = c.metadata
		}
	}
	shrunk, limit := s.shrink(sent), s.deliveredLimit
	s.mu.Unlock()
	if shrunk {
		s.log.Warn("the broker takes less commit metadata; it gets less of what is delivered", "bytes", limit)
	}
	if failed == 0 {
		b.resume()
	}
	if s.cfg.OnCommit != nil {
		for tp, c := range sent {
			if c.err == nil && c.moves {
				s.cfg.OnCommit(tp.topic, tp.num, c.offset)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("kafka: commit of %d of %d partitions failed, the first %w", failed, len(sent), first)
	}
	return nil
}

// commitWithRetry is a commit that nothing follows: it is sent again until it
// is accepted, a few times and while ctx lasts.
func (s *Source) commitWithRetry(ctx context.Context, parts []*partition, b *barrier) error {
	pause := commitPause
	for try := 1; ; try++ {
		err := s.commit(ctx, parts, b)
		if err == nil || try == commitTries {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return err
		}
	}
}
