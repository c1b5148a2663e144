package checkpointtest

import (
	"errors"
	"fmt"
	"math"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func issueMutants() []mutant {
	first := func(check func(m *Model, l *modelLane, i *ModelIssuer, last int64) error) func(*Model, *bent) {
		return func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				var err error
				m.under(func() {
					if l := m.lanes[p]; l != nil {
						err = check(m, l, i, last)
					}
				})
				if err != nil {
					return ModelAck{}, err
				}
				return i.Issue(p, last)
			}
		}
	}
	return []mutant{
		{name: "LimitOneLate", cfg: func(c *Config) {
			if c.PendingLimit > 0 {
				c.PendingLimit++
			}
		}},
		{name: "LimitOneEarly", bend: first(func(m *Model, l *modelLane, i *ModelIssuer, last int64) error {
			if m.limit > 1 && len(l.batches) == m.limit-1 && last >= l.last && (l.owner == nil || l.owner == i) {
				return checkpoint.ErrPendingLimit
			}
			return nil
		})},
		{name: "LimitCountsTheUnresolved", bend: first(func(m *Model, l *modelLane, _ *ModelIssuer, _ int64) error {
			n := 0
			for _, x := range l.batches {
				if !x.settled {
					n++
				}
			}
			if m.limit > 0 && n < m.limit && len(l.batches) >= m.limit {
				m.limit++
			}
			return nil
		})},
		{name: "LimitErrorWrapped", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				a, err := i.Issue(p, last)
				if err == checkpoint.ErrPendingLimit {
					err = fmt.Errorf("p%d: %w", p, err)
				}
				return a, err
			}
		}},
		{name: "ErrorsSayNothing", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				a, err := i.Issue(p, last)
				for _, s := range sentinels {
					if errors.Is(err, s) {
						err = s
					}
				}
				return a, err
			}
		}},
		{name: "EqualOffsetRefused", bend: first(func(_ *Model, l *modelLane, i *ModelIssuer, last int64) error {
			if l.owner == i && l.issued && last == l.last {
				return checkpoint.ErrOffsetRegressed
			}
			return nil
		})},
		{name: "LowerOffsetAccepted", bend: first(func(_ *Model, l *modelLane, _ *ModelIssuer, last int64) error {
			if last >= 0 {
				l.last = min(l.last, last)
			}
			return nil
		})},
		{name: "OrderCheckedBeforeOwner", bend: first(func(_ *Model, l *modelLane, _ *ModelIssuer, last int64) error {
			if last >= 0 && l.issued && last < l.last {
				return checkpoint.ErrOffsetRegressed
			}
			return nil
		})},
		{name: "OwnedByARefusedIssue", bend: first(func(_ *Model, l *modelLane, i *ModelIssuer, _ int64) error {
			if l.owner == nil {
				l.owner = i
			}
			return nil
		})},
		{name: "RefusedIssueUsesASequence", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				a, err := i.Issue(p, last)
				m.under(func() {
					if l := m.lanes[p]; err != nil && l != nil {
						l.nextSeq++
					}
				})
				return a, err
			}
		}},
		{name: "OffsetAtTheLimitIsRemembered", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				a, err := i.Issue(p, last)
				m.under(func() {
					if err == checkpoint.ErrPendingLimit {
						m.lanes[p].last = last
					}
				})
				return a, err
			}
		}},
		{name: "OwnerNotChecked", bend: first(func(_ *Model, l *modelLane, i *ModelIssuer, last int64) error {
			if last >= 0 && last != math.MaxInt64 {
				l.owner = i
			}
			return nil
		})},
		{name: "CloneIsTheSameIssuer", bend: func(m *Model, b *bent) {
			b.clone = func(i *ModelIssuer) *ModelIssuer { return i }
		}},
		{name: "MaxOffsetAccepted", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				if last == math.MaxInt64 {
					last--
				}
				return i.Issue(p, last)
			}
		}},
		{name: "UntrackedRefused", bend: func(m *Model, b *bent) {
			b.issue = func(i *ModelIssuer, p part, last int64) (ModelAck, error) {
				a, err := i.Issue(p, last)
				if err == nil && !a.tracked() {
					return ModelAck{}, checkpoint.ErrNoEpoch
				}
				return a, err
			}
		}},
		{name: "UntrackedIsAdoptedByAnExtension", bend: func(m *Model, b *bent) {
			b.extend = func(ps ...part) error {
				err := m.ExtendEpoch(ps...)
				m.under(func() {
					for _, n := range m.news {
						x := n.batch
						if l := m.lanes[x.id.Partition]; err == nil && n.kind == newsRegistration && x.lane == nil && l != nil {
							x.lane, x.id.Seq = l, l.nextSeq
							l.nextSeq++
							l.batches = append(l.batches, x)
						}
					}
				})
				return err
			}
		}},
		{name: "UntrackedResolutionNotCounted", bend: func(m *Model, b *bent) {
			b.ack.release = func(a ModelAck) {
				a.Release()
				m.under(func() {
					if k := len(m.news) - 1; k >= 0 && m.news[k] == (modelNews{newsResolution, a.b}) && a.b.lane == nil {
						m.news = m.news[:k]
					}
				})
			}
		}},
	}
}
