package results

import "strconv"

// Number formats a figure with three significant digits, without an exponent.
func Number(v float64) string {
	prec := 0
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64) // 0.09999 is 0.10
	switch a := max(rounded, -rounded); {
	case a == 0:
		return "0"
	case a < 0.001:
		return "<0.001"
	case a < 0.1:
		prec = 3
	case a < 10:
		prec = 2
	case a < 100:
		prec = 1
	}
	return strconv.FormatFloat(v, 'f', prec, 64)
}
