package cli

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

func debugCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "debug",
		Short:   "Look into files of other systems",
		Long:    `What helps to find out why something is as it is.`,
		Example: `  oxy debug revlog ../project/.hg/store/00changelog.i`,
		Args:    cobra.ArbitraryArgs,
		RunE:    groupArgs,
	}
	c.AddCommand(debugRevlogCommand(a))
	return c
}

func debugRevlogCommand(a *app) *cobra.Command {
	var index bool
	c := &cobra.Command{
		Use:   "revlog FILE",
		Short: "Tell what one of Mercurial's revlogs is made of",
		Long: `Tell what the revlog whose index is FILE is made of: how many revisions, how they are stored and compressed, how long the
chains of deltas are. With --index, list its revisions: number, node, parents, changeset, what its delta is against,
offset, bytes stored, bytes of text, flags.`,
		Example: `  oxy debug revlog ../project/.hg/store/00changelog.i
  oxy debug revlog --index ../project/.hg/store/data/a.txt.i`,
		Args: exactly(1, "the path of a revlog's index, which ends in .i"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			l, err := revlog.Open(join(dir, args[0]), nil)
			if errors.Is(err, fs.ErrNotExist) {
				return &repo.Error{Text: err.Error(), Next: "Name an index, which ends in .i: 00changelog.i for one.", Err: err}
			}
			if err != nil {
				return err
			}
			err = a.revlog(l, index)
			return errors.Join(err, l.Close())
		},
	}
	c.Flags().BoolVar(&index, "index", false, "list the revisions")
	return c
}

func (a *app) revlog(l *revlog.Log, index bool) error {
	if index {
		return l.WriteIndex(a.out)
	}
	s, err := l.Summary()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	var b bytes.Buffer
	if err := s.Print(&b); err != nil {
		return err
	}
	_, err = a.out.Write(b.Bytes())
	return err
}
