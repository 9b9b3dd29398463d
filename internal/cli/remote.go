package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func remoteCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "remote",
		Short: "List, add or remove the repositories that you pull from and push to",
		Long: `A remote is a repository elsewhere by a name that it has here. They are settings of this repository, and never travel.
An address is a path, ssh://host/path, host:path, http://host/, https://host/ or s3://bucket/prefix,
which may go on with ?endpoint=URL&region=NAME&style=path.`,
		Example: `  oxy remote
  oxy remote add origin ssh://example.org/srv/project
  oxy remote add team s3://team/project?region=eu-central-1
  oxy remote remove origin`,
		Args: groupOrNothing,
		RunE: func(*cobra.Command, []string) error { return a.listRemotes() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the remotes", Example: "  oxy remote list", Args: nothing,
		RunE: func(*cobra.Command, []string) error { return a.listRemotes() },
	}
	add := &cobra.Command{
		Use: "add NAME ADDRESS", Short: "Give a repository elsewhere a name", Example: "  oxy remote add colleague ../colleague",
		Args: exactly(2, "a name and an address"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeRemote(args[0], "Added the remote %s.\n", func(r *repo.Repo, dir string) error { return r.AddRemote(args[0], args[1], dir) })
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "Forget a remote and where its bookmarks are", Example: "  oxy remote remove colleague",
		Long: "Forget a remote and where its bookmarks are. The changes that came from it stay.",
		Args: exactly(1, "a name"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeRemote(args[0], "Removed the remote %s; the changes that came from it stay.\n", func(r *repo.Repo, _ string) error { return r.RemoveRemote(args[0]) })
		},
	}
	c.AddCommand(list, add, remove)
	return c
}

type jsonRemote struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

func (a *app) listRemotes() error {
	r, err := a.open()
	if err != nil {
		return err
	}
	remotes, err := r.Remotes()
	if err != nil {
		return err
	}
	if a.json {
		out := make([]jsonRemote, len(remotes))
		for i, m := range remotes {
			out[i] = jsonRemote{m.Name, m.Address}
		}
		return a.printJSON(out)
	}
	for _, m := range remotes {
		if err := a.out.printf("%s  %s\n", appendQuoted(nil, m.Name), appendQuoted(nil, m.Address)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) changeRemote(name, said string, change func(r *repo.Repo, dir string) error) error {
	r, err := a.open()
	if err != nil {
		return err
	}
	dir, err := a.cwd()
	if err != nil {
		return err
	}
	if err := change(r, dir); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Name string `json:"name"`
		}{name})
	}
	return a.out.printf(said, appendQuoted(nil, name))
}
