package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// fetchLoop polls the client, issues what it got and allows rebalances again,
// until Close. The client runs no hook from the moment it takes records from
// its buffers until AllowRebalance, so everything polled from a partition is
// issued or stashed before the partition can be taken away.
func (s *Source) fetchLoop() {
	defer s.wg.Done()
	defer close(s.fetchDone)
	for s.fetch.ctx.Err() == nil {
		ctx, cancel, resume, full := s.beforePoll()
		if len(resume) > 0 {
			s.cl.ResumeFetchPartitions(resume)
		}
		if full {
			select {
			case <-s.room:
			case <-s.fetch.ctx.Done():
			}
			continue
		}
		fetches := s.cl.PollRecords(ctx, s.cfg.PollRecords)
		suspects := s.ingest(fetches, time.Now())
		// Always, also after an error or a cancelled poll: the client counts
		// this goroutine as polling until then, and Close would wait for it.
		s.cl.AllowRebalance()
		cancel()
		if len(suspects) > 0 {
			s.checkTopics(suspects)
		}
	}
}

// beforePoll returns the partitions to resume, whether enough is queued
// already, and the context of the next poll: advance interrupts it when a
// paused partition can resume.
func (s *Source) beforePoll() (ctx context.Context, cancel context.CancelFunc, resume map[string][]int32, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel, s.wakePoller = s.fetch.ctx, func() {}, nil
	if s.paused > 0 {
		s.advance()
		for _, p := range s.parts.byID {
			if s.canResume(p) {
				s.unpause(p)
				if resume == nil {
					resume = make(map[string][]int32)
				}
				resume[p.topic] = append(resume[p.topic], p.num)
			}
		}
	}
	if full = s.ready.records >= s.cfg.PollRecords; !full && s.paused > 0 {
		ctx, cancel = context.WithCancel(s.fetch.ctx)
		s.wakePoller = cancel
	}
	if s.ready.len() > 0 {
		signal(s.avail)
	}
	return ctx, cancel, resume, full
}

// advance drains, and issues from the stashes of paused partitions what they
// have room for now. The stash of a whole poll lies between a pause and its
// end, so a partition at its limit does not flap. mu is held.
func (s *Source) advance() {
	s.drain()
	if s.paused == 0 {
		return
	}
	for _, p := range s.parts.byID {
		if p.paused && len(p.stash) > 0 {
			p.stash, _ = s.issue(p, p.stash, p.stashAt, p.stashFence)
		}
		if s.wakePoller != nil && s.canResume(p) {
			s.wakePoller()
		}
	}
	if s.ready.len() > 0 {
		signal(s.avail)
	}
}

// canResume reports that p is paused for no reason. Only the polling goroutine
// ends the pause, since it also begins it.
func (s *Source) canResume(p *partition) bool {
	return p.paused && len(p.stash) == 0 && s.cp.Pending(p.id) < s.cfg.PendingLimit
}

// unpause forgets the stash and the pause; the caller resumes the fetching.
func (s *Source) unpause(p *partition) {
	p.stash = nil
	if p.paused {
		p.paused = false
		s.paused--
	}
}

// ingest issues everything fetched, or stashes it. It returns the topics that
// the broker no longer knows by their ID.
//
// What is issued now or later of these fetches is issued behind the fence that
// is taken here, where no hook can run: it is never tracked under an admission
// that begins later. A fence from before the poll would be too old. The client
// runs hooks while it waits for records, and can return those of partitions
// that were admitted meanwhile.
func (s *Source) ingest(fetches kgo.Fetches, now time.Time) (suspects map[string]bool) {
	s.mu.Lock()
	fence := s.issuer.Fence()
	s.mu.Unlock()
	// Losses come first: what this poll brought of such a partition may be
	// from before or after, and is read again. What it brought of a partition
	// that was not set back must be kept, or it would be skipped.
	var reset map[*partition]bool
	for i := range fetches {
		for j := range fetches[i].Topics {
			t := &fetches[i].Topics[j]
			for k := range t.Partitions {
				if err := t.Partitions[k].Err; err != nil {
					s.fetchError(t.Topic, t.Partitions[k].Partition, err, &reset, &suspects)
				}
			}
		}
	}
	var pause map[string][]int32
	for i := range fetches {
		for j := range fetches[i].Topics {
			t := &fetches[i].Topics[j]
			s.learnTopic(t)
			for k := range t.Partitions {
				p := s.lookup(t.Topic, t.Partitions[k].Partition)
				if p == nil || reset[p] || !s.accept(p, &t.Partitions[k], now, fence) {
					continue
				}
				if pause == nil {
					pause = make(map[string][]int32)
				}
				pause[p.topic] = append(pause[p.topic], p.num)
			}
		}
	}
	if pause != nil {
		s.cl.PauseFetchPartitions(pause)
	}
	return suspects
}

func (s *Source) lookup(topic string, num int32) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts.lookup(topic, num)
}

// accept issues one partition's records. It reports whether the partition
// reached its limit now and its fetching must pause.
func (s *Source) accept(p *partition, f *kgo.FetchPartition, now time.Time, fence checkpoint.Fence) (pause bool) {
	records := f.Records
	s.mu.Lock()
	if !p.admitted {
		// A deleted topic's partition stays in the client until it is
		// purged. No batch may ever be untracked.
		s.mu.Unlock()
		if len(records) > 0 {
			s.log.Debug("dropped records of a partition that is not owned", "topic", p.topic, "partition", p.num, "records", len(records))
		}
		return false
	}
	expired := p.read != unknown && f.LogStartOffset > p.read
	loss := DataLoss{Kind: LossExpired, ConsumedTo: p.read, ResetTo: f.LogStartOffset, Committed: p.committed}
	if expired {
		p.read = f.LogStartOffset
		p.delivered.restored = checkpoint.Delivered{}
	}
	if len(records) > 0 && p.read != unknown && records[0].Offset < p.read {
		// Back without a word: a broker without topic IDs, or a reset.
		s.mu.Unlock()
		s.truncated(p, p.read, records[0].Offset)
		return false
	}
	rewritten := p.rewritten(records)
	if len(records) > 0 {
		pause = s.take(p, records, now, fence)
	}
	s.mu.Unlock()
	if rewritten {
		s.log.Warn("the log was written anew above the commit; what was delivered there before is handed out", "topic", p.topic, "partition", p.num)
	}
	if expired {
		s.reportLoss(p, loss)
	}
	return pause
}

// take issues or stashes records. It reports whether a pause begins.
func (s *Source) take(p *partition, records []*kgo.Record, now time.Time, fence checkpoint.Fence) (pause bool) {
	first, end := records[0].Offset, records[len(records)-1].Offset+1
	if len(p.stash) > 0 {
		p.stash = append(p.stash, records...) // behind the fence of the others
		p.read = end
		return false
	}
	rest, tracked := s.issue(p, records, now, fence)
	if !tracked {
		return false
	}
	if p.read == unknown {
		s.beginsAt(p, first)
	}
	p.stale, p.read = unknown, end
	if len(rest) > 0 {
		s.drain() // perhaps there is room that nobody has looked for
		rest, _ = s.issue(p, rest, now, fence)
	}
	if p.stash, p.stashAt, p.stashFence = rest, now, fence; len(rest) > 0 && !p.paused {
		p.paused = true
		s.paused++
		s.stats.Pauses++
		signal(s.watch)
		return true
	}
	return false
}

// issue registers records as batches and queues them. It returns those for
// which the partition has no room. If p was admitted after the fence, they may
// be of an earlier admission: it drops them then and reports false, and what
// this admission reads will bring them again.
func (s *Source) issue(p *partition, records []*kgo.Record, at time.Time, fence checkpoint.Fence) (rest []*kgo.Record, tracked bool) {
	for len(records) > 0 {
		n, before := p.split(records, s.cfg.BatchRecords)
		last := records[n-1].Offset
		if s.cfg.OnLeak != nil {
			s.issuer.SetLabel(fmt.Sprintf("%s[%d] offsets %d to %d", p.topic, p.num, records[0].Offset, last))
		}
		ack, err := s.issuer.IssueAfter(fence, p.id, last)
		if errors.Is(err, checkpoint.ErrPendingLimit) {
			return records, true
		}
		if err != nil {
			panic(fmt.Sprintf("kafka: %s[%d] refused: %v", p.topic, p.num, err))
		}
		if !ack.Tracked() {
			ack.Done(errRevoked)
			return nil, false
		}
		run := records[:n:n]
		records = records[n:]
		p.epochs.note(run)
		p.issued = last + 1
		s.stats.Batches++
		if run = withoutControl(run); len(run) == 0 {
			ack.Done(nil) // markers only: nothing to deliver, but the commit passes them
			continue
		}
		if before {
			ack.Done(nil) // delivered before the admission
			s.stats.Restored += uint64(len(run))
			continue
		}
		s.stats.Records += uint64(len(run))
		s.ready.push(Batch{p.topic, p.num, run, ack, at, p.gen}, p)
	}
	if p.issued >= p.delivered.restored.End() {
		p.delivered.restored = checkpoint.Delivered{}
	}
	return nil, true
}

// withoutControl removes transaction markers, in place.
func withoutControl(records []*kgo.Record) []*kgo.Record {
	for i, r := range records {
		if r.Attrs.IsControl() {
			keep := records[:i]
			for _, r := range records[i+1:] {
				if !r.Attrs.IsControl() {
					keep = append(keep, r)
				}
			}
			clear(records[len(keep):])
			return keep
		}
	}
	return records
}

// fetchError sorts out what the client reports in place of records.
func (s *Source) fetchError(topic string, num int32, err error, reset *map[*partition]bool, suspects *map[string]bool) {
	if errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed) {
		return
	}
	s.mu.Lock()
	s.stats.FetchErrors++
	s.mu.Unlock()
	var loss *kgo.ErrDataLoss
	switch {
	case errors.As(err, &loss):
		if p := s.lookup(topic, num); p != nil && s.truncated(p, loss.ConsumedTo, loss.ResetTo) {
			if *reset == nil {
				*reset = make(map[*partition]bool)
			}
			(*reset)[p] = true
		}
	case errors.Is(err, kerr.UnknownTopicID):
		if *suspects == nil {
			*suspects = make(map[string]bool)
		}
		(*suspects)[topic] = true
	case passing(err):
		s.log.Warn("fetch error; the client keeps trying", "topic", topic, "partition", num, "err", err)
	default:
		s.log.Error("fetch error", "topic", topic, "partition", num, "err", err)
		s.mu.Lock()
		s.pollErr = fmt.Errorf("kafka: fetching %s[%d]: %w", topic, num, err)
		s.mu.Unlock()
		signal(s.avail)
	}
}

// lasting are the errors of a group or connection that trying again does not
// end. The client does keep trying, in case somebody changes the cause. An
// instance id that is not released is none of them: it is when the session of a
// member that was killed is over.
var lasting = []error{
	kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.SaslAuthenticationFailed, kerr.FencedInstanceID,
	kerr.InconsistentGroupProtocol, kerr.InvalidGroupID, kerr.InvalidSessionTimeout,
	kerr.UnsupportedAssignor, kerr.UnsupportedVersion, kerr.GroupMaxSizeReached,
}

// passing reports whether the client gets over err by itself: it retries, or
// joins the group again.
func passing(err error) bool {
	for _, e := range lasting {
		if errors.Is(err, e) {
			return false
		}
	}
	var group *kgo.ErrGroupSession
	return errors.As(err, &group) || kerr.IsRetriable(err) || kgo.IsRetryableBrokerErr(err) || errors.Is(err, context.DeadlineExceeded)
}
