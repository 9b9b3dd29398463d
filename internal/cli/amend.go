package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

type amendFlags struct {
	rewriteFlags
	said        messageFlags
	edit        bool
	hunks       []string
	interactive bool
}

func amendCommand(a *app) *cobra.Command {
	var flags amendFlags
	c := &cobra.Command{
		Use:   "amend [CHANGE] [-- PATHS]",
		Short: "Put what changed into a change that is recorded already",
		Long: `Put everything that changed into CHANGE, or into the last one; or only what changed beneath PATHS; or only some hunks,
by the ids that oxy hunks shows (--hunk) or one by one (-i). CHANGE may stand anywhere in the log, as long as what
changed does not build on what came after it.

What is recorded stays what it is, so another change stands in its stead, with its message, author and time, and in that
of each change that depends on it; all others stay the same. Other bookmarks that have the old change keep it.`,
		Example: `  oxy amend
  oxy amend -m "Read the config once"
  oxy amend 1a2b3c4d -- src/parser
  oxy amend -i @~2`,
		RunE: func(c *cobra.Command, args []string) error { return a.amend(&flags, args, c.ArgsLenAtDash()) },
	}
	flags.said.add(c)
	c.Flags().BoolVarP(&flags.edit, "edit", "e", false, "edit the message")
	c.Flags().StringArrayVar(&flags.hunks, "hunk", nil, "put the hunk with this `ID` and no other; may be given again")
	c.Flags().BoolVarP(&flags.interactive, "interactive", "i", false, "ask for each hunk")
	flags.add(c)
	return c
}

func (a *app) amend(flags *amendFlags, args []string, dash int) error {
	rev := ""
	if dash != 0 && len(args) > 0 {
		rev, args = args[0], args[1:]
	}
	opt := repo.AmendOptions{RewriteOptions: repo.RewriteOptions{DryRun: flags.dryRun}, Hunks: flags.hunks}
	var err error
	if opt.Message, err = flags.said.message(a, "amend"); err != nil {
		return err
	}
	switch {
	case flags.edit && opt.Message != "":
		return usage("amend", "amend takes -e or a message, not both")
	case flags.interactive && len(flags.hunks) > 0:
		return usage("amend", "amend takes -i or --hunk, not both")
	case len(flags.hunks) > 0 && len(args) > 0:
		return usage("amend", "amend takes --hunk or paths, not both")
	}
	r, err := a.open()
	if err != nil {
		return err
	}
	if opt.Paths, err = a.rel(args); err != nil {
		return err
	}
	if rev != "" {
		if _, err := r.ResolveChange(rev); err != nil {
			return notChange(err, rev)
		}
	}
	a.interruptible()
	if flags.interactive {
		if opt.Hunks, err = a.pick("put in", opt.Paths); err != nil {
			return err
		}
		opt.Paths = nil
	}
	if flags.edit && !opt.DryRun {
		opt.Edit = a.rewording("amend")
	}
	var res *repo.RewriteResult
	if rev == "" {
		res, err = a.amendLast(opt)
	} else {
		res, err = a.amendOrReword(rev, opt)
	}
	if err != nil {
		return err
	}
	return a.rewritten(res, "amend", &flags.rewriteFlags)
}

// amendLast is commit --amend, but that the change stays its author's: nothing depends on the last change, so it may also take
// in what stands beside conflicts, and what decides them.
func (a *app) amendLast(opt repo.AmendOptions) (*repo.RewriteResult, error) {
	n, err := a.repo.ResolveChange("@")
	if err != nil {
		return nil, err
	}
	old, err := a.repo.Info(n)
	if err != nil {
		return nil, err
	}
	if opt.DryRun || (opt.Message == "" || opt.Message == old.Message) && opt.Edit == nil && len(opt.Hunks) == 0 {
		if err := a.somethingDiffers(opt.Paths); err != nil {
			return nil, err
		}
	}
	from, err := a.repo.Base()
	if err != nil {
		return nil, err
	}
	res := &repo.RewriteResult{MoveResult: repo.MoveResult{From: from, State: from, Went: []uint32{n}}, Changes: []repo.Rewritten{{Old: n}}, Made: []uint32{0}}
	if opt.DryRun {
		return res, nil
	}
	commit := repo.CommitOptions{Amend: true, Message: opt.Message, Paths: opt.Paths, Hunks: opt.Hunks, Author: &old.Author, Time: &old.Time, Large: a.confirmLarge}
	if opt.Edit != nil {
		commit.Edit = func(initial string, files []repo.FileChange) (string, error) {
			return a.editMessage("amend", initial, files)
		}
	}
	if !ui.IsTerminal(a.stdio.In) || !ui.IsTerminal(a.stdio.Err) {
		commit.Large = nil // the result warns of it
	}
	done, err := a.repo.Commit(a.ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, w := range done.Warnings {
		a.warn(w)
	}
	made, err := a.repo.ResolveChange(done.ID.String())
	if err != nil {
		return nil, err
	}
	res.State, res.Bookmark = done.State, done.Bookmark
	res.Came, res.Made, res.Changes[0].New = []uint32{made}, []uint32{made}, made
	return res, nil
}

// somethingDiffers refuses to amend a change with nothing.
func (a *app) somethingDiffers(paths []string) error {
	st, err := a.repo.Status(a.ctx, repo.StatusOptions{Paths: paths})
	if err != nil {
		return err
	}
	if len(st.Files)+len(st.Untracked) > 0 || slices.ContainsFunc(st.Conflicts, func(c repo.Conflict) bool { return c.Settled }) {
		return nil
	}
	if len(paths) > 0 {
		return &repo.Error{Text: "nothing to amend with: nothing differs there", Next: "See what differs with: oxy status", No: true}
	}
	return &repo.Error{Text: "nothing to amend with: no file differs from the last change", Next: "To say something else of it: oxy amend -m TEXT", No: true}
}

// amendOrReword gives the change only the other message if one is asked for and nothing differs that it could take in.
func (a *app) amendOrReword(rev string, opt repo.AmendOptions) (*repo.RewriteResult, error) {
	if (opt.Message != "" || opt.Edit != nil) && len(opt.Paths)+len(opt.Hunks) == 0 {
		st, err := a.repo.Status(a.ctx, repo.StatusOptions{})
		if err != nil {
			return nil, err
		}
		if len(st.Files)+len(st.Untracked) == 0 {
			return a.repo.Reword(a.ctx, rev, opt.RewriteOptions)
		}
	}
	return a.repo.Amend(a.ctx, rev, opt)
}

// notChange says how paths are told from a change, to one who gave a path.
func notChange(err error, rev string) error {
	return &repo.Error{Text: err.Error(), Next: "See the changes with: oxy log. Paths come after --: oxy amend -- " + string(appendQuoted(nil, rev)), Err: err}
}
