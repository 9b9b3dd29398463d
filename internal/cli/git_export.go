package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/gitbridge/bridge"
)

func gitExportCommand(a *app) *cobra.Command {
	var opt bridge.ExportOptions
	c := &cobra.Command{
		Use:   "export PATH",
		Short: "Give bookmarks and tags to a Git repository",
		Long: `Give bookmarks and tags to the Git repository at PATH, which is made, bare, if there is none. What came from Git goes back
as the very commits and tags that it was. What was recorded here becomes commits upon them, one a change in the order of
the log, and the same ones wherever it is exported. Only what Git lacks is written.

A branch that has moved there to what is not here stays: import it and merge it first.`,
		Example: `  oxy git export ../project.git
  oxy git export ../project.git --bookmark main`,
		Args: exactly(1, "the path of a Git repository"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			opt.FS, opt.Progress = a.fs, a.gitProgress()
			out, err := bridge.Export(a.interruptible(), r, join(dir, args[0]), opt)
			if err != nil {
				return err
			}
			return a.exported(out)
		},
	}
	c.Flags().StringArrayVar(&opt.Bookmarks, "bookmark", nil, "give this `BOOKMARK` only; can be given again")
	c.Flags().BoolVar(&opt.Force, "force", false, "move branches there even where they would lose commits")
	return c
}

func (a *app) exported(out *bridge.Exported) error {
	if a.json {
		left := make([]jsonLeft, len(out.Left))
		for i, l := range out.Left {
			left[i] = jsonLeft{l.Name, l.Err.Error()}
		}
		refs := out.Refs
		if refs == nil {
			refs = []string{}
		}
		return a.printJSON(struct {
			Commits int        `json:"commits"`
			New     int        `json:"new"`
			Refs    []string   `json:"refs"`
			Left    []jsonLeft `json:"left"`
		}{out.Commits, out.New, refs, left})
	}
	b := a.out.buf
	if out.Commits == 0 && len(out.Refs) == 0 {
		b = append(b, "Git has all of it.\n"...)
	} else {
		b = append(append(append(append(b, "Gave Git "...), plural(out.Commits, "commit")...), ", "...), plural(out.New, "new one")...)
		b = append(append(append(b, " among them, and moved "...), plural(len(out.Refs), "ref")...), ".\n"...)
	}
	for i, l := range out.Left {
		if i == shownLeft {
			break
		}
		b = appendQuoted(append(b, "Not moved: "...), l.Name)
		b = append(append(append(b, ": "...), l.Err.Error()...), '\n')
	}
	a.out.buf = b
	return a.out.spill()
}
