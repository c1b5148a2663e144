package doccheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// documented are the directories in which every exported name is part of the
// public surface and carries a doc comment.
var documented = []string{"mpsc", "ringbuf", "core", "adapters"}

// wellKnown are methods that an interface of the standard library explains.
var wellKnown = []string{"Error", "String", "Unwrap"}

// PackageDocs reports packages without a package comment.
func PackageDocs(t *Tree) []Finding {
	has := map[string]bool{}
	for _, f := range t.goFiles {
		if !f.test && f.ast.Doc.Text() != "" {
			has[f.dir] = true
		}
	}
	var out []Finding
	for _, dir := range t.packages() {
		if !has[dir] {
			out = append(out, Finding{dir, 0, "no file of this package has a package comment"})
		}
	}
	return out
}

// ExportedDocs reports exported names of the public packages without a doc
// comment: functions, types, methods, constants, variables, and the exported
// fields and methods of exported types.
func ExportedDocs(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		public := slices.ContainsFunc(documented, func(root string) bool { return within(f.dir, root) })
		if f.test || !public || strings.Contains("/"+f.dir+"/", "/internal/") {
			continue
		}
		report := func(pos token.Pos, kind, name string) {
			out = append(out, Finding{f.path, t.line(pos), fmt.Sprintf("exported %s %s has no doc comment", kind, name)})
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFunc(d, report)
			case *ast.GenDecl:
				checkGen(d, report)
			}
		}
	}
	return sorted(out)
}

type reporter func(pos token.Pos, kind, name string)

func checkFunc(d *ast.FuncDecl, report reporter) {
	if !d.Name.IsExported() || d.Doc.Text() != "" {
		return
	}
	if d.Recv == nil {
		report(d.Pos(), "function", d.Name.Name)
		return
	}
	if recv := receiver(d); ast.IsExported(recv) && !slices.Contains(wellKnown, d.Name.Name) {
		report(d.Pos(), "method", recv+"."+d.Name.Name)
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			panic(fmt.Sprintf("doccheck: unknown receiver %T", e))
		}
	}
}

// checkGen looks at a type, const or var declaration. A comment over a group
// of constants or variables speaks for all of them; types need their own.
func checkGen(d *ast.GenDecl, report reporter) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			if s.Doc.Text() == "" && (d.Lparen.IsValid() || d.Doc.Text() == "") {
				report(s.Pos(), "type", s.Name.Name)
			}
			checkMembers(s, d.Doc.Text(), report)
		case *ast.ValueSpec:
			if s.Doc.Text() != "" || s.Comment.Text() != "" || d.Doc.Text() != "" {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					report(name.Pos(), d.Tok.String(), name.Name)
				}
			}
		}
	}
}

// checkMembers looks at the fields of a struct and the methods of an
// interface. One without a comment of its own is documented where a comment
// on the type or on a neighbour names it: "First and Last are inclusive".
func checkMembers(s *ast.TypeSpec, groupDoc string, report reporter) {
	var list *ast.FieldList
	kind := "field"
	switch x := s.Type.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list, kind = x.Methods, "method"
	default:
		return
	}
	comments := groupDoc + s.Doc.Text()
	for _, f := range list.List {
		comments += f.Doc.Text() + f.Comment.Text()
	}
	for _, f := range list.List {
		if f.Doc.Text() != "" || f.Comment.Text() != "" {
			continue
		}
		for _, name := range f.Names {
			if name.IsExported() && !regexp.MustCompile(`\b`+name.Name+`\b`).MatchString(comments) {
				report(name.Pos(), kind, s.Name.Name+"."+name.Name)
			}
		}
	}
}
