package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clean replaces what XML 1.0 cannot hold, escaped or not: control
// characters, halves of surrogate pairs, and bytes that are not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r':
			return ' '
		case r < 0x20, r == 0x7f, r == 0xfffe, r == 0xffff:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// textWidth estimates how wide s is at a font size. It errs to the wide side:
// the reader's font is not known.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfrI.,:;|!'()[]/ ", r):
			em += 0.40
		case strings.ContainsRune("mwMW%@→←=+<>~−×≥", r):
			em += 0.92
		case r >= 'A' && r <= 'Z':
			em += 0.72
		case r >= 0x1100:
			em += 1.0
		default:
			em += 0.62
		}
	}
	return em * size
}

// shorten cuts s in its middle until it fits, because names of rows differ at
// their ends as often as at their starts.
func shorten(s string, size, room float64) string {
	if textWidth(s, size) <= room {
		return s
	}
	runes := []rune(s)
	for keep := len(runes) - 1; keep > 0; keep-- {
		head := (keep + 1) / 2
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if textWidth(short, size) <= room {
			return short
		}
	}
	return "…"
}

// wrap breaks s at spaces into lines that fit.
func wrap(s string, size, room float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		next := word
		if line != "" {
			next = line + " " + word
		}
		if line != "" && textWidth(next, size) > room {
			lines = append(lines, line)
			next = word
		}
		line = shorten(next, size, room)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// num writes a coordinate with one digit behind the point, and never "-0".
func num(v float64) string {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // also for minus zero
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// finite says whether v can be drawn. Beyond 1e100 differences would overflow,
// and no measurement is there.
func finite(v float64) bool { return math.Abs(v) <= 1e100 }
