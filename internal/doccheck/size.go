package doccheck

import (
	"fmt"
	"go/ast"
)

// Limits of what a reader should have to hold in mind at once.
const (
	maxFileLines     = 400
	maxTestFileLines = 600
	maxFuncLines     = 70
)

// Sizes reports files and functions that are too long. Functions of tests are
// free: a table of cases is long and still one thought.
func Sizes(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		limit := maxFileLines
		if f.isTest() {
			limit = maxTestFileLines
		}
		if f.lines > limit {
			out = append(out, Finding{f.path, 0, fmt.Sprintf("%d lines, at most %d are allowed: give it one concept a file", f.lines, limit)})
		}
		if f.isTest() {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.line(fn.End()) - t.line(fn.Pos()) + 1; n > maxFuncLines {
				out = append(out, Finding{f.path, t.line(fn.Pos()), fmt.Sprintf("function %s has %d lines, at most %d are allowed", fn.Name.Name, n, maxFuncLines)})
			}
		}
	}
	return sorted(out)
}
