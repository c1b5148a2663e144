package chart

import "strconv"

// Look is how a series is drawn. Each part is taken modulo the number of
// forms there are.
type Look struct{ Color, Mark, Dash int }

// Colors is how many colours there are.
const Colors = 7

const dashes = 4

// LookOf returns the look of the i-th of the things that a document compares.
// The first 28 differ in mark or dash, so that colour is not needed, and those
// of one colour differ in mark.
func LookOf(i int) Look {
	i = max(i, 0)
	cycle := i / Colors
	mark := (i + 3*cycle) % len(marks)
	return Look{Color: i % Colors, Mark: mark, Dash: (mark + cycle) % dashes}
}

func (l Look) stroke() string { return "s" + strconv.Itoa(modulo(l.Color, Colors)) }
func (l Look) fill() string   { return "f" + strconv.Itoa(modulo(l.Color, Colors)) }

// line is the class of a joined series.
func (l Look) line() string {
	class := "line " + l.stroke()
	if d := modulo(l.Dash, dashes); d > 0 {
		class += " d" + strconv.Itoa(d)
	}
	return class
}

func (l Look) mark(x, y, r float64) string { return marks[modulo(l.Mark, len(marks))](x, y, r) }

func modulo(a, n int) int { return ((a % n) + n) % n }
