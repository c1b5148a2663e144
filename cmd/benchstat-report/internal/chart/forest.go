package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Verdict is how a change is drawn.
type Verdict int

// What can be said of a row.
const (
	NotComparable Verdict = iota
	Undecided
	Same
	Faster
	Slower
	Plain // a figure of which nothing is said, such as a mean of several rows
)

// verdictLooks give each verdict a colour and a form of its own.
var verdictLooks = map[Verdict]struct {
	name   string
	look   Look
	hollow bool
}{
	Slower:        {"slower", Look{Color: 1, Mark: 2}, false},
	Faster:        {"faster", Look{Color: 0, Mark: 4}, false},
	Same:          {"same", Look{Color: 5, Mark: 0}, false},
	Undecided:     {"undecided", Look{Color: 4, Mark: 3}, true},
	NotComparable: {"not comparable", Look{Color: 5, Mark: 5}, true},
	Plain:         {"", Look{Color: 5, Mark: 1}, false},
}

// Change is one line of a forest plot. Ratio is new by base, 1 for no change,
// and Floor the least change that counts, 0.03 for 3 %.
type Change struct {
	Name          string
	Ratio, Lo, Hi float64
	Floor         float64
	Verdict       Verdict
}

// Forest shows changes with their intervals, one below the other, and the
// band of changes too small to count. It grows with their number.
type Forest struct {
	ID, Title, Desc string
	Changes         []Change
	// Left and Right say what the two sides of no change mean.
	Left, Right string
	Note        string
}

const (
	forestWidth = wideWidth
	forestNames = 400.0 // of the column of names, at most
	forestTexts = 190.0 // of the column of figures
	forestRow   = 20.0
	// mostRatio is how far the axis goes: beyond it lies no measurement that
	// a reader would take by its length.
	mostRatio = 1000
	// linearRatio is the widest axis that is linear. Beyond it minus 50 % and
	// plus 100 %, which undo each other, should be as far from the middle.
	linearRatio = 4
)

func (f Forest) scene() *scene {
	s := &scene{ID: f.ID, Title: f.Title, Desc: f.Desc, width: forestWidth}
	y := s.title(f.Title)
	y = s.legend(y, f.entries())
	x, ticks := f.axis()
	top := y + lineHeight + 4
	bottom := top + forestRow*float64(max(len(f.Changes), 1))
	f.frame(s, x, ticks, top, bottom)
	for i, c := range f.Changes {
		c.draw(s, x, top+forestRow*float64(i))
	}
	one := x.at(1)
	s.path("axis", line(one, top, one, bottom), "")
	if len(f.Changes) == 0 {
		s.text("soft mid", one, top+forestRow-6, "There is no change to draw.", forestWidth)
	}
	end := s.note(bottom+lineHeight+4, f.Note)
	s.Width, s.Height = num(forestWidth), num(end+margin)
	return s
}

// entries are the verdicts that occur, worst first.
func (f Forest) entries() []entry {
	var out []entry
	for _, v := range []Verdict{Slower, Faster, Same, Undecided, NotComparable} {
		for _, c := range f.Changes {
			if c.Verdict == v {
				out = append(out, entry{name: verdictLooks[v].name, look: verdictLooks[v].look, dots: true, hollow: verdictLooks[v].hollow})
				break
			}
		}
	}
	return out
}

// names is how wide the column of names is.
func (f Forest) names() float64 {
	wide := 120.0
	for _, c := range f.Changes {
		wide = max(wide, textWidth(clean(c.Name), fontSize))
	}
	return min(wide, forestNames)
}

// axis fits the ratios, symmetric enough that no change is inside it.
func (f Forest) axis() (scale, []labelled) {
	s := scale{from: margin + f.names() + 14, to: forestWidth - margin - forestTexts - 14}
	lo, hi := 0.98, 1.02
	for _, c := range f.Changes {
		for _, v := range []float64{c.Ratio, c.Lo, c.Hi, 1 - c.Floor, 1 + c.Floor} {
			if finite(v) && v > 0 {
				v = min(max(v, 1.0/mostRatio), mostRatio)
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	var marks []float64
	if s.log = hi/lo > linearRatio; s.log {
		s.lo, s.hi, marks = logAxis(lo, hi, 8)
	} else {
		s.lo, s.hi, marks = linearAxis(lo, hi, 6)
	}
	ticks := make([]labelled, 0, len(marks))
	for _, m := range marks {
		text := strings.Replace(Percent(rounded(m)), ".0 %", " %", 1)
		if s.log {
			text = "×" + strconv.FormatFloat(rounded(m), 'f', -1, 64)
		}
		ticks = append(ticks, labelled{m, text})
	}
	return s, ticks
}

// frame draws what lies behind the changes.
func (f Forest) frame(s *scene, x scale, ticks []labelled, top, bottom float64) {
	for i, c := range f.Changes {
		if c.Floor > 0 && finite(c.Floor) {
			y := top + forestRow*float64(i)
			s.path("floor", box(x.at(1-c.Floor), y, x.at(1+c.Floor), y+forestRow), "")
		}
	}
	for _, t := range ticks {
		at := x.at(t.at)
		s.path("grid", line(at, top, at, bottom), "")
		s.text("soft mid", at, bottom+lineHeight-2, t.text, 80)
	}
	s.path("axis", line(x.from, bottom, x.to, bottom), "")
	one := x.at(1)
	s.text("soft end", one-8, top-6, arrow("← ", f.Left, ""), one-margin)
	s.text("soft", one+8, top-6, arrow("", f.Right, " →"), forestWidth-one-margin)
}

func arrow(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

// draw puts one change into the row that starts at top.
func (c Change) draw(s *scene, x scale, top float64) {
	y := top + forestRow/2
	v := verdictLooks[c.Verdict]
	name := c.Name
	if name == "" {
		name = "(no name)"
	}
	s.text("end", x.from-14, y+4, name, forestNames)
	s.text("soft", forestWidth-margin-forestTexts, y+4, c.figures(), forestTexts)
	if !finite(c.Ratio) || c.Ratio <= 0 {
		s.path("hollow "+v.look.stroke(), v.look.mark(x.at(1), y, 4.5), name+": "+v.name)
		return
	}
	title := strings.TrimSuffix(strings.Join([]string{name, c.figures(), v.name}, ": "), ": ")
	if !math.IsNaN(c.Lo) && !math.IsNaN(c.Hi) {
		s.path("whisker "+v.look.stroke(), line(x.at(c.Lo), y, x.at(c.Hi), y), title)
		if c.Lo < x.lo {
			s.path("whisker "+v.look.stroke(), polyline(x.from+6, y-4, x.from, y, x.from+6, y+4), "")
		}
		if c.Hi > x.hi {
			s.path("whisker "+v.look.stroke(), polyline(x.to-6, y-4, x.to, y, x.to-6, y+4), "")
		}
	}
	class := v.look.fill()
	if v.hollow {
		class = "hollow " + v.look.stroke()
	}
	s.path(class, v.look.mark(x.at(c.Ratio), y, 4.5), title)
}

// figures tells the change and its interval.
func (c Change) figures() string {
	if !finite(c.Ratio) || c.Ratio <= 0 {
		return verdictLooks[c.Verdict].name
	}
	if interval := Interval(c.Lo, c.Hi); interval != "" {
		return Percent(c.Ratio) + " " + interval
	}
	return Percent(c.Ratio)
}

// Interval writes the bounds of a ratio as [Percent] does, "[+1.0, +3.2]", or
// nothing if they are not known.
func Interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", bare(lo), bare(hi))
}

// Percent writes a ratio as a change, "+12.3 %", and as a multiple from three
// times on.
func Percent(ratio float64) string {
	if !finite(ratio) || ratio >= 3 {
		return bare(ratio)
	}
	return bare(ratio) + " %"
}

// bare is Percent without its sign of percent.
func bare(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return "no figure"
	case math.IsInf(ratio, 1):
		return "+∞"
	case math.IsInf(ratio, -1):
		return "−∞"
	case ratio >= 3:
		return "×" + strconv.FormatFloat(ratio, 'f', digits(ratio, 1), 64)
	}
	change := (ratio - 1) * 100
	text := strconv.FormatFloat(math.Abs(change), 'f', digits(change, 1), 64)
	if strings.Trim(text, "0.") == "" {
		return "0"
	}
	if change < 0 {
		return "−" + text
	}
	return "+" + text
}

// digits are those behind the point: few for large numbers.
func digits(v float64, most int) int {
	if math.Abs(v) >= 99.95 {
		return 0
	}
	return most
}
