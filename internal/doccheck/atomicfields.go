package doccheck

import (
	"go/ast"
	"path"
)

// AtomicFields reports fields of the lock-free packages that hold an atomic
// word, or an array of them, and have no comment. The comment says who writes
// the word, who reads it and which transitions are legal; that it is there is
// what a program can check.
func AtomicFields(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		if f.test || !isLockFree(f.dir) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				if isAtomic(field.Type) && field.Doc.Text() == "" && field.Comment.Text() == "" {
					out = append(out, Finding{f.path, t.line(field.Pos()), "atomic field without a comment: say who writes it, who reads it and which transitions are legal"})
				}
			}
			return true
		})
	}
	return sorted(out)
}

// isAtomic says whether a type is one of internal/atomics' words or a slice
// or array of them. A Mutex is none: it guards what its own comment says.
func isAtomic(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.ArrayType:
		return isAtomic(x.Elt)
	case *ast.IndexExpr:
		return isAtomic(x.X)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && pkg.Name == path.Base(atomicsDir) && x.Sel.Name != "Mutex" && x.Sel.Name != "Parker"
	}
	return false
}
