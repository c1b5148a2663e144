package checkpointtest

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// replayed is one partition of a replayable source and its sink.
type replayed struct {
	delivered []atomic.Bool // by offset: the sink has it
	committed int64         // the control goroutine's
	stop      atomic.Bool
	stopped   chan struct{}
	owner     int
}

// stressAtLeastOnce plays a whole pipeline on one checkpointer: owners poll
// from the committed offset, sinks deliver out of order and fail at times, and
// the control loop commits, moves partitions between owners and re-reads the
// stalled ones. Nothing may be committed that the sink does not have, and at
// the end everything is committed.
func stressAtLeastOnce(t testing.TB, s Subject) {
	const partitions, owners, sinks = 4, 3, 2
	length := int64(scale(20_000, 1000))
	r := newRigWith(t, s, Config{PendingLimit: 100}, parts(partitions)...)
	type record struct {
		a Ack
		w *replayed
	}
	work := make(chan record, 256)
	issuers := make([]Issuer, owners)
	tokens := make([]sync.Mutex, owners) // an issuer is one goroutine at a time
	for g := range issuers {
		issuers[g] = r.c.Issuer()
	}
	lanes := make([]*replayed, partitions)
	poll := func(p part) {
		w := lanes[p]
		w.stop.Store(false)
		w.stopped = make(chan struct{})
		from := w.committed
		go func() {
			defer close(w.stopped)
			for k := from; k < length && !w.stop.Load(); {
				tokens[w.owner].Lock()
				a, err := issuers[w.owner].Issue(p, k)
				tokens[w.owner].Unlock()
				if err != nil {
					if !errors.Is(err, checkpoint.ErrPendingLimit) {
						t.Errorf("Issue(%d, %d) = %v", p, k, err)
						return
					}
					runtime.Gosched()
					continue
				}
				k++
				work <- record{a, w}
			}
		}()
	}
	var sinking sync.WaitGroup
	for g := range sinks {
		sinking.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 6))
			var kept []record
			deliver := func(x record) {
				if rng.IntN(500) == 0 {
					x.a.Done(errSink)
					return
				}
				x.w.delivered[x.a.LastOffset()].Store(true)
				x.a.Release()
			}
			for x := range work {
				if kept = append(kept, x); len(kept) > 20 || rng.IntN(4) == 0 {
					k := rng.IntN(len(kept))
					deliver(kept[k])
					kept[k] = kept[len(kept)-1]
					kept = kept[:len(kept)-1]
				}
				if len(work) == 0 {
					for _, x := range kept {
						deliver(x)
					}
					kept = kept[:0]
				}
			}
		})
	}
	for p := range part(partitions) {
		lanes[p] = &replayed{delivered: make([]atomic.Bool, length), owner: int(p) % owners}
		poll(p)
	}
	rng := rand.New(rand.NewPCG(2, 6))
	move := func(p part) {
		w := lanes[p]
		w.stop.Store(true)
		<-w.stopped
		r.c.Revoke(p)
		w.owner = rng.IntN(owners)
		if err := r.c.ExtendEpoch(p); err != nil {
			t.Errorf("ExtendEpoch(%d) = %v", p, err)
		}
		poll(p)
	}
	moves, deadline := 0, time.Now().Add(3*patience)
	for left := partitions; left > 0; {
		r.c.Drain()
		for _, m := range r.c.TakeWatermarks(nil) {
			w := lanes[m.Partition]
			if m.Offset <= w.committed {
				t.Errorf("partition %d: watermark %d after %d", m.Partition, m.Offset, w.committed)
			}
			for o := w.committed; o < m.Offset; o++ {
				if !w.delivered[o].Load() {
					t.Errorf("partition %d: watermark %d passes offset %d, which the sink does not have", m.Partition, m.Offset, o)
				}
			}
			if w.committed = m.Offset; w.committed == length {
				left--
			}
		}
		for _, st := range r.c.Stalled(nil) {
			move(st.Partition)
			moves++
		}
		if p := part(rng.IntN(partitions)); rng.IntN(100) == 0 && lanes[p].committed < length {
			move(p)
			moves++
		}
		if t.Failed() || time.Now().After(deadline) {
			t.Errorf("stopped with %d partitions not committed to their end", left)
			break
		}
		runtime.Gosched()
	}
	for _, w := range lanes {
		w.stop.Store(true)
		<-w.stopped
	}
	close(work)
	sinking.Wait()
	t.Logf("%d partitions of %d offsets, moved %d times", partitions, length, moves)
}
