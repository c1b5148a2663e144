package chart

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

// Value writes v with three significant digits, a prefix and its unit, the
// way people say it: 1.5e-8 of "sec/msg" is "15.0 ns/msg".
func Value(v float64, unit string) string {
	if !finite(v) {
		return "no figure"
	}
	s := scalerOf(v, unit)
	if s == benchunit.NoOpScaler {
		return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
	}
	number := strings.TrimSuffix(s.Format(v), s.Prefix)
	return number + " " + withPrefix(s.Prefix, unit)
}

// scalerOf is benchunit's, but that only times have prefixes for parts: a
// thousandth of an allocation is not a milliallocation.
func scalerOf(v float64, unit string) benchunit.Scaler {
	s := benchunit.CommonScale([]float64{v}, benchunit.ClassOf(unit))
	if s.Factor < 1 && !strings.Contains(unit, "sec") {
		return benchunit.NoOpScaler
	}
	return s
}

// withPrefix puts a prefix of thousands where the unit takes it: into seconds
// and bytes ("µs/op", "KiB/op"), else in front ("M msgs/s").
func withPrefix(prefix, unit string) string {
	const cuts = "/-*_"
	for i := 0; i < len(unit); {
		end := i
		for end < len(unit) && !strings.ContainsRune(cuts, rune(unit[end])) {
			end++
		}
		switch unit[i:end] {
		case "sec":
			return unit[:i] + prefix + "s" + unit[end:]
		case "B":
			return unit[:i] + prefix + "B" + unit[end:]
		}
		if end < len(unit) && unit[end] == '/' {
			break // what follows is a denominator
		}
		i = end + 1
	}
	if prefix == "" {
		return unit
	}
	return prefix + " " + unit
}

// labelled is a tick with its text.
type labelled struct {
	at   float64
	text string
}

// label writes the ticks of an axis and what stands at its head. A linear axis
// has one prefix for all ticks, in the unit; a logarithmic one has one for each.
func label(ticks []float64, unit string, log bool) ([]labelled, string) {
	_, hi, ok := span(magnitudes(ticks))
	out := make([]labelled, 0, len(ticks))
	if !ok {
		return out, unit
	}
	common := scalerOf(hi, unit)
	for _, t := range ticks {
		s := common
		if log {
			s = scalerOf(t, unit)
		}
		text := strconv.FormatFloat(rounded(t/s.Factor), 'f', -1, 64)
		if log {
			text = strings.TrimSpace(text + " " + symbol(s.Prefix, unit))
		}
		out = append(out, labelled{t, text})
	}
	if log { // each tick has a prefix of its own
		return out, strings.Replace(unit, "sec", "time", 1)
	}
	return out, withPrefix(common.Prefix, unit)
}

// symbol is what stands behind the number of a tick: the prefix, with s for
// seconds and B for bytes.
func symbol(prefix, unit string) string {
	with := withPrefix("", unit)
	switch {
	case with != unit:
		return prefix + "s"
	case benchunit.ClassOf(unit) == benchunit.Binary:
		return prefix + "B"
	}
	return prefix
}

// rounded removes the noise of binary fractions from a tick.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil || r == 0 {
		return 0
	}
	return r
}

func magnitudes(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v)
	}
	return out
}
