//go:build !explore

package atomics_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	uatomic "go.uber.org/atomic"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

func TestNamesAreTheTypesTheyStandFor(t *testing.T) {
	for name, pair := range map[string][2]reflect.Type{
		"Bool":         {reflect.TypeFor[atomics.Bool](), reflect.TypeFor[uatomic.Bool]()},
		"Int32":        {reflect.TypeFor[atomics.Int32](), reflect.TypeFor[uatomic.Int32]()},
		"Uint32":       {reflect.TypeFor[atomics.Uint32](), reflect.TypeFor[uatomic.Uint32]()},
		"Int64":        {reflect.TypeFor[atomics.Int64](), reflect.TypeFor[atomic.Int64]()},
		"Uint64":       {reflect.TypeFor[atomics.Uint64](), reflect.TypeFor[atomic.Uint64]()},
		"Mutex":        {reflect.TypeFor[atomics.Mutex](), reflect.TypeFor[sync.Mutex]()},
		"Pointer[int]": {reflect.TypeFor[atomics.Pointer[int]](), reflect.TypeFor[uatomic.Pointer[int]]()},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}

// A 64-bit word must lie on eight bytes even where the platform's words are
// four, or its atomic operations panic there.
func Test64BitWordsAreAlignedOnEveryPlatform(t *testing.T) {
	var s struct {
		_ uint32
		a atomics.Uint64
		_ uint32
		b atomics.Int64
	}
	for name, offset := range map[string]uintptr{"Uint64": unsafe.Offsetof(s.a), "Int64": unsafe.Offsetof(s.b)} {
		if offset%8 != 0 {
			t.Errorf("%s behind a 32-bit field lies at offset %d", name, offset)
		}
	}
	if a := unsafe.Alignof(s); a%8 != 0 {
		t.Errorf("a struct that holds 64-bit words is aligned to %d bytes", a)
	}
}

// hookSource has one function with the hooks and one without; the compiler
// must make the same instructions of both.
const hookSource = `package hooks

import "github.com/tidemark-go/tidemark/internal/atomics"

type cell struct {
	value int
	word  atomics.Uint64
}

//go:noinline
func Subject(c *cell) int {
	atomics.Write(&c.value)
	c.value = 7
	c.word.Store(1)
	atomics.Read(&c.value)
	return c.value
}
`

func TestHooksCompileToNothing(t *testing.T) {
	var without []string
	for line := range strings.Lines(hookSource) {
		if !strings.Contains(line, "atomics.Read(") && !strings.Contains(line, "atomics.Write(") {
			without = append(without, line)
		}
	}
	with, plain := instructions(t, hookSource), instructions(t, strings.Join(without, ""))
	if len(plain) < 4 {
		t.Fatalf("read only %d instructions of the function without hooks: %q", len(plain), plain)
	}
	if !slices.Equal(with, plain) {
		t.Errorf("with hooks:\n%s\nwithout:\n%s", strings.Join(with, "\n"), strings.Join(plain, "\n"))
	}
	// The comparison must see a hook that does something.
	busy := strings.ReplaceAll(hookSource, "atomics.Write(&c.value)", "c.word.Add(1)")
	if slices.Equal(instructions(t, busy), plain) {
		t.Error("a function with one more atomic operation has the same instructions")
	}
}

var instruction = regexp.MustCompile(`\t0x[0-9a-f]+ \d+ \([^)]*\)\t(.*)`)

// instructions compiles a package, laid over this directory, and returns the
// machine instructions of its function Subject.
func instructions(t *testing.T, source string) []string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "hooks.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	replace := `{"Replace": {"` + filepath.ToSlash(filepath.Join(here, "hooks", "hooks.go")) + `": "` + filepath.ToSlash(file) + `"}}`
	if err := os.WriteFile(overlay, []byte(replace), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-overlay", overlay, "-gcflags=-S", "./hooks").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var list []string
	inside := false
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "\t") {
			inside = strings.Contains(line, ".Subject STEXT")
			continue
		}
		m := instruction.FindStringSubmatch(line)
		if !inside || m == nil || strings.HasPrefix(m[1], "FUNCDATA") || strings.HasPrefix(m[1], "PCDATA") {
			continue
		}
		list = append(list, strings.TrimSpace(m[1]))
	}
	return list
}
