// Package process runs child processes that tests stop, freeze and kill, each
// with what it starts itself. Where the system can, no child outlives this
// process, however this process ends.
package process

import (
	"os"
	"os/exec"
	"runtime"
)

// Process is a child that is waited for.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Start starts cmd. On Linux it gets a process group of its own, so that
// Ctrl-C in a terminal reaches it only through Signal, and ends when this
// process does.
func Start(cmd *exec.Cmd) (*Process, error) {
	detach(cmd)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The system ends the child with the thread that started it, so the
		// thread has to last as long.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // State says how it ended
			p.sweep()
			close(p.done)
		}
	}()
	return p, <-started
}

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended, and with it, on Linux, what it
// started and left behind.
func (p *Process) Done() <-chan struct{} { return p.done }

// State says how the process ended, once Done is closed.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }
