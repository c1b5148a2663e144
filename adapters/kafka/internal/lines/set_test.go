package lines

import "testing"

func TestSetHoldsLinesOfItsInputOnly(t *testing.T) {
	for _, lines := range []int64{0, 1, 63, 64, 65, 1000} {
		s := NewSet(lines)
		for _, line := range []int64{-5, 0, lines + 1, lines + 64, 1 << 40} {
			if s.Add(line) {
				t.Errorf("%d lines: added line %d", lines, line)
			}
		}
		for line := int64(1); line <= lines; line++ {
			if s.FirstMissing() != line {
				t.Fatalf("%d lines: first missing is %d, want %d", lines, s.FirstMissing(), line)
			}
			if s.Has(line) || !s.Add(line) || s.Add(line) || !s.Has(line) || s.Len() != line {
				t.Fatalf("%d lines: line %d is not added exactly once", lines, line)
			}
		}
		if s.FirstMissing() != 0 {
			t.Errorf("%d lines: line %d is missing from a full set", lines, s.FirstMissing())
		}
	}
}
