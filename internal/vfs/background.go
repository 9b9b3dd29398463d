package vfs

import "os/exec"

// StartDetached starts a program that outlives this process and the terminal that it runs in, with nothing to read from and nobody
// who reads what it writes.
func StartDetached(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
