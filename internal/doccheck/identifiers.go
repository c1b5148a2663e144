package doccheck

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

var (
	qualified = regexp.MustCompile(`^[*&]?(\w+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?(?:\W.*)?$`)
	selector  = regexp.MustCompile(`(?:^|[^\w."])(\w+)\.([A-Z]\w*)`)
)

// surface is what a package exports: its names, and the members of its types.
type surface struct {
	names   map[string]bool
	members map[string]map[string]bool // type → methods and fields
	open    map[string]bool            // types that embed: members unknown
}

// Identifiers reports names like pkg.Name or pkg.Type.Member in inline code
// and in go blocks, where pkg is a public package of this tree, that it does
// not export.
func Identifiers(t *Tree) []Finding {
	surfaces := t.surfaces()
	var out []Finding
	check := func(file string, line int, pkg, name, member string) {
		s := surfaces[pkg]
		switch {
		case s == nil:
		case !s.names[name]:
			out = append(out, Finding{file, line, fmt.Sprintf("package %s exports no %s", pkg, name)})
		case member != "" && s.members[name] != nil && !s.open[name] && !s.members[name][member]:
			out = append(out, Finding{file, line, fmt.Sprintf("%s.%s has no %s", pkg, name, member)})
		}
	}
	for _, d := range t.docs {
		for _, s := range d.spans {
			if m := qualified.FindStringSubmatch(s.text); m != nil {
				check(d.path, s.line, m[1], m[2], m[3])
			}
		}
		for _, b := range d.blocks {
			if b.lang != "go" {
				continue
			}
			for i, l := range strings.Split(b.text, "\n") {
				for _, m := range selector.FindAllStringSubmatch(l, -1) {
					check(d.path, b.line+i, m[1], m[2], "")
				}
			}
		}
	}
	return sorted(out)
}

// surfaces returns what each public package exports, by package name.
func (t *Tree) surfaces() map[string]*surface {
	out := map[string]*surface{}
	for _, f := range t.goFiles {
		public := slices.ContainsFunc(documented, func(root string) bool { return within(f.dir, root) })
		name := f.ast.Name.Name
		if f.test || !public || name == "main" || strings.Contains("/"+f.dir+"/", "/internal/") {
			continue
		}
		if out[name] == nil {
			out[name] = &surface{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
		}
		for _, d := range f.ast.Decls {
			out[name].add(d)
		}
	}
	return out
}

// add notes what one declaration exports.
func (s *surface) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			s.names[d.Name.Name] = true
		} else {
			s.member(receiver(d), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					s.names[n.Name] = true
				}
			case *ast.TypeSpec:
				s.names[spec.Name.Name] = true
				s.addMembers(spec)
			}
		}
	}
}

func (s *surface) member(typ, name string) {
	if s.members[typ] == nil {
		s.members[typ] = map[string]bool{}
	}
	s.members[typ][name] = true
}

func (s *surface) addMembers(spec *ast.TypeSpec) {
	var list *ast.FieldList
	switch x := spec.Type.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return
	}
	for _, f := range list.List {
		if len(f.Names) == 0 {
			s.open[spec.Name.Name] = true
		}
		for _, n := range f.Names {
			s.member(spec.Name.Name, n.Name)
		}
	}
}
