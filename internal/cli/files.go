package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func filesCommand(a *app) *cobra.Command {
	var rev string
	c := &cobra.Command{
		Use:   "files [PATHS]",
		Short: "List the files that are recorded",
		Example: `  oxy files
  oxy files -r v1.0 src`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			state, err := r.ResolveState(rev)
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				paths = []string{""}
			}
			list := []jsonEntry{}
			for _, path := range paths {
				err := r.Files(state, path, func(s *repo.Side) error {
					if a.json {
						list = append(list, newEntry(s))
						return nil
					}
					a.out.buf = append(a.show().append(a.out.buf, s.Path), '\n')
					return a.out.spill()
				})
				if err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(list)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&rev, "revision", "r", "@", "the files that `REV` has")
	return c
}

type jsonEntry struct {
	jsonPath
	Kind string `json:"kind"`
	Mode string `json:"mode"`
	Size int64  `json:"size"`
	Hash string `json:"hash"`
}

func newEntry(s *repo.Side) jsonEntry {
	path := newText(s.Path)
	return jsonEntry{jsonPath{path.Value, path.Bytes}, s.Kind.String(), mode(s), s.Size, s.Hash.String()}
}
