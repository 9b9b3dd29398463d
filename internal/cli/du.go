package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/store"
)

func duCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "du",
		Short: "Show where the repository's bytes are",
		Long: `Show where the bytes of the repository are: in the log the contents, changes, states and operations, and beside it what is
derived of them and could be made again. oxy gc packs it.`,
		Example: `  oxy du
  oxy du --json`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			u, err := r.DiskUse(a.interruptible())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newDiskUse(u))
			}
			return a.listDiskUse(u)
		},
	}
}

func (a *app) listDiskUse(u *repo.DiskUse) error {
	line := func(bytes int64, format string, args ...any) error {
		if err := a.out.printf("%10s  ", size(bytes)); err != nil {
			return err
		}
		return a.out.printf(format+"\n", args...)
	}
	for _, l := range []struct {
		use  *store.Use
		what string
	}{{&u.Log.Contents, "content"}, {&u.Log.Changes, "change"}, {&u.Log.States, "state"}, {&u.Log.Ops, "operation"}} {
		more := ""
		if l.use.Raw > 0 {
			more = ", " + size(l.use.Raw) + " unpacked"
		}
		if err := line(l.use.Bytes, "%s%s", plural(int(l.use.Items), l.what), more); err != nil {
			return err
		}
	}
	if u.Leftover > 0 {
		if err := line(u.Leftover, "left by what was not finished; the next command that writes removes it"); err != nil {
			return err
		}
	}
	if u.Aside > 0 {
		if err := line(u.Aside, "kept by oxy fsck --repair in .oxy/lost; remove that when you need it no more"); err != nil {
			return err
		}
	}
	if u.Git > 0 {
		if err := line(u.Git, "Git's own copy, for oxy git fetch and oxy git push"); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		bytes int64
		what  string
	}{{u.Indexes, "indexes"}, {u.Trees, "trees of states"}, {u.Seen, "what was last seen in the working copy"},
		{u.Other + u.Log.Segments.Bytes, "all else"}, {u.Total, "together"}} {
		if err := line(l.bytes, "%s", l.what); err != nil {
			return err
		}
	}
	return nil
}

type jsonUse struct {
	Count uint64 `json:"count"`
	Bytes int64  `json:"bytes"`
	Raw   int64  `json:"raw"`
}

type jsonDiskUse struct {
	Contents  jsonUse `json:"contents"`
	Changes   jsonUse `json:"changes"`
	States    jsonUse `json:"states"`
	Ops       jsonUse `json:"operations"`
	Leftover  int64   `json:"leftover"`
	Indexes   int64   `json:"indexes"`
	Trees     int64   `json:"trees"`
	TreesUsed int64   `json:"trees_used"`
	Seen      int64   `json:"seen"`
	Aside     int64   `json:"aside"`
	Git       int64   `json:"git"`
	Other     int64   `json:"other"`
	Total     int64   `json:"total"`
}

func newDiskUse(u *repo.DiskUse) jsonDiskUse {
	use := func(u store.Use) jsonUse { return jsonUse{u.Items, u.Bytes, u.Raw} }
	return jsonDiskUse{use(u.Log.Contents), use(u.Log.Changes), use(u.Log.States), use(u.Log.Ops), u.Leftover, u.Indexes, u.Trees, u.InUse,
		u.Seen, u.Aside, u.Git, u.Other + u.Log.Segments.Bytes, u.Total}
}
