package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func sparseCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "sparse",
		Short: "Have some directories in the working copy, and not the others",
		Long: `A sparse working copy has the directories that you choose, with all in them, and the files that lie directly in those above,
the root's first of all. The history stays whole; nothing outside is looked at or recorded, and what others change there is taken
in without a file being written. The choice is of this working copy alone: it is no operation, and never travels.

Leaving files out loses nothing: what is not recorded is refused, new and ignored files stay where they are.`,
		Example: `  oxy sparse set docs src/parser
  oxy sparse add src/lexer
  oxy sparse remove docs
  oxy sparse show
  oxy sparse off`,
		Args: groupOrNothing,
		RunE: func(*cobra.Command, []string) error { return a.showSparse() },
	}
	show := &cobra.Command{
		Use: "show", Short: "Show which directories the working copy has", Example: "  oxy sparse show", Args: nothing,
		RunE: func(*cobra.Command, []string) error { return a.showSparse() },
	}
	dirs := func(use, short, long, example string, change func(*repo.Repo, context.Context, []string) (*repo.SparseResult, error)) *cobra.Command {
		return &cobra.Command{
			Use: use + " DIRS", Short: short, Long: long, Example: example, Args: atLeastOne("directories"),
			RunE: func(_ *cobra.Command, args []string) error {
				r, err := a.open()
				if err != nil {
					return err
				}
				paths, err := a.rel(args)
				if err != nil {
					return err
				}
				for _, p := range paths {
					if p == "" {
						return &repo.Error{Text: "the root is no choice: its files always are there", Next: "To have all directories: oxy sparse off"}
					}
				}
				return a.changeSparse(func(ctx context.Context) (*repo.SparseResult, error) { return change(r, ctx, paths) })
			},
		}
	}
	c.AddCommand(show,
		dirs("set", "Have these directories, and no others", `Have these directories, and no others. The same once more takes away what a command that was cut off left outside.`,
			"  oxy sparse set docs src/parser", (*repo.Repo).SetSparse),
		dirs("add", "Have these directories too", "", "  oxy sparse add src/lexer", (*repo.Repo).AddSparse),
		dirs("remove", "Leave these directories out again", "", "  oxy sparse remove docs", (*repo.Repo).RemoveSparse),
		&cobra.Command{
			Use: "off", Short: "Have all files again", Example: "  oxy sparse off", Args: nothing,
			RunE: func(*cobra.Command, []string) error {
				r, err := a.open()
				if err != nil {
					return err
				}
				return a.changeSparse(r.EndSparse)
			},
		})
	return c
}

type jsonSparse struct {
	Sparse bool       `json:"sparse"`
	Dirs   []jsonPath `json:"dirs"`
}

func newSparse(s *repo.Sparse) jsonSparse {
	if s == nil {
		return jsonSparse{Dirs: []jsonPath{}}
	}
	return jsonSparse{true, newJSONPaths(s.Dirs)}
}

func (a *app) showSparse() error {
	r, err := a.open()
	if err != nil {
		return err
	}
	s, err := r.Sparse()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(newSparse(s))
	}
	_, err = a.out.Write(a.appendSparse(nil, s))
	return err
}

func (a *app) appendSparse(b []byte, s *repo.Sparse) []byte {
	switch {
	case s == nil:
		return append(b, "The working copy has all files.\n"...)
	case len(s.Dirs) == 0:
		return append(b, "The working copy has the files at the root, and no directory.\n"...)
	}
	b = append(b, "The working copy has these directories, and the files that lie directly in those above:\n"...)
	for _, d := range s.Dirs {
		b = append(a.show().append(append(b, "  "...), d), "/\n"...)
	}
	return b
}

type jsonSparseChange struct {
	jsonSparse
	State    jsonState  `json:"state"`
	Written  int        `json:"written"`
	Removed  int        `json:"removed"`
	Left     []jsonPath `json:"left"`
	Empty    []jsonPath `json:"empty"`
	Subrepos []jsonPath `json:"subrepos"`
}

func (a *app) changeSparse(change func(context.Context) (*repo.SparseResult, error)) error {
	res, err := change(a.interruptible())
	if err != nil {
		return notRecording(err)
	}
	if a.json {
		return a.printJSON(jsonSparseChange{newSparse(res.Sparse), newState(res.State), res.Written, res.Removed,
			newJSONPaths(res.Left), newJSONPaths(res.Empty), newJSONPaths(res.Subrepos)})
	}
	b := a.appendSparse(nil, res.Sparse)
	b = append(b, plural(res.Written, "file")+" written, "+plural(res.Removed, "file")+" taken away.\n"...)
	list := func(title string, paths []string) {
		if len(paths) == 0 {
			return
		}
		b = append(append(append(b, '\n'), title...), '\n')
		for _, p := range paths {
			b = append(a.show().append(append(b, "  "...), p), '\n')
		}
	}
	list("Nothing of what you stand on is in:", res.Empty)
	list("Left where they are, with what is not recorded in them:", res.Left)
	list("Subrepos came in (oxy subrepo update brings them):", res.Subrepos)
	_, err = a.out.Write(b)
	return err
}
