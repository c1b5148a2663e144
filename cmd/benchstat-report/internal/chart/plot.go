package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Sizes in pixels of the drawing, whose unit is that of the font.
const (
	plotWidth  = 640.0
	wideWidth  = 1080.0
	plotHeight = 270.0 // of the area inside the axes
	fontSize   = 12.0
	lineHeight = 17.0
	margin     = 10.0
)

// maxSeries is how many series a plot takes: more cannot be told apart.
const maxSeries = 14

// Point is a figure with its interval. An interval that is not known is NaN.
type Point struct {
	X, Y, Lo, Hi float64
	Title        string // what a pointer that rests on it shows
}

// Series are the points of one legend entry, in the order of X.
type Series struct {
	Name   string
	Look   Look
	Dots   bool // points only: not joined, no bands
	Points []Point
}

// Tick is a mark at a place of an axis that is not a number to the reader.
type Tick struct {
	At   float64
	Text string
}

// Axis tells what a plot's axis shows.
type Axis struct {
	Label string
	Unit  string // scales the numbers of the ticks, and is the label if there is none
	Hint  string // stands behind the label
	Ticks []Tick // in place of numbers; the axis is linear then
	// Chosen values, such as numbers of goroutines, are ticks themselves, and
	// are spaced as evenly as a linear or a logarithmic axis can.
	Chosen bool
	// Far lets an axis begin near its values. Else a linear one shows zero.
	Far bool
	// Places are no magnitudes: their axis is linear however wide it is.
	Places bool
}

// Plot shows series over two axes, with bands for intervals.
type Plot struct {
	ID, Title, Desc string
	X, Y            Axis
	Series          []Series
	// Ideal is a line to compare with, dotted. It may leave the plot.
	Ideal     []Point
	IdealName string
	Note      string
	Wide      bool // as wide as a forest plot
}

// plotter is a plot while it is laid out.
type plotter struct {
	*scene
	x, y    scale
	plot    Plot
	missing int // points without a figure
}

func (p Plot) scene() *scene {
	s := &scene{ID: p.ID, Title: p.Title, Desc: p.Desc, width: plotWidth}
	if p.Wide {
		s.width = wideWidth
	}
	l := &plotter{scene: s, plot: p}
	l.prepare()
	y := l.head()
	xTicks, yTicks, yHead := l.axes(y)
	l.grid(xTicks, yTicks, yHead)
	l.draw()
	bottom := l.y.from + lineHeight
	if p.X.Label != "" {
		bottom += lineHeight
		s.text("mid", (l.x.from+l.x.to)/2, bottom, p.X.Label, l.x.to-l.x.from)
	}
	bottom = s.note(bottom+4, l.notes()...)
	s.Width, s.Height = num(s.width), num(bottom+margin)
	return s
}

// prepare drops what cannot be drawn.
func (l *plotter) prepare() {
	var kept []Series
	for _, s := range l.plot.Series {
		points := slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !finite(p.X) || !finite(p.Y) })
		l.missing += len(s.Points) - len(points)
		if s.Points = points; len(points) > 0 {
			kept = append(kept, s)
		}
	}
	l.plot.Series = kept
}

func (l *plotter) notes() []string {
	notes := []string{l.plot.Note}
	if l.missing == 1 {
		notes = append(notes, "1 point without a figure is not drawn.")
	} else if l.missing > 1 {
		notes = append(notes, fmt.Sprintf("%d points without a figure are not drawn.", l.missing))
	}
	if n := len(l.plot.Series); n > maxSeries {
		notes = append(notes, fmt.Sprintf("%d of %d series are drawn.", maxSeries, n))
	}
	return notes
}

func (l *plotter) shown() []Series { return l.plot.Series[:min(len(l.plot.Series), maxSeries)] }

// head writes the title and the legend and returns where they end.
func (l *plotter) head() float64 {
	y := l.title(l.plot.Title)
	var entries []entry
	for _, s := range l.shown() {
		entries = append(entries, entry{name: s.Name, look: s.Look, dots: s.Dots})
	}
	if len(l.plot.Ideal) > 1 {
		entries = append(entries, entry{name: l.plot.IdealName, ideal: true})
	}
	return l.legend(y, entries)
}

// axes lays out both scales with their ticks, and returns what stands above
// the y axis. The plot's area starts two lines below top.
func (l *plotter) axes(top float64) (xTicks, yTicks []labelled, yHead string) {
	top += lineHeight + 6
	l.y.from, l.y.to = top+plotHeight, top
	l.y, yTicks, yHead = l.plot.Y.layout(l.values(false), l.y, 7)
	wide := 0.0
	for _, t := range yTicks {
		wide = max(wide, textWidth(t.text, fontSize))
	}
	l.x.from, l.x.to = margin+wide+8, l.width-margin-8
	l.x, xTicks, _ = l.plot.X.layout(l.values(true), l.x, 8)
	return xTicks, yTicks, yHead
}

// values returns what an axis has to show. Intervals count, the ideal counts
// as far as it does not push the rest together.
func (l *plotter) values(x bool) []float64 {
	var out, ideal []float64
	for _, s := range l.shown() {
		for _, p := range s.Points {
			if x {
				out = append(out, p.X)
				continue
			}
			out = append(out, p.Y)
			if !s.Dots {
				out = append(out, p.Lo, p.Hi)
			}
		}
	}
	for _, p := range l.plot.Ideal {
		if !x {
			ideal = append(ideal, p.Y)
		}
	}
	out = slices.DeleteFunc(out, func(v float64) bool { return !finite(v) })
	if _, hi, ok := span(out); ok && hi > 0 {
		for _, v := range ideal {
			if finite(v) && v > 0 {
				out = append(out, min(v, hi*1.6))
			}
		}
	}
	return out
}

// layout fits the axis to values. The pixels of the ends are those of s.
func (a Axis) layout(values []float64, s scale, n int) (scale, []labelled, string) {
	lo, hi, ok := span(values)
	if !ok {
		lo, hi = 0, 1
	}
	if len(a.Ticks) > 0 {
		return a.named(lo, hi, s)
	}
	s.log = !a.Places && (wantsLog(values) || a.Chosen && evenerInLog(values))
	var ticks []float64
	switch {
	case s.log:
		s.lo, s.hi, ticks = logAxis(lo, hi, n)
	case a.Chosen:
		pad := max((hi-lo)*0.04, 1e-9)
		if lo == hi {
			pad = max(math.Abs(lo)/2, 1)
		}
		_, _, ticks = linearAxis(lo, hi, n)
		s.lo, s.hi = lo-pad, hi+pad
	default:
		if !a.Far {
			lo, hi = min(lo, 0), max(hi, 0)
		}
		s.lo, s.hi, ticks = linearAxis(lo, hi, n)
	}
	if chosen := slices.Compact(slices.Sorted(slices.Values(values))); a.Chosen && len(chosen) > 0 && len(chosen) <= 12 {
		ticks = chosen
	}
	ticks = slices.DeleteFunc(ticks, func(v float64) bool { return !s.within(v) })
	out, head := label(ticks, a.Unit, s.log)
	if a.Chosen {
		out, head = written(ticks), a.Unit
	}
	if a.Label != "" {
		head = a.Label
	}
	return s, out, head
}

// written writes chosen values as they were chosen.
func written(ticks []float64) []labelled {
	out := make([]labelled, 0, len(ticks))
	for _, t := range ticks {
		out = append(out, labelled{t, strconv.FormatFloat(rounded(t), 'f', -1, 64)})
	}
	return out
}

// named lays out an axis whose ticks are given.
func (a Axis) named(lo, hi float64, s scale) (scale, []labelled, string) {
	for _, t := range a.Ticks {
		lo, hi = min(lo, t.At), max(hi, t.At)
	}
	pad := max((hi-lo)*0.05, 0.25)
	s.lo, s.hi, s.log = lo-pad, hi+pad, false
	out := make([]labelled, 0, len(a.Ticks))
	for _, t := range a.Ticks {
		out = append(out, labelled{t.At, clean(t.Text)})
	}
	return s, out, a.Label
}

func (l *plotter) grid(xTicks, yTicks []labelled, yHead string) {
	if l.plot.Y.Hint != "" {
		yHead += ", " + l.plot.Y.Hint
	}
	l.text("soft", margin, l.y.to-9, yHead, l.width-2*margin)
	for _, t := range yTicks {
		y := l.y.at(t.at)
		l.path("grid", line(l.x.from, y, l.x.to, y), "")
		l.text("soft end", l.x.from-6, y+4, t.text, l.width)
	}
	free := math.Inf(-1)
	room := max((l.x.to-l.x.from)/float64(max(len(xTicks), 1))-8, 56)
	for _, t := range xTicks {
		x := l.x.at(t.at)
		l.path("axis", line(x, l.y.from, x, l.y.from+4), "")
		text := shorten(t.text, fontSize, room)
		half := textWidth(text, fontSize) / 2
		if x-half < free {
			continue // it would lie on the one before
		}
		free = x + half + 6
		l.text("soft mid", min(x, l.width-margin-half), l.y.from+lineHeight, t.text, room)
	}
	l.path("axis", line(l.x.from, l.y.from, l.x.to, l.y.from), "")
}
