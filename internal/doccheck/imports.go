package doccheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	// lockFree are the directories whose packages reach shared memory through
	// atomicsDir alone.
	lockFree = []string{"mpsc", "ringbuf", "core"}

	// thirdParty are the modules that those packages may pull in.
	thirdParty = []string{"go.uber.org/atomic", "github.com/cespare/xxhash/v2", "github.com/google/uuid"}

	// sharedMemory are the imports that only atomicsDir may name: what
	// synchronises through them is invisible to the interleaving checker.
	sharedMemory = []string{"sync", "sync/atomic", "go.uber.org/atomic"}
)

const atomicsDir = "internal/atomics"

// Imports reports an import of the lock-free packages, or of a package of
// this tree that they import, that is neither standard nor listed, and one
// that synchronises behind internal/atomics. Tests are free.
func Imports(t *Tree) []Finding {
	var out []Finding
	seen := map[string]bool{}
	var todo []string
	visit := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			todo = append(todo, dir)
		}
	}
	for _, dir := range t.packages() {
		if isLockFree(dir) {
			visit(dir)
		}
	}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		for _, imp := range t.imports(dir) {
			if own := t.dirOf(imp.text); own != "" {
				visit(own)
				continue
			}
			if text := imp.verdict(dir); text != "" {
				out = append(out, Finding{imp.file, imp.line, text})
			}
		}
	}
	return sorted(out)
}

func isLockFree(dir string) bool {
	return slices.ContainsFunc(lockFree, func(root string) bool { return within(dir, root) })
}

// importLine is one import of a non-test file.
type importLine struct {
	file string
	line int
	text string
}

// verdict returns why the package in dir may not import i, or "".
func (i importLine) verdict(dir string) string {
	first, _, _ := strings.Cut(i.text, "/")
	standard := !strings.Contains(first, ".")
	switch {
	case isLockFree(dir) && slices.Contains(sharedMemory, i.text):
		return fmt.Sprintf("imports %s, which only %s may", i.text, atomicsDir)
	case !standard && !slices.Contains(thirdParty, i.text):
		return fmt.Sprintf("imports %s; mpsc, ringbuf and core may rest on %s alone", i.text, strings.Join(thirdParty, ", "))
	}
	return ""
}

// imports lists the imports of the non-test files of a directory.
func (t *Tree) imports(dir string) []importLine {
	var out []importLine
	for _, f := range t.goFiles {
		if f.dir != dir || f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				panic("doccheck: the parser let through the import " + spec.Path.Value)
			}
			out = append(out, importLine{f.path, t.line(spec.Pos()), p})
		}
	}
	return out
}
