// Package lines turns text into records of an access log: it splits an input
// into lines, parses a line and writes the result as one line of JSON.
//
// Nothing in here is special to Kafka or to checkpoints; it is the work that
// the demo's workers do.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// blockBytes is how much text one block holds. A block is never written to
// again once lines were cut from it, so that lines can be kept without a
// copy; it stays in memory as long as any of its lines does.
const blockBytes = 256 << 10

// ErrLineLimit is returned by NewReader for a limit below one byte.
var ErrLineLimit = errors.New("lines: limit of a line")

// Line is one line of an input.
type Line struct {
	// Num counts from 1.
	Num int64
	// Raw is the text without its line feed; a carriage return before the
	// line feed is part of it. Of a long line it is the first bytes only.
	// It may be kept and must not be changed.
	Raw []byte
	// Long says that the line has more bytes than the limit. CopyLong
	// reads all of them.
	Long bool
}

// Reader splits a text into lines. A last line needs no line feed; an empty
// text has no lines. Its memory is bounded however long a line is. It is not
// for concurrent use.
type Reader struct {
	src   io.Reader
	max   int
	block []byte
	// block[start:end] is read and not yet cut into lines.
	start, end int
	line       Line
	err        error
}

// NewReader reads lines of at most max bytes from src; longer ones are
// reported as long. Legal limits are 1 byte and up.
func NewReader(src io.Reader, max int) (*Reader, error) {
	if max < 1 {
		return nil, fmt.Errorf("%w: got %d bytes, want at least 1", ErrLineLimit, max)
	}
	return &Reader{src: src, max: max}, nil
}

// Next moves to the next line and says whether there is one. What is left of
// a long line is skipped.
func (r *Reader) Next() bool {
	if r.line.Long {
		if _, err := r.CopyLong(io.Discard); err != nil {
			return false
		}
	}
	for {
		rest := r.block[r.start:r.end]
		window := rest[:min(len(rest), r.max+1)]
		if i := bytes.IndexByte(window, '\n'); i >= 0 {
			r.cut(i, false)
			r.start++ // the line feed
			return true
		}
		if len(rest) > r.max {
			r.cut(r.max, true)
			return true
		}
		if r.fill() {
			continue
		}
		if r.err == nil && len(rest) > 0 { // the last line has no line feed
			r.cut(len(rest), false)
			return true
		}
		r.line = Line{}
		return false
	}
}

// Line returns the line that Next moved to.
func (r *Reader) Line() Line { return r.line }

// Err returns the error that ended the lines, nil at the end of the text.
func (r *Reader) Err() error { return r.err }

// CopyLong writes every byte of the current long line to w, without its line
// feed, and returns how many there were. It works once a line; of a line
// that is not long it writes nothing.
func (r *Reader) CopyLong(w io.Writer) (int64, error) {
	if !r.line.Long {
		return 0, nil
	}
	r.line.Long = false
	n, err := w.Write(r.line.Raw)
	total := int64(n)
	for err == nil {
		rest := r.block[r.start:r.end]
		i := bytes.IndexByte(rest, '\n')
		if i >= 0 {
			rest = rest[:i]
		}
		n, err = w.Write(rest)
		total += int64(n)
		r.start += len(rest)
		if i >= 0 {
			r.start++
			return total, err
		}
		if err == nil && !r.fill() {
			return total, r.err
		}
	}
	return total, err
}

// cut takes n bytes off the block as the next line. The slice is capped: the
// bytes behind it belong to other lines.
func (r *Reader) cut(n int, long bool) {
	r.line = Line{Num: r.line.Num + 1, Raw: r.block[r.start : r.start+n : r.start+n], Long: long}
	r.start += n
}

// fill reads more text and says whether it got any. A full block is left to
// its lines and a new one begun with what is not yet cut.
func (r *Reader) fill() bool {
	if r.err != nil {
		return false
	}
	if r.end == len(r.block) {
		// What is uncut is at most max bytes, so half of the new block is free.
		block := make([]byte, max(blockBytes, 2*(r.max+1)))
		r.end = copy(block, r.block[r.start:r.end])
		r.start = 0
		r.block = block
	}
	for range 100 {
		n, err := r.src.Read(r.block[r.end:])
		r.end += n
		if n > 0 {
			return true
		}
		if err == io.EOF {
			return false
		}
		if err != nil {
			r.err = fmt.Errorf("lines: reading after line %d: %w", r.line.Num, err)
			return false
		}
	}
	r.err = fmt.Errorf("lines: reading after line %d: %w", r.line.Num, io.ErrNoProgress)
	return false
}
