package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

func unrecordCommand(a *app) *cobra.Command {
	var opt repo.UnrecordOptions
	c := &cobra.Command{
		Use:   "unrecord CHANGE...",
		Short: "Take changes out of the current bookmark, as if they had never been there",
		Long: `Take CHANGEs out of the working copy's state, wherever in its log they stand: afterwards it is exactly the state that
never had them. If other changes depend on them it lists those and does nothing, unless --with-dependents takes them
out too. With --keep-files the working files stay as they are, and what the changes did is there to be recorded anew.

Other bookmarks that have the changes keep them. oxy undo brings them back, and oxy pick takes a single one in again.
To take back what others have already, record that it is undone: oxy rollback`,
		Example: `  oxy unrecord 1a2b3c4d
  oxy unrecord --keep-files @
  oxy unrecord --with-dependents --dry-run 1a2b3c4d`,
		Args: atLeastOne("a change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			res, err := r.Unrecord(a.interruptible(), args, opt)
			if refused, ok := errors.AsType[*repo.DependentsError](err); ok {
				return a.refused(err, refused, args)
			}
			if err != nil {
				return err
			}
			if a.json {
				move, err := a.newMove(res, opt.DryRun)
				if err != nil {
					return err
				}
				return a.printJSON(move)
			}
			return a.unrecorded(res, opt)
		},
	}
	c.Flags().BoolVar(&opt.WithDependents, "with-dependents", false, "take out the changes that depend on them too")
	c.Flags().BoolVar(&opt.KeepFiles, "keep-files", false, "leave the working files as they are")
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would go")
	return c
}

// refused lists the changes that stand in the way.
func (a *app) refused(err error, by *repo.DependentsError, args []string) error {
	if a.json {
		list, failed := a.newChanges(latestFirst(by.Changes))
		if failed != nil {
			return failed
		}
		if failed := a.printJSON(jsonRefused{list}); failed != nil {
			return failed
		}
		return err
	}
	a.out.WriteString("These depend on what is to go:\n")
	if failed := a.listChanges(latestFirst(by.Changes)); failed != nil {
		return failed
	}
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = safepath.Quote(arg)
	}
	next := "Take all of them out: oxy unrecord --with-dependents " + strings.Join(quoted, " ")
	if len(args) == 1 {
		next += ". Or keep them, and record that it is undone: oxy rollback " + quoted[0]
	}
	// What stands in the way comes before what was said about it, also where both go to one terminal.
	if failed := a.out.Flush(); failed != nil {
		return failed
	}
	return &repo.Error{Text: err.Error(), Next: next, No: true, Err: err}
}

// unrecorded tells what went.
func (a *app) unrecorded(res *repo.MoveResult, opt repo.UnrecordOptions) error {
	head := "Unrecorded "
	if opt.DryRun {
		head = "Would unrecord "
	}
	if err := a.out.printf("%s%s:\n", head, plural(len(res.Went), "change")); err != nil {
		return err
	}
	if err := a.listSome(res.Went); err != nil {
		return err
	}
	if opt.KeepFiles && !opt.DryRun {
		if err := a.out.printf(" the files stay as they are; oxy diff shows what is not recorded now\n"); err != nil {
			return err
		}
		res.Written, res.Removed = 0, 0
	} else if err := a.movedFiles(res, opt.DryRun); err != nil {
		return err
	}
	if opt.DryRun {
		return a.out.printf(nothingDone)
	}
	them := "them"
	if len(res.Went) == 1 {
		them = "it"
	}
	return a.out.printf("oxy undo brings %s back.\n", them)
}

type jsonRefused struct {
	Dependents []jsonChange `json:"dependents"`
}
