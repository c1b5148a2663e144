package doccheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// invariantsDoc lists what must hold, with the tests that hold it.
const invariantsDoc = "docs/INVARIANTS.md"

var (
	tableHead = regexp.MustCompile(`^\|\s*#\s*\|`)
	tableRule = regexp.MustCompile(`^\|[\s:|-]+\|$`)
	tableRow  = regexp.MustCompile(`^\|\s*([^|]*?)\s*\|(.+)\|([^|]*)\|$`)
)

// Invariants reports what breaks the link between the tables of
// docs/INVARIANTS.md and the tests: rows that are not numbered 1, 2, 3, … in
// each table, rows that name no test in their last column, and names there
// that are no test of this tree. A name after a slash must be a string
// literal in the package of the test, or in a suite that package imports; one
// that holds a "=" is made up at run time and not looked at.
func Invariants(t *Tree) []Finding {
	text, ok := t.text[invariantsDoc]
	if !ok {
		return []Finding{{invariantsDoc, 0, "is missing"}}
	}
	index := t.testIndex()
	var out []Finding
	next, rows := 0, 0 // next is 0 outside of a numbered table
	for i, line := range strings.Split(text, "\n") {
		add := func(format string, args ...any) {
			out = append(out, Finding{invariantsDoc, i + 1, fmt.Sprintf(format, args...)})
		}
		switch {
		case tableHead.MatchString(line):
			next = 1
		case next == 0 || tableRule.MatchString(line):
		case !strings.HasPrefix(line, "|"):
			next = 0
		default:
			rows++
			m := tableRow.FindStringSubmatch(line)
			if m == nil {
				add("a row needs a number, a sentence and its tests")
				continue
			}
			if n, err := strconv.Atoi(m[1]); err != nil || n != next {
				add("row %q, want %d: numbers are consecutive, and none is used again", m[1], next)
			}
			next++
			for _, text := range index.faults(m[3]) {
				add("row %s: %s", m[1], text)
			}
		}
	}
	if rows == 0 {
		out = append(out, Finding{invariantsDoc, 0, "has no table with numbered rows"})
	}
	return out
}

// testIndex knows the tests of a tree by package.
type testIndex struct {
	dirs     map[string][]string        // test function → directories
	literals map[string]map[string]bool // directory → literals a subtest can be named by
}

// faults says what is wrong with the tests that a cell of a table names.
func (x testIndex) faults(cell string) (out []string) {
	named := 0
	for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
		name := testName.FindString(m[1])
		if name == "" {
			continue
		}
		named++
		if s := x.fault(name, strings.Split(m[1], "/")); s != "" {
			out = append(out, s)
		}
	}
	if named == 0 {
		out = append(out, "names no test in its last column")
	}
	return out
}

func (x testIndex) fault(name string, parts []string) string {
	if parts[0] != name {
		return fmt.Sprintf("%s is no name of a test", parts[0])
	}
	dirs := x.dirs[name]
	if len(dirs) == 0 {
		return "there is no " + name
	}
	missing := ""
	for _, dir := range dirs {
		missing = ""
		for _, sub := range parts[1:] {
			if !strings.Contains(sub, "=") && !x.literals[dir][sub] {
				missing = sub
				break
			}
		}
		if missing == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s has no subtest named %s", name, missing)
}

// testIndex collects the test functions and, for each package, the string
// literals of its tests and of the suites they import, with spaces as the
// testing package writes them.
func (t *Tree) testIndex() testIndex {
	x := testIndex{dirs: map[string][]string{}, literals: map[string]map[string]bool{}}
	imports := map[string][]string{}
	own := map[string]map[string]bool{}
	for _, f := range t.goFiles {
		if !f.isTest() {
			continue
		}
		if own[f.dir] == nil {
			own[f.dir] = map[string]bool{}
		}
		collectLiterals(f.ast, own[f.dir])
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.FindString(fn.Name.Name) == fn.Name.Name {
				x.dirs[fn.Name.Name] = append(x.dirs[fn.Name.Name], f.dir)
			}
		}
		for _, spec := range f.ast.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && strings.HasSuffix(path.Base(p), "test") {
				imports[f.dir] = append(imports[f.dir], t.dirOf(p))
			}
		}
	}
	for dir := range own {
		x.literals[dir] = map[string]bool{}
		for _, from := range append(imports[dir], dir) {
			maps.Copy(x.literals[dir], own[from])
		}
	}
	return x
}

// collectLiterals adds the string literals of a file to words.
func collectLiterals(f *ast.File, words map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				words[strings.ReplaceAll(s, " ", "_")] = true
			}
		}
		return true
	})
}
