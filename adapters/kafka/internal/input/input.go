// Package input opens what the demo reads: a file, or the bundled sample. It
// names the input by its content, so that a topic can be told to hold exactly
// these lines.
package input

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
)

// Errors of this package; match them with errors.Is.
var (
	// ErrUnusable is an input that cannot be read.
	ErrUnusable = errors.New("input: unusable")
	// ErrChanged is an input that has another content than when it was named.
	ErrChanged = errors.New("input: changed while it was being read")
)

// Input is a text whose content is known. Use Load to get one.
type Input struct {
	// Name is the path, or what the bundled sample is called.
	Name string
	// ID is the start of the content's SHA-256, in hex.
	ID string
	// Bytes and Lines are the size. A last line needs no line feed.
	Bytes, Lines int64

	path string // empty for the bundled sample
}

// idBytes of the digest name an input: 48 bits, more than enough to tell the
// inputs of one broker apart.
const idBytes = 6

// Load reads the whole input once, to name it and to count its lines. The
// empty path is the bundled sample. An input has to be a regular file: it is
// read again to produce it, and once more after a crash.
func Load(ctx context.Context, path string) (*Input, error) {
	in := &Input{Name: path, path: path}
	if path == "" {
		in.Name = sample.Name
	}
	f, err := in.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	digest := sha256.New()
	last := byte('\n')
	buf := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		if n > 0 {
			digest.Write(buf[:n])
			in.Bytes += int64(n)
			in.Lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
			last = buf[n-1]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: reading %s: %w; name another file, or none for the bundled sample", ErrUnusable, in.Name, err)
		}
	}
	if last != '\n' {
		in.Lines++
	}
	in.ID = hex.EncodeToString(digest.Sum(nil)[:idBytes])
	return in, ctx.Err()
}

// Open returns a reader of the content that was named: what was appended to
// the file since then is left out, and anything else that changed ends the
// reading with ErrChanged.
func (in *Input) Open() (io.ReadCloser, error) {
	f, err := in.open()
	if err != nil {
		return nil, err
	}
	return &guarded{file: f, rest: io.LimitReader(f, in.Bytes), digest: sha256.New(), in: in}, nil
}

func (in *Input) open() (io.ReadCloser, error) {
	if in.path == "" {
		return io.NopCloser(bytes.NewReader(sample.Log())), nil
	}
	const hint = "name a text file, or none for the bundled sample"
	info, err := os.Stat(in.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; %s", ErrUnusable, err, hint)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a directory; %s", ErrUnusable, in.path, hint)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file; it has to be read more than once, so save it to one first", ErrUnusable, in.path)
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; %s", ErrUnusable, err, hint)
	}
	return f, nil
}

// guarded compares what is read with what was named.
type guarded struct {
	file   io.Closer
	rest   io.Reader
	digest hash.Hash
	in     *Input
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.rest.Read(p)
	g.digest.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(g.digest.Sum(nil)[:idBytes]) != g.in.ID {
		return n, fmt.Errorf("%w: %s; run again when nothing rewrites it", ErrChanged, g.in.Name)
	}
	return n, err
}

func (g *guarded) Close() error { return g.file.Close() }
