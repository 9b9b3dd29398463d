package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/store"
)

func upgradeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade",
		Short: "Bring the repository to the newest format",
		Long: `Bring the repository to the newest format that this oxy knows. There is one format so far, so there is nothing to do; a
repository that a newer oxy made is refused by every command.`,
		Example: `  oxy upgrade`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			if _, err := a.open(); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Format   int  `json:"format"`
					Upgraded bool `json:"upgraded"`
				}{store.Format, false})
			}
			return a.out.printf("Nothing is to do: the repository has format %d, the newest.\n", store.Format)
		},
	}
}
