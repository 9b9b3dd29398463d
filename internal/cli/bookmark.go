package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

type nameFlags struct {
	rev    string
	delete bool
	move   bool
	rename bool
}

func bookmarkCommand(a *app) *cobra.Command {
	var flags nameFlags
	c := &cobra.Command{
		Use:   "bookmark [NAME]",
		Short: "List, make, move, rename or delete bookmarks",
		Long: `A bookmark is a line of work: it moves along with what is recorded on it. Without NAME, list them, the current one
with a star, and those of remotes as they were when last seen. With NAME make one at the current state; oxy checkout NAME then goes to it.`,
		Example: `  oxy bookmark
  oxy bookmark topic
  oxy bookmark old -r main~10
  oxy bookmark --rename topic parser
  oxy bookmark -d parser`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			switch {
			case flags.rename && len(args) == 2 && !flags.delete && !flags.move && flags.rev == "":
				if err := r.RenameBookmark(args[0], args[1]); err != nil {
					return err
				}
				return a.named(r.Bookmarks, args[1], "Bookmark %s was %s.\n", args[1], args[0])
			case flags.rename:
				return usage("bookmark", "bookmark --rename takes the old name and the new one")
			}
			return flags.run(a, "bookmark", args, r.AllBookmarks, r.SetBookmark, r.DeleteBookmark)
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&flags.rename, "rename", false, "give the bookmark OLD the name NEW")
	return c
}

func tagCommand(a *app) *cobra.Command {
	var flags nameFlags
	c := &cobra.Command{
		Use:   "tag [NAME]",
		Short: "List, make, move or delete tags",
		Long:  `A tag names a state for good. Without NAME, list them. With NAME make one at the current state.`,
		Example: `  oxy tag v1.0
  oxy tag v0.9 -r main~12
  oxy tag -d v0.9`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			return flags.run(a, "tag", args, r.Tags, r.SetTag, r.DeleteTag)
		},
	}
	flags.add(c)
	return c
}

func (f *nameFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.rev, "revision", "r", "", "at `REV`, not at the current state")
	c.Flags().BoolVarP(&f.delete, "delete", "d", false, "delete NAME")
	c.Flags().BoolVarP(&f.move, "move", "f", false, "move NAME if it is there already")
}

func (f *nameFlags) run(a *app, verb string, args []string, list func() ([]repo.Named, error),
	set func(string, repo.StateRef, bool) error, remove func(string) error) error {
	switch {
	case len(args) > 1:
		return usage(verb, "%s takes one name", verb)
	case len(args) == 0 && (f.delete || f.move || f.rev != ""):
		return usage(verb, "%s needs a name", verb)
	case f.delete && (f.move || f.rev != ""):
		return usage(verb, "%s -d takes nothing but the name", verb)
	case len(args) == 0:
		return a.listNames(list)
	}
	name := args[0]
	if f.delete {
		if err := remove(name); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(struct {
				Deleted string `json:"deleted"`
			}{name})
		}
		return a.out.printf("Deleted the %s %s; oxy undo brings it back.\n", verb, appendQuoted(nil, name))
	}
	rev := f.rev
	if rev == "" {
		rev = "@"
	}
	state, err := a.repo.ResolveState(rev)
	if err != nil {
		return err
	}
	if err := set(name, state, f.move); err != nil {
		return err
	}
	did := "Made"
	if f.move {
		did = "Set"
	}
	return a.named(list, name, "%s the %s %s, %s.\n", did, verb, appendQuoted(nil, name), plural(int(state.Len), "change"))
}

// named tells of a name that was set.
func (a *app) named(list func() ([]repo.Named, error), name, format string, args ...any) error {
	if !a.json {
		return a.out.printf(format, args...)
	}
	names, err := list()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.Name == name {
			return a.printJSON(newNamed(n))
		}
	}
	return fmt.Errorf("%s was set but is not listed", name)
}

func (a *app) listNames(list func() ([]repo.Named, error)) error {
	names, err := list()
	if err != nil {
		return err
	}
	if a.json {
		out := make([]jsonNamed, len(names))
		for i, n := range names {
			out[i] = newNamed(n)
		}
		return a.printJSON(out)
	}
	for i := range names {
		b, n := a.out.buf, &names[i]
		reset := ""
		if n.Current {
			b = append(b, "* "...)
			b = append(b, a.colours().Green...)
			reset = a.colours().Reset
		} else {
			b = append(b, "  "...)
		}
		b = appendQuoted(b, n.Name)
		b = append(b, reset...)
		b = append(b, "  "...)
		b = append(b, plural(int(n.State.Len), "change")...)
		a.out.buf = append(b, '\n')
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	return nil
}

type jsonNamed struct {
	Name    string    `json:"name"`
	State   jsonState `json:"state"`
	Current bool      `json:"current"`
	Remote  bool      `json:"remote,omitempty"`
}

func newNamed(n repo.Named) jsonNamed { return jsonNamed{n.Name, newState(n.State), n.Current, n.Remote} }
