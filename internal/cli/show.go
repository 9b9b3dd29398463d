package cli

import "github.com/spf13/cobra"

func showCommand(a *app) *cobra.Command {
	var flags logFlags
	c := &cobra.Command{
		Use:   "show [REV]",
		Short: "Show a change: who, when, why and what",
		Long:  `Show the change that REV names, or the last one.`,
		Example: `  oxy show
  oxy show 1a2b3c4d --stat`,
		Args: atMost(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			rev := "@"
			if len(args) == 1 {
				rev = args[0]
			}
			n, err := r.ResolveChange(rev)
			if err != nil {
				return err
			}
			info, err := r.Info(n)
			if err != nil {
				return err
			}
			if err := a.page(); err != nil {
				return err
			}
			flags.patch = true
			return flags.one(a, info, nil, true)
		},
	}
	flags.add(c)
	return c
}
