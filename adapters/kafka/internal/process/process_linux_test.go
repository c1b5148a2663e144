package process_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// family starts a shell with a child of its own, and returns the child's id.
func family(t *testing.T) (p *process.Process, child int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Signal(syscall.SIGKILL); <-p.Done() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return p, child
}

func TestWhatTheProcessLeavesBehindEndsWithIt(t *testing.T) {
	p, child := family(t)
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil { // the shell alone
		t.Fatal(err)
	}
	<-p.Done()
	gone(t, child)
}

func TestASignalReachesWhatTheProcessStarted(t *testing.T) {
	p, child := family(t)
	p.Signal(syscall.SIGKILL)
	<-p.Done()
	if got := p.State().Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGKILL {
		t.Fatalf("ended by %v, want SIGKILL", got)
	}
	gone(t, child)
	p.Signal(syscall.SIGTERM) // after the end it is nothing, and no error
}

// gone waits for the end of a process. Nobody waits for an orphan in a
// container without an init; it is a zombie at most.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what the process started lives on")
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	if _, err := process.Start(exec.Command("/nonexistent")); err == nil {
		t.Fatal("started")
	}
}
