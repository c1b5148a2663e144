package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, path string) *Input {
	t.Helper()
	in, err := Load(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestLoadCountsLinesWithAndWithoutALastLineFeed(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2, "\r\n\r": 2} {
		if in := load(t, write(t, text)); in.Lines != want || in.Bytes != int64(len(text)) {
			t.Errorf("%q: %d lines and %d bytes, want %d and %d", text, in.Lines, in.Bytes, want, len(text))
		}
	}
}

func TestInputsAreNamedByTheirContent(t *testing.T) {
	a, b, c := load(t, write(t, "same")), load(t, write(t, "same")), load(t, write(t, "same\n"))
	if a.ID != b.ID || a.ID == c.ID || len(a.ID) != 12 {
		t.Errorf("IDs %s, %s and %s; want the first two equal, twelve digits", a.ID, b.ID, c.ID)
	}
	if in := load(t, ""); in.Lines != sample.Lines || in.Name != sample.Name {
		t.Errorf("no path is %s with %d lines, want the bundled sample", in.Name, in.Lines)
	}
}

func TestUnusableInputsAreRefusedWithAHint(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "directory",
		filepath.Join(dir, "missing"): "no such file",
		fifo:                          "regular file",
		"\x00":                        "invalid argument",
	} {
		_, err := Load(context.Background(), path)
		if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want ErrUnusable with %q", path, err, want)
		}
	}
}

func TestOpenReadsWhatWasNamedOrSaysThatItChanged(t *testing.T) {
	const text = "one\ntwo\n"
	for _, c := range []struct {
		name, now string
		changed   bool
	}{
		{"same", text, false},
		{"appended to", text + "three\n", false},
		{"cut", text[:5], true},
		{"rewritten", "one\nTWO\n", true},
		{"emptied", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, text)
			in := load(t, path)
			if err := os.WriteFile(path, []byte(c.now), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := in.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if errors.Is(err, ErrChanged) != c.changed {
				t.Fatalf("error %v, want changed: %v", err, c.changed)
			}
			if !c.changed && string(got) != text {
				t.Errorf("read %q, want %q", got, text)
			}
		})
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
