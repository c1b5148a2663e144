package render

import (
	"fmt"
	"math"
	"strconv"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// none stands for a figure that does not exist.
const none = "–"

// number formats a value of a table with four digits. A unit that is its own
// base unit gets a prefix; nanoseconds get none, because a megananosecond
// is none.
func number(v float64, t *pair.Table) string { return quantity(v, t.Unit, t.Tidy) }

func quantity(v float64, unit, tidy string) string {
	switch {
	case math.IsNaN(v):
		return none
	case math.IsInf(v, 0):
		return infinite(v)
	case unit != tidy:
		return plain(v)
	}
	return benchunit.Scale(v, benchunit.ClassOf(unit))
}

func infinite(v float64) string {
	if v < 0 {
		return "-∞"
	}
	return "∞"
}

// plain formats a number with four significant digits, as a decimal as long
// as that is readable.
func plain(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a >= 1e9 || a < 1e-3:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case a >= 999.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 99.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 9.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// plusMinus is the interval of a median as a share of it, as benchstat has it.
func plusMinus(s verdict.Summary) string {
	if math.IsNaN(s.Center) {
		return none
	}
	return "±" + benchmath.Summary{Center: s.Center, Lo: s.Lo, Hi: s.Hi}.PctRangeString()
}

// manifold is the change from which on a multiple reads better than percent.
const manifold = 10

// change formats a change with its interval.
func change(c *verdict.Comparison) string {
	switch {
	case math.IsNaN(c.Change):
		return none
	case math.IsInf(c.Change, 0):
		return "from 0"
	case c.Change >= manifold:
		text := plain3(c.Ratio) + "×"
		if !math.IsNaN(c.Lo) {
			text += fmt.Sprintf(" [%s, %s]", plain3(c.Lo+1), plain3(c.Hi+1))
		}
		return text
	}
	text := signed(c.Change) + "%"
	if !math.IsNaN(c.Lo) {
		text += fmt.Sprintf(" [%s, %s]", signed(c.Lo), signed(c.Hi))
	}
	return text
}

// signed formats a share in percent, with a decimal as long as that says
// something.
func signed(share float64) string {
	if math.IsInf(share, 0) {
		return infinite(share)
	}
	if percent := share * 100; math.Abs(percent) >= 99.95 {
		return fmt.Sprintf("%+.0f", percent)
	}
	return fmt.Sprintf("%+.1f", share*100)
}

// plain3 formats a ratio with three digits.
func plain3(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return none
	case math.IsInf(v, 0):
		return infinite(v)
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.0995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// probability formats a p-value as benchstat does.
func probability(p float64) string {
	if math.IsNaN(p) {
		return none
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// percent formats a share without needless digits.
func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 4, 64) + "%" }

// sizes formats the numbers of samples of two sides.
func sizes(a, b int) string {
	if a == b {
		return strconv.Itoa(a)
	}
	return fmt.Sprintf("%d+%d", a, b)
}

// direction says which values are better.
func direction(better int) string {
	switch {
	case better < 0:
		return "less is better"
	case better > 0:
		return "more is better"
	}
	return "no direction declared"
}

// regime is short enough for a column.
func regime(r verdict.Regime) string {
	switch r {
	case verdict.Unknown:
		return none
	case verdict.OneCore:
		return "one"
	}
	return string(r)
}

// configLine sets configuration in one line.
func configLine(config []pair.KeyValue, between, sep string) string {
	text := ""
	for i, kv := range config {
		if i > 0 {
			text += sep
		}
		text += kv.Key + between + kv.Value
	}
	return text
}
