package doccheck

import (
	"os"
	"slices"
	"testing"

	"github.com/tidemark-go/tidemark/internal/longtest"
)

// root is this repository.
const root = "../.."

func loadRepository(t *testing.T) *Tree {
	t.Helper()
	tree, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestRepositoryKeepsEveryRule(t *testing.T) {
	if longtest.LeftOut(t, "the repository has the same texts everywhere") {
		return
	}
	tree := loadRepository(t)
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range c.Run(tree) {
				t.Error(f)
			}
		})
	}
}

func TestRepositoryIsSeenWhole(t *testing.T) {
	tree := loadRepository(t)
	for _, dir := range []string{"mpsc", "ringbuf", "core/checkpoint", "core/timing", "adapters/kafka", atomicsDir} {
		if !slices.Contains(tree.packages(), dir) {
			t.Errorf("no package was found in %s", dir)
		}
	}
	for dir, mod := range map[string]string{
		".":              "github.com/tidemark-go/tidemark",
		"adapters/kafka": "github.com/tidemark-go/tidemark/adapters/kafka",
	} {
		if tree.modules[dir] != mod {
			t.Errorf("module in %s is %q, want %q", dir, tree.modules[dir], mod)
		}
	}
	for _, d := range []string{"README.md", "CONTRIBUTING.md", "docs/TESTING.md"} {
		if !tree.paths[d] {
			t.Errorf("%s is missing", d)
		}
	}
}

func TestGoBlocksOfDocumentsCompile(t *testing.T) {
	tree := loadRepository(t)
	n, findings, err := CompileBlocks(tree, root)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Error("no go block with a package clause was found in any document")
	}
	for _, f := range findings {
		t.Error(f)
	}
}
