package cli

import (
	"github.com/spf13/cobra"
)

func opRestoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore N",
		Short: "Make everything as an operation left it",
		Long: `Put all bookmarks and tags, and the working copy with its files, where the operation with the number N left them. What
was recorded since stays in the store, and oxy undo goes back to it. Changes that are not recorded are kept where the
files do not differ, and never overwritten.`,
		Example: `  oxy op log -n 5
  oxy op restore 12`,
		Args: exactly(1, "the number of an operation"),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := parseOp("restore", args[0])
			if err != nil {
				return err
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			from := a.standing()
			done, err := r.Restore(a.interruptible(), n)
			if err != nil {
				return notRecording(err)
			}
			if a.json {
				return a.thenFollow(from, a.printJSON(struct {
					Operation uint32 `json:"operation"`
					jsonCheckout
				}{n, newCheckout(done)}))
			}
			if err := a.out.printf("Everything is as after operation #%d; oxy undo takes that back.\n", n); err != nil {
				return err
			}
			return a.thenFollow(from, a.arrived(done, "@"))
		},
	}
}
