package queuetest

import (
	"runtime"
	"sync/atomic"
	"time"
)

// memoryCases look at element types and at what popped places keep alive.
func memoryCases() []testCase {
	return []testCase{
		{"elements of size zero are counted", func(f Form, _ Queue[uint64]) bool { return f.Empty != nil }, zeroSize},
		{"popped elements are not kept alive", func(f Form, _ Queue[uint64]) bool { return f.Pointers != nil }, poppedAreFreed},
	}
}

func zeroSize(t T, f Form) {
	for _, cfg := range configs(f, 300) {
		q := f.Empty(cfg)
		p := q.Producer()
		for _, n := range []int{1, 2, 64, 300} {
			for range n {
				if !p.Push(struct{}{}) {
					t.Fatalf("%+v: Push refused", cfg)
				}
			}
			if f.ExactLen && q.Len() != n {
				t.Errorf("%+v: Len is %d, want %d", cfg, q.Len(), n)
			}
			got := 0
			if q.TryPop != nil {
				if _, ok := q.TryPop(); !ok {
					t.Errorf("%+v: TryPop found none of %d elements", cfg, n)
				}
				got++
			}
			if q.DrainTo != nil {
				got += q.DrainTo(make([]struct{}, n/2))
			}
			if q.Drain != nil {
				got += q.Drain(func(struct{}) {})
			}
			for q.Drain == nil && got < n {
				got += q.DrainTo(make([]struct{}, n))
			}
			if got != n {
				t.Errorf("%+v: took %d of %d elements", cfg, got, n)
			}
		}
		if p.PushBatch != nil {
			if n := p.PushBatch(make([]struct{}, 100)); n != 100 {
				t.Errorf("%+v: PushBatch of 100 returned %d", cfg, n)
			}
		}
		closeProducer(p)
	}
}

func poppedAreFreed(t T, f Form) {
	const n = 300
	for _, cfg := range configs(f, n) {
		for way := range 3 {
			q := f.Pointers(cfg)
			take := pointerTaker(q, way)
			if take == nil {
				continue
			}
			p := q.Producer()
			var freed atomic.Int64
			func() {
				for i := range n {
					v := &Payload{ID: uint64(i)}
					runtime.AddCleanup(v, func(int) { freed.Add(1) }, 0)
					p.Push(v)
				}
				for got := 0; got < n; {
					k := take()
					if k == 0 {
						t.Fatalf("%+v: took %d of %d elements, then none", cfg, got, n)
					}
					got += k
				}
			}()
			deadline := time.Now().Add(patience)
			for freed.Load() < n {
				if time.Now().After(deadline) {
					t.Fatalf("%+v: the queue keeps %d of %d popped elements alive", cfg, n-freed.Load(), n)
				}
				runtime.GC()
			}
			runtime.KeepAlive(q)
			closeProducer(p)
		}
	}
}

// pointerTaker returns one of the queue's ways to take, or nil.
func pointerTaker(q Queue[*Payload], way int) func() int {
	switch {
	case way == 0 && q.Drain != nil:
		return func() int { return q.Drain(func(*Payload) {}) }
	case way == 1 && q.DrainTo != nil:
		return func() int { return q.DrainTo(make([]*Payload, 50)) }
	case way == 2 && q.TryPop != nil:
		return func() int {
			if _, ok := q.TryPop(); !ok {
				return 0
			}
			return 1
		}
	}
	return nil
}
