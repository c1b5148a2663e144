package doccheck

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// Leaks reports packages whose tests do not end with a look for goroutines
// that are left.
func Leaks(t *Tree) []Finding {
	first, looks := map[string]string{}, map[string]bool{}
	for _, f := range t.goFiles {
		if !f.test {
			continue
		}
		if first[f.dir] == "" {
			first[f.dir] = f.path
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "goleak" && (s.Sel.Name == "VerifyTestMain" || s.Sel.Name == "Find") {
				looks[f.dir] = true
			}
			return true
		})
	}
	var out []Finding
	for dir, file := range first {
		if !looks[dir] {
			out = append(out, Finding{file, 0, "has tests, and no TestMain of the package calls goleak.VerifyTestMain or goleak.Find"})
		}
	}
	return sorted(out)
}

// Corpora reports fuzz targets without inputs in their testdata/fuzz: those
// that are committed run with the ordinary tests.
func Corpora(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || fn.Recv != nil || !strings.HasPrefix(testName.FindString(fn.Name.Name), "Fuzz") {
				continue
			}
			if dir := path.Join(f.dir, "testdata/fuzz", fn.Name.Name); !t.matches(dir + "/*") {
				out = append(out, Finding{f.path, t.line(fn.Pos()), fmt.Sprintf("%s has no corpus in %s", fn.Name.Name, dir)})
			}
		}
	}
	return sorted(out)
}

// Skips reports tests that can pass without running.
func Skips(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !f.test {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (s.Sel.Name == "Skip" || s.Sel.Name == "Skipf" || s.Sel.Name == "SkipNow") {
				out = append(out, Finding{f.path, t.line(call.Pos()), fmt.Sprintf("calls %s: a test that does not run shows nothing", s.Sel.Name)})
			}
			return true
		})
	}
	return sorted(out)
}
