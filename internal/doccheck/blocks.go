package doccheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"slices"
	"strconv"
	"strings"
)

// BlockFormat reports go blocks that do not parse or are not gofmt's output.
// A block may be a file, a list of declarations or a list of statements.
func BlockFormat(t *Tree) []Finding {
	var out []Finding
	for _, d := range t.docs {
		for _, b := range d.blocks {
			if b.lang != "go" {
				continue
			}
			got, err := format.Source([]byte(b.text))
			switch {
			case err != nil:
				out = append(out, Finding{d.path, b.line, "go block does not parse: " + err.Error()})
			case !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace([]byte(b.text))):
				out = append(out, Finding{d.path, b.line, "go block is not formatted with gofmt"})
			}
		}
	}
	return sorted(out)
}

// block is a go block that is a whole file.
type block struct {
	doc    string
	line   int
	text   string
	ast    *ast.File
	module string // directory of the module whose code it uses
}

// wholeBlocks returns the blocks to compile, and what can be said against
// them without a compiler.
func (t *Tree) wholeBlocks() ([]block, []Finding) {
	var blocks []block
	var out []Finding
	for _, d := range t.docs {
		for _, b := range d.blocks {
			if b.lang != "go" || !hasPackageClause(b.text) {
				continue
			}
			f, err := parser.ParseFile(t.fset, d.path, b.text, parser.SkipObjectResolution)
			if err != nil {
				out = append(out, Finding{d.path, b.line, err.Error()})
				continue
			}
			if f.Name.Name == "main" && !hasMain(f) {
				out = append(out, Finding{d.path, b.line, "package main without func main"})
			}
			module := "."
			for _, spec := range f.Imports {
				p, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					panic("doccheck: the parser let through the import " + spec.Path.Value)
				}
				dir := t.dirOf(p)
				if dir == "" {
					continue
				}
				if slices.Contains(strings.Split(dir, "/"), "internal") {
					out = append(out, Finding{d.path, b.line, fmt.Sprintf("imports %s, which a reader's program cannot", p)})
				}
				if m := t.moduleOf(dir); m != "." {
					module = m
				}
			}
			blocks = append(blocks, block{d.path, b.line, b.text, f, module})
		}
	}
	return blocks, out
}

func hasPackageClause(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return true
		}
	}
	return false
}

func hasMain(f *ast.File) bool {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "main" {
			return true
		}
	}
	return false
}
