package ringbuf_test

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// A package that uses a ring must get its atomic operations as instructions,
// not as calls.
func TestAtomicsAreInlinedInUsers(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-S", "-o", os.DevNull, "./testdata/inlineuser").CombinedOutput()
	if err != nil {
		t.Fatalf("building a user of the ring: %v\n%.2000s", err, out)
	}
	if !strings.Contains(string(out), "ringbuf.(*Ring[go.shape.") {
		t.Fatal("no code of the ring in the assembly: the test does not see what it should")
	}
	if runtime.GOARCH == "amd64" && !strings.Contains(string(out), "LOCK") {
		t.Fatal("no locked instruction in the assembly: the test does not see what it should")
	}
	call := regexp.MustCompile(`CALL\s+((?:sync|go\.uber\.org)/atomic\.\(\*\w+\)\.\w+)\(SB\)`)
	for _, m := range call.FindAllStringSubmatch(string(out), -1) {
		t.Errorf("%s is called, not inlined; see keepAtomicsInlinable", m[1])
	}
}
