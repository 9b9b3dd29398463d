package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// gcMemory is where garbage collection begins while the repository is packed: what that needs does not grow with it,
// and it runs for long beside other work.
const gcMemory = 192 << 20

func gcCommand(a *app) *cobra.Command {
	var opt repo.GCOptions
	var keep count
	var auto bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Pack the repository, and drop what nothing leads to",
		Long: `Pack the repository, so that it takes less room; where too little is to be gained it is left as it is. Interrupted at any
point it leaves the repository whole, and who reads meanwhile is not disturbed.

What no bookmark, tag, checkpoint and working copy has, and no kept operation could bring back, is dropped: changes that were
unrecorded or replaced, contents that were discarded. Kept are the operations of the last 90 days; with --keep-ops the last N, with
--prune only the last one: then there is nothing to undo any more. With --keep-all nothing is dropped.

Once 32 MiB and a third of the repository lie unpacked, the command that recorded the last of it starts this in the background when it
ends, with the lowest priority. It then drops nothing and gives way to whoever would write. The setting gc.auto says how
many MiB, or off.

What is packed well stays as it is until a quarter of the repository is new; --anew packs all of it again, like beside like.`,
		Example: `  oxy gc
  oxy gc --prune --dry-run
  oxy gc --keep-ops 100`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(gcMemory))
			if auto {
				vfs.LowerPriority()
				_, err := r.AutoGC(a.interruptible())
				return err
			}
			began := a.now()
			opt.KeepOps = int(keep)
			res, err := r.GC(a.interruptible(), opt)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(jsonGC{res.Before, res.After, a.now().Sub(began).Seconds(), opt.DryRun, newDropped(&res.Dropped), res.Why})
			}
			return a.packed(res, opt.DryRun)
		},
	}
	c.Flags().Var(&keep, "keep-ops", "keep the last `N` operations, and all that they can bring back")
	c.Flags().BoolVar(&opt.Prune, "prune", false, "keep no operation but the last")
	c.Flags().BoolVar(&opt.KeepAll, "keep-all", false, "drop nothing")
	c.Flags().BoolVar(&opt.Anew, "anew", false, "pack again what is packed already")
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would be dropped")
	c.Flags().BoolVar(&auto, "auto", false, "as commands start it by themselves: drop nothing, give way to whoever would write, say nothing")
	c.MarkFlagsMutuallyExclusive("keep-ops", "prune", "keep-all", "auto")
	c.MarkFlagsMutuallyExclusive("dry-run", "auto")
	return c
}

func (a *app) packed(res *repo.GCResult, dry bool) error {
	if d := &res.Dropped; d.Any() {
		word := "Dropped"
		if dry {
			word = "Would drop"
		}
		text := fmt.Sprintf("%s %s, %s, %s and %s (%s unpacked).\n", word, plural(int(d.Ops), "operation"), plural(int(d.Changes), "change"),
			plural(int(d.States), "state"), plural(int(d.Contents), "content"), size(d.Bytes))
		if err := a.out.printf("%s", text); err != nil || dry {
			return err
		}
	} else if res.Why != "" {
		if err := a.out.printf("Nothing is dropped: %s.\n", res.Why); err != nil || dry {
			return err
		}
	} else if dry {
		return a.out.printf("Nothing would be dropped.\n")
	}
	if res.After >= res.Before {
		return a.out.printf("It is packed well already: %s.\n", size(res.After))
	}
	return a.out.printf("Packed %s to %s.\n", size(res.Before), size(res.After))
}

type jsonGC struct {
	Before  int64       `json:"before"`
	After   int64       `json:"after"`
	Seconds float64     `json:"seconds"`
	DryRun  bool        `json:"dry_run"`
	Dropped jsonDropped `json:"dropped"`
	Why     string      `json:"why,omitempty"`
}

type jsonDropped struct {
	Ops      uint32 `json:"operations"`
	Changes  uint32 `json:"changes"`
	States   uint32 `json:"states"`
	Contents uint32 `json:"contents"`
	Bytes    int64  `json:"bytes"`
}

func newDropped(d *repo.Dropped) jsonDropped {
	return jsonDropped{d.Ops, d.Changes, d.States, d.Contents, d.Bytes}
}
