package mpsc_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/tidemark-go/tidemark/mpsc"
)

// 24 bytes, the size of a small message.
type message [3]uint64

func TestNothingIsAllocatedWhileTheBacklogFits(t *testing.T) {
	type program struct {
		name string
		run  func(q *mpsc.Queue[message], p *mpsc.Producer[message])
	}
	dst, batch := make([]message, 64), make([]message, 40)
	ignore := func(message) {}
	for _, size := range []int{1, 2, 100} {
		backlog := 15 * size // the queue keeps 16 segments
		for _, c := range []program{
			{"Push, TryPop", func(q *mpsc.Queue[message], _ *mpsc.Producer[message]) {
				q.Push(message{})
				q.TryPop()
			}},
			{"burst of Push, Drain", func(q *mpsc.Queue[message], _ *mpsc.Producer[message]) {
				for range backlog {
					q.Push(message{})
				}
				q.Drain(ignore)
			}},
			{"burst of Push, DrainTo", func(q *mpsc.Queue[message], _ *mpsc.Producer[message]) {
				for range backlog {
					q.Push(message{})
				}
				for q.DrainTo(dst) > 0 {
				}
			}},
			{"lane Push, TryPop", func(q *mpsc.Queue[message], p *mpsc.Producer[message]) {
				p.Push(message{})
				q.TryPop()
			}},
			{"burst of lane Push, Drain", func(q *mpsc.Queue[message], p *mpsc.Producer[message]) {
				for range backlog {
					p.Push(message{})
				}
				q.Drain(ignore)
			}},
			{"PushBatch, DrainTo", func(q *mpsc.Queue[message], p *mpsc.Producer[message]) {
				p.PushBatch(batch[:min(len(batch), backlog)])
				q.DrainTo(dst)
			}},
			{"Len", func(q *mpsc.Queue[message], _ *mpsc.Producer[message]) { q.Len() }},
		} {
			q := mpsc.New[message](mpsc.WithSegmentSize(size))
			p := q.Producer()
			for range 20 {
				c.run(q, p)
			}
			if n := testing.AllocsPerRun(20, func() { c.run(q, p) }); n != 0 {
				t.Errorf("segment size %d, %s: %v allocations a run", size, c.name, n)
			}
			p.Close()
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The default keeps less than 256 KiB of 8-byte elements, in both kinds of
// segments and with what the chains themselves hold.
// Many of them, because the runtime allocates now and then as well.
func TestANewQueueIsSmall(t *testing.T) {
	const n = 64
	before := heap()
	queues, lanes := make([]*mpsc.Queue[uint64], n), make([]*mpsc.Producer[uint64], n)
	for i := range queues {
		queues[i] = mpsc.New[uint64]()
		lanes[i] = queues[i].Producer()
	}
	if idle := (heap() - before) / n; idle > 4<<10 {
		t.Errorf("a new queue with a lane takes %d bytes, want at most 4 KiB", idle)
	}
	runtime.KeepAlive(queues)
	runtime.KeepAlive(lanes)
}

func TestMemoryReturnsAfterABurst(t *testing.T) {
	const limit = 256 << 10
	burst := 1000000
	if testing.Short() {
		burst = 200000
	}
	for name, push := range map[string]func(q *mpsc.Queue[uint64], p *mpsc.Producer[uint64], i int){
		"shared": func(q *mpsc.Queue[uint64], _ *mpsc.Producer[uint64], i int) { q.Push(uint64(i)) },
		"lane":   func(_ *mpsc.Queue[uint64], p *mpsc.Producer[uint64], i int) { p.Push(uint64(i)) },
		"both": func(q *mpsc.Queue[uint64], p *mpsc.Producer[uint64], i int) {
			if i%2 == 0 {
				q.Push(uint64(i))
			} else {
				p.Push(uint64(i))
			}
		},
	} {
		before := heap()
		q := mpsc.New[uint64]()
		p := q.Producer()
		for i := range burst {
			push(q, p, i)
		}
		if full := heap() - before; full < int64(burst)*8 {
			t.Errorf("%s: %d elements take %d bytes: this test measures nothing", name, burst, full)
		}
		if n := q.Drain(func(uint64) {}); n != burst {
			t.Errorf("%s: Drain took %d of %d", name, n, burst)
		}
		if kept := heap() - before; kept > limit {
			t.Errorf("%s: %d bytes are kept after a burst, want at most %d", name, kept, limit)
		}
		if shared, lane := mpsc.KeptSegments(q); shared+lane != 16 {
			t.Errorf("%s: %d and %d segments are kept after a burst, want 16 together", name, shared, lane)
		}
		p.Close()
		runtime.KeepAlive(q)
	}
}

// A Producer that its owner keeps, though it is closed and refused a push,
// keeps no segment.
func TestClosedLanesKeepNothing(t *testing.T) {
	before := heap()
	q := mpsc.New[uint64]()
	lanes := make([]*mpsc.Producer[uint64], 256)
	for i := range lanes {
		lanes[i] = q.Producer()
		for n := range 3000 {
			lanes[i].Push(uint64(n))
		}
		lanes[i].Close()
	}
	if n := q.Drain(func(uint64) {}); n != 256*3000 {
		t.Errorf("Drain took %d", n)
	}
	for _, p := range lanes {
		if p.Push(1) {
			t.Error("a closed lane took a push")
		}
	}
	if kept := heap() - before; kept > 256<<10 {
		t.Errorf("%d bytes are kept beside closed lanes", kept)
	}
	runtime.KeepAlive(q)
	runtime.KeepAlive(lanes)
}

func TestMaxFreeBoundsWhatIsKept(t *testing.T) {
	for _, free := range []int{0, 1, 3, 100} {
		q := mpsc.New[int](mpsc.WithSegmentSize(4), mpsc.WithMaxFree(free))
		p := q.Producer()
		for round := range 6 {
			for i := range 200 {
				if round%2 == 0 {
					q.Push(i)
				} else {
					p.Push(i)
				}
			}
			q.Drain(func(int) {})
			shared, lane := mpsc.KeptSegments(q)
			if kept := shared + lane; kept > free || kept < min(free, 40) {
				t.Errorf("%d and %d segments kept, want %d together", shared, lane, free)
			}
			// What was used last is what is kept, so its next use allocates less.
			if used := []int{shared, lane}[round%2]; used < min(free, 40) {
				t.Errorf("%d and %d segments kept after round %d", shared, lane, round)
			}
		}
		p.Close()
	}
}

func TestMemoryIsFlatOverManyOperations(t *testing.T) {
	rounds := 10000
	if testing.Short() {
		rounds = 1000
	}
	t.Run("values", func(t *testing.T) { flatWithValues(t, rounds) })
	t.Run("pointers", func(t *testing.T) { flatWithPointers(t, rounds/10) })
}

func flatWithValues(t *testing.T, rounds int) {
	q := mpsc.New[uint64]()
	p := q.Producer()
	var first int64
	for round := range rounds {
		for i := range uint64(500) {
			q.Push(i)
			p.Push(i)
		}
		q.Drain(func(uint64) {})
		if round == 20 {
			first = heap()
		}
	}
	if grown := heap() - first; grown > 16<<10 {
		t.Errorf("the heap grew by %d bytes over %d operations", grown, rounds*1000)
	}
	p.Close()
	runtime.KeepAlive(q)
}

func flatWithPointers(t *testing.T, rounds int) {
	q := mpsc.New[*message](mpsc.WithSegmentSize(64))
	p := q.Producer()
	var first int64
	for round := range rounds {
		for i := range 500 {
			v := &message{uint64(i)}
			if q.Push(v); i%3 == 0 {
				p.Push(v)
			}
		}
		q.Drain(func(*message) {})
		if round == 20 {
			first = heap()
		}
	}
	if grown := heap() - first; grown > 64<<10 {
		t.Errorf("the heap grew by %d bytes over %d operations", grown, rounds*666)
	}
	p.Close()
	runtime.KeepAlive(q)
}

// A producer that stalls between claim and publication must not pin what is
// pushed and popped behind it.
func TestAStalledProducerPinsOneSegment(t *testing.T) {
	before := heap()
	q := mpsc.New[[64]byte](mpsc.WithSegmentSize(16), mpsc.WithMaxFree(2))
	q.Push([64]byte{})
	publish := mpsc.StallPush(q)
	for range 2000 {
		for range 50 {
			q.Push([64]byte{})
		}
		q.Drain(func([64]byte) {})
	}
	if kept := heap() - before; kept > 128<<10 {
		t.Errorf("%d bytes are held after 100000 elements passed a stalled producer", kept)
	}
	publish([64]byte{1})
	got := 0
	q.Drain(func(v [64]byte) { got += int(v[0]) })
	if got != 1 || q.Len() != 0 {
		t.Errorf("the late element came %d times, Len %d", got, q.Len())
	}
}

// While a producer is within the section in which it appends, segments it may
// be looking at are not used again; afterwards they are.
func TestSegmentsAreReusedOnlyOutsideSections(t *testing.T) {
	q := mpsc.New[int](mpsc.WithSegmentSize(1))
	cycle := func() {
		for i := range 3 {
			q.Push(i)
		}
		q.Drain(func(int) {})
	}
	for range 50 {
		cycle()
	}
	leave := mpsc.HoldSection(q)
	for range 50 {
		cycle()
	}
	if n := testing.AllocsPerRun(100, cycle); n < 3 {
		t.Errorf("%v allocations a cycle within a section, want one a segment at least", n)
	}
	leave()
	for range 50 {
		cycle()
	}
	if n := testing.AllocsPerRun(100, cycle); n != 0 {
		t.Errorf("%v allocations a cycle outside of sections", n)
	}
}

// Freed segments come back at once when the queue keeps one or two, so a
// producer that was delayed meets them in another use all the time.
func TestImmediateReuseOfSegments(t *testing.T) {
	each := 5000
	if testing.Short() {
		each = 1000
	}
	for _, size := range []int{1, 2, 3} {
		for _, free := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("size=%d/free=%d", size, free), func(t *testing.T) {
				reuse(t, mpsc.New[uint64](mpsc.WithSegmentSize(size), mpsc.WithMaxFree(free), mpsc.WithNearWrap()), each)
			})
		}
	}
}

func reuse(t *testing.T, q *mpsc.Queue[uint64], each int) {
	const producers = 4
	var wg sync.WaitGroup
	for i := range producers {
		wg.Go(func() {
			for seq := range each {
				q.Push(uint64(i)<<32 | uint64(seq))
				for q.Len() > 6 {
					runtime.Gosched()
				}
			}
		})
	}
	var next [producers]uint64
	deadline := time.Now().Add(30 * time.Second)
	for got := 0; got < producers*each; {
		v, ok := q.TryPop()
		if !ok {
			if time.Now().After(deadline) {
				t.Fatalf("got %d of %d elements", got, producers*each)
			}
			runtime.Gosched()
			continue
		}
		if i, seq := v>>32, v&(1<<32-1); seq != next[i] {
			t.Fatalf("producer %d: popped %d, want %d", i, seq, next[i])
		} else {
			next[i]++
		}
		got++
	}
	wg.Wait()
}

func TestDefaultSegmentSizeFollowsTheElement(t *testing.T) {
	if n := mpsc.SegmentSize(mpsc.New[uint64]()); n != 512 {
		t.Errorf("8-byte elements: %d cells a segment, want 512", n)
	}
	if n := mpsc.SegmentSize(mpsc.New[struct{}]()); n != 512 {
		t.Errorf("empty elements: %d cells a segment, want 512", n)
	}
	if n := mpsc.SegmentSize(mpsc.New[[4096]byte]()); n != 32 {
		t.Errorf("4 KiB elements: %d cells a segment, want 32", n)
	}
	if n := mpsc.SegmentSize(mpsc.New[message]()); n*int(unsafe.Sizeof(message{})+8) > 8<<10 {
		t.Errorf("24-byte elements: %d cells a segment, more than 8 KiB", n)
	}
}

// What a closed lane refuses is not kept alive by it, nor is its segment.
func TestRefusedElementsAreNotKeptAlive(t *testing.T) {
	for name, push := range map[string]func(p *mpsc.Producer[*message], v *message) bool{
		"Push":      func(p *mpsc.Producer[*message], v *message) bool { return p.Push(v) },
		"PushBatch": func(p *mpsc.Producer[*message], v *message) bool { return p.PushBatch([]*message{v, v, v}) > 0 },
		"PushBatch over segments": func(p *mpsc.Producer[*message], v *message) bool {
			vs := make([]*message, 100)
			for i := range vs {
				vs[i] = v
			}
			return p.PushBatch(vs) > 0
		},
	} {
		for before := range 5 {
			q := mpsc.New[*message](mpsc.WithSegmentSize(4))
			p := q.Producer()
			for range before {
				p.Push(&message{})
			}
			q.Close()
			freed := make(chan struct{})
			func() {
				v := new(message)
				runtime.AddCleanup(v, func(c chan struct{}) { close(c) }, freed)
				if push(p, v) {
					t.Fatalf("%s on a closed queue succeeded", name)
				}
			}()
			for collected, deadline := false, time.Now().Add(10*time.Second); !collected; {
				runtime.GC()
				select {
				case <-freed:
					collected = true
				case <-time.After(time.Millisecond):
					if time.Now().After(deadline) {
						t.Fatalf("%s: a refused element is kept alive behind %d accepted ones", name, before)
					}
				}
			}
			if n := q.Drain(func(*message) {}); n != before {
				t.Errorf("%s: %d elements came, want %d", name, n, before)
			}
			runtime.KeepAlive(p)
		}
	}
}
