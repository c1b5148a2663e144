package chart

import (
	"bytes"
	_ "embed" // for the template and the style sheet
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed chart.svg.tmpl
var svgText string

//go:embed chart.css
var cssText string

// CSS is the style sheet of all charts, for documents that hold them inline.
func CSS() template.CSS { return template.CSS(cssText) }

// The style sheet is part of the template's text, because it is the
// package's own and holds no data.
var svgTemplate = template.Must(template.New("svg").Parse(strings.Replace(svgText, "/* chart.css */", cssText, 1)))

// shape is one element of a drawing: a path or, where Text is set, a text.
// Title is what a pointer that rests on it shows.
type shape struct {
	Class string
	D     string // of a path
	X, Y  string // of a text
	Text  string
	Title string
}

// scene is a laid-out chart.
type scene struct {
	ID, Title, Desc string
	Width, Height   string
	Alone           bool
	Shapes          []shape

	width float64
}

// Chart is something that this package draws.
type Chart interface {
	scene() *scene
}

// Write draws a chart to stand in an HTML document whose style includes
// [CSS].
func Write(w io.Writer, c Chart) error { return write(w, c, false) }

// WriteFile draws a chart as a document of its own, with its style sheet.
func WriteFile(w io.Writer, c Chart) error { return write(w, c, true) }

func write(w io.Writer, c Chart, alone bool) error {
	s := c.scene()
	s.Alone = alone
	s.ID, s.Title, s.Desc = identifier(s.ID), clean(s.Title), clean(s.Desc)
	if err := svgTemplate.Execute(w, s); err != nil {
		return fmt.Errorf("chart: writing %q: %w", s.Title, err)
	}
	return nil
}

// Inline is [Write] into a value that html/template takes as it is.
func Inline(c Chart) (template.HTML, error) {
	var b bytes.Buffer
	err := Write(&b, c)
	return template.HTML(b.String()), err
}

// identifier makes an id that needs no escaping anywhere.
func identifier(s string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, s)
	return "chart-" + id
}

func (s *scene) path(class, d, title string) {
	s.Shapes = append(s.Shapes, shape{Class: class, D: d, Title: clean(title)})
}

// text puts a text with its baseline at y. It is shortened to room, and then
// shows all of itself as its title.
func (s *scene) text(class string, x, y float64, text string, room float64) {
	text = clean(text)
	short := shorten(text, fontSize, room)
	sh := shape{Class: class, X: num(x), Y: num(y), Text: short}
	if short != text {
		sh.Title = text
	}
	s.Shapes = append(s.Shapes, sh)
}

// line, box and the marks are paths.
func line(x1, y1, x2, y2 float64) string {
	return "M" + num(x1) + " " + num(y1) + "L" + num(x2) + " " + num(y2)
}

func box(x1, y1, x2, y2 float64) string {
	return "M" + num(x1) + " " + num(y1) + "H" + num(x2) + "V" + num(y2) + "H" + num(x1) + "Z"
}

// polygon joins points, back to the first.
func polygon(xy ...float64) string { return polyline(xy...) + "Z" }

func polyline(xy ...float64) string {
	var b strings.Builder
	for i := 0; i+1 < len(xy); i += 2 {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(num(xy[i]) + " " + num(xy[i+1]))
	}
	return b.String()
}

// marks are the forms of points, told apart without colour.
var marks = []func(x, y, r float64) string{
	func(x, y, r float64) string { // disc
		return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0Z", num(x-r), num(y), num(r), num(r), num(2*r), num(r), num(r), num(-2*r))
	},
	func(x, y, r float64) string { r *= 0.9; return box(x-r, y-r, x+r, y+r) },
	func(x, y, r float64) string { r *= 1.2; return polygon(x, y-r, x+r, y+r*0.8, x-r, y+r*0.8) },
	func(x, y, r float64) string { r *= 1.3; return polygon(x, y-r, x+r, y, x, y+r, x-r, y) },
	func(x, y, r float64) string { r *= 1.2; return polygon(x, y+r, x+r, y-r*0.8, x-r, y-r*0.8) },
	func(x, y, r float64) string { // upright cross
		a, b := r*1.25, r*0.45
		return polygon(x-b, y-a, x+b, y-a, x+b, y-b, x+a, y-b, x+a, y+b, x+b, y+b, x+b, y+a, x-b, y+a, x-b, y+b, x-a, y+b, x-a, y-b, x-b, y-b)
	},
	func(x, y, r float64) string { // hourglass
		return polygon(x-r, y-r*1.1, x+r, y-r*1.1, x-r, y+r*1.1, x+r, y+r*1.1)
	},
}
