package cli

import (
	"github.com/spf13/cobra"
)

func gitCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "git",
		Short: "Bring history in from Git, prove it, and give it back",
		Long: `Git's history, here: every commit becomes a change, every branch a bookmark, every tag a tag. What is brought in can be
proved against Git's own ids, and given back with them.`,
		Example: `  oxy git import ../project
  oxy git verify`,
		Args: cobra.ArbitraryArgs,
		RunE: groupArgs,
	}
	c.AddCommand(gitCloneCommand(a), gitFetchCommand(a), gitPushCommand(a), gitImportCommand(a), gitVerifyCommand(a), gitExportCommand(a))
	return c
}
