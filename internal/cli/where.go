package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func whereCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "where CHANGE",
		Short: "Tell which bookmarks and tags have a change",
		Long: `List the bookmarks and tags that have CHANGE, the current bookmark first with a star. A working copy that is on no
bookmark is listed as @. When none has it, because it was taken back or amended, the exit code is 1.

CHANGE is the beginning of a change's id, or a state, of which it is the last one.`,
		Example: `  oxy where 1a2b3c4d
  oxy where v1.0`,
		Args: exactly(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			n, err := r.ResolveChange(args[0])
			if err != nil {
				return err
			}
			names, err := r.Where(n)
			if err != nil {
				return err
			}
			nowhere := !names.Here && len(names.Bookmarks)+len(names.Tags) == 0
			if a.json {
				j := jsonWhere{names.Here, append([]string{}, names.Bookmarks...), append([]string{}, names.Tags...)}
				if err := a.printJSON(j); err != nil || !nowhere {
					return err
				}
				return errNo
			}
			if nowhere {
				return &repo.Error{Text: "no bookmark or tag has " + r.ShortID(n), Next: "It was taken back or amended; see what was done with: oxy op log", No: true}
			}
			return a.listWhere(names)
		},
	}
}

func (a *app) listWhere(names *repo.Names) error {
	b, p := a.out.buf, a.colours()
	for i, name := range names.Bookmarks {
		if i == 0 && names.Current {
			b = append(append(append(append(b, "* "...), p.Green...), appendQuoted(nil, name)...), p.Reset...)
		} else {
			b = appendQuoted(append(b, "  "...), name)
		}
		b = append(b, '\n')
	}
	if names.Here && !names.Current {
		b = append(append(append(append(b, "* "...), p.Cyan...), '@'), p.Reset...)
		b = append(b, '\n')
	}
	for _, name := range names.Tags {
		b = appendQuoted(append(b, "  "...), name)
		b = append(b, "  (tag)\n"...)
	}
	a.out.buf = b
	return a.out.spill()
}

type jsonWhere struct {
	Here      bool     `json:"here"`
	Bookmarks []string `json:"bookmarks"`
	Tags      []string `json:"tags"`
}
