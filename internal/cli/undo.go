package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/ui"
)

func undoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "undo",
		Short: "Take back the last command that changed something",
		Long: `Take back the last operation that was not undone yet: a commit, a merge, an unrecord, a checkout, a discard, a bookmark.
Again takes back the one before, and oxy redo goes the other way. Changes in the working copy that are not recorded
stay.`,
		Example: `  oxy undo
  oxy op log`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			from := a.standing()
			op, err := r.Undo(a.interruptible())
			if err != nil {
				return err
			}
			if a.json {
				return a.thenFollow(from, a.printJSON(newOp(op)))
			}
			return a.thenFollow(from, a.out.printf("Undid: %s (%s)\n", words(op.Command), ui.Ago(op.Time, a.now())))
		},
	}
}

func redoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "redo",
		Short: "Take back the last undo",
		Long: `Do again what the last oxy undo took back. Again does what the undo before took back, as in an editor, until there is
no undo left. Anything else that is done after an undo ends that. Changes in the working copy that are not recorded
are never overwritten.`,
		Example: `  oxy undo
  oxy redo`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			from := a.standing()
			op, err := r.Redo(a.interruptible())
			if err != nil {
				return err
			}
			if a.json {
				return a.thenFollow(from, a.printJSON(newOp(op)))
			}
			return a.thenFollow(from, a.out.printf("Redid: %s (%s)\n", words(op.Command), ui.Ago(op.Time, a.now())))
		},
	}
}
