package checkpoint_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/internal/checkpointtest"
)

// kept is what one partition may keep after a burst that has been passed.
const kept = 256 << 10

// heap is what is reachable now.
func heap() int64 {
	var ms runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&ms)
	return int64(ms.HeapAlloc)
}

func burst() int {
	if testing.Short() || checkpointtest.RaceBuild() {
		return 200_000
	}
	return 1_000_000
}

// TestMemoryIsReturnedAfterABurst measures directly after TakeWatermarks,
// with the issuer alive and without another Issue.
func TestMemoryIsReturnedAfterABurst(t *testing.T) {
	for _, c := range []struct {
		name  string
		order func(n int) func(k int) int
	}{
		{"InOrder", func(int) func(int) int { return func(k int) int { return k } }},
		{"NewestFirst", func(n int) func(int) int { return func(k int) int { return n - 1 - k } }},
		{"Scrambled", func(n int) func(int) int {
			p := rand.New(rand.NewPCG(1, 1)).Perm(n)
			return func(k int) int { return p[k] }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := burst()
			order := c.order(n)
			acks := make([]checkpoint.Ack, n)
			d := newDriver(t, 1)
			d.issue(10)
			d.release()
			d.settle()
			before := heap()
			for k := range acks {
				acks[k], _ = d.i.Issue(0, int64(k)+100)
			}
			for k := range acks {
				acks[order(k)].Release()
			}
			clear(acks)
			d.settle()
			if len(d.marks) != 1 || d.marks[0].Offset != int64(n)+100 {
				t.Fatalf("watermarks are %v, want the end of the burst", d.marks)
			}
			if grown := heap() - before; grown > kept {
				t.Errorf("%d bytes are kept after a burst of %d batches, want at most %d", grown, n, kept)
			}
			runtime.KeepAlive(acks)
			runtime.KeepAlive(order)
			runtime.KeepAlive(d)
		})
	}
}

// TestMemoryIsReturnedAfterAStuckHead: the burst waits behind one open batch
// over many drains and takes before it passes at once.
func TestMemoryIsReturnedAfterAStuckHead(t *testing.T) {
	n := burst() / 2
	d := newDriver(t, 1)
	d.issue(10)
	d.release()
	d.settle()
	before := heap()
	head, _ := d.i.Issue(0, 100)
	for k := range n {
		a, _ := d.i.Issue(0, int64(k)+100)
		a.Release()
		if k%1000 == 0 {
			d.settle()
		}
	}
	head.Release()
	d.settle()
	if d.c.Pending(0) != 0 {
		t.Fatalf("Pending(0) = %d, want 0", d.c.Pending(0))
	}
	if grown := heap() - before; grown > kept {
		t.Errorf("%d bytes are kept after %d batches behind a stuck head, want at most %d", grown, n, kept)
	}
	runtime.KeepAlive(head)
	runtime.KeepAlive(d)
}

// TestMemoryBehindAStuckHead: a million delivered batches behind an open or a
// failed one take less than 1 MB, in whatever order they were delivered.
// Without folding they take 18.
func TestMemoryBehindAStuckHead(t *testing.T) {
	const n, limit = 1_000_000, 1 << 20
	for _, c := range []struct {
		name   string
		failed bool
		order  func(k int) int
		window int // so many are issued before they are released
	}{
		{"InOrder", false, func(k int) int { return k }, 1000},
		{"NewestFirst", false, func(k int) int { return -k - 1 }, 1000},
		{"BehindAFailedHead", true, func(k int) int { return k }, 1000},
		{"AllIssuedBefore", false, func(k int) int { return -k - 1 }, n},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(t, 1)
			d.issue(10)
			d.release()
			d.settle()
			before := heap()
			head, _ := d.i.Issue(0, 10)
			if c.failed {
				head.Done(errSink)
			}
			acks := make([]checkpoint.Ack, c.window)
			for done := 0; done < n; done += c.window {
				for k := range acks {
					acks[k], _ = d.i.Issue(0, int64(done+k)+10)
				}
				for k := range acks {
					acks[(c.order(k)+c.window)%c.window].Release()
				}
				d.settle()
			}
			acks = nil
			if grown := heap() - before; grown > limit {
				t.Errorf("%d bytes are kept for %d batches behind a stuck head, want at most %d", grown, n, limit)
			}
			if d.c.Pending(0) != n+1 {
				t.Errorf("Pending(0) = %d, want %d", d.c.Pending(0), n+1)
			}
			if c.failed {
				_ = d.c.SkipFailed(0, head.ID())
			} else {
				head.Release()
			}
			d.settle()
			if len(d.marks) != 1 || d.marks[0].Offset != n+10 || d.c.Pending(0) != 0 {
				t.Errorf("the watermarks are %v with %d pending, want the end", d.marks, d.c.Pending(0))
			}
			if grown := heap() - before; grown > kept {
				t.Errorf("%d bytes are kept after the head has passed, want at most %d", grown, kept)
			}
			runtime.KeepAlive(d)
		})
	}
}

// TestOldAckPinsLittle holds one handle out of each of many bursts.
func TestOldAckPinsLittle(t *testing.T) {
	const bursts = 20
	each := burst() / bursts
	old := make([]checkpoint.Ack, 0, bursts)
	acks := make([]checkpoint.Ack, each)
	d := newDriver(t, 1)
	before := heap()
	for b := range bursts {
		for k := range acks {
			acks[k], _ = d.i.Issue(0, int64(b*each+k))
		}
		old = append(old, acks[b*31%each])
		for k := range acks {
			acks[k].Release()
		}
		d.settle()
	}
	clear(acks)
	if d.c.Pending(0) != 0 {
		t.Fatalf("Pending(0) = %d, want 0", d.c.Pending(0))
	}
	if grown := heap() - before; grown > 2*kept {
		t.Errorf("%d old handles pin %d bytes, want at most %d", bursts, grown, 2*kept)
	}
	for b, a := range old {
		if want := uint64(b*each + b*31%each); a.ID().Seq != want || a.LastOffset() != int64(want) {
			t.Fatalf("old handle %d says %v with offset %d, want batch %d", b, a.ID(), a.LastOffset(), want)
		}
	}
	runtime.KeepAlive(acks)
	runtime.KeepAlive(d)
}

// TestRevokedBacklogIsFreed: what was pending when its admission ended is
// free, even with one of its handles held.
func TestRevokedBacklogIsFreed(t *testing.T) {
	n := burst() / 2
	for _, c := range []struct {
		name string
		end  func(d *driver) error
	}{
		{"Revoke", func(d *driver) error { d.c.Revoke(0); return nil }},
		{"Return", func(d *driver) error { d.c.Revoke(0); return d.c.ExtendEpoch(0) }},
		{"BeginEpoch", func(d *driver) error { return d.c.BeginEpoch(2, 0, 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			acks := make([]checkpoint.Ack, n)
			d := newDriver(t, 2)
			before := heap()
			for k := range acks {
				acks[k], _ = d.i.Issue(0, int64(k))
			}
			d.settle()
			old := acks[n/3]
			if err := c.end(d); err != nil {
				t.Fatal(err)
			}
			for k := range acks {
				if k != n/3 {
					acks[k].Release()
				}
			}
			clear(acks)
			d.settle()
			// The issuer hears of the end at its next Issue.
			a, err := d.i.Issue(0, 0)
			if err != nil {
				t.Fatal(err)
			}
			a.Release()
			d.settle()
			if grown := heap() - before; grown > 2*kept {
				t.Errorf("%d bytes are kept of %d batches that were pending when their admission ended, want at most %d", grown, n, 2*kept)
			}
			old.Release()
			if got := d.c.Drain(); got.StaleEpoch != 1 {
				t.Errorf("Drain() = %+v, want the last one stale", got)
			}
			runtime.KeepAlive(acks)
			runtime.KeepAlive(d)
		})
	}
}

// TestMemoryIsFlatOver repeats what a long-lived process repeats.
func TestMemoryIsFlat(t *testing.T) {
	const rounds = 3000
	for _, c := range []struct {
		name string
		f    func(d *driver, k int)
	}{
		{"OverReturns", func(d *driver, _ int) {
			d.c.Revoke(0)
			if err := d.c.ExtendEpoch(0); err != nil {
				t.Fatal(err)
			}
			d.next[0] = 0
		}},
		{"OverEpochs", func(d *driver, k int) {
			if err := d.c.BeginEpoch(uint32(k)+2, 0, 1); err != nil {
				t.Fatal(err)
			}
			clear(d.next)
		}},
		{"OverUntrackedBatches", func(d *driver, k int) {
			for n := range 50 {
				a, err := d.i.Issue(checkpoint.PartitionID(100+n), int64(k))
				if err != nil {
					t.Fatal(err)
				}
				a.Release()
			}
		}},
		{"OverClones", func(d *driver, k int) {
			d.c.Revoke(0, 1)
			if err := d.c.ExtendEpoch(0, 1); err != nil {
				t.Fatal(err)
			}
			d.i = d.i.Clone()
		}},
		{"OverDuplicates", func(d *driver, k int) {
			a, err := d.i.Issue(0, d.next[0])
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				a.Release()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(t, 2)
			k := 0
			run := func(n int) {
				for range n {
					d.issue(20)
					if k%2 == 0 {
						d.c.Drain()
					}
					c.f(d, k)
					k++
					d.release()
					d.settle()
				}
			}
			run(rounds / 10)
			before := heap()
			run(rounds)
			if grown := heap() - before; grown > kept {
				t.Errorf("%d rounds grow the heap by %d bytes, want at most %d", rounds, grown, kept)
			}
			runtime.KeepAlive(d)
		})
	}
}

func TestIdlePartitionIsAtMost1KiB(t *testing.T) {
	const n = 20_000
	ps := make([]checkpoint.PartitionID, n)
	for p := range ps {
		ps[p] = checkpoint.PartitionID(p)
	}
	before := heap()
	c := checkpoint.New()
	if err := c.BeginEpoch(1, ps...); err != nil {
		t.Fatal(err)
	}
	if each := float64(heap()-before) / n; each > 1024 {
		t.Errorf("an idle partition takes %.0f bytes, want at most 1024", each)
	}
	// One batch that came and went leaves it idle again.
	i := c.Issuer()
	for _, p := range ps {
		a, err := i.Issue(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Release()
	}
	if got := c.Drain().Applied; got != n {
		t.Fatalf("Drain applied %d batches, want %d", got, n)
	}
	c.TakeWatermarks(nil)
	if each := float64(heap()-before) / n; each > 1024 {
		t.Errorf("a partition after one batch takes %.0f bytes, want at most 1024", each)
	}
	runtime.KeepAlive(i)
	runtime.KeepAlive(c)
}

func TestPendingBatchIsAtMost64Bytes(t *testing.T) {
	for _, partitions := range []int{1, 100} {
		n := burst()
		d := newDriver(t, partitions)
		before := heap()
		for k := range n {
			if _, err := d.i.Issue(checkpoint.PartitionID(k%partitions), int64(k)); err != nil {
				t.Fatal(err)
			}
		}
		d.settle()
		if each := float64(heap()-before) / float64(n); each > 64 {
			t.Errorf("a pending batch takes %.1f bytes in %d partitions, want at most 64", each, partitions)
		}
		runtime.KeepAlive(d)
	}
}
