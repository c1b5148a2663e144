package checkpointtest

import (
	"slices"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

func ackMutants() []mutant {
	return []mutant{
		{name: "FailReleases", bend: func(m *Model, b *bent) {
			b.ack.fail = func(a ModelAck) { a.Fail(); a.Release() }
		}},
		{name: "FailIgnored", bend: func(m *Model, b *bent) { b.ack.fail = func(ModelAck) {} }},
		{name: "LastHolderDecides", bend: func(m *Model, b *bent) {
			b.ack.release = func(a ModelAck) {
				if a.b != nil {
					m.under(func() {
						if a.b.holders > 1 {
							a.b.failed = false
						}
					})
				}
				a.Release()
			}
		}},
		{name: "FailAfterResolutionCounts", bend: func(m *Model, b *bent) {
			b.ack.fail = func(a ModelAck) {
				if a.b != nil {
					m.under(func() { a.b.failed = true })
				}
			}
		}},
		{name: "RetainIgnored", bend: func(m *Model, b *bent) { b.ack.retain = func(ModelAck, int) {} }},
		{name: "RetainNAddsOneMore", bend: func(m *Model, b *bent) {
			b.ack.retain = func(a ModelAck, n int) { a.RetainN(n + n/2) }
		}},
		{name: "NegativeRetainReleases", bend: func(m *Model, b *bent) {
			b.ack.retain = func(a ModelAck, n int) {
				if a.RetainN(n); n < 0 && a.b != nil {
					m.under(func() { a.b.holders = 2 })
				}
			}
		}},
		{name: "DuplicateResolvesTheHead", bend: func(m *Model, b *bent) {
			b.ack.release = func(a ModelAck) {
				if a.b != nil && a.resolved() && a.b.lane != nil {
					var head *modelBatch
					m.under(func() {
						if len(a.b.lane.batches) > 0 {
							head = a.b.lane.batches[0]
						}
					})
					if head != nil {
						ModelAck{head}.Release()
						return
					}
				}
				a.Release()
			}
		}},
		{name: "RetainRevivesTheResolved", bend: func(m *Model, b *bent) {
			b.ack.retain = func(a ModelAck, n int) {
				if a.b != nil && n > 0 {
					m.under(func() { a.b.resolved = false; a.b.holders += n })
				}
			}
		}},
		{name: "IDForgottenAfterPassing", bend: func(m *Model, b *bent) {
			b.ack.id = func(a ModelAck) checkpoint.BatchID {
				id := a.ID()
				if a.b != nil && a.b.lane != nil {
					m.under(func() {
						if !slices.Contains(a.b.lane.batches, a.b) {
							id.Seq++
						}
					})
				}
				return id
			}
		}},
		{name: "OffsetForgottenAfterPassing", bend: func(m *Model, b *bent) {
			b.ack.last = func(a ModelAck) int64 {
				last := a.LastOffset()
				if a.b != nil && a.b.lane != nil {
					m.under(func() {
						if !slices.Contains(a.b.lane.batches, a.b) {
							last = a.b.lane.last
						}
					})
				}
				return last
			}
		}},
		{name: "HoldersWrapAtTwoToTheTwentySecond", bend: func(m *Model, b *bent) {
			b.ack.retain = func(a ModelAck, n int) {
				if a.b != nil {
					a.RetainN(n % (1 << 21))
				}
			}
		}},
		{name: "SaturationComesDown", bend: func(m *Model, b *bent) {
			b.ack.retain = func(a ModelAck, n int) {
				if a.b == nil || n <= 0 {
					return
				}
				m.under(func() {
					if !a.b.resolved {
						a.b.holders = min(a.b.holders+min(n, 1<<22), 1<<22)
					}
				})
			}
		}},
	}
}
