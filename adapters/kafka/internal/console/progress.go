// Package console writes for people: a line of progress that moves, log
// messages that do not get into its way, and numbers that can be read.
package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

// How often a line of progress is written: in place on a terminal, below one
// another anywhere else.
const (
	terminalEvery = 100 * time.Millisecond
	plainEvery    = time.Second
)

// Console writes to one stream. As an io.Writer it takes whole lines, such as
// those of a logger. It is safe for concurrent use.
type Console struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	width    int // of the line of progress that stands there now
}

// New writes to f, and moves a line of progress in place if f is a terminal.
func New(f *os.File) *Console {
	info, err := f.Stat()
	return &Console{out: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// Write takes the line of progress away and writes lines.
func (c *Console) Write(lines []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	return c.out.Write(lines)
}

// Printf writes one line.
func (c *Console) Printf(format string, args ...any) {
	fmt.Fprintf(c, format+"\n", args...)
}

// Show writes line() over and over until the returned function is called,
// which writes it a last time.
func (c *Console) Show(line func() string) (stop func()) {
	every := plainEvery
	if c.terminal {
		every = terminalEvery
	}
	quit := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				c.progress(line())
			}
		}
	})
	return func() {
		close(quit)
		shown.Wait()
		c.Printf("%s", line())
	}
}

func (c *Console) progress(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.terminal {
		fmt.Fprintln(c.out, line)
		return
	}
	c.wipe()
	c.width = utf8.RuneCountInString(line)
	fmt.Fprint(c.out, line)
}

// wipe runs under mu.
func (c *Console) wipe() {
	if c.width > 0 {
		fmt.Fprintf(c.out, "\r%*s\r", c.width, "")
		c.width = 0
	}
}
