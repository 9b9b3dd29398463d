package cli

import (
	"context"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/gitbridge/bridge"
	"github.com/oxy-vcs/oxy/internal/repo"
)

func gitCloneCommand(a *app) *cobra.Command {
	var skip bool
	var sparse []string
	c := &cobra.Command{
		Use:   "clone URL|PATH [DIR]",
		Short: "Make a repository with the history of a Git one, to fetch from and push to",
		Long: `Make a repository in DIR, by default named after the Git repository, bring in the branches and tags of that one, and check
out its first branch. The git that is installed does the talking, so all that it can reach can be cloned.`,
		Example: `  oxy git clone https://example.org/project.git
  oxy git clone git@example.org:project.git work
  oxy git clone --sparse docs ../project`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage(cmd.Name(), "clone takes an address and, if you like, a directory")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.gitClone(args, skip, sparse) },
	}
	c.Flags().StringArrayVar(&sparse, "sparse", nil, "have the working files of `DIR` only, and those that lie above; can be given again (oxy help sparse)")
	c.Flags().BoolVar(&skip, "skip-bad", false, "leave out what is malformed or missing, and say so")
	return c
}

func (a *app) gitClone(args []string, skip bool, sparse []string) error {
	dir, err := a.cwd()
	if err != nil {
		return err
	}
	url := args[0]
	name := strings.TrimSuffix(path.Base(strings.TrimSuffix(strings.TrimRight(filepath.ToSlash(url), "/"), "/.git")), ".git")
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if len(args) == 2 {
		name = args[1]
	}
	if name == "" || name == "." || name == "/" {
		return usage("git clone", "clone: %q names no directory to make: give one", url)
	}
	if !strings.Contains(url, ":") { // a path
		url = join(dir, url)
	}
	r, err := repo.Init(join(dir, name), a.options())
	if err != nil {
		return err
	}
	a.repo = r
	ctx := a.interruptible()
	if len(sparse) > 0 { // before anything is written, and before anything is fetched if it cannot be
		for i, d := range sparse {
			sparse[i] = path.Clean(strings.TrimPrefix(d, "./"))
		}
		if _, err := r.SetSparse(ctx, sparse); err != nil {
			return err
		}
	}
	m := bridge.NewRemote(r, a.fs, a.gitSays())
	if err := m.Set(ctx, url); err != nil {
		return err
	}
	defer collectForHistory()()
	rep, err := m.Fetch(ctx, bridge.Options{FS: a.fs, Progress: a.gitProgress(), SkipBad: skip})
	if err != nil {
		return err
	}
	if err := a.checkoutHead(ctx, r, m.Head(ctx)); err != nil {
		return err
	}
	if a.json {
		return a.importedJSON(rep)
	}
	return a.imported(rep)
}

// checkoutHead goes to a branch that was cloned.
func (a *app) checkoutHead(ctx context.Context, r *repo.Repo, head string) error {
	bookmarks, _, err := r.NamedStates()
	if err != nil {
		return err
	}
	if _, ok := bookmarks[head]; !ok {
		head = repo.FirstBookmark
	}
	if _, ok := bookmarks[head]; !ok {
		return nil
	}
	_, err = r.Checkout(ctx, head)
	return err
}

// gitSays is where git tells how far it is: only a person reads it.
func (a *app) gitSays() io.Writer {
	if a.progress == nil {
		return io.Discard
	}
	return a.stdio.Err
}

func gitFetchCommand(a *app) *cobra.Command {
	var skip bool
	c := &cobra.Command{
		Use:   "fetch [URL|PATH]",
		Short: "Bring in what is new where the repository was cloned from",
		Long: `Have git bring in what is new, and import it: bookmarks follow the branches, unless they were moved here too. Then what Git
has is the bookmark git/NAME, to be merged. With an address, that is fetched from and pushed to from now on.`,
		Example: `  oxy git fetch
  oxy merge git/main`,
		Args: atMost(1, "one address"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			ctx := a.interruptible()
			m := bridge.NewRemote(r, a.fs, a.gitSays())
			if len(args) == 1 {
				url := args[0]
				if !strings.Contains(url, ":") {
					dir, err := a.cwd()
					if err != nil {
						return err
					}
					url = join(dir, url)
				}
				if err := m.Set(ctx, url); err != nil {
					return err
				}
			}
			defer collectForHistory()()
			rep, err := m.Fetch(ctx, bridge.Options{FS: a.fs, Progress: a.gitProgress(), SkipBad: skip})
			if err != nil {
				return err
			}
			if a.json {
				return a.importedJSON(rep)
			}
			return a.imported(rep)
		},
	}
	c.Flags().BoolVar(&skip, "skip-bad", false, "leave out what is malformed or missing, and say so")
	return c
}

func gitPushCommand(a *app) *cobra.Command {
	var opt bridge.ExportOptions
	c := &cobra.Command{
		Use:   "push",
		Short: "Give bookmarks and tags to where the repository was cloned from",
		Long: `Export bookmarks and tags, and have git bring them to where the repository was cloned from. A branch that has moved there
meanwhile stays: fetch and merge first.`,
		Example: `  oxy git push
  oxy git push --bookmark main`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			opt.FS, opt.Progress = a.fs, a.gitProgress()
			out, err := bridge.NewRemote(r, a.fs, a.gitSays()).Push(a.interruptible(), opt)
			if err != nil {
				return err
			}
			if err := a.exported(out); err != nil || len(out.Left) == 0 {
				return err
			}
			return &repo.Error{Text: "nothing was pushed", Next: "Bring in what is there with: oxy git fetch", No: true}
		},
	}
	c.Flags().StringArrayVar(&opt.Bookmarks, "bookmark", nil, "give this `BOOKMARK` only; can be given again")
	c.Flags().BoolVar(&opt.Force, "force", false, "move branches there even where they would lose commits")
	return c
}
