package checkpointtest

import (
	"math"
	"slices"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// under runs f with the model locked.
func (m *Model) under(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// eachBefore runs f on every lane of the model before each take.
func eachBefore(m *Model, b *bent, f func(l *modelLane)) {
	take := b.take
	b.take = func(dst []mark) []mark {
		m.under(func() {
			for _, l := range m.sortedLanes() {
				f(l)
			}
		})
		return take(dst)
	}
}

// notByOperations are mutants that the random operations do not reach: texts
// of errors, extreme numbers, and what only shows beside the sequence of operations.
var notByOperations = map[string]bool{
	"LimitErrorWrapped": true, "ErrorsSayNothing": true, "TakeIgnoresDst": true, "StalledIgnoresDst": true,
	"ExtendWithoutEpoch": true, "LastEpochWraps": true,
	"HoldersWrapAtTwoToTheTwentySecond": true, "SaturationComesDown": true,
}

func mutants() []mutant {
	return slices.Concat(takeMutants(), drainMutants(), admissionMutants(), issueMutants(), ackMutants())
}

func takeMutants() []mutant {
	return []mutant{
		{name: "PassesFailedHead", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				for _, x := range l.batches {
					x.failed = x.failed && !x.settled
				}
			})
		}},
		{name: "PassesAHole", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				if len(l.batches) > 1 && l.batches[1].settled {
					l.batches[0].settled = true
				}
			})
		}},
		{name: "PassesTheWholeWindow", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				if k := len(l.batches) - 1; k > 0 && l.batches[k].settled {
					for _, x := range l.batches {
						x.settled = true
					}
				}
			})
		}},
		{name: "OffsetIsTheLastDelivered", bend: func(m *Model, b *bent) {
			b.take = func(dst []mark) []mark {
				out := m.TakeWatermarks(dst)
				for k := len(dst); k < len(out); k++ {
					out[k].Offset--
				}
				return out
			}
		}},
		{name: "TakeSeesUndrainedResolutions", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				for _, x := range l.batches {
					x.settled = x.settled || x.resolved
				}
			})
		}},
		{name: "ReportsUnmovedWatermarks", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				if len(l.batches) > 0 && l.batches[0].settled && !l.batches[0].failed {
					l.reported = 0
				}
			})
		}},
		{name: "ReportsAgainAndAgain", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) { l.reported = 0 })
		}},
		{name: "TakeIsNotSorted", bend: func(m *Model, b *bent) {
			b.take = func(dst []mark) []mark {
				out := m.TakeWatermarks(dst)
				slices.Reverse(out[len(dst):])
				return out
			}
		}},
		{name: "TakeIgnoresDst", bend: func(m *Model, b *bent) {
			b.take = func([]mark) []mark { return m.TakeWatermarks(nil) }
		}},
		{name: "StalledIgnoresDst", bend: func(m *Model, b *bent) {
			b.stalled = func([]checkpoint.Stall) []checkpoint.Stall { return m.Stalled(nil) }
		}},
		{name: "StallIsSinceTheLastTake", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) { l.stall = nil })
		}},
		{name: "StallBehindAPendingBatch", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				for _, x := range l.batches {
					if x.settled && x.failed && l.stall == nil {
						l.stall = &checkpoint.Stall{Partition: l.partition, Batch: x.id, LastOffset: x.last, Since: m.now()}
					}
				}
			})
		}},
		{name: "StallIsNotReported", bend: func(m *Model, b *bent) {
			b.stalled = func(dst []checkpoint.Stall) []checkpoint.Stall { return dst }
		}},
		{name: "StallHoldsBackItsPrefix", bend: func(m *Model, b *bent) {
			eachBefore(m, b, func(l *modelLane) {
				for k, x := range l.batches {
					if k > 0 && x.settled && x.failed {
						l.batches[0].failed = true
					}
				}
			})
		}},
		{name: "MaxPendingIsTheSum", bend: func(m *Model, b *bent) {
			b.most = func() int {
				n := 0
				m.under(func() {
					for _, l := range m.lanes {
						n += len(l.batches)
					}
				})
				return n
			}
		}},
		{name: "PendingLeavesOutTheResolved", bend: func(m *Model, b *bent) {
			b.pending = func(p part) int {
				n := 0
				m.under(func() {
					if l := m.lanes[p]; l != nil {
						for _, x := range l.batches {
							if !x.settled {
								n++
							}
						}
					}
				})
				return n
			}
		}},
		{name: "PendingLeavesOutTheStalled", bend: func(m *Model, b *bent) {
			b.pending = func(p part) int {
				n := m.Pending(p)
				m.under(func() {
					if l := m.lanes[p]; l != nil && l.stall != nil {
						n = 0
					}
				})
				return n
			}
		}},
	}
}

func drainMutants() []mutant {
	return []mutant{
		{name: "PendingFallsAtDrain", bend: func(m *Model, b *bent) {
			var kept []mark
			b.drain = func() stats {
				d := m.Drain()
				for _, w := range m.TakeWatermarks(nil) {
					kept = slices.DeleteFunc(kept, func(k mark) bool { return k.Partition == w.Partition })
					kept = append(kept, w)
				}
				return d
			}
			b.take = func(dst []mark) []mark {
				slices.SortFunc(kept, func(a, b mark) int { return int(a.Partition) - int(b.Partition) })
				dst = append(dst, kept...)
				kept = nil
				return dst
			}
		}},
		{name: "DuplicatesNotCounted", bend: func(m *Model, b *bent) {
			b.drain = func() stats { d := m.Drain(); d.Duplicates = 0; return d }
		}},
		{name: "DuplicatesOfOldEpochsAreStale", bend: func(m *Model, b *bent) {
			b.drain = func() stats {
				m.under(func() {
					for k, n := range m.news {
						if n.kind == newsDuplicate && !m.current(n.batch) {
							m.news[k].kind = newsResolution
						}
					}
				})
				return m.Drain()
			}
		}},
		{name: "StaleRegistrationsNotCounted", bend: func(m *Model, b *bent) {
			b.drain = func() stats {
				m.under(func() {
					m.news = slices.DeleteFunc(m.news, func(n modelNews) bool {
						return n.kind == newsRegistration && !m.current(n.batch)
					})
				})
				return m.Drain()
			}
		}},
		{name: "StaleResolutionsApplied", bend: func(m *Model, b *bent) {
			b.drain = func() stats {
				m.under(func() {
					for k, n := range m.news {
						l := m.lanes[n.batch.id.Partition]
						if n.kind != newsResolution || l == nil || n.batch.lane == l || n.batch.lane == nil {
							continue
						}
						for _, x := range l.batches {
							if x.id == n.batch.id {
								m.news[k].batch = x
							}
						}
					}
				})
				return m.Drain()
			}
		}},
		{name: "StaleIsDecidedAtTheEvent", bend: func(m *Model, b *bent) {
			var early stats
			b.revoke = func(ps ...part) {
				d := m.Drain()
				early.Applied += d.Applied
				early.StaleEpoch += d.StaleEpoch
				early.Duplicates += d.Duplicates
				m.Revoke(ps...)
			}
			b.drain = func() stats {
				d := m.Drain()
				d.Applied += early.Applied
				d.StaleEpoch += early.StaleEpoch
				d.Duplicates += early.Duplicates
				early = stats{}
				return d
			}
		}},
		{name: "RegistrationsCountAsApplied", bend: func(m *Model, b *bent) {
			b.drain = func() stats {
				n := 0
				m.under(func() {
					for _, x := range m.news {
						if x.kind == newsRegistration && m.current(x.batch) {
							n++
						}
					}
				})
				d := m.Drain()
				d.Applied += n
				return d
			}
		}},
		{name: "FailedNotApplied", bend: func(m *Model, b *bent) {
			b.drain = func() stats {
				n := 0
				m.under(func() {
					for _, x := range m.news {
						if x.kind == newsResolution && m.current(x.batch) && x.batch.failed {
							n++
						}
					}
				})
				d := m.Drain()
				d.Applied -= n
				return d
			}
		}},
	}
}

func admissionMutants() []mutant {
	return []mutant{
		{name: "EqualEpochAccepted", bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				m.under(func() {
					if m.begun && e == m.epoch {
						m.begun = false
					}
				})
				return m.BeginEpoch(e, ps...)
			}
		}},
		{name: "LastEpochWraps", bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				m.under(func() {
					if m.epoch == math.MaxUint32 && e == 0 {
						m.begun = false
					}
				})
				return m.BeginEpoch(e, ps...)
			}
		}},
		{name: "FirstEpochZeroRefused", bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				m.under(func() { m.begun = true })
				return m.BeginEpoch(e, ps...)
			}
		}},
		{name: "RefusedEpochClears", bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				err := m.BeginEpoch(e, ps...)
				if err != nil {
					m.under(func() { m.lanes = map[part]*modelLane{} })
				}
				return err
			}
		}},
		{name: "EpochKeepsRetainedPartitions", bend: func(m *Model, b *bent) {
			b.begin = func(e uint32, ps ...part) error {
				old := m.lanes
				err := m.BeginEpoch(e, ps...)
				m.under(func() {
					for p := range m.lanes {
						if l := old[p]; err == nil && l != nil {
							m.lanes[p] = l
						}
					}
				})
				return err
			}
		}},
		{name: "ExtendWithoutEpoch", bend: func(m *Model, b *bent) {
			b.extend = func(ps ...part) error {
				m.under(func() { m.begun = true })
				return m.ExtendEpoch(ps...)
			}
		}},
		{name: "ExtendAddsHalf", bend: func(m *Model, b *bent) {
			b.extend = func(ps ...part) error {
				for k, p := range ps {
					if err := m.ExtendEpoch(p); err != nil && !slices.Contains(ps[:k], p) {
						return err
					}
				}
				return nil
			}
		}},
		{name: "ReturnRefused", bend: func(m *Model, b *bent) {
			gone := map[part]bool{}
			b.revoke = func(ps ...part) {
				m.Revoke(ps...)
				for _, p := range ps {
					gone[p] = true
				}
			}
			b.begin = func(e uint32, ps ...part) error { clear(gone); return m.BeginEpoch(e, ps...) }
			b.extend = func(ps ...part) error {
				for _, p := range ps {
					if gone[p] {
						return checkpoint.ErrPartitionAdmitted
					}
				}
				return m.ExtendEpoch(ps...)
			}
		}},
		{name: "ReturnContinuesTheOldAdmission", bend: func(m *Model, b *bent) {
			gone := map[part]*modelLane{}
			b.revoke = func(ps ...part) {
				m.under(func() {
					for _, p := range ps {
						gone[p] = m.lanes[p]
					}
				})
				m.Revoke(ps...)
			}
			b.begin = func(e uint32, ps ...part) error { clear(gone); return m.BeginEpoch(e, ps...) }
			b.extend = func(ps ...part) error {
				err := m.ExtendEpoch(ps...)
				m.under(func() {
					for _, p := range ps {
						if err == nil && gone[p] != nil {
							m.lanes[p] = gone[p]
						}
					}
				})
				return err
			}
		}},
		{name: "ReturnKeepsTheSequence", bend: func(m *Model, b *bent) {
			seqs := map[part]uint64{}
			b.revoke = func(ps ...part) {
				m.under(func() {
					for _, p := range ps {
						if l := m.lanes[p]; l != nil {
							seqs[p] = l.nextSeq
						}
					}
				})
				m.Revoke(ps...)
			}
			b.extend = func(ps ...part) error {
				err := m.ExtendEpoch(ps...)
				m.under(func() {
					for _, p := range ps {
						if err == nil {
							m.lanes[p].nextSeq = seqs[p]
						}
					}
				})
				return err
			}
		}},
		{name: "ReturnKeepsTheOwner", bend: func(m *Model, b *bent) {
			owners := map[part]*ModelIssuer{}
			b.revoke = func(ps ...part) {
				m.under(func() {
					for _, p := range ps {
						if l := m.lanes[p]; l != nil {
							owners[p] = l.owner
						}
					}
				})
				m.Revoke(ps...)
			}
			b.extend = func(ps ...part) error {
				err := m.ExtendEpoch(ps...)
				m.under(func() {
					for _, p := range ps {
						if err == nil {
							m.lanes[p].owner = owners[p]
						}
					}
				})
				return err
			}
		}},
		{name: "RevokeKeepsTheStall", bend: func(m *Model, b *bent) {
			var last []checkpoint.Stall
			b.revoke = func(ps ...part) {
				last = m.Stalled(nil)
				m.Revoke(ps...)
			}
			b.stalled = func(dst []checkpoint.Stall) []checkpoint.Stall {
				if last != nil {
					return append(dst, last...)
				}
				return m.Stalled(dst)
			}
		}},
		{name: "RevokeReportsTheWatermark", bend: func(m *Model, b *bent) {
			var kept []mark
			b.revoke = func(ps ...part) {
				kept = m.TakeWatermarks(kept)
				m.Revoke(ps...)
			}
			b.take = func(dst []mark) []mark {
				dst = append(dst, kept...)
				kept = nil
				return m.TakeWatermarks(dst)
			}
		}},
		{name: "RevokeIgnored", bend: func(m *Model, b *bent) { b.revoke = func(...part) {} }},
	}
}
