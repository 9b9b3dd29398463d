package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func squashCommand(a *app) *cobra.Command {
	var said messageFlags
	var flags rewriteFlags
	c := &cobra.Command{
		Use:   "squash CHANGE CHANGE...",
		Short: "Make one change of several",
		Long: `Make one change of several, wherever in the log they stand. If others lie between, which depend on one of them while
another of them depends on those, name these too. What depends on any of them is made anew; the files stay as they are.

The new change has the author and time of the first. Without -m or -F an editor asks for its message, and begins with
all of theirs. Other bookmarks that have the old changes keep them.`,
		Example: `  oxy squash @ @~1 -m "Read the config once"
  oxy squash 1a2b3c4d 5e6f7a8b`,
		Args: atLeastOne("the changes that shall become one"),
		RunE: func(_ *cobra.Command, args []string) error {
			opt := repo.RewriteOptions{DryRun: flags.dryRun}
			var err error
			if opt.Message, err = said.message(a, "squash"); err != nil {
				return err
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			if !opt.DryRun {
				opt.Edit = a.rewording("squash")
			}
			res, err := r.Squash(a.interruptible(), args, opt)
			if err != nil {
				return err
			}
			return a.rewritten(res, "squash", &flags)
		},
	}
	said.add(c)
	flags.add(c)
	return c
}
