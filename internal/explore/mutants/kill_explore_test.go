//go:build explore

package mutants

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// patience is for a mutant that is not found. Nothing waits that long.
const patience = 10 * time.Minute

var (
	verdict  = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: ([\w-]+): execution \d+: (.*)`)
	schedule = regexp.MustCompile(explore.ScheduleVariable + `='([^']+)'`)
)

// Every mutant must be found by the configurations of its test, and the
// schedule that is reported must lead to it again.
func TestEveryMutantIsFound(t *testing.T) {
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			program := m.build(t)
			report := m.execute(t, program)
			found := verdict.FindStringSubmatch(report)
			if found == nil || !strings.HasPrefix(found[2], m.says) {
				t.Fatalf("reported, want %q…:\n%s", m.says, report)
			}
			again := schedule.FindStringSubmatch(report)
			if again == nil {
				t.Fatalf("no schedule in\n%s", report)
			}
			if second := m.execute(t, program, explore.ScheduleVariable+"="+again[1]); !strings.Contains(second, found[1]+": "+found[2]) {
				t.Fatalf("%s is reported as\n%s\nand repeated as\n%s", again[1], found[2], second)
			}
			t.Logf("%s: %s (%s)", found[1], found[2], again[1])
		})
	}
}

// build builds the tests of the mutant's package over the mutant.
func (m mutant) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	_, text := m.source(t)
	file := filepath.Join(dir, path.Base(m.file))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {target: file}})
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-c", "-vet=off", "-tags", "explore", "-overlay", list, "-o", program}
	build := exec.Command("go", append(args, m.files(t, filepath.Dir(target))...)...)
	build.Dir = filepath.Dir(target)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// files lists the sources of the mutant's package with the tests that explore
// it. The others would only take time to build.
func (m mutant) files(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if name := filepath.Base(file); !strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "explore_test.go") || name == "export_test.go" {
			list = append(list, name)
		}
	}
	return list
}

// execute runs the test that must fail, and returns what it says.
func (m mutant) execute(t *testing.T, program string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, program, "-test.run=^"+m.run, "-test.failfast")
	run.Dir = filepath.Join(root, filepath.FromSlash(path.Dir(m.file)))
	run.Env = append(os.Environ(), explore.LevelVariable+"=usual", explore.ResultsVariable+"=")
	run.Env = append(run.Env, env...)
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatalf("%s passes:\n%s", m.run, out)
	}
	return string(out)
}
