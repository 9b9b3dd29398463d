package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func initCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a repository of a directory",
		Long: `Make a repository in DIR, or in the current directory. DIR is made if it is not there. Files that are there already
are not touched; the first commit records them.`,
		Example: `  cd project
  oxy init
  oxy commit -m "Begin"`,
		Args: atMost(1, "one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				dir = join(dir, args[0])
			}
			if a.repo, err = repo.Init(dir, a.options()); err != nil {
				return err
			}
			root := a.repo.Root()
			if a.json {
				return a.printJSON(struct {
					Root     string `json:"root"`
					Bookmark string `json:"bookmark"`
				}{root, "main"})
			}
			if err := a.out.printf("Initialised %s; the bookmark is main.\n", root); err != nil {
				return err
			}
			return a.out.printf("Next: oxy commit -m \"Begin\" records all that is here.\n")
		},
	}
}
