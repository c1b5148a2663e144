package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

// Spill writes the current long line of r to a file of its own in dir, named
// after the input and the line, and makes it durable. Written again after a
// crash, the file is the same.
func Spill(dir, source string, num int64, r *lines.Reader) (lines.Spilled, error) {
	path, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("%s-%d.line", source, num)))
	if err != nil {
		return lines.Spilled{}, fmt.Errorf("sink: spilling line %d: %w", num, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return lines.Spilled{}, fmt.Errorf("sink: spilling line %d: %w", num, err)
	}
	digest := sha256.New()
	size, err := replace(path, func(w io.Writer) (int64, error) {
		return r.CopyLong(io.MultiWriter(w, digest))
	})
	if err != nil {
		return lines.Spilled{}, fmt.Errorf("sink: spilling line %d: %w", num, err)
	}
	return lines.Spilled{File: path, SHA256: hex.EncodeToString(digest.Sum(nil)), Bytes: size}, nil
}

// replace writes a file that is there with all its content or not at all.
func replace(path string, write func(io.Writer) (int64, error)) (int64, error) {
	half := path + ".part"
	f, err := os.Create(half)
	if err != nil {
		return 0, err
	}
	n, err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return n, err
	}
	if err := os.Rename(half, path); err != nil {
		return n, err
	}
	return n, syncDir(filepath.Dir(path))
}
