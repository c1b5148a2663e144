package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the root of the module.
const root = "../../.."

// source returns the mutant's file as it is and as the mutant has it.
func (m mutant) source(t *testing.T) (old, changed string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	old, changed = string(text), string(text)
	for i := 0; i < len(m.change); i += 2 {
		if n := strings.Count(changed, m.change[i]); n != 1 {
			t.Errorf("%s: %s has this text %d times, want once:\n%s", m.name, m.file, n, m.change[i])
		}
		changed = strings.Replace(changed, m.change[i], m.change[i+1], 1)
	}
	return old, changed
}

// The list must go with the source: whoever changes one changes the other.
func TestMutantsChangeTheSource(t *testing.T) {
	names := map[string]bool{}
	for _, m := range list {
		if old, changed := m.source(t); old == changed {
			t.Errorf("%s: changes nothing", m.name)
		}
		if names[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		names[m.name] = true
	}
}
