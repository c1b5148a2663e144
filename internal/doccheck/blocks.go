package doccheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"os"
	"os/exec"
	"path/filepath"
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

// CompileBlocks compiles every go block that has a package clause
// against the tree, which lies at root on disk, and returns how many there
// were. Blocks are laid over their module, so nothing is written to the tree.
func CompileBlocks(t *Tree, root string) (int, []Finding, error) {
	blocks, out := t.wholeBlocks()
	byModule := map[string][]block{}
	for _, b := range blocks {
		byModule[b.module] = append(byModule[b.module], b)
	}
	for module, list := range byModule {
		found, err := compile(filepath.Join(root, filepath.FromSlash(module)), list)
		if err != nil {
			return 0, nil, err
		}
		out = append(out, found...)
	}
	return len(blocks), sorted(out), nil
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

// compile compiles blocks, programs and tests alike, laid over the module at
// dir. The command is go list -export, because go vet and go test enter the
// directories of their packages, which exist in the overlay alone. Line
// directives make the messages point into the documents.
func compile(dir string, blocks []block) ([]Finding, error) {
	dir, err := filepath.Abs(dir) // the overlay takes no other
	if err != nil {
		return nil, fmt.Errorf("doccheck: cannot name the module's directory: %w", err)
	}
	tmp, err := os.MkdirTemp("", "doccheck")
	if err != nil {
		return nil, fmt.Errorf("doccheck: no place for blocks: %w", err)
	}
	defer os.RemoveAll(tmp)
	replace := map[string]string{}
	args := []string{"list", "-export", "-test", "-overlay", filepath.Join(tmp, "overlay.json")}
	for i, b := range blocks {
		pkg := fmt.Sprintf("doccheckblock%d", i)
		name := "block.go"
		if strings.HasSuffix(b.ast.Name.Name, "_test") {
			name = "block_test.go"
		}
		src := filepath.Join(tmp, pkg+name)
		text := fmt.Sprintf("//line %s:%d\n%s", b.doc, b.line, b.text)
		if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("doccheck: cannot write a block: %w", err)
		}
		replace[filepath.Join(dir, pkg, name)] = src
		args = append(args, "./"+pkg)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, fmt.Errorf("doccheck: cannot write the overlay: %w", err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "overlay.json"), overlay, 0o600); err != nil {
		return nil, fmt.Errorf("doccheck: cannot write the overlay: %w", err)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	_, err = cmd.Output()
	if err == nil {
		return nil, nil
	}
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return nil, fmt.Errorf("doccheck: cannot run go list: %w", err)
	}
	return []Finding{{blocks[0].doc, 0, "go blocks do not compile:\n" + string(failed.Stderr)}}, nil
}
