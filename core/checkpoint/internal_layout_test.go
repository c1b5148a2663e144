package checkpoint

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(Ack{}); n > 24 {
		t.Errorf("an Ack has %d bytes, want at most 24", n)
	}
	// The lane is most of what an idle partition costs.
	if n := unsafe.Sizeof(lane{}); n > 320 {
		t.Errorf("a lane has %d bytes, want at most 320", n)
	}
}

func TestZeroCheckpointerNamesNew(t *testing.T) {
	for name, f := range map[string]func(c *Checkpointer){
		"Issuer":         func(c *Checkpointer) { c.Issuer() },
		"BeginEpoch":     func(c *Checkpointer) { _ = c.BeginEpoch(1) },
		"Drain":          func(c *Checkpointer) { c.Drain() },
		"TakeWatermarks": func(c *Checkpointer) { c.TakeWatermarks(nil) },
	} {
		for _, c := range []*Checkpointer{nil, {}} {
			func() {
				defer func() {
					if s, _ := recover().(string); !strings.Contains(s, "New") {
						t.Errorf("%s of a zero Checkpointer: %q does not name New", name, s)
					}
				}()
				f(c)
			}()
		}
	}
}

func TestShardsAreRoundedAndBounded(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 4, 64: 64, 65: 128, 1024: 1024, 1 << 30: 1024} {
		if got := len(New(WithShards(n)).shards); got != want {
			t.Errorf("WithShards(%d) made %d shards, want %d", n, got, want)
		}
	}
	for _, n := range []int{0, -1, -1 << 31} {
		if got, want := len(New(WithShards(n)).shards), len(New().shards); got != want {
			t.Errorf("WithShards(%d) made %d shards, want the default %d", n, got, want)
		}
	}
	c := New(WithShards(8))
	used := map[*shard]int{}
	for p := range PartitionID(1000) {
		used[c.shardOf(p)]++
	}
	for s, n := range used {
		if len(used) != 8 || n < 60 {
			t.Errorf("shard %p has %d of 1000 partitions, %d shards in use", s, n, len(used))
		}
	}
}

// The cache of hot lanes grows to hold what an issuer owns, whatever the
// numbers of the partitions look like, and forgets what is revoked.
func TestHotLanes(t *testing.T) {
	for _, stride := range []PartitionID{1, 3, 1 << 8, 1 << 16} {
		c := New()
		var ps []PartitionID
		for k := range PartitionID(500) {
			ps = append(ps, k*stride)
		}
		if err := c.BeginEpoch(1, ps...); err != nil {
			t.Fatal(err)
		}
		i := c.Issuer()
		for off := range int64(20) {
			for _, p := range ps {
				a, err := i.Issue(p, off)
				if err != nil {
					t.Fatal(err)
				}
				if a.ID() != (BatchID{p, 1, uint64(off)}) {
					t.Fatalf("issued %v for partition %d, offset %d", a.ID(), p, off)
				}
				a.Release()
			}
		}
		c.Drain()
		if ws := c.TakeWatermarks(nil); len(ws) != len(ps) || ws[len(ws)-1].Offset != 20 {
			t.Fatalf("stride %d: %d watermarks", stride, len(ws))
		}
		c.Revoke(ps[:250]...)
		if _, err := i.Issue(ps[499], 20); err != nil {
			t.Fatal(err)
		}
		for _, l := range i.hot {
			if l != nil && l.retired.Load() {
				t.Fatalf("stride %d: the issuer keeps lane %d after its revocation", stride, l.partition)
			}
		}
	}
}

// An AckSet that was large once does not stay so.
func TestAckSetGivesItsArrayBack(t *testing.T) {
	c := New()
	if err := c.BeginEpoch(1, 0); err != nil {
		t.Fatal(err)
	}
	i := c.Issuer()
	var set AckSet
	fill := func(n int) {
		for range n {
			a, err := i.Issue(0, 1)
			if err != nil {
				t.Fatal(err)
			}
			set.Add(a)
		}
		set.Deliver()
	}
	fill(100_000)
	fill(10)
	fill(10)
	if n := cap(set.entries); n > keptEntries {
		t.Errorf("room for %d entries kept while 10 are used", n)
	}
}

// A handle of an admission that has ended keeps its own segment alive, not
// what the admission kept for reuse.
func TestAnOldHandleKeepsNoSpareSegments(t *testing.T) {
	c := New()
	if err := c.BeginEpoch(1); err != nil {
		t.Fatal(err)
	}
	i := c.Issuer()
	var held []Ack
	for range 20 {
		if err := c.ExtendEpoch(3); err != nil {
			t.Fatal(err)
		}
		acks := make([]Ack, 8000)
		for n := range acks {
			acks[n], _ = i.Issue(3, int64(n))
		}
		for _, a := range acks {
			a.Release()
		}
		c.Drain()
		c.TakeWatermarks(nil)
		a, _ := i.Issue(3, 8000)
		held = append(held, a)
		c.Revoke(3)
		c.Drain()
	}
	if _, err := i.Issue(9, 1); err != nil { // the issuer sees the last revocation
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := len(held)
	clear(held)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int(before.HeapAlloc) - int(after.HeapAlloc)) / n; each > 16<<10 {
		t.Errorf("an old handle keeps %d bytes alive", each)
	}
	runtime.KeepAlive(i)
	runtime.KeepAlive(c)
}
