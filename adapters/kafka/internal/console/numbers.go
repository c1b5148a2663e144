package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count writes a number in groups of three digits: 1,234,567.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural writes a number with its noun: 1 line, 2 lines, 3 batches.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return Count(n) + " " + noun + "s"
}

// Bytes writes a size in decimal units: 647 kB.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	unit := 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return trim(value) + " " + units[unit]
}

// Duration writes a time to three digits: 12.3 ms.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return trim(float64(d)/float64(time.Millisecond)) + " ms"
	case d < time.Minute:
		return trim(d.Seconds()) + " s"
	}
	return d.Round(time.Second).String()
}

// Rate writes how many there were a second.
func Rate(n int64, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return Count(int64(float64(n)/d.Seconds())) + "/s"
}

func trim(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Bar draws how much of total is done.
func Bar(done, total int64, width int) string {
	full := width
	if total > 0 {
		full = int(min(done, total) * int64(width) / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
