// Package sink writes lines to files so that they survive a crash: whole
// lines only, on disk before anyone is told.
package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lockfile"
)

// File is an append-only file of lines. It is not for concurrent use.
type File struct {
	f     *os.File
	dirty bool
	cut   int64
	err   error
}

// goOn is what to do after a write that failed.
const goOn = "run again when the output can be written: what is not on disk is not committed"

// Open opens the file to append to it, and creates it and its directory if
// need be. The file belongs to one process at a time.
//
// A crash may have torn the last line. When it begins with ours it is a piece
// of a line that nobody was told about, and it is cut off: its record is
// delivered again. Any other text is left alone and gets a line feed, so that
// no line is ever merged with another.
func Open(path, ours string) (*File, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("sink: %w; name an output that can be written", err)
	}
	f, err := lockfile.Open(path)
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("sink: %w; give every process an output of its own", err)
	}
	if err != nil {
		return nil, fmt.Errorf("sink: %w; name an output that can be written", err)
	}
	s := &File{f: f}
	if err = s.heal(ours); err == nil {
		err = syncDir(dir) // the file itself has to survive, too
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("sink: opening %s: %w", path, err)
	}
	return s, nil
}

// Append adds whole lines; they are durable after the next Sync. After an
// error the end of the file is unknown, so the error stays.
func (s *File) Append(lines []byte) error {
	if s.err != nil || len(lines) == 0 {
		return s.err
	}
	s.dirty = true
	if _, err := s.f.Write(lines); err != nil {
		s.err = fmt.Errorf("sink: %w; %s", err, goOn)
	}
	return s.err
}

// Sync returns when everything appended is on disk. After a failed one the
// system may have dropped what was not written, so the error stays.
func (s *File) Sync() error {
	if s.err != nil || !s.dirty {
		return s.err
	}
	if err := s.f.Sync(); err != nil {
		s.err = fmt.Errorf("sink: %w; %s", err, goOn)
		return s.err
	}
	s.dirty = false
	return nil
}

// Cut is how many bytes of a torn line Open took off.
func (s *File) Cut() int64 { return s.cut }

// Close closes the file without syncing it.
func (s *File) Close() error { return s.f.Close() }

// heal ends the file with a whole line and leaves the position there.
func (s *File) heal(ours string) error {
	end, err := s.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	start, err := lastLine(s.f, end)
	if err != nil || start == end {
		return err
	}
	head := make([]byte, min(end-start, int64(len(ours))))
	if _, err := s.f.ReadAt(head, start); err != nil {
		return err
	}
	if string(head) != ours[:len(head)] {
		_, err := s.f.Write([]byte{'\n'})
		return err
	}
	if err := s.f.Truncate(start); err != nil {
		return err
	}
	s.cut = end - start
	_, err = s.f.Seek(start, io.SeekStart)
	return err
}

// lastLine returns where the text after the last line feed begins.
func lastLine(f io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end > 0 {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
