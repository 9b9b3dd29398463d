package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

type splitFlags struct {
	rewriteFlags
	messages    []string
	hunks       []string
	interactive bool
}

func splitCommand(a *app) *cobra.Command {
	var flags splitFlags
	c := &cobra.Command{
		Use:   "split CHANGE [PATHS]",
		Short: "Make two changes of one",
		Long: `Make two changes of CHANGE: the first takes what it did to PATHS, or the hunks with the ids that oxy hunks --change
shows (--hunk), or those that one picks (-i); the second takes the rest. What depends on it is made anew; the files stay
as they are.

The first -m is the message of the first, another that of the second, which otherwise keeps the old one. Without -m an
editor asks for both. Other bookmarks that have the old change keep it.`,
		Example: `  oxy split 1a2b3c4d src/parser -m "Only the parser"
  oxy split @ -i
  oxy split @ --hunk 3f9a -m "Fix the typo" -m "Read the config once"`,
		Args: atLeastOne("a change"),
		RunE: func(_ *cobra.Command, args []string) error { return a.split(&flags, args) },
	}
	c.Flags().StringArrayVarP(&flags.messages, "message", "m", nil, "the `MESSAGE` of the first; given again, of the second")
	c.Flags().StringArrayVar(&flags.hunks, "hunk", nil, "the first takes the hunk with this `ID`; may be given again")
	c.Flags().BoolVarP(&flags.interactive, "interactive", "i", false, "ask for each hunk whether the first takes it")
	flags.add(c)
	return c
}

func (a *app) split(flags *splitFlags, args []string) error {
	opt := repo.SplitOptions{DryRun: flags.dryRun}
	if len(flags.messages) > len(opt.Messages) {
		return usage("split", "split makes two changes, and got %d messages", len(flags.messages))
	}
	for i, text := range flags.messages {
		if opt.Messages[i] = tidy(text); opt.Messages[i] == "" {
			return emptyMessage("split")
		}
	}
	r, err := a.open()
	if err != nil {
		return err
	}
	if opt.Paths, err = a.rel(args[1:]); err != nil {
		return err
	}
	ctx := a.interruptible()
	opt.Hunks = flags.hunks
	switch {
	case flags.interactive && len(flags.hunks) > 0:
		return usage("split", "split takes -i or --hunk, not both")
	case flags.interactive:
		hunks, err := r.ChangeHunks(ctx, args[0])
		if err != nil {
			return err
		}
		if opt.Hunks, err = a.pickOf("take", hunksBeneath(hunks, opt.Paths)); err != nil {
			return err
		}
		opt.Paths = nil
	case len(opt.Paths) == 0 && len(opt.Hunks) == 0:
		return usage("split", "split needs to know what the first change takes: paths, --hunk or -i")
	}
	if len(flags.messages) == 0 && !opt.DryRun {
		if opt.Messages, err = a.splitMessages(args[0], opt); err != nil {
			return err
		}
	}
	res, err := r.Split(ctx, args[0], opt)
	if err != nil {
		return err
	}
	return a.rewritten(res, "split", &flags.rewriteFlags)
}

// splitMessages asks for both messages, once it is sure that the change can be split so.
func (a *app) splitMessages(rev string, opt repo.SplitOptions) (out [2]string, err error) {
	n, err := a.repo.ResolveChange(rev)
	if err != nil {
		return out, err
	}
	info, err := a.repo.Info(n)
	if err != nil {
		return out, err
	}
	opt.DryRun = true
	if _, err := a.repo.Split(a.ctx, rev, opt); err != nil {
		return out, err
	}
	for i, which := range [...]string{"the first of two changes, which takes what was chosen", "the second of two changes, which takes the rest"} {
		if out[i], err = a.editMessage("split", info.Message, nil, which); err != nil {
			return out, err
		}
	}
	return out, nil
}
