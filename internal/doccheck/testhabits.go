package doccheck

import (
	"fmt"
	"go/ast"
)

// Leaks reports packages that start goroutines, in code or in tests, and
// whose tests do not end with a look for goroutines that are left.
func Leaks(t *Tree) []Finding {
	starts, tests, looks := map[string]Finding{}, map[string]bool{}, map[string]bool{}
	for _, f := range t.goFiles {
		tests[f.dir] = tests[f.dir] || f.test
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if starts[f.dir].File == "" {
					starts[f.dir] = Finding{f.path, t.line(n.Pos()), "starts a goroutine, and no TestMain of the package calls goleak.VerifyTestMain or goleak.Find"}
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && f.test && pkg.Name == "goleak" && (n.Sel.Name == "VerifyTestMain" || n.Sel.Name == "Find") {
					looks[f.dir] = true
				}
			}
			return true
		})
	}
	var out []Finding
	for dir, f := range starts {
		if tests[dir] && !looks[dir] {
			out = append(out, f)
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
