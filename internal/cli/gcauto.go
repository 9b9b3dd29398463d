package cli

import (
	"os"
	"os/exec"
)

// packLater starts packing in a process of its own where what the command recorded made it worthwhile. Nobody waits for that, and
// nobody misses it where it does not begin.
func (a *app) packLater() {
	if a.repo == nil || !a.env.Exits || !a.repo.GCDue() {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command(self, "-C", a.repo.Root(), "gc", "--auto")
	cmd.SysProcAttr = detached()
	if cmd.Start() == nil {
		_ = cmd.Process.Release()
	}
}
