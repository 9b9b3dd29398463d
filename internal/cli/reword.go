package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func rewordCommand(a *app) *cobra.Command {
	var said messageFlags
	var flags rewriteFlags
	c := &cobra.Command{
		Use:   "reword CHANGE",
		Short: "Give a change another message",
		Long: `Give CHANGE another message, wherever in the log it stands. What is recorded stays what it is, so another change stands
in its stead, and in that of each change that depends on it; all others stay the same, and so do the files.

Without -m or -F an editor asks, as oxy commit does. Other bookmarks that have the old change keep it.`,
		Example: `  oxy reword @ -m "Read the config once"
  oxy reword 1a2b3c4d`,
		Args: exactly(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			opt := repo.RewriteOptions{DryRun: flags.dryRun}
			var err error
			if opt.Message, err = said.message(a, "reword"); err != nil {
				return err
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			if !opt.DryRun {
				opt.Edit = a.rewording("reword")
			}
			res, err := r.Reword(a.interruptible(), args[0], opt)
			if err != nil {
				return err
			}
			return a.rewritten(res, "reword", &flags)
		},
	}
	said.add(c)
	flags.add(c)
	return c
}
