package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func subrepoCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "subrepo",
		Short: "Have other repositories in this one, each at a pinned state",
		Long: `A subrepo is a repository of its own in a directory of the working copy. What is recorded of it here is its pin: which of its
states belongs there, and where others get it. It comes along with clone, and follows its pin in checkout, pull, merge,
undo and redo; work in it is recorded in it, and pushed from it.`,
		Example: `  oxy subrepo add ../lib vendor/lib
  oxy subrepo status
  oxy subrepo update --newest vendor/lib`,
		Args: groupOrNothing,
		RunE: func(*cobra.Command, []string) error { return a.subrepoStatus(nil) },
	}
	status := &cobra.Command{
		Use: "status [PATHS]", Short: "Show where subrepos stand, and what changed in them", Example: "  oxy subrepo status vendor",
		RunE: func(_ *cobra.Command, args []string) error { return a.subrepoStatus(args) },
	}
	remove := subrepoRemoveCommand(a)
	c.AddCommand(subrepoAddCommand(a), status, subrepoUpdateCommand(a), remove)
	return c
}

func subrepoAddCommand(a *app) *cobra.Command {
	var opt repo.SubrepoOptions
	c := &cobra.Command{
		Use: "add ADDRESS [PATH] | add PATH", Short: "Clone a repository into this one, and record its pin",
		Long: `Clone the repository at ADDRESS into PATH, or into a directory of its name, and record that it belongs there, at the state
that it has now. Of a repository that is in the working copy already only PATH is needed.

The address is recorded for everybody who clones: ssh://host/path, host:path or https://host/, without a password. A
path is recorded as seen from where this repository comes from, as in ../lib.`,
		Example: `  oxy subrepo add https://example.org/lib vendor/lib
  oxy subrepo add -b stable ../lib
  oxy subrepo add vendor/lib`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("subrepo add", "subrepo add takes an address and a path")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			address, at := args[0], ""
			switch {
			case len(args) == 2:
				at = args[1]
			case a.isFile(address + "/" + repo.DirName):
				if paths, err := a.rel(args); err == nil && paths[0] != "" {
					address, at = "", args[0]
				}
			}
			if at == "" {
				if at = nameOf(address); at == "" {
					return usage("subrepo add", "that address does not tell a name: say into which directory")
				}
			}
			paths, err := a.rel([]string{at})
			if err != nil {
				return err
			}
			if opt.Dir, err = a.cwd(); err != nil {
				return err
			}
			opt.Messages = a.stdio.Err
			done, c, err := r.AddSubrepo(a.interruptible(), address, paths[0], opt)
			if err != nil {
				return err
			}
			return a.pinned(c, fmt.Sprintf("Added the subrepo %s, %s.", appendQuoted(nil, done.Path), plural(int(done.State.Len), "change")))
		},
	}
	c.Flags().StringVarP(&opt.Bookmark, "bookmark", "b", "", "pin the bookmark `NAME`, not the one that people are on there")
	c.Flags().StringVarP(&opt.Message, "message", "m", "", "the message of the change that is recorded")
	return c
}

func subrepoUpdateCommand(a *app) *cobra.Command {
	var opt repo.SubrepoOptions
	var newest, here bool
	c := &cobra.Command{
		Use: "update [PATHS]", Short: "Take subrepos to where they are pinned, or pin them elsewhere",
		Long: `Clone the subrepos that are not there, and take the others to where they are pinned. What is not recorded in one is never
overwritten.

With --newest they go to the newest state of the bookmark that they are pinned to, and that is recorded as a change. With
--here it is recorded where they stand; that must have been pushed, or nobody else could get it.`,
		Example: `  oxy subrepo update
  oxy subrepo update --newest
  oxy subrepo update --here vendor/lib`,
		RunE: func(_ *cobra.Command, args []string) error {
			if newest && here {
				return usage("subrepo update", "subrepo update takes --newest or --here, not both")
			}
			if opt.Message != "" && !newest && !here {
				return usage("subrepo update", "-m goes with --newest or --here: without them nothing is recorded")
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			if opt.Paths, err = a.rel(args); err != nil {
				return err
			}
			opt.Messages = a.stdio.Err
			ctx := a.interruptible()
			switch {
			case newest:
				c, err := r.PinNewest(ctx, opt)
				if err != nil {
					return err
				}
				return a.pinned(c, "")
			case here:
				c, err := r.PinHere(ctx, opt)
				if err != nil {
					return err
				}
				return a.pinned(c, "")
			}
			done, err := r.UpdateSubrepos(ctx, opt)
			if err != nil {
				return err
			}
			return a.updated(done)
		},
	}
	c.Flags().BoolVar(&newest, "newest", false, "go to the newest state of their bookmarks, and record that")
	c.Flags().BoolVar(&here, "here", false, "record where they stand")
	c.Flags().StringVarP(&opt.Message, "message", "m", "", "the message of the change that is recorded")
	return c
}

func subrepoRemoveCommand(a *app) *cobra.Command {
	var opt repo.SubrepoOptions
	c := &cobra.Command{
		Use: "remove PATHS", Short: "Record that subrepos are none any more",
		Long:    "Record that there are no subrepos at PATHS any more. Their directories stay as they are: what was done in them may not be\nanywhere else. Delete them when you want.",
		Example: "  oxy subrepo remove vendor/lib",
		Args:    atLeastOne("a path"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if opt.Paths, err = a.rel(args); err != nil {
				return err
			}
			c, err := r.RemoveSubrepos(a.interruptible(), opt)
			if err != nil {
				return err
			}
			return a.pinned(c, "Its directory stays; delete it when you want.")
		},
	}
	c.Flags().StringVarP(&opt.Message, "message", "m", "", "the message of the change that is recorded")
	return c
}

// pinned tells of a change that recorded pins.
func (a *app) pinned(c *repo.CommitResult, more string) error {
	if a.json {
		return a.printJSON(newCommit(c))
	}
	if err := a.committed(c); err != nil || more == "" {
		return err
	}
	return a.out.printf("%s\n", more)
}

func (a *app) updated(done []repo.SubrepoDone) error {
	failed := 0
	for i := range done {
		if done[i].Err != nil {
			failed++
		}
	}
	var err error
	if a.json {
		err = a.printJSON(newSubrepoDone(done))
	} else {
		if len(done) == 0 {
			err = a.out.printf("All subrepos stand where they are pinned.\n")
		}
		a.tellSubrepos(done)
	}
	if err == nil && failed > 0 {
		err = &repo.Error{Text: plural(failed, "subrepo") + " could not be brought to where it is pinned", Next: "See why above; then again: oxy subrepo update"}
	}
	return err
}

// tellSubrepos says what became of subrepos. What went wrong is a warning: the rest is done.
func (a *app) tellSubrepos(done []repo.SubrepoDone) {
	for i := range done {
		d := &done[i]
		path := appendQuoted(nil, d.Path)
		var err error
		switch {
		case d.Err != nil:
			a.warn(fmt.Sprintf("subrepo %s: %v", path, d.Err))
			if next := nextOf(d.Err); next != "" {
				a.warn(next)
			}
		case a.json:
		case d.Cloned:
			err = a.out.printf("subrepo %s: cloned, %s\n", path, plural(int(d.State.Len), "change"))
		default:
			err = a.out.printf("subrepo %s: now at %.4x, %s\n", path, d.State.ID, plural(int(d.State.Len), "change"))
		}
		if err != nil {
			return // the main thing was said
		}
	}
}

// standing is where the working copy stands before a command that may move it.
func (a *app) standing() repo.StateRef {
	if s, err := a.repo.Base(); err == nil {
		return s
	}
	return repo.StateRef{Num: repo.NoState}
}

// thenFollow brings subrepos to where they are pinned now, once a command is done that moved the working copy.
func (a *app) thenFollow(from repo.StateRef, err error) error {
	to := a.standing()
	if a.repo == nil || to.Num == repo.NoState || to.ID == from.ID || from.Num == to.Num {
		return err
	}
	done, failed := a.repo.FollowSubrepos(a.interruptible(), from, to, repo.SubrepoOptions{Messages: a.stdio.Err})
	if failed != nil {
		a.warn(failed.Error())
	}
	a.tellSubrepos(done)
	return err
}
