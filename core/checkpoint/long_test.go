package checkpoint_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// TestLongCheckpointerStaysFlat issues on two goroutines and releases on two
// others, out of order, under every setting. Every batch must be passed, and
// watermarks only grow.
func TestLongCheckpointerStaysFlat(t *testing.T) {
	longtest.Settings(t, func(t *testing.T) {
		d := newDriver(t, longIssuers*longLanes, checkpoint.WithPendingLimit(steadyPending/longLanes))
		issuers := make([]*checkpoint.Issuer, longIssuers)
		for g := range issuers {
			issuers[g] = d.c.Issuer()
		}
		longtest.Flat(t, 40_000, kept*longIssuers*longLanes, d, func(n int) { longStage(d, issuers, n) })
	})
}

const longIssuers, longLanes, longRun = 2, 2, 125

func longStage(d *driver, issuers []*checkpoint.Issuer, n int) {
	work, empty := make(chan []checkpoint.Ack, 8), make(chan []checkpoint.Ack, 8)
	for range cap(empty) {
		empty <- make([]checkpoint.Ack, 0, longRun)
	}
	var issuing, releasing sync.WaitGroup
	each := n / len(d.next) / longRun * longRun
	for g, issuer := range issuers {
		from := d.next[g*longLanes]
		issuing.Go(func() {
			for k := 0; k < each; k += longRun {
				for lane := range longLanes {
					p := checkpoint.PartitionID(g*longLanes + lane)
					acks := <-empty
					for x := range longRun {
						a, err := issuer.Issue(p, from+int64(k+x))
						for ; errors.Is(err, checkpoint.ErrPendingLimit); a, err = issuer.Issue(p, from+int64(k+x)) {
							runtime.Gosched()
						}
						if err != nil {
							d.t.Errorf("Issue(%d, %d) = %v", p, from+int64(k+x), err)
						}
						acks = append(acks, a)
					}
					work <- acks
				}
			}
		})
	}
	for range 2 {
		releasing.Go(func() {
			for acks := range work {
				for k := range acks {
					a := acks[k*7%len(acks)] // 7 and longRun have no common divisor
					a.RetainN(1)
					a.Release()
					a.Release()
				}
				empty <- acks[:0]
			}
		})
	}
	go func() { issuing.Wait(); close(work) }()
	ends := make([]int64, len(d.next))
	for p := range ends {
		ends[p] = d.next[p] + int64(each)
	}
	for done := 0; done < len(ends) && each > 0 && !d.t.Failed(); {
		d.settle()
		for _, m := range d.marks {
			p := m.Partition
			if m.Offset <= d.next[p] || m.Offset > ends[p] {
				d.t.Errorf("partition %d: watermark %d after %d, the last batch ends at %d", p, m.Offset, d.next[p], ends[p])
			}
			if d.next[p] = m.Offset; m.Offset == ends[p] {
				done++
			}
		}
		if len(d.marks) == 0 {
			runtime.Gosched()
		}
	}
	issuing.Wait()
	releasing.Wait()
	d.settle() // lets go of what was marked while the last drain ran
}
