package kafka

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestInterningIsDenseAndForLife(t *testing.T) {
	var ps partitions
	a, b := ps.intern("x", 7), ps.intern("y", 7)
	if a.id != 0 || b.id != 1 || ps.intern("x", 7) != a || ps.lookup("y", 7) != b {
		t.Fatalf("interned as %d and %d", a.id, b.id)
	}
	for _, num := range []int32{-1, 0, 6, 8} {
		if p := ps.lookup("x", num); p != nil {
			t.Errorf("lookup of x[%d] found %v", num, p)
		}
	}
	if p := ps.lookup("z", 0); p != nil {
		t.Errorf("lookup of an unknown topic found %v", p)
	}
}

// Against a plain table of each offset's epoch.
func TestEpochListAgainstATable(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var list epochList
		table := map[int64]int32{} // offset of a record → epoch
		var offsets []int64
		offset, epoch, floor := int64(rng.IntN(5)), int32(rng.IntN(3)), int64(0)
		for range 60 {
			switch rng.IntN(5) {
			case 0, 1, 2:
				var run []*kgo.Record
				for range 1 + rng.IntN(6) {
					if rng.IntN(4) == 0 {
						epoch += int32(rng.IntN(3))
					}
					run = append(run, &kgo.Record{Offset: offset, LeaderEpoch: epoch})
					table[offset] = epoch
					offsets = append(offsets, offset)
					offset += 1 + int64(rng.IntN(2))
				}
				list.note(run)
			case 3:
				if len(offsets) > 0 {
					floor = max(floor, offsets[rng.IntN(len(offsets))]+1)
					list.passed(floor)
				}
			case 4: // a loss: what begins above is forgotten
				if rng.IntN(4) == 0 && len(offsets) > 0 {
					cut := max(floor, offsets[rng.IntN(len(offsets))])
					list.cut(cut)
					offsets = slices.DeleteFunc(offsets, func(o int64) bool { return o >= cut })
					offset = cut
				}
			}
			for _, o := range offsets {
				if o+1 >= floor && list.at(o+1) != table[o] {
					t.Fatalf("seed %d: epoch at %d is %d, want %d; floor %d, list %v", seed, o+1, list.at(o+1), table[o], floor, list)
				}
			}
		}
	}
	if got := epochList(nil).at(5); got != unknown {
		t.Fatalf("an empty list has epoch %d", got)
	}
}

func TestWithoutControlKeepsTheOrder(t *testing.T) {
	for _, pattern := range []string{"", "d", "c", "dc", "cd", "dcd", "ccc", "dddd", "cdcdc", "ddccdd"} {
		var in, want []*kgo.Record
		for _, ch := range pattern {
			r := &kgo.Record{}
			if ch == 'c' {
				r.Attrs = kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Control: true})
			} else {
				want = append(want, r)
			}
			in = append(in, r)
		}
		if got := withoutControl(in); !slices.Equal(got, want) {
			t.Errorf("%q: kept %d records, want %d", pattern, len(got), len(want))
		}
	}
}

// A long-lived queue that is never quite empty stays small.
func TestReadyQueueDoesNotGrowBehindItsHead(t *testing.T) {
	var q readyQueue
	p, other := &partition{}, &partition{num: 1}
	records := make([]*kgo.Record, 3)
	next, out := int64(0), int64(0)
	for range 100_000 {
		for q.len() < 5 {
			q.push(Batch{Records: records, Partition: int32(next)}, p)
			next++
		}
		b, got, ok := q.pop()
		if !ok || got != p || b.Partition != int32(out) {
			t.Fatalf("popped %d, want %d", b.Partition, out)
		}
		out++
	}
	if cap(q.items) > 64 || q.records != 4*3 {
		t.Fatalf("capacity %d, %d records", cap(q.items), q.records)
	}
	q.push(Batch{Records: records}, other)
	var acks []checkpoint.Ack
	acks = q.drop(acks, func(x *partition) bool { return x == p })
	if len(acks) != 4 || q.len() != 1 || q.records != 3 {
		t.Fatalf("dropped %d, left %d with %d records", len(acks), q.len(), q.records)
	}
	if _, got, _ := q.pop(); got != other {
		t.Fatal("the other partition's batch is gone")
	}
	if _, _, ok := q.pop(); ok {
		t.Fatal("an empty queue has a batch")
	}
}
