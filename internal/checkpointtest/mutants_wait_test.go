package checkpointtest

import (
	"context"
	"slices"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// waitMutants break Wait, or what only shows with several goroutines.
func waitMutants() []mutant {
	return []mutant{
		{name: "WaitReturnsAtOnce", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(context.Context) error { return nil }
		}},
		{name: "WaitIgnoresWhatIsThere", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				return waitInHalves(m, ctx, func(int) (<-chan struct{}, bool) {
					m.mu.Lock()
					defer m.mu.Unlock()
					return m.arrived, false
				})
			}
		}},
		{name: "WaitLosesAWakeUpOnItsWay", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				// Whatever arrives between the two halves is not heard.
				return waitInHalves(m, ctx, func(news int) (<-chan struct{}, bool) {
					time.Sleep(time.Microsecond)
					m.mu.Lock()
					defer m.mu.Unlock()
					return m.arrived, news > 0
				})
			}
		}},
		{name: "WaitPrefersTheEndedContext", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return m.Wait(ctx)
			}
		}},
		{name: "WaitLetsASecondIn", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				m.under(func() { m.waiting = false })
				return m.Wait(ctx)
			}
		}},
		{name: "WaitStaysTaken", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				err := m.Wait(ctx)
				m.under(func() { m.waiting = err != nil })
				return err
			}
		}},
		{name: "WaitSleepsThroughDuplicates", waits: true, bend: func(m *Model, b *bent) {
			b.wait = func(ctx context.Context) error {
				for {
					if err := m.Wait(ctx); err != nil {
						return err
					}
					other := false
					m.under(func() {
						other = slices.ContainsFunc(m.news, func(n modelNews) bool { return n.kind != newsDuplicate })
					})
					if other {
						return nil
					}
					if ctx.Err() != nil {
						return ctx.Err()
					}
					time.Sleep(time.Millisecond)
				}
			}
		}},
		{name: "WatermarkRunsAheadOfReleases", waits: true, bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				if len(l.batches) > 2 && l.batches[2].settled {
					l.batches[0].settled, l.batches[1].settled = true, true
				}
			})
		}},
		{name: "TakeReportsToBothTakers", waits: true, bend: func(m *Model, b *bent) {
			n := 0
			eachBefore(m, b, func(l *modelLane) {
				if n++; n%100 == 0 {
					l.reported = 0
				}
			})
		}},
		{name: "EpochIsPublishedBeforeItsTrackers", waits: true, bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				early := false
				m.under(func() { early = m.begun && e > m.epoch })
				if early {
					m.under(func() { m.epoch, m.lanes = e, map[part]*modelLane{} })
					time.Sleep(time.Microsecond)
					m.under(func() { m.begun = false })
				}
				return m.BeginEpoch(e, ps...)
			}
		}},
		{name: "LimitIsLateUnderLoad", waits: true, cfg: func(c *Config) {
			if c.PendingLimit > 16 {
				c.PendingLimit += 8
			}
		}},
	}
}

// waitInHalves is a Wait whose look at the news and whose decision what to
// listen to are given; the rest is as it should be.
func waitInHalves(m *Model, ctx context.Context, listen func(news int) (<-chan struct{}, bool)) error {
	m.mu.Lock()
	if m.waiting {
		m.mu.Unlock()
		return checkpoint.ErrWaiting
	}
	m.waiting = true
	news := len(m.news)
	m.mu.Unlock()
	defer m.under(func() { m.waiting = false })
	arrived, there := listen(news)
	if there {
		return nil
	}
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
