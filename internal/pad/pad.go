// Package pad holds the one definition of a cache-line pad.
package pad

// LineSize is the distance in bytes that keeps two words from sharing a cache
// line. It is 64, the line of amd64 and of most arm64 cores. Two lines (the
// adjacent-line prefetcher's unit) would double the idle memory of every
// padded structure.
const LineSize = 64

// Line separates fields that different goroutines write, or that one writes
// and another reads in a hot path. Put it between two groups of fields; the
// allocator aligns large structures to lines, so nothing is padded by hand at
// the end.
type Line [LineSize]byte
