package doccheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CompileBlocks compiles every go block that has a package clause against the
// tree, which lies at root on disk, and runs those that are programs and say
// what they print. It returns how many blocks there were. Blocks are laid over
// their module, so nothing is written to the tree.
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

// compile compiles blocks, programs and tests alike, laid over the module at
// dir. The command is go list -export, because go vet and go test enter the
// directories of their packages, which exist in the overlay alone.
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
	overlay, packages, err := layOver(dir, tmp, blocks)
	if err != nil {
		return nil, err
	}
	args := append([]string{"list", "-export", "-test", "-overlay", overlay}, packages...)
	if _, complaint, err := goCommand(dir, args...); err != nil {
		return nil, err
	} else if complaint != "" {
		return []Finding{{blocks[0].doc, 0, "go blocks do not compile:\n" + complaint}}, nil
	}
	var out []Finding
	for i, b := range blocks {
		want := b.prints()
		if len(want) == 0 {
			continue
		}
		got, complaint, err := goCommand(dir, "run", "-overlay", overlay, packages[i])
		if err != nil {
			return nil, err
		}
		if complaint != "" {
			out = append(out, Finding{b.doc, b.line, "program fails: " + complaint})
			continue
		}
		out = append(out, b.compare(got, want)...)
	}
	return out, nil
}

// layOver writes blocks to tmp and an overlay that puts each into a package
// of its own below dir. It returns the overlay's name and the packages. Line
// directives make the compiler's messages point into the documents.
func layOver(dir, tmp string, blocks []block) (string, []string, error) {
	replace := map[string]string{}
	var packages []string
	for i, b := range blocks {
		pkg := fmt.Sprintf("doccheckblock%d", i)
		name := "block.go"
		if strings.HasSuffix(b.ast.Name.Name, "_test") {
			name = "block_test.go"
		}
		src := filepath.Join(tmp, pkg+name)
		text := fmt.Sprintf("//line %s:%d\n%s", b.doc, b.line, b.text)
		if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
			return "", nil, fmt.Errorf("doccheck: cannot write a block: %w", err)
		}
		replace[filepath.Join(dir, pkg, name)] = src
		packages = append(packages, "./"+pkg)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, fmt.Errorf("doccheck: cannot form the overlay: %w", err)
	}
	file := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", nil, fmt.Errorf("doccheck: cannot write the overlay: %w", err)
	}
	return file, packages, nil
}

// goCommand runs the go command in dir. What it complains about, if it exits
// with a failure, is a result; that it cannot be run is an error.
func goCommand(dir string, args ...string) (stdout, complaint string, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	text, err := cmd.Output()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return string(text), "", nil
	case errors.As(err, &failed):
		return string(text), fmt.Sprintf("%s(%v)", failed.Stderr, failed), nil
	}
	return "", "", fmt.Errorf("doccheck: cannot run go %s: %w", args[0], err)
}
