package main

import (
	"context"
	"io"
)

// interruptible is a reader whose Read ends with ctx: a terminal that nobody
// types in would otherwise keep the program through every Ctrl-C.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

// Read reads through a buffer of its own, because a Read that outlives ctx
// must not write to p.
func (r interruptible) Read(p []byte) (int, error) {
	type answer struct {
		n   int
		err error
	}
	buf := make([]byte, len(p))
	done := make(chan answer, 1)
	go func() {
		n, err := r.in.Read(buf)
		done <- answer{n, err}
	}()
	select {
	case a := <-done:
		copy(p, buf[:a.n])
		return a.n, a.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
