//go:build unix

package vfs

import "syscall"

// detached has a process outlive the terminal that its parent was started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// LowerPriority lets everything else go first. A process that was started detached is a group of its own, and only for a group
// does the system lower all threads that there are already.
func LowerPriority() {
	if syscall.Getpgrp() == syscall.Getpid() {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, 19)
	}
}
