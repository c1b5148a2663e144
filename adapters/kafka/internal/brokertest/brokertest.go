// Package brokertest lets the same tests run on the broker inside their own
// process and on a real one. "make test-broker" starts the latter and says
// where it is.
package brokertest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Variable names the environment variable with the address of a real broker.
const Variable = "TIDEMARK_TEST_BROKERS"

// Addrs is the real broker, or nil if there is none.
func Addrs() []string {
	if v := os.Getenv(Variable); v != "" {
		return strings.Split(v, ",")
	}
	return nil
}

// names counts how often Unique was called: incremented by every test, read
// with the same operation.
var names atomic.Int64

// Unique makes a name that no other test uses on the same broker, in this
// process or another.
func Unique(prefix string) string {
	return fmt.Sprintf("%s-%x-%d-%d", prefix, time.Now().UnixNano(), os.Getpid(), names.Add(1))
}

// Select is for TestMain: if there is a real broker, and no -run, the tests
// that name this function run on it, and no others. The rest would
// show nothing new, since they need a broker that fails on request.
func Select(function string) error {
	flag.Parse()
	if len(Addrs()) == 0 || flag.Lookup("test.run").Value.String() != "" {
		return nil
	}
	tests, err := users(".", function)
	if err != nil {
		return fmt.Errorf("brokertest: %w", err)
	}
	if len(tests) == 0 {
		return fmt.Errorf("brokertest: no test here uses %s", function)
	}
	fmt.Printf("%d tests that run on any broker, on the one at %s\n", len(tests), os.Getenv(Variable))
	return flag.Set("test.run", "^("+strings.Join(tests, "|")+")$")
}

// users are the tests in dir that name function.
func users(dir, function string) (tests []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == function && !slices.Contains(tests, f.Name.Name) {
					tests = append(tests, f.Name.Name)
				}
				return true
			})
		}
	}
	return tests, nil
}
