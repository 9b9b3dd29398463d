package cli

import (
	"path"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

func cloneCommand(a *app) *cobra.Command {
	var opt repo.SyncOptions
	var alone bool
	var depth int64
	c := &cobra.Command{
		Use:   "clone ADDRESS [DIR]",
		Short: "Copy a repository, with all its history, into a new directory",
		Long: `Copy the repository at ADDRESS into DIR, or into a directory of its name: all bookmarks and tags with their changes, and
the working files of the bookmark that people are on there. It is known as origin afterwards, to pull from and push to.

If it is cut off, the same command once more goes on with what came.

ADDRESS is a path, ssh://host/path, host:path, http://host/, https://host/ or s3://bucket/prefix. Whatever the other side
sends is checked; its settings and hooks never come along. Of a path the whole log is taken and proved: what is never written
again is linked or shares its blocks where the disk can, the rest is copied. Subrepos are cloned along.

With --path the clone is partial: it has every change, and leaves out large contents of files that were never in these directories nor
directly above, as far as no state needs them to be proved. They are brought when a command asks for them; oxy fetch --contents brings
all. The working copy is sparse, of the same directories unless --sparse says others.

With --depth it leaves out large contents that are old: those that no state shows from N changes before the end of each bookmark on.
Log, blame and every state since are there and proved as in a whole clone, and what is older is brought when a command asks for it.
Only the bookmark that it is on comes; oxy fetch brings the others.`,
		Example: `  oxy clone ../project
  oxy clone ssh://build@example.org/srv/project
  oxy clone -b stable https://example.org/project here
  oxy clone --sparse docs --sparse src/parser ../project
  oxy clone --path docs https://example.org/project
  oxy clone --depth 100 https://example.org/project
  oxy clone s3://team/project`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("clone", "clone takes an address, and a directory if you like")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			to := ""
			if len(args) == 2 {
				to = args[1]
			} else if to = nameOf(args[0]); to == "" {
				return usage("clone", "%s does not tell a name: say into which directory", safepath.Quote(args[0]))
			}
			for _, dirs := range [][]string{opt.Sparse, opt.Path} {
				for i, d := range dirs {
					dirs[i] = path.Clean(strings.TrimPrefix(d, "./"))
				}
			}
			if opt.Depth = uint64(max(depth, 0)); cmd.Flags().Changed("depth") && depth < 1 {
				return usage("clone", "--depth takes a number of changes, 1 or more")
			}
			opt.Dir, opt.Messages = dir, a.stdio.Err
			// It holds little at any time, and reads a lot: without collecting, the Linux tree took a gigabyte.
			debug.SetGCPercent(50)
			var res *repo.CloneResult
			if a.repo, res, err = repo.Clone(a.interruptible(), args[0], join(dir, to), a.options(), opt); err != nil {
				return err
			}
			none := a.standing()
			if !alone {
				none = repo.StateRef{Num: repo.NoState}
			}
			if a.json {
				return a.thenFollow(none, a.printJSON(jsonClone{newFetch(&res.FetchResult, false), res.Root, res.Bookmark, newState(res.State), res.Written, res.Promised, res.Way}))
			}
			way := res.Way
			if way != "" {
				way = " " + way
			}
			if err := a.out.printf("Cloned into %s: %s, %s%s.\n", appendQuoted(nil, res.Root), plural(res.Came, "change"), size(res.Bytes), way); err != nil {
				return err
			}
			if res.Promised > 0 {
				if err := a.out.printf("%s left out, to be brought when asked for.\n", plural(res.Promised, "content")); err != nil {
					return err
				}
			}
			if res.State.Num == repo.NoState {
				return a.out.printf("Nothing was recorded there yet.\n")
			}
			return a.thenFollow(none, a.out.printf("%s is current, %s written.\n", appendQuoted(nil, res.Bookmark), plural(res.Written, "file")))
		},
	}
	c.Flags().StringVarP(&opt.Bookmark, "bookmark", "b", "", "check out `NAME`, not the bookmark that people are on there")
	c.Flags().StringArrayVar(&opt.Sparse, "sparse", nil, "have the working files of `DIR` only, and those that lie above; can be given again (oxy help sparse)")
	c.Flags().StringArrayVar(&opt.Path, "path", nil, "leave out contents that lie elsewhere than in `DIR`; can be given again")
	c.Flags().Int64Var(&depth, "depth", 0, "leave out contents that no state shows from `N` changes before the end of each bookmark on")
	c.Flags().BoolVar(&alone, "no-subrepos", false, "leave out the repositories that are pinned in it")
	return c
}

// nameOf is the last part of an address, "" if that is no name for a directory.
func nameOf(address string) string {
	if strings.HasPrefix(address, "s3://") {
		address, _, _ = strings.Cut(address, "?")
	}
	address = strings.TrimRight(address, `/\`)
	if i := strings.LastIndexAny(address, `/\:`); i >= 0 {
		address = address[i+1:]
	}
	name := path.Base(address)
	if safepath.CheckName(name) != nil {
		return ""
	}
	return name
}

type jsonClone struct {
	jsonFetch
	Root     string    `json:"root"`
	Bookmark string    `json:"bookmark"`
	State    jsonState `json:"state"`
	Written  int       `json:"written"`
	Promised int       `json:"promised"`
	Way      string    `json:"way,omitempty"`
}
