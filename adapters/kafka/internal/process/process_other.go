//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

func detach(*exec.Cmd) {}

// Signal sends sig to the process. It does nothing once the process has ended.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

func (p *Process) sweep() {}
