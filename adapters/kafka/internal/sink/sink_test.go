package sink

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lockfile"
)

const ours = `{"src":"`

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOpenHealsATornLastLine(t *testing.T) {
	big := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name, before, after string
		cut                 int64
	}{
		{"new", "", "", 0},
		{"whole", ours + `1"}` + "\n", ours + `1"}` + "\n", 0},
		{"torn", ours + `1"}` + "\n" + ours + `2`, ours + `1"}` + "\n", 9},
		{"torn in the first bytes", ours + `1"}` + "\n{\"s", ours + `1"}` + "\n", 3},
		{"nothing but a torn line", ours + `1","raw":"` + big, "", int64(len(ours+`1","raw":"`) + len(big))},
		{"torn far from the last line feed", "\n" + ours + big, "\n", int64(len(ours) + len(big))},
		{"someone else's text", "notes", "notes\n", 0},
		{"someone else's text below ours", ours + "1\"}\n# end", ours + "1\"}\n# end\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "out.ndjson")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if c.before != "" {
				if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Open(path, ours)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got := read(t, path); got != c.after || f.Cut() != c.cut {
				t.Fatalf("%d bytes after opening, %d cut; want %d and %d", len(got), f.Cut(), len(c.after), c.cut)
			}
			if err := errors.Join(f.Append([]byte("next\n")), f.Sync()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != c.after+"next\n" {
				t.Errorf("the next line is not where it belongs: %d bytes", len(got))
			}
		})
	}
}

func TestAFileBelongsToOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "out.ndjson")
	f, err := Open(path, ours)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, ours); !errors.Is(err, lockfile.ErrHeld) || !strings.Contains(err.Error(), path) {
		t.Errorf("second Open: %v, want ErrHeld with the path", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, ours)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	again.Close()
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "file", "out")} {
		if _, err := Open(path, ours); err == nil || !strings.Contains(err.Error(), "name an output") {
			t.Errorf("%s: %v, want a hint", path, err)
		}
	}
}

// After a failed write the end of the file is unknown, and after a failed
// sync what the system has dropped is: nothing may be acknowledged then.
func TestAnErrorOfAFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := Open(path, ours)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	first := f.Append([]byte("x\n"))
	if first == nil {
		t.Fatal("a closed file took a line")
	}
	if err := f.Sync(); !errors.Is(err, first) {
		t.Errorf("Sync after a failed Append: %v, want %v", err, first)
	}
	if err := f.Append(nil); !errors.Is(err, first) {
		t.Errorf("Append after a failed Append: %v, want %v", err, first)
	}
}

func TestSpillKeepsALineOfAnyLength(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spilled")
	long := strings.Repeat("0123456789", 100_000)
	for range 2 { // as after a crash: the same file again
		r, err := lines.NewReader(strings.NewReader("a\n"+long+"\nb"), 100)
		if err != nil {
			t.Fatal(err)
		}
		r.Next()
		r.Next()
		s, err := Spill(dir, "abc", 2, r)
		if err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256([]byte(long))
		if s.Bytes != int64(len(long)) || s.SHA256 != hex.EncodeToString(digest[:]) || !filepath.IsAbs(s.File) || read(t, s.File) != long {
			t.Errorf("spilled as %+v", s)
		}
		if !r.Next() || !bytes.Equal(r.Line().Raw, []byte("b")) {
			t.Error("the line after a spilled one is gone")
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v: want one file and nothing half written", names, err)
	}
}

func TestPathsFor(t *testing.T) {
	for out, want := range map[string]Paths{
		"out":           {"out/events.ndjson", "out/dead.ndjson", "out/oversized"},
		"a/b/":          {"a/b/events.ndjson", "a/b/dead.ndjson", "a/b/oversized"},
		"a/x.ndjson":    {"a/x.ndjson", "a/x.dead.ndjson", "a/x.oversized"},
		"a/.ndjson":     {"a/.ndjson/events.ndjson", "a/.ndjson/dead.ndjson", "a/.ndjson/oversized"},
		"x.ndjson/more": {"x.ndjson/more/events.ndjson", "x.ndjson/more/dead.ndjson", "x.ndjson/more/oversized"},
	} {
		if got := PathsFor(out); got != want {
			t.Errorf("%s: %+v, want %+v", out, got, want)
		}
	}
}
