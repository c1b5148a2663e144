package doccheck

import (
	"slices"
	"strings"
	"testing"
)

// prerequisites returns what a rule of the Makefile runs first.
func prerequisites(text, target string) []string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, target+":"); ok {
			rest, _, _ = strings.Cut(rest, "##")
			return strings.Fields(rest)
		}
	}
	return nil
}

// "make test" compiles for 32-bit and 64-bit ARM and runs everything with
// 32-bit words.
func TestMakeTestRunsOnOtherPlatforms(t *testing.T) {
	text := loadRepository(t).text["Makefile"]
	all := prerequisites(text, "test")
	for _, step := range []string{"test-386", "test-cross", "test-unit", "test-race", "test-fuzz"} {
		if !slices.Contains(all, step) {
			t.Errorf("make test does not run %s, only %v", step, all)
		}
	}
	if got := prerequisites(text, "test-cross"); !slices.Equal(got, []string{"test-arm", "test-arm64"}) {
		t.Errorf("make test-cross runs %v, want test-arm and test-arm64", got)
	}
	if !strings.Contains(text, "env GOARCH=386 $(GO) test") {
		t.Error("make test-386 runs no tests with GOARCH=386")
	}
}
