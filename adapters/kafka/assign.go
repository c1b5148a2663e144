package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kgo"
)

// errRevoked fails batches that were issued and never handed out. It resolves
// them after their partition was revoked, so it counts as stale.
var errRevoked = errors.New("kafka: partition was revoked")

// onAssigned admits partitions before anything is polled from them.
func (s *Source) onAssigned(_ context.Context, cl *kgo.Client, assigned map[string][]int32) {
	if len(assigned) == 0 {
		return
	}
	s.mu.Lock()
	n := 0
	for topic, nums := range assigned {
		for _, num := range nums {
			p := s.parts.intern(topic, num)
			if p.admitted {
				// The client reads it anew, without having revoked it: a
				// topic that was purged and came back in one step.
				s.retire([]*partition{p}, s.unqueue(nil, p))
			}
			s.unpause(p)
			s.admit(p)
			n++
		}
	}
	s.stats.Rebalances++
	s.stats.Assigned += uint64(n)
	s.assignmentChanged()
	s.mu.Unlock()
	cl.ResumeFetchPartitions(assigned) // a pause outlives a rebalance
	s.log.Info("partitions assigned", "partitions", assigned)
}

// admit starts a fresh admission of p.
func (s *Source) admit(p *partition) {
	p.admit()
	if err := s.cp.ExtendEpoch(p.id); err != nil {
		panic(fmt.Sprintf("kafka: %s[%d] not admitted: %v", p.topic, p.num, err))
	}
}

// onOffsets notes where each partition starts. A commit made to a topic that
// was deleted since says nothing about the one there is now.
func (s *Source) onOffsets(_ context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	start, _ := s.cl.OptValue(kgo.ConsumeStartOffset).(kgo.Offset)
	foreign := s.begin(offsets, start)
	if len(foreign) > 0 {
		s.log.Info("commit metadata of another program: nothing is known of what is delivered above", "partitions", foreign)
	}
	return offsets, nil
}

// begin notes where partitions start. It returns those whose commit has
// metadata of another program, if that matters.
func (s *Source) begin(offsets map[string]map[int32]kgo.Offset, start kgo.Offset) (foreign []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, nums := range offsets {
		for num, o := range nums {
			p := s.parts.lookup(topic, num)
			at := o.EpochOffset().Offset
			if p == nil || !p.admitted || p.read != p.base || at < 0 || o == start {
				continue // no commit yet
			}
			if p.stale == at {
				nums[num] = kgo.NewOffset().AtStart()
				continue
			}
			p.committed = at
			p.start(at)
			p.baseEpoch = o.EpochOffset().Epoch
			s.beginsAt(p, at)
			if s.restore(p) {
				foreign = append(foreign, fmt.Sprintf("%s[%d]", topic, num))
			}
		}
	}
	s.fetched = nil
	return foreign
}

// onRevoked gives partitions up: it waits, for a bounded time, for the batches
// of theirs that were handed out, commits, and ends their tracking. The
// partitions that stay are not touched.
func (s *Source) onRevoked(ctx context.Context, cl *kgo.Client, revoked map[string][]int32) {
	if s.isOutcast() {
		s.onLost(ctx, cl, revoked)
		return
	}
	parts, dropped := s.release(revoked)
	if len(parts) == 0 {
		return
	}
	waited, err := s.finish(parts)
	s.mu.Lock()
	left := s.retire(parts, dropped)
	s.stats.Rebalances++
	s.stats.Revoked += uint64(len(parts))
	s.assignmentChanged()
	s.mu.Unlock()
	s.endCommits(parts)
	s.log.Info("partitions revoked", "partitions", revoked, "left", left)
	if waited != nil {
		s.log.Warn("partitions revoked before every batch was acknowledged; they are delivered again", "partitions", revoked, "waited", s.cfg.RevokeTimeout)
	}
	if err != nil {
		s.log.Warn("partitions revoked without a last commit; some batches are delivered again", "partitions", revoked, "err", err)
	}
}

// finish waits for the batches of parts that were handed out and commits, each
// for a bounded time. It returns what kept it from either. The commit comes
// before the end of the admissions, so that the checkpointer offers one that
// failed again, with what was acknowledged meanwhile.
func (s *Source) finish(parts []*partition) (waited, committed error) {
	b := s.beginLastBarrier(parts, time.Now().Add(s.cfg.RevokeTimeout))
	defer b.end()
	ctx, cancel := context.WithTimeout(s.wait.ctx, s.cfg.RevokeTimeout)
	waited = s.await(ctx, parts)
	cancel()
	left := min(max(s.cfg.RebalanceTimeout-s.cfg.RevokeTimeout, time.Second), 10*time.Second)
	ctx, cancel = context.WithTimeout(s.last.ctx, left)
	defer cancel()
	return waited, s.commitWithRetry(ctx, parts, b)
}

// onLost ends the tracking of partitions that others may own by now. Nothing
// is committed.
func (s *Source) onLost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	parts, dropped := s.release(lost)
	if len(parts) == 0 {
		return
	}
	s.mu.Lock()
	left := s.retire(parts, dropped)
	s.stats.Rebalances++
	s.stats.Lost += uint64(len(parts))
	s.assignmentChanged()
	s.mu.Unlock()
	s.endCommits(parts)
	s.log.Warn("partitions lost; what is not committed is delivered again", "partitions", lost, "left", left)
}

// release stops handing out batches of the partitions named that are owned,
// and returns these and the acks of the batches dropped.
func (s *Source) release(named map[string][]int32) (parts []*partition, dropped []checkpoint.Ack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, nums := range named {
		for _, num := range nums {
			if p := s.parts.lookup(topic, num); p != nil && p.admitted {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return parts, s.unqueue(nil, parts...)
}

// unqueue takes the queued batches of parts back and forgets their stashes.
func (s *Source) unqueue(dst []checkpoint.Ack, parts ...*partition) []checkpoint.Ack {
	for _, p := range parts {
		s.unpause(p)
		p.leaving = true
	}
	n := len(dst)
	dst = s.ready.drop(dst, func(p *partition) bool {
		if p.leaving {
			p.dropped++
		}
		return p.leaving
	})
	s.stats.Dropped += uint64(len(dst) - n)
	for _, p := range parts {
		p.leaving = false
	}
	signal(s.room)
	return dst
}

// leftBehind counts what partitions that were given up leave uncommitted.
// Whoever reads them next gets all of it again.
type leftBehind struct {
	// delivered, pending and failed are batches above the watermarks. Those
	// that were never handed out are among the pending ones.
	delivered, pending, failed, neverHandedOut int
	// late is the number of partitions whose watermark moved after their last
	// commit, or whose last commit failed.
	late int
}

// LogValue makes it a group of a log record.
func (l leftBehind) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("delivered", l.delivered), slog.Int("pending", l.pending), slog.Int("failed", l.failed),
		slog.Int("never_handed_out", l.neverHandedOut), slog.Int("uncommitted_partitions", l.late))
}

// retire ends admissions and tells what they leave behind. The acks of batches
// that were dropped are resolved after that, when they no longer count, so that
// nothing is held for them.
func (s *Source) retire(parts []*partition, dropped []checkpoint.Ack) (left leftBehind) {
	ids := make([]checkpoint.PartitionID, len(parts))
	for i, p := range parts {
		ids[i] = p.id
	}
	for _, r := range s.cp.RevokeAndTake(ids...) {
		left.delivered += r.Delivered
		left.pending += r.Pending
		left.failed += r.Failed
		p := s.parts.byID[r.Partition]
		left.neverHandedOut += p.dropped
		if r.Watermark.Offset > r.Committed || p.rewind {
			left.late++
		}
		p.retire()
	}
	if s.closing {
		s.unsaved += left.late
	}
	for _, a := range dropped {
		a.Done(errRevoked)
	}
	return left
}
