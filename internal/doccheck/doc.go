// Package doccheck reads the repository as a reader would and reports what
// does not hold: examples in the documents that do not compile, links, make
// targets, tests and identifiers that do not exist, invariants that no test
// holds, fuzz targets without a corpus, packages and exported names without a doc comment, imports that would put shared memory out of
// the interleaving checker's sight, build tags, oversized files and
// functions, and left-over markers.
//
// It has no command of its own. Its tests run every check over this
// repository, and over small broken trees in which each check must fail.
package doccheck

import (
	"fmt"
	"sort"
)

// Finding is one place that breaks a rule.
type Finding struct {
	File string // slash-separated path from the root of the tree
	Line int    // 1-based; 0 when the whole file is meant
	Text string // what is wrong and what would be right
}

// String returns the finding as "file:line: text".
func (f Finding) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// Check is a rule over a whole tree.
type Check struct {
	Name string
	Run  func(*Tree) []Finding
}

// Checks returns every rule that needs no toolchain. CompileBlocks is the one
// that does.
func Checks() []Check {
	return []Check{
		{"file and function sizes", Sizes},
		{"imports of the lock-free packages", Imports},
		{"build tags", BuildTags},
		{"comments of atomic fields", AtomicFields},
		{"goroutine leaks", Leaks},
		{"skipped tests", Skips},
		{"package docs", PackageDocs},
		{"docs of exported names", ExportedDocs},
		{"left-over markers", Markers},
		{"links", Links},
		{"make targets", MakeTargets},
		{"test names in documents", TestNames},
		{"invariants and their tests", Invariants},
		{"committed corpora", Corpora},
		{"paths in documents", Paths},
		{"identifiers in documents", Identifiers},
		{"format of go blocks", BlockFormat},
	}
}

// sorted orders findings by file and line, so that output is stable.
func sorted(fs []Finding) []Finding {
	sort.SliceStable(fs, func(i, j int) bool {
		if fs[i].File != fs[j].File {
			return fs[i].File < fs[j].File
		}
		return fs[i].Line < fs[j].Line
	})
	return fs
}
