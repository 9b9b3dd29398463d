package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func checkoutCommand(a *app) *cobra.Command {
	var rev string
	c := &cobra.Command{
		Use:   "checkout REV | [-r REV] -- PATHS",
		Short: "Go to a bookmark, a tag or a change, or bring files of one here",
		Long: `Make the working copy that of REV. A bookmark becomes the current one; after a tag, a change or an earlier position
there is none, until oxy bookmark NAME makes one. Changes that are not recorded are kept where the files do not
differ, and never overwritten.

With PATHS after --, only those files are written, as REV has them or as they are recorded, and the working copy
stays where it is.`,
		Example: `  oxy checkout main
  oxy checkout main~3
  oxy checkout -r v1.0 -- src/parser.go`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash == 1 && rev == "" && len(args) > 1 { // as in Git
				rev, args, dash = args[0], args[1:], 0
			}
			switch {
			case dash < 0 && len(args) > 1 || dash > 0:
				return usage("checkout", "checkout takes one state, or paths after --")
			case len(args) == 0:
				return usage("checkout", "checkout needs to know where to")
			case dash < 0 && rev != "":
				return &repo.Error{Text: "checkout -r goes with paths", Next: "To go to it: oxy checkout REV. To bring files of it here: oxy checkout -r REV -- PATHS"}
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			if dash >= 0 {
				return a.checkoutFiles(rev, args)
			}
			from := a.standing()
			done, err := r.Checkout(a.interruptible(), args[0])
			if err != nil {
				if _, no := a.repo.ResolveState(args[0]); no != nil && a.isFile(args[0]) {
					return &repo.Error{Text: err.Error(), Next: "For a file: oxy checkout -- " + safepath.Quote(args[0]), Err: err}
				}
				return notRecording(err)
			}
			if a.json {
				return a.thenFollow(from, a.printJSON(newCheckout(done)))
			}
			return a.thenFollow(from, a.arrived(done, args[0]))
		},
	}
	c.Flags().StringVarP(&rev, "revision", "r", "", "bring the files as `REV` has them")
	return c
}

func (a *app) checkoutFiles(rev string, args []string) error {
	if rev == "" {
		rev = "@"
	}
	state, err := a.repo.ResolveState(rev)
	if err != nil {
		return err
	}
	paths, err := a.rel(args)
	if err != nil {
		return err
	}
	done, err := a.repo.CheckoutFiles(a.interruptible(), state, paths)
	if err != nil {
		return notRecording(err)
	}
	if a.json {
		return a.printJSON(newCheckout(done))
	}
	return a.out.printf("%s written, %d removed.\n", plural(done.Written, "file"), done.Removed)
}

// arrived tells where the working copy stands now.
func (a *app) arrived(done *repo.CheckoutResult, rev string) error {
	b := append([]byte(nil), "Now "...)
	if done.Bookmark != "" {
		b = append(b, "on "...)
		b = append(b, a.colours().Bold...)
		b = appendQuoted(b, done.Bookmark)
		b = append(b, a.colours().Reset...)
	} else {
		b = append(b, "at "...)
		b = appendQuoted(b, rev)
	}
	if n, err := a.repo.ResolveChange("@"); err == nil {
		if info, err := a.repo.Info(n); err == nil {
			b = append(b, ", "...)
			b = append(b, a.repo.ShortID(n)...)
			b = append(b, ' ')
			b = ui.AppendClean(b, subject(info.Message))
		}
	}
	b = append(b, "\n "...)
	b = append(b, plural(done.Written, "file")...)
	b = append(b, " written, "...)
	b = append(b, plural(done.Removed, "file")...)
	b = append(b, " removed\n"...)
	open, err := a.repo.Conflicts(done.State)
	if err != nil {
		return err
	}
	b = appendDecided(b, 0, len(open))
	if done.Bookmark == "" {
		b = append(b, "Not on a bookmark; oxy bookmark NAME keeps what you record here.\n"...)
	}
	_, err = a.out.Write(b)
	return err
}

type jsonCheckout struct {
	State    jsonState `json:"state"`
	Bookmark *string   `json:"bookmark"`
	Written  int       `json:"written"`
	Removed  int       `json:"removed"`
}

func newCheckout(c *repo.CheckoutResult) jsonCheckout {
	j := jsonCheckout{State: newState(c.State), Written: c.Written, Removed: c.Removed}
	if c.Bookmark != "" {
		j.Bookmark = &c.Bookmark
	}
	return j
}
