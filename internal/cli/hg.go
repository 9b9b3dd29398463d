package cli

import (
	"github.com/spf13/cobra"
)

func hgCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "hg",
		Short: "Bring history in from Mercurial, and prove it",
		Long: `Mercurial's history, here: every changeset becomes a change, every bookmark and head of a branch a bookmark, every tag a
tag. What is brought in can be proved against Mercurial's own ids. Mercurial need not be installed.`,
		Example: `  oxy hg import ../project
  oxy hg verify`,
		Args: cobra.ArbitraryArgs,
		RunE: groupArgs,
	}
	c.AddCommand(hgImportCommand(a), hgVerifyCommand(a))
	return c
}
