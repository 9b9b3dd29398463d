package cli

import "github.com/spf13/cobra"

func upgradeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade",
		Short: "Bring the repository to the newest format",
		Long: `Bring the repository to the newest format that this oxy knows. Nothing that is recorded is altered, but an oxy too old to know that
format refuses the repository from then on. Until then every command works as well; in format 1, which has no states that leave changes
out, taking back a change far down in a long history takes longer.`,
		Example: `  oxy upgrade`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			from, to, err := r.Upgrade()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Format   int  `json:"format"`
					Upgraded bool `json:"upgraded"`
				}{to, to != from})
			}
			if to == from {
				return a.out.printf("Nothing is to do: the repository has format %d, the newest.\n", to)
			}
			return a.out.printf("The repository had format %d and has format %d now.\n", from, to)
		},
	}
}
