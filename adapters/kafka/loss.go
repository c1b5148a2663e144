package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// truncated handles a log that is shorter, below what was read, than it was:
// everything acknowledged below the change stays, and the rest is read again
// in a fresh admission. It runs on the polling goroutine, while no hook can.
//
// It reports false, and does nothing, when the admission has not begun to
// read: the client kept the error of an earlier ownership, and setting a
// position now would replace the commit that this one is to start from.
func (s *Source) truncated(p *partition, consumedTo, resetTo int64) bool {
	s.mu.Lock()
	if !p.admitted || p.read == unknown {
		s.mu.Unlock()
		s.log.Warn("data loss of an earlier ownership", "topic", p.topic, "partition", p.num, "consumed_to", consumedTo, "reset_to", resetTo)
		return false
	}
	loss := DataLoss{Kind: LossTruncated, ConsumedTo: consumedTo, Committed: p.committed}
	loss.ResetTo = s.reread(p, resetTo)
	s.mu.Unlock()
	s.reportLoss(p, loss)
	// The client went on from where the log diverged. What was polled below
	// and not acknowledged is tracked no longer, so it must come again. The
	// epoch is left out: the client would compare it and report once more.
	s.cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{
		p.topic: {p.num: {Epoch: unknown, Offset: loss.ResetTo}},
	})
	s.cl.ResumeFetchPartitions(map[string][]int32{p.topic: {p.num}})
	return true
}

// reread begins a fresh admission of p after its log changed from resetTo on,
// and returns where it reads from: there, or lower when something lower is
// not acknowledged yet.
func (s *Source) reread(p *partition, resetTo int64) (from int64) {
	s.drain()
	from = resetTo
	if p.acked != unknown {
		from = min(from, p.acked)
	} else if p.base != unknown {
		from = min(from, p.base)
	}
	commit := p.acked != unknown || p.committed > from
	committed, epochs, known := p.committed, p.epochs, p.delivered.committed
	s.retire([]*partition{p}, s.unqueue(nil, p))
	s.admit(p)
	epochs.cut(from)
	p.committed, p.epochs = committed, epochs
	p.delivered.committed = known // to be replaced: it is of the log that was
	p.start(from)
	s.beginsAt(p, from)
	if commit {
		p.acked, p.rewind = from, true
	}
	return from
}

// reportLoss counts, logs and hands a loss to the user.
func (s *Source) reportLoss(p *partition, loss DataLoss) {
	s.mu.Lock()
	s.stats.DataLosses++
	s.mu.Unlock()
	s.log.Error("data loss upstream", "topic", p.topic, "partition", p.num, "kind", loss.Kind.String(),
		"consumed_to", loss.ConsumedTo, "reset_to", loss.ResetTo, "committed", loss.Committed)
	if s.cfg.OnDataLoss != nil {
		s.cfg.OnDataLoss(p.topic, p.num, loss)
	}
}

// learnTopic notes the ID under which a topic is fetched, for one that was
// missing when it was last asked for.
func (s *Source) learnTopic(t *kgo.FetchTopic) {
	if t.TopicID == ([16]byte{}) {
		return
	}
	if _, ok := s.topicIDs[t.Topic]; !ok {
		s.topicIDs[t.Topic] = t.TopicID
	}
}

// checkTopics asks for topics whose ID a broker no longer knew. A topic that
// is gone or has another ID is given up and subscribed to again: the client
// adopts the new ID only then.
func (s *Source) checkTopics(suspects map[string]bool) {
	names := make([]string, 0, len(suspects))
	for t := range suspects {
		names = append(names, t)
	}
	ctx, cancel := context.WithTimeout(s.fetch.ctx, openTimeout)
	defer cancel()
	ids, err := topicIDs(ctx, s.cl, names)
	if err != nil && !errors.Is(err, ErrUnknownTopic) {
		s.log.Warn("asking for topics that a broker does not know", "topics", names, "err", err)
		ids = nil
	}
	settled := false
	for _, t := range names {
		id, exists := ids[t]
		if ids == nil || exists && id == s.topicIDs[t] {
			continue // not known yet to the broker that was asked
		}
		settled = true
		if exists {
			s.topicIDs[t] = id
		} else {
			delete(s.topicIDs, t)
		}
		s.forget(t)
		s.cl.PurgeTopicsFromConsuming(t)
		s.cl.AddConsumeTopics(t)
	}
	if settled {
		return
	}
	select { // the client does not pause between such errors
	case <-time.After(topicPause):
	case <-s.fetch.ctx.Done():
	}
}

// forget ends the tracking of a deleted topic's partitions. Nothing more of
// them is committed: their offsets mean nothing in a topic of the same name.
func (s *Source) forget(topic string) {
	s.mu.Lock()
	var gone []*partition
	for _, p := range s.parts.byName[topic] {
		if p != nil && p.admitted {
			gone = append(gone, p)
		}
	}
	losses := make([]DataLoss, len(gone))
	for i, p := range gone {
		read, committed := p.known()
		losses[i] = DataLoss{Kind: LossRecreated, ConsumedTo: read, Committed: committed}
		p.stale = committed
	}
	s.retire(gone, s.unqueue(nil, gone...))
	if len(gone) > 0 {
		s.assignmentChanged()
	}
	s.mu.Unlock()
	for i, p := range gone {
		s.reportLoss(p, losses[i])
	}
}
