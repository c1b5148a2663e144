package doccheck

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sound is a small tree that keeps every rule.
var sound = map[string]string{
	"go.mod":                        "module example.org/m\n\ngo 1.26\n",
	"Makefile":                      "X := 1\n.PHONY: test\ntest: ## runs the tests\n\ttrue\n",
	"mpsc/q.go":                     "// Package mpsc queues.\npackage mpsc\n\nimport _ \"example.org/m/internal/atomics\"\n\n// Queue is a queue.\ntype Queue struct{}\n\n// Push pushes.\nfunc (q *Queue) Push() {}\n\n// New makes one.\nfunc New() *Queue { return nil }\n",
	"mpsc/q_test.go":                "package mpsc\n\nimport \"testing\"\n\nfunc TestPush(t *testing.T) { t.Run(\"in order\", nil) }\n",
	"internal/atomics/a.go":         "// Package atomics names words.\npackage atomics\n\nimport _ \"go.uber.org/atomic\"\nimport _ \"sync/atomic\"\n",
	"internal/atomics/explore.go":   "//go:build explore\n\npackage atomics\n",
	"adapters/k/k_linux.go":         "//go:build unix\n\n// Package k adapts.\npackage k\n",
	"docs/A.md":                     "# A page\n\nSee [readme](../README.md#hello-world), `mpsc.Queue.Push`, `mpsc/q.go`, `q.go`, `TestPush/in_order`, `bin/x`.\n\n```sh\nmake test V=\"1 2\" # make nothing\ngo test -run TestPu ./...\n```\n",
	"mpsc/main_test.go":             "package mpsc\n\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }\n",
	"mpsc/fuzz_test.go":             "package mpsc\n\nfunc FuzzPush(f *testing.F) {}\n",
	"mpsc/testdata/fuzz/FuzzPush/a": "go test fuzz v1\n",
	"internal/ptest/suite.go":       "// Package ptest is a suite.\npackage ptest\n\nvar _ = \"by the suite\"\n",
	"core/x/x_test.go":              "package x\n\nimport _ \"example.org/m/internal/ptest\"\n\nfunc TestX(t *testing.T) {}\n",
	"core/x/main_test.go":           "package x\n\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }\n",
	"docs/INVARIANTS.md":            invariants("| 1 | One. | `TestPush` |", "| 2 | Two. | `TestX/by_the_suite`, `FuzzPush` |"),
	"README.md":                     "# Hello, world\n\n[a](docs/A.md) [b](#hello-world) [c](https://example.org/x)\n\nRun `make -s test` to make sure.\n\n```go\nx := mpsc.New()\n```\n",
}

// invariants returns a document with a table of the given rows.
func invariants(rows ...string) string {
	return "# Invariants\n\n| # | holds | by |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
}

// with returns the sound tree with some files changed or added.
func with(files map[string]string) *Tree {
	all := fstest.MapFS{}
	for _, m := range []map[string]string{sound, files} {
		for name, text := range m {
			all[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	tree, err := Load(all)
	if err != nil {
		panic(err)
	}
	return tree
}

func TestSoundTreeHasNoFindings(t *testing.T) {
	for _, c := range Checks() {
		for _, f := range c.Run(with(nil)) {
			t.Errorf("%s: %s", c.Name, f)
		}
	}
}

// TestEveryCheckCanFail breaks the sound tree in one way at a time and looks
// for exactly the finding that this must cause.
func TestEveryCheckCanFail(t *testing.T) {
	word := "TO" + "DO"
	cases := []struct {
		name  string
		check func(*Tree) []Finding
		files map[string]string
		want  string // file:line: start of text
	}{
		{"long file", Sizes, map[string]string{"mpsc/b.go": "package mpsc\n" + strings.Repeat("\n", 400)}, "mpsc/b.go: 401 lines"},
		{"long test file", Sizes, map[string]string{"mpsc/b_test.go": "package mpsc\n" + strings.Repeat("\n", 600)}, "mpsc/b_test.go: 601 lines"},
		{"long suite file", Sizes, map[string]string{"internal/ptest/b.go": "package ptest\n" + strings.Repeat("\n", 600)}, "internal/ptest/b.go: 601 lines"},
		{"long function", Sizes, map[string]string{"mpsc/b.go": "package mpsc\n\nfunc f() {" + strings.Repeat("\n", 70) + "}\n"}, "mpsc/b.go:3: function f has 71 lines"},
		{"foreign import", Imports, map[string]string{"mpsc/b.go": "package mpsc\n\nimport _ \"example.com/other\"\n"}, "mpsc/b.go:3: imports example.com/other"},
		{"foreign import behind a helper", Imports, map[string]string{
			"core/x/b.go":        "package x\n\nimport _ \"example.org/m/internal/help\"\n",
			"internal/help/a.go": "package help\n\nimport _ \"example.com/other\"\n",
		}, "internal/help/a.go:3: imports example.com/other"},
		{"sync/atomic", Imports, map[string]string{"ringbuf/b.go": "package ringbuf\n\nimport _ \"sync/atomic\"\n"}, "ringbuf/b.go:3: imports sync/atomic"},
		{"sync", Imports, map[string]string{"core/x/b.go": "package x\n\nimport _ \"sync\"\n"}, "core/x/b.go:3: imports sync,"},
		{"uber atomic", Imports, map[string]string{"mpsc/b.go": "package mpsc\n\nimport _ \"go.uber.org/atomic\"\n"}, "mpsc/b.go:3: imports go.uber.org/atomic"},
		{"tag elsewhere", BuildTags, map[string]string{"mpsc/b.go": "//go:build explore\n\npackage mpsc\n"}, "mpsc/b.go:1: //go:build explore"},
		{"second tag", BuildTags, map[string]string{"internal/atomics/b.go": "//go:build !explore && other\n\npackage atomics\n"}, "internal/atomics/b.go:1: //go:build !explore && other"},
		{"platform of a lock-free package", BuildTags, map[string]string{"mpsc/b.go": "//go:build !linux\n\npackage mpsc\n"}, "mpsc/b.go:1: //go:build !linux"},
		{"tag of an adapter", BuildTags, map[string]string{"adapters/k/b.go": "//go:build unix && other\n\npackage k\n"}, "adapters/k/b.go:1: //go:build unix && other"},
		{"platform suffix", BuildTags, map[string]string{"mpsc/b_linux.go": "package mpsc\n"}, "mpsc/b_linux.go: the suffix _linux"},
		{"atomic field", AtomicFields, map[string]string{"mpsc/b.go": "package mpsc\n\ntype r struct {\n\tmu atomics.Mutex\n\t// a is.\n\ta atomics.Bool\n\tb []atomics.Pointer[int]\n}\n"}, "mpsc/b.go:7: atomic field"},
		{"tests without a look for leaks", Leaks, map[string]string{"core/y/b_test.go": "package y\n\nfunc TestB(t *testing.T) {}\n"}, "core/y/b_test.go: has tests"},
		{"fuzz target without a corpus", Corpora, map[string]string{"mpsc/b_test.go": "package mpsc\n\nfunc FuzzPop(f *testing.F) {}\n"}, "mpsc/b_test.go:3: FuzzPop has no corpus in mpsc/testdata/fuzz/FuzzPop"},
		{"no rows", Invariants, map[string]string{invariantsDoc: "# Invariants\n"}, "docs/INVARIANTS.md: has no table"},
		{"number twice", Invariants, map[string]string{invariantsDoc: invariants("| 1 | One. | `TestPush` |", "| 1 | Two. | `TestPush` |")}, "docs/INVARIANTS.md:6: row \"1\", want 2"},
		{"number left out", Invariants, map[string]string{invariantsDoc: invariants("| 2 | Two. | `TestPush` |")}, "docs/INVARIANTS.md:5: row \"2\", want 1"},
		{"number out of turn in a second table", Invariants, map[string]string{invariantsDoc: invariants("| 1 | One. | `TestPush` |") + "\n" + invariants("| 2 | Two. | `TestPush` |")}, "docs/INVARIANTS.md:11: row \"2\", want 1"},
		{"row without a sentence", Invariants, map[string]string{invariantsDoc: invariants("| 1 |")}, "docs/INVARIANTS.md:5: a row needs"},
		{"row without a test", Invariants, map[string]string{invariantsDoc: invariants("| 1 | Held by `TestPush`. | `make test` |")}, "docs/INVARIANTS.md:5: row 1: names no test"},
		{"row with a test of no name", Invariants, map[string]string{invariantsDoc: invariants("| 1 | One. | `TestPush`, `TestPop` |")}, "docs/INVARIANTS.md:5: row 1: there is no TestPop"},
		{"row with a subtest of another package", Invariants, map[string]string{invariantsDoc: invariants("| 1 | One. | `TestPush/by_the_suite` |")}, "docs/INVARIANTS.md:5: row 1: TestPush has no subtest named by_the_suite"},
		{"row with a subtest of odd letters", Invariants, map[string]string{invariantsDoc: invariants("| 1 | One. | `TestX/by:_none` |")}, "docs/INVARIANTS.md:5: row 1: TestX has no subtest named by:_none"},
		{"skipped test", Skips, map[string]string{"mpsc/b_test.go": "package mpsc\n\nfunc f(t *testing.T) { t.Skipf(\"\") }\n"}, "mpsc/b_test.go:3: calls Skipf"},
		{"no package doc", PackageDocs, map[string]string{"cmd/x/main.go": "package main\n"}, "cmd/x: no file"},
		{"undocumented function", ExportedDocs, map[string]string{"mpsc/b.go": "package mpsc\n\nfunc F() {}\n"}, "mpsc/b.go:3: exported function F"},
		{"undocumented method", ExportedDocs, map[string]string{"mpsc/b.go": "package mpsc\n\nfunc (q *Queue) M() {}\n"}, "mpsc/b.go:3: exported method Queue.M"},
		{"undocumented generic method", ExportedDocs, map[string]string{"core/x/b.go": "package x\n\nfunc (q *T[K, V]) M() {}\n"}, "core/x/b.go:3: exported method T.M"},
		{"undocumented type", ExportedDocs, map[string]string{"mpsc/b.go": "package mpsc\n\n// Both.\ntype (\n\tA int\n)\n"}, "mpsc/b.go:5: exported type A"},
		{"undocumented field", ExportedDocs, map[string]string{"mpsc/b.go": "package mpsc\n\n// S is.\ntype S struct {\n\tA int // A is.\n\tB int\n}\n"}, "mpsc/b.go:6: exported field S.B"},
		{"undocumented interface method", ExportedDocs, map[string]string{"mpsc/b.go": "package mpsc\n\n// S is.\ntype S interface {\n\tB()\n}\n"}, "mpsc/b.go:5: exported method S.B"},
		{"undocumented constant", ExportedDocs, map[string]string{"adapters/k/b.go": "package k\n\nconst A = 1\n"}, "adapters/k/b.go:3: exported const A"},
		{"undocumented variable", ExportedDocs, map[string]string{"adapters/k/b.go": "package k\n\nvar A = 1\n"}, "adapters/k/b.go:3: exported var A"},
		{"marker in Go", Markers, map[string]string{"mpsc/b.go": "package mpsc\n\n// " + word + ": later\n"}, "mpsc/b.go:3: left-over " + word},
		{"marker in a document", Markers, map[string]string{"docs/B.md": word + "\n"}, "docs/B.md:1: left-over " + word},
		{"link to nothing", Links, map[string]string{"docs/B.md": "# B\n\ntext\n[a](C.md)\n"}, "docs/B.md:4: link C.md"},
		{"reference to nothing", Links, map[string]string{"docs/B.md": "# B\n\n[a]: C.md\n"}, "docs/B.md:3: link C.md"},
		{"image of nothing", Links, map[string]string{"docs/B.md": "<img src=\"c.svg\">\n"}, "docs/B.md:1: link c.svg"},
		{"heading of nothing", Links, map[string]string{"docs/B.md": "[a](../README.md#bye)\n"}, "docs/B.md:1: link ../README.md#bye"},
		{"rooted link", Links, map[string]string{"docs/B.md": "[a](/README.md)\n"}, "docs/B.md:1: link /README.md"},
		{"make target in a span", MakeTargets, map[string]string{"docs/B.md": "Run `make -s V=1 fly`.\n"}, "docs/B.md:1: the Makefile has no target fly"},
		{"make target in a block", MakeTargets, map[string]string{"docs/B.md": "```console\n$ cd x && make test fly\n```\n"}, "docs/B.md:2: the Makefile has no target fly"},
		{"target without help", MakeTargets, map[string]string{"Makefile": "test: x\n\ttrue\n"}, "Makefile:1: target test has no ##"},
		{"test of no name", TestNames, map[string]string{"docs/B.md": "Held by\n`TestPop`.\n"}, "docs/B.md:2: there is no TestPop"},
		{"subtest of no name", TestNames, map[string]string{"docs/B.md": "`TestPush/impl=x/Fast`\n"}, "docs/B.md:1: TestPush/impl=x/Fast: no test has a subtest named Fast"},
		{"command for no test", TestNames, map[string]string{"docs/B.md": "```sh\ngo test -run TestPop\n```\n"}, "docs/B.md:2: nothing to run starts with TestPop"},
		{"path to nothing", Paths, map[string]string{"docs/B.md": "`mpsc/r.go`\n"}, "docs/B.md:1: there is no mpsc/r.go"},
		{"pattern for nothing", Paths, map[string]string{"docs/B.md": "`./mpsc/fast/...`\n"}, "docs/B.md:1: there is no ./mpsc/fast/..."},
		{"no such Go file", Paths, map[string]string{"docs/B.md": "`r.go`\n"}, "docs/B.md:1: there is no r.go"},
		{"no such name", Identifiers, map[string]string{"docs/B.md": "`mpsc.Stack`\n"}, "docs/B.md:1: package mpsc exports no Stack"},
		{"no such method", Identifiers, map[string]string{"docs/B.md": "`mpsc.Queue.Pop(x)`\n"}, "docs/B.md:1: mpsc.Queue has no Pop"},
		{"no such name in a block", Identifiers, map[string]string{"docs/B.md": "```go\nq := mpsc.NewStack()\n```\n"}, "docs/B.md:2: package mpsc exports no NewStack"},
		{"block that does not parse", BlockFormat, map[string]string{"docs/B.md": "```go\nif {\n```\n"}, "docs/B.md:2: go block does not parse"},
		{"block not formatted", BlockFormat, map[string]string{"docs/B.md": "```go\nx:=1\n```\n"}, "docs/B.md:2: go block is not formatted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.check(with(c.files))
			if len(got) != 1 || !strings.HasPrefix(got[0].String(), c.want) {
				t.Errorf("got %v, want one finding that starts with %q", got, c.want)
			}
		})
	}
}

func TestInvariantsMustBeThere(t *testing.T) {
	tree := with(nil)
	delete(tree.text, invariantsDoc)
	if got := Invariants(tree); len(got) != 1 || got[0].Text != "is missing" {
		t.Errorf("got %v, want one finding that the document is missing", got)
	}
}

func TestLoadRefusesWhatDoesNotParse(t *testing.T) {
	for name, text := range map[string]string{"a.go": "package", "go.mod": "go 1.26\n"} {
		if _, err := Load(fstest.MapFS{name: {Data: []byte(text)}}); err == nil {
			t.Errorf("Load took %s holding %q", name, text)
		}
	}
}

// writeTree puts a tree on disk for the checks that need a toolchain.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompileBlocksFindsWhatDoesNotCompile(t *testing.T) {
	const program = "# P\n\n```go\npackage main\n\nimport \"example.org/m/mpsc\"\n\nfunc %s() { mpsc.%s() }\n```\n"
	const test = "\n```go\npackage mpsc_test\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { %s }\n```\n"
	const printing = "```go\npackage main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"a b\") // %s\n\tfmt.Println([]int{1}) // %s\n}\n```\n"
	cases := []struct {
		name string
		doc  string
		want string // in the one finding; "" wants none
	}{
		{"sound", fmt.Sprintf(program, "main", "New") + fmt.Sprintf(test, "t.Log()"), ""},
		{"unknown name", fmt.Sprintf(program, "main", "Old"), "docs/A.md:8: undefined: mpsc.Old"},
		{"no main", fmt.Sprintf(program, "other", "New"), "docs/A.md:4: package main without func main"},
		{"broken test", fmt.Sprintf(test, "t.Lag()"), "t.Lag undefined"},
		{"internal import", strings.Replace(fmt.Sprintf(program, "main", "New"), "m/mpsc\"", "m/mpsc\"\nimport _ \"example.org/m/internal/atomics\"", 1), "imports example.org/m/internal/atomics"},
		{"sound output", fmt.Sprintf(printing, "a b: as it should", "[1]"), ""},
		{"false output", fmt.Sprintf(printing, "a b: as it should", "[2]"), `docs/A.md:8: program says it prints "[2]", and prints "[1]"`},
		{"more output", strings.Replace(fmt.Sprintf(printing, "a b", "[1]"), "(\"a", "(\"a\\n", 1), "docs/A.md:2: program says it prints 2 lines"},
		{"failing program", strings.Replace(fmt.Sprintf(printing, "a b", "[1]"), "}\n", "\tpanic(1)\n}\n", 1), "docs/A.md:2: program fails: panic: 1"},
		{"no parse", "```go\npackage main\n\nfunc {\n```\n", "expected"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := maps.Clone(sound)
			files["docs/A.md"] = c.doc
			files["internal/atomics/a.go"] = "// Package atomics names words.\npackage atomics\n"
			dir := writeTree(t, files)
			tree, err := Load(os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			before := slices.Sorted(maps.Keys(tree.paths))
			_, got, err := CompileBlocks(tree, dir)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == "" && len(got) != 0:
				t.Errorf("got %v, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].String(), c.want)):
				t.Errorf("got %v, want one finding with %q", got, c.want)
			}
			after, err := Load(os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, slices.Sorted(maps.Keys(after.paths))) {
				t.Error("the check wrote to the tree")
			}
		})
	}
}

func TestCompileBlocksUsesTheNestedModule(t *testing.T) {
	files := maps.Clone(sound)
	files["adapters/k/go.mod"] = "module example.org/m/adapters/k\n\ngo 1.26\n\nrequire example.org/m v0.0.0\n\nreplace example.org/m => ../..\n"
	files["adapters/k/k.go"] = "// Package k adapts.\npackage k\n\n// Run runs.\nfunc Run() {}\n"
	files["internal/atomics/a.go"] = "// Package atomics names words.\npackage atomics\n"
	files["docs/A.md"] = "```go\npackage main\n\nimport (\n\t\"example.org/m/adapters/k\"\n\t\"example.org/m/mpsc\"\n)\n\nfunc main() {\n\tk.Run()\n\tmpsc.New()\n}\n```\n"
	dir := writeTree(t, files)
	tree, err := Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	n, got, err := CompileBlocks(tree, dir)
	if err != nil || n != 1 || len(got) != 0 {
		t.Errorf("got %d blocks, findings %v, error %v; want 1 block alone", n, got, err)
	}
}
