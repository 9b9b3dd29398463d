package cli

import (
	"os"

	"github.com/oxy-vcs/oxy/internal/vfs"
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
	_ = vfs.StartDetached(self, "-C", a.repo.Root(), "gc", "--auto")
}
