package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
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
	rev := "@"
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
	if _, err := r.ResolveChange(rev); err != nil {
		return notChange(err, rev)
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
	res, err := a.amendOrReword(rev, opt)
	if err != nil {
		return err
	}
	return a.rewritten(res, "amend", &flags.rewriteFlags)
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
