package process

import (
	"os/exec"
	"syscall"
)

func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Signal sends sig to the process and to what it started. It does nothing
// once the process has ended.
func (p *Process) Signal(sig syscall.Signal) {
	select {
	case <-p.done: // the number may belong to another process by now
	default:
		_ = syscall.Kill(-p.Pid(), sig) // it may be ending just now
	}
}

// sweep ends what is left of the process group. As long as something is, the
// number stands for nothing else.
func (p *Process) sweep() { _ = syscall.Kill(-p.Pid(), syscall.SIGKILL) }
