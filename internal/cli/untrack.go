package cli

import "github.com/spf13/cobra"

func untrackCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "untrack PATHS",
		Short: "Record ignored files no longer, and leave them where they are",
		Long: `Take files that .oxyignore or .gitignore names out of what is recorded from the next commit on. The files stay on disk,
and history keeps what they were.`,
		Example: `  echo "secrets.env" >> .oxyignore
  oxy untrack secrets.env
  oxy commit -m "Leave secrets out"`,
		Args: atLeastOne("paths"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			left, err := r.Untrack(a.interruptible(), paths)
			if err != nil {
				return notRecording(err)
			}
			return a.listPaths("Untracked", left)
		},
	}
}
