package runner

import (
	"fmt"
	"io"
	"time"
)

// sparing is the time between two lines of state where each one stays.
const sparing = 30 * time.Second

// progress tells a reader what happens. On a terminal the state is one line
// that is written over; elsewhere it is a line now and then.
type progress struct {
	w        io.Writer
	terminal bool
	shown    bool // a line of state is on the terminal
	last     time.Time
}

// say writes a line that stays.
func (p *progress) say(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// state tells where the run is.
func (p *progress) state(done, all int, left time.Duration, what string) {
	text := fmt.Sprintf("[%d/%d, %v left] %s", done, all, left.Round(time.Second), what)
	if now := time.Now(); !p.terminal && now.Sub(p.last) >= sparing {
		p.last = now
		fmt.Fprintln(p.w, text)
	}
	p.now(text)
}

// now tells what is done at this moment, on a terminal.
func (p *progress) now(text string) {
	if !p.terminal {
		return
	}
	const width = 79 // a longer line would wrap, and could not be written over
	if r := []rune(text); len(r) > width {
		text = string(r[:width-1]) + "…"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// clear removes the line of state.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
