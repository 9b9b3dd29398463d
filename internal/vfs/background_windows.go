package vfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached has a process outlive the console that its parent was started from.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// LowerPriority lets everything else go first.
func LowerPriority() {
	_ = windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS)
}
