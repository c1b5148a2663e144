package checkpoint

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortByPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var spare []Watermark
	for _, n := range []int{0, 1, 2, radixFrom - 1, radixFrom, radixFrom + 1, 1000, 5000} {
		for _, largest := range []uint32{200, math.MaxUint16, 1 << 20, math.MaxUint32} {
			seen := map[PartitionID]bool{}
			var ws []Watermark
			for len(ws) < min(n, int(min(largest, 1<<20))) {
				p := PartitionID(r.Uint64N(uint64(largest) + 1))
				if !seen[p] {
					seen[p] = true
					ws = append(ws, Watermark{Partition: p, Offset: int64(p) + 7})
				}
			}
			want := slices.Clone(ws)
			slices.SortFunc(want, func(a, b Watermark) int { return cmp.Compare(a.Partition, b.Partition) })
			spare = sortByPartition(ws, spare)
			if !slices.Equal(ws, want) {
				t.Fatalf("%d watermarks up to partition %d are not sorted", n, largest)
			}
		}
	}
	ws := make([]Watermark, 5000)
	if n := testing.AllocsPerRun(10, func() {
		for i := range ws {
			ws[i].Partition = PartitionID(len(ws) - i)
		}
		spare = sortByPartition(ws, spare)
	}); n != 0 {
		t.Errorf("%v allocations with a spare array", n)
	}
}
