package doccheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"
)

// Tree is a repository, read once.
type Tree struct {
	paths   map[string]bool   // every file and directory, for existence
	text    map[string]string // contents of the text files the checks read
	modules map[string]string // module directory ("." for the root) → module path
	goFiles []*goFile
	docs    []*mdDoc
	fset    *token.FileSet
}

// goFile is one parsed Go file outside testdata.
type goFile struct {
	path  string
	dir   string
	test  bool
	lines int
	ast   *ast.File
}

// isTest says whether the file is a test or part of a package of tests, such
// as a conformance suite, whose name ends in "test".
func (f *goFile) isTest() bool {
	return f.test || strings.HasSuffix(f.ast.Name.Name, "test")
}

var modulePath = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// Load reads the tree at the root of fsys. It fails on a Go file that does
// not parse.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{
		paths:   map[string]bool{},
		text:    map[string]string{},
		modules: map[string]string{},
		fset:    token.NewFileSet(),
	}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skipDir(p) {
			return fs.SkipDir
		}
		t.paths[p] = true
		if d.IsDir() || !isText(p) {
			return nil
		}
		b, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		t.text[p] = string(b)
		return t.add(p)
	})
	if err != nil {
		return nil, fmt.Errorf("doccheck: cannot read the tree: %w", err)
	}
	return t, nil
}

// add parses a file that was read.
func (t *Tree) add(p string) error {
	switch {
	case strings.HasPrefix(p, "testdata/"), strings.Contains(p, "/testdata/"):
	case path.Base(p) == "go.mod":
		m := modulePath.FindStringSubmatch(t.text[p])
		if m == nil {
			return fmt.Errorf("%s names no module", p)
		}
		t.modules[path.Dir(p)] = m[1]
	case path.Ext(p) == ".go":
		f, err := parser.ParseFile(t.fset, p, t.text[p], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.goFiles = append(t.goFiles, &goFile{
			path:  p,
			dir:   path.Dir(p),
			test:  strings.HasSuffix(p, "_test.go"),
			lines: strings.Count(t.text[p], "\n"),
			ast:   f,
		})
	case path.Ext(p) == ".md":
		t.docs = append(t.docs, parseMarkdown(p, t.text[p]))
	}
	return nil
}

// skipDir says which directories are no part of the source: version control
// and what the Makefile and the programs write.
func skipDir(p string) bool {
	switch p {
	case ".git", "bin", "data", "out", "bench/out":
		return true
	}
	return false
}

func isText(p string) bool {
	switch path.Ext(p) {
	case ".go", ".md", ".mod", ".sh", ".yml", ".conf":
		return true
	}
	return p == "Makefile" || strings.HasPrefix(p, ".ci/") || strings.HasPrefix(p, "tools/")
}

// line returns the line of a position in a Go file.
func (t *Tree) line(p token.Pos) int { return t.fset.PositionFor(p, false).Line }

// moduleOf returns the directory of the module that holds dir.
func (t *Tree) moduleOf(dir string) string {
	for {
		if _, ok := t.modules[dir]; ok || dir == "." {
			return dir
		}
		dir = path.Dir(dir)
	}
}

// dirOf returns the directory of an import path that this tree holds, or "".
// The longest module path wins, since modules nest.
func (t *Tree) dirOf(importPath string) string {
	found, length := "", -1
	for dir, mod := range t.modules {
		rest, ok := strings.CutPrefix(importPath, mod)
		if !ok || (rest != "" && rest[0] != '/') || len(mod) <= length {
			continue
		}
		found, length = path.Join(dir, rest), len(mod)
	}
	return found
}

// packages returns the directories that hold a non-test Go file, sorted.
func (t *Tree) packages() []string {
	seen := map[string]bool{}
	var dirs []string
	for _, f := range t.goFiles {
		if !f.test && !seen[f.dir] {
			seen[f.dir] = true
			dirs = append(dirs, f.dir)
		}
	}
	sort.Strings(dirs)
	return dirs
}

// within says whether dir is root or lies below it.
func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}
