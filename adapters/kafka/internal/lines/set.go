package lines

// Set is a set of the lines of an input, a bit a line.
type Set struct {
	bits  []uint64
	lines int64
	count int64
}

// NewSet is an empty set for an input of so many lines.
func NewSet(lines int64) *Set { return &Set{bits: make([]uint64, lines/64+1), lines: lines} }

// Add adds a line and says whether it is new. Lines that the input does not
// have are not added.
func (s *Set) Add(line int64) bool {
	if line < 1 || line > s.lines || s.Has(line) {
		return false
	}
	s.bits[line/64] |= 1 << (line % 64)
	s.count++
	return true
}

// Has says whether a line of the input is in the set.
func (s *Set) Has(line int64) bool { return s.bits[line/64]&(1<<(line%64)) != 0 }

// Len is how many lines are in the set.
func (s *Set) Len() int64 { return s.count }

// FirstMissing is the first line of the input that is not in the set, 0 when
// there is none.
func (s *Set) FirstMissing() int64 {
	for line := int64(1); line <= s.lines; line++ {
		if !s.Has(line) {
			return line
		}
	}
	return 0
}
