package queuetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// trafficCases push from one or more goroutines and count what comes out.
func trafficCases() []testCase {
	several := func(f Form, _ Queue[uint64]) bool { return !f.SingleProducer }
	return []testCase{
		{"one goroutine in bursts across segment edges", nil, burstsAcrossEdges},
		{"indices wrap around", func(f Form, _ Queue[uint64]) bool { return f.Wraps }, indicesWrap},
		{"one producer beside the consumer", nil, func(t T, f Form) { stress(t, f, 1, 25000) }},
		{"four producers beside the consumer", several, func(t T, f Form) { stress(t, f, 4, 8000) }},
		{"32 producers on 8 processors", several, func(t T, f Form) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
			stress(t, f, 32, 1000)
		}},
		{"batches are taken whole and in order", func(_ Form, q Queue[uint64]) bool {
			return q.Producer().PushBatch != nil
		}, batches},
		{"Len is exact when quiet and in range beside pushes", func(f Form, _ Queue[uint64]) bool { return f.ExactLen }, lenInRange},
		{"random operations agree with a naive model", func(_ Form, q Queue[uint64]) bool { return true }, randomOperations},
	}
}

// sizes returns the segment sizes to try; 0 is the default.
func sizes(f Form) []int {
	if f.Segmented {
		return []int{1, 2, 5, 64, 0}
	}
	return []int{0}
}

// configs returns every configuration a stress case runs with.
func configs(f Form, buffer int) []Config {
	var list []Config
	for _, size := range sizes(f) {
		list = append(list, Config{SegmentSize: size, Buffer: buffer, NearWrap: f.Wraps && size == 2})
	}
	return list
}

func burstsAcrossEdges(t T, f Form) {
	const most = 200
	for _, cfg := range configs(f, most) {
		for i := range takers(f.Ints(cfg)) {
			q := f.Ints(cfg)
			k := takers(q)[i]
			p := q.Producer()
			l := newLedger(t, f, 1)
			pushed := 0
			for _, n := range []int{0, 1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 129, most, 1, 0, most} {
				for range n {
					if !p.Push(id(0, pushed)) {
						t.Fatalf("%+v: Push refused element %d of an open queue", cfg, pushed)
					}
					pushed++
				}
				takeN(t, k.take, n, l.add)
				l.expect(0, pushed)
				expectEmpty(t, f, q)
			}
			closeProducer(p)
		}
	}
}

func indicesWrap(t T, f Form) {
	for _, size := range sizes(f) {
		q := f.Ints(Config{SegmentSize: size, NearWrap: true, Buffer: 8})
		p := q.Producer()
		l := newLedger(t, f, 1)
		k := takers(q)[0]
		for pushed := 0; pushed < 400; {
			n := 1 + pushed%7
			for range n {
				p.Push(id(0, pushed))
				pushed++
			}
			if f.ExactLen && q.Len() != n {
				t.Fatalf("segment size %d: Len is %d with %d elements, %d pushed", size, q.Len(), n, pushed)
			}
			takeN(t, k.take, n, l.add)
		}
		expectEmpty(t, f, q)
		closeProducer(p)
	}
}

// stress lets producers push each elements beside a consumer.
func stress(t T, f Form, producers, each int) {
	each = scale(each)
	for _, cfg := range configs(f, 256) {
		for i := range takers(f.Ints(cfg)) {
			stressOne(t, f, cfg, i, producers, each/len(sizes(f)))
		}
	}
}

func stressOne(t T, f Form, cfg Config, way, producers, each int) {
	q := f.Ints(cfg)
	k := takers(q)[way]
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range producers {
		p := q.Producer()
		wg.Go(func() {
			defer closeProducer(p)
			for seq := range each {
				if !p.Push(id(i, seq)) {
					t.Errorf("%+v: Push refused an element of an open queue", cfg)
				}
			}
		})
	}
	l := newLedger(t, f, producers)
	takeN(t, k.take, producers*each, l.add)
	for i := range producers {
		l.expect(i, each)
	}
	expectEmpty(t, f, q)
}

func batches(t T, f Form) {
	const producers = 2
	total := scale(8000)
	for _, cfg := range configs(f, 4096) {
		q := f.Ints(cfg)
		k := takers(q)[0]
		var wg sync.WaitGroup
		n := producers
		if f.SingleProducer {
			n = 1
		}
		for i := range n {
			p := q.Producer()
			wg.Go(func() {
				defer closeProducer(p)
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				var vs []uint64
				for seq := 0; seq < total; {
					vs = vs[:0]
					for range min(rng.IntN(200), total-seq) {
						vs = append(vs, id(i, seq))
						seq++
					}
					if got := p.PushBatch(vs); got != len(vs) {
						t.Errorf("PushBatch of %d returned %d", len(vs), got)
					}
					clear(vs) // the batch is not kept
				}
			})
		}
		l := newLedger(t, f, n)
		takeN(t, k.take, n*total, l.add)
		wg.Wait()
		for i := range n {
			l.expect(i, total)
		}
		expectEmpty(t, f, q)
	}
}

func lenInRange(t T, f Form) {
	for _, cfg := range configs(f, 256) {
		q := f.Ints(cfg)
		p := q.Producer()
		for n := 1; n <= 100; n++ {
			if p.Push(id(0, n)); q.Len() != n {
				t.Fatalf("%+v: Len is %d after %d pushes", cfg, q.Len(), n)
			}
		}
		for left := 100; left > 0; {
			for _, k := range takers(q) {
				if left -= k.take(func(uint64) {}); q.Len() != left {
					t.Fatalf("%+v: Len is %d after %s, with %d elements left", cfg, q.Len(), k.name, left)
				}
			}
		}
		closeProducer(p)
		lenInRangeOf(t, f, f.Ints(cfg), fmt.Sprintf("%+v", cfg))
	}
}

func lenInRangeOf(t T, f Form, q Queue[uint64], what string) {
	producers, each := 3, scale(8000)
	if f.SingleProducer {
		producers = 1
	}
	var begun, popped atomic.Int64
	stop := make(chan struct{})
	var wg, watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			out := popped.Load()
			n := int64(q.Len())
			if most := begun.Load() - out; n < 0 || n > most {
				t.Errorf("%s: Len is %d, outside 0..%d", what, n, most)
				return
			}
			runtime.Gosched()
		}
	})
	for i := range producers {
		p := q.Producer()
		wg.Go(func() {
			defer closeProducer(p)
			for seq := range each {
				begun.Add(1)
				p.Push(id(i, seq))
			}
		})
	}
	for _, k := range takers(q) {
		for popped.Load() < int64(producers*each) {
			n := k.take(func(uint64) {})
			popped.Add(int64(n))
			if n == 0 {
				runtime.Gosched()
			}
			if rand.IntN(8) == 0 {
				break // and go on with another way
			}
		}
	}
	// Not counted in popped: within a call, what it took still counts in Len.
	takeN(t, takers(q)[0].take, producers*each-int(popped.Load()), func(uint64) {})
	close(stop)
	watcher.Wait()
	wg.Wait()
	expectEmpty(t, f, q)
}
