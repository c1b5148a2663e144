// Package lockfile keeps two processes off the same files. A lock ends with
// its process, however that ends, so a kill leaves nothing to clean up.
package lockfile

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld says that another process has the file.
var ErrHeld = errors.New("lockfile: in use by another process")

// Open opens the file for reading and writing, creates it if need be, and
// locks it until it is closed.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lockfile: %w", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	return f, nil
}
