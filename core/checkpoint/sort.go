package checkpoint

import (
	"cmp"
	"slices"
)

// radixFrom is the number of watermarks from which counting their digits is
// cheaper than comparing them.
const radixFrom = 64

// sortByPartition sorts ws, whose partitions differ. A take of thousands of
// partitions would spend a third of its time on comparisons, so longer lists
// are sorted by radix: 8 bits a pass from the lowest, and as many passes as
// the largest partition has bytes. spare is used as the second array; the
// array to keep for the next call is returned.
func sortByPartition(ws, spare []Watermark) []Watermark {
	if len(ws) < radixFrom {
		slices.SortFunc(ws, func(a, b Watermark) int { return cmp.Compare(a.Partition, b.Partition) })
		return spare
	}
	spare = slices.Grow(spare[:0], len(ws))
	from, to := ws, spare[:len(ws)]
	var all PartitionID
	for i := range ws {
		all |= ws[i].Partition
	}
	passes := 0
	for shift := 0; shift < 32 && all>>shift != 0; shift += 8 {
		var next [256]int
		for i := range from {
			next[byte(from[i].Partition>>shift)]++
		}
		start := 0
		for d, n := range next {
			next[d] = start
			start += n
		}
		for i := range from {
			d := byte(from[i].Partition >> shift)
			to[next[d]] = from[i]
			next[d]++
		}
		from, to = to, from
		passes++
	}
	if passes%2 != 0 {
		copy(ws, from)
	}
	return spare
}
