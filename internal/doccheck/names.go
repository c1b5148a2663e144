package doccheck

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
)

var (
	testName  = regexp.MustCompile(`^(?:Test|Fuzz|Example|Benchmark)[A-Z_]\w*`)
	plainWord = regexp.MustCompile(`^\w+$`)
	testWord  = regexp.MustCompile(`\b(?:Test|Fuzz|Example|Benchmark)[A-Z_]\w*`)
	pathSpan  = regexp.MustCompile(`^(?:\./)?([A-Za-z0-9_.-]+)/[A-Za-z0-9_./*-]*$`)
	goBase    = regexp.MustCompile(`^\w+\.go$`)
)

// TestNames reports tests, benchmarks, fuzz targets and examples that a
// document names in inline code or in a command, and that do not exist. In
// inline code the names of subtests, after slashes, must be string literals of
// tests. In a command the start of a name will do, because -run and -bench
// take patterns.
func TestNames(t *Tree) []Finding {
	funcs, literals := t.testNames()
	prefix := func(word string) bool {
		for name := range funcs {
			if strings.HasPrefix(name, word) {
				return true
			}
		}
		return false
	}
	var out []Finding
	for _, d := range t.docs {
		for _, s := range d.spans {
			if !testName.MatchString(s.text) {
				continue
			}
			parts := strings.Split(s.text, "/")
			if name := testName.FindString(s.text); !funcs[name] {
				out = append(out, Finding{d.path, s.line, fmt.Sprintf("there is no %s", name)})
			}
			for _, sub := range parts[1:] {
				if plainWord.MatchString(sub) && !literals[sub] {
					out = append(out, Finding{d.path, s.line, fmt.Sprintf("%s: no test has a subtest named %s", s.text, sub)})
				}
			}
		}
		for _, l := range d.shellLines() {
			for _, word := range testWord.FindAllString(l.text, -1) {
				if !prefix(word) {
					out = append(out, Finding{d.path, l.line, fmt.Sprintf("nothing to run starts with %s", word)})
				}
			}
		}
	}
	return sorted(out)
}

// testNames returns the functions of test files, and the string literals of
// test files and of suites, with spaces as the testing package writes them.
func (t *Tree) testNames() (funcs, literals map[string]bool) {
	funcs, literals = map[string]bool{}, map[string]bool{}
	for _, f := range t.goFiles {
		if !f.isTest() {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				funcs[fn.Name.Name] = true
			}
		}
		collectLiterals(f.ast, literals)
	}
	return funcs, literals
}

// Paths reports files and directories of this tree that a document names in
// inline code and that do not exist: anything that starts with one of the
// top-level directories, and bare names of Go files.
func Paths(t *Tree) []Finding {
	bases := map[string]bool{}
	for p := range t.paths {
		bases[path.Base(p)] = true
	}
	var out []Finding
	for _, d := range t.docs {
		for _, s := range d.spans {
			missing := false
			if m := pathSpan.FindStringSubmatch(s.text); m != nil {
				missing = t.paths[m[1]] && !t.matches(path.Clean(strings.TrimSuffix(s.text, "/...")))
			} else if goBase.MatchString(s.text) {
				missing = !bases[s.text]
			}
			if missing {
				out = append(out, Finding{d.path, s.line, fmt.Sprintf("there is no %s", s.text)})
			}
		}
	}
	return sorted(out)
}

// matches says whether a path or a glob names something. What programs write
// (see skipDir) counts as there.
func (t *Tree) matches(pattern string) bool {
	for dir := pattern; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if skipDir(dir) {
			return true
		}
	}
	if t.paths[pattern] {
		return true
	}
	for p := range t.paths {
		if ok, err := path.Match(pattern, p); ok && err == nil {
			return true
		}
	}
	return false
}
