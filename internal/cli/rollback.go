package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func rollbackCommand(a *app) *cobra.Command {
	var opt repo.RollbackOptions
	var messages []string
	c := &cobra.Command{
		Use:   "rollback CHANGE",
		Short: "Record that a change is undone",
		Long: `Record a change that undoes CHANGE. CHANGE stays in the log, so this is the way to take back what others have already;
later edits of the same lines stay, and what meets as a conflict is shown as one. Rolling the undoing back brings the
change again, with its own lines and its own author.

Without -m the message says what is undone. To have a change gone as if it had never been: oxy unrecord`,
		Example: `  oxy rollback 1a2b3c4d
  oxy rollback 1a2b3c4d -m "Not ready: the parser hangs"`,
		Args: exactly(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(messages) > 0 {
				if opt.Message = tidy(strings.Join(messages, "\n\n")); opt.Message == "" {
					return emptyMessage("rollback")
				}
			}
			var err error
			if opt.Time, err = a.dateOf("rollback", ""); err != nil {
				return err
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			res, err := r.Rollback(a.interruptible(), args[0], opt)
			if err != nil {
				return err
			}
			if a.json {
				if opt.DryRun {
					leaveOut(res, res.Made.Num)
				}
				move, err := a.newMove(res, opt.DryRun)
				if err != nil {
					return err
				}
				return a.printJSON(move)
			}
			return a.rolledBack(res, opt.DryRun, args[0])
		},
	}
	c.Flags().StringArrayVarP(&messages, "message", "m", nil, "the `MESSAGE`; given again, another paragraph")
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would change")
	return c
}

// rolledBack tells what an undoing did.
func (a *app) rolledBack(res *repo.MoveResult, dryRun bool, rev string) error {
	if dryRun {
		n, err := a.repo.ResolveChange(rev)
		if err != nil {
			return err
		}
		info, err := a.repo.Info(n)
		if err != nil {
			return err
		}
		a.out.buf = a.appendOneline(append(a.out.buf, "Would undo "...), info)
		if err := a.movedFiles(res, dryRun); err != nil {
			return err
		}
		return a.out.printf(nothingDone)
	}
	made, err := a.repo.Info(res.Came[0])
	if err != nil {
		return err
	}
	a.out.buf = a.appendRecorded(a.out.buf, res.Bookmark, made)
	if err := a.movedFiles(res, dryRun); err != nil {
		return err
	}
	return a.out.printf("oxy rollback %s brings it again.\n", a.repo.ShortID(res.Came[0]))
}
