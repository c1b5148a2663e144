package chart

import (
	"math"
	"strings"
)

// draw puts the series into the plot: bands below lines below points.
func (l *plotter) draw() {
	if len(l.plot.Series) == 0 {
		l.text("soft mid", (l.x.from+l.x.to)/2, (l.y.from+l.y.to)/2, "There is no figure to draw.", l.width)
		return
	}
	for _, s := range l.shown() {
		if !s.Dots {
			l.band(s)
		}
	}
	l.ideal()
	for _, s := range l.shown() {
		if !s.Dots && len(s.Points) > 1 {
			l.path(s.Look.line(), l.joined(s.Points), s.Name)
		}
	}
	for _, s := range l.shown() {
		if s.Dots {
			l.dots(s)
			continue
		}
		for _, p := range s.Points {
			title := p.Title
			if title == "" {
				title = s.Name
			}
			l.path(s.Look.fill(), s.Look.mark(l.x.at(p.X), l.y.at(p.Y), 4), title)
		}
	}
}

// dots draws all points of a series as one path, because there may be
// thousands.
func (l *plotter) dots(s Series) {
	var b strings.Builder
	for _, p := range s.Points {
		b.WriteString(s.Look.mark(l.x.at(p.X), l.y.at(p.Y), 2.6))
	}
	l.path(s.Look.fill()+" dot", b.String(), s.Name)
}

func (l *plotter) joined(points []Point) string {
	xy := make([]float64, 0, 2*len(points))
	for _, p := range points {
		xy = append(xy, l.x.at(p.X), l.y.at(p.Y))
	}
	return polyline(xy...)
}

// band fills the intervals of neighbouring points, and gives each point a
// whisker, which is all that a point without neighbours has.
func (l *plotter) band(s Series) {
	var run []Point
	flush := func() {
		if len(run) > 1 {
			var xy []float64
			for _, p := range run {
				xy = append(xy, l.x.at(p.X), l.y.at(p.Hi))
			}
			for i := len(run) - 1; i >= 0; i-- {
				xy = append(xy, l.x.at(run[i].X), l.y.at(run[i].Lo))
			}
			l.path("band "+s.Look.fill(), polygon(xy...), "")
		}
		run = run[:0]
	}
	for _, p := range s.Points {
		if math.IsNaN(p.Lo) || math.IsNaN(p.Hi) {
			flush()
			continue
		}
		run = append(run, p)
		x := l.x.at(p.X)
		l.path("whisker "+s.Look.stroke(), line(x, l.y.at(p.Lo), x, l.y.at(p.Hi)), "")
	}
	flush()
}

// ideal draws the line to compare with up to where it leaves the plot.
func (l *plotter) ideal() {
	var b strings.Builder
	for i := 1; i < len(l.plot.Ideal); i++ {
		p, q := l.plot.Ideal[i-1], l.plot.Ideal[i]
		if !finite(p.Y) || !finite(q.Y) {
			continue
		}
		// Short pieces, because a straight line is a curve on one
		// logarithmic axis, and because it ends inside a piece.
		const pieces = 24
		var xy []float64
		for k := 0; k <= pieces; k++ {
			t := float64(k) / pieces
			x, y := p.X+(q.X-p.X)*t, p.Y+(q.Y-p.Y)*t
			if l.x.within(x) && l.y.within(y) {
				xy = append(xy, l.x.at(x), l.y.at(y))
			}
		}
		if len(xy) > 2 {
			b.WriteString(polyline(xy...))
		}
	}
	if b.Len() > 0 {
		l.path("ideal", b.String(), l.plot.IdealName)
	}
}

// title writes the head line and returns the baseline of the next line.
func (s *scene) title(text string) float64 {
	y := margin + 12
	s.Shapes = append(s.Shapes, shape{Class: "head", X: num(margin), Y: num(y), Text: shorten(clean(text), fontSize*1.18, s.width-2*margin)})
	if text = clean(text); s.Shapes[len(s.Shapes)-1].Text != text {
		s.Shapes[len(s.Shapes)-1].Title = text
	}
	return y + lineHeight + 3
}

// entry is one name of a legend.
type entry struct {
	name   string
	look   Look
	dots   bool
	hollow bool
	ideal  bool
}

// legend writes the entries in as many lines as they need, and returns the
// baseline of the line behind them.
func (s *scene) legend(y float64, entries []entry) float64 {
	if len(entries) == 0 {
		return y
	}
	const sample, gap, longest = 28.0, 16.0, 300.0
	x := margin
	for _, e := range entries {
		name := clean(e.name)
		if name == "" {
			name = "(no name)"
		}
		wide := sample + min(textWidth(name, fontSize), longest) + gap
		if x > margin && x+wide-gap > s.width-margin {
			x, y = margin, y+lineHeight
		}
		switch {
		case e.ideal:
			s.path("ideal", line(x, y-4, x+22, y-4), "")
		case e.hollow:
			s.path("hollow "+e.look.stroke(), e.look.mark(x+11, y-4, 4), "")
		case e.dots:
			s.path(e.look.fill()+" dot", e.look.mark(x+11, y-4, 3.4), "")
		default:
			s.path(e.look.line(), line(x, y-4, x+22, y-4), "")
			s.path(e.look.fill(), e.look.mark(x+11, y-4, 4), "")
		}
		s.text("", x+sample, y, name, longest)
		x += wide
	}
	return y + lineHeight
}

// note writes sentences below y and returns the baseline of the last line.
func (s *scene) note(y float64, sentences ...string) float64 {
	for _, l := range wrap(clean(strings.Join(sentences, " ")), fontSize, s.width-2*margin) {
		y += lineHeight
		s.text("soft", margin, y, l, s.width)
	}
	return y
}
