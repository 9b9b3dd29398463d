package cli

import (
	"encoding/hex"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func bundleCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Carry changes in a file: make one, look into it, take it in",
		Long: `A bundle is a file with bookmarks, tags and their changes, for where no network goes. Who applies it trusts nothing in
it: every hash is recomputed, and a bundle that was cut or altered changes nothing.`,
		Example: `  oxy bundle create project.oxb
  oxy bundle list project.oxb
  oxy bundle apply project.oxb`,
		Args: groupArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	since := ""
	create := &cobra.Command{
		Use: "create FILE [NAME...]", Short: "Write bookmarks and tags to a file",
		Long: `Write the bookmarks and tags that are named, or all, to FILE. With --since only what a state has not: who applies the
bundle must have that state.`,
		Example: `  oxy bundle create project.oxb
  oxy bundle create --since v1.0 news.oxb main`,
		Args: atLeastOne("a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, dir, err := a.openIn()
			if err != nil {
				return err
			}
			res, err := r.CreateBundle(a.interruptible(), join(dir, args[0]), args[1:], since)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newBundle(res))
			}
			return a.out.printf("Wrote %s: %s, %s.\n", appendQuoted(nil, args[0]), plural(res.Changes, "change"), size(res.Bytes))
		},
	}
	create.Flags().StringVar(&since, "since", "", "leave out what the state `REV` has")
	list := &cobra.Command{
		Use: "list FILE", Short: "Say what a bundle holds", Example: "  oxy bundle list project.oxb",
		Args: exactly(1, "a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, dir, err := a.openIn()
			if err != nil {
				return err
			}
			res, err := r.ListBundle(join(dir, args[0]))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newBundle(res))
			}
			return a.listBundle(res)
		},
	}
	apply := &cobra.Command{
		Use: "apply FILE", Short: "Take in what a bundle holds",
		Long: `Take in what FILE holds: its bookmarks are united with those of the same names here, as oxy pull does, and tags are made
where there are none of the name.`,
		Example: "  oxy bundle apply project.oxb",
		Args:    exactly(1, "a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, dir, err := a.openIn()
			if err != nil {
				return err
			}
			got, pulled, err := r.ApplyBundle(a.interruptible(), join(dir, args[0]))
			if err != nil {
				return err
			}
			return a.applied(args[0], got, pulled)
		},
	}
	c.AddCommand(create, list, apply)
	return c
}

// openIn opens the repository, and gives the directory that names on the command line are seen from.
func (a *app) openIn() (*repo.Repo, string, error) {
	dir, err := a.cwd()
	if err != nil {
		return nil, "", err
	}
	r, err := a.open()
	return r, dir, err
}

func (a *app) applied(file string, got *repo.FetchResult, pulled []*repo.PullResult) error {
	if a.json {
		j := jsonApply{Came: got.Came, Bookmarks: []jsonPull{}, Signed: got.Signatures}
		for _, p := range pulled {
			one, err := a.newPull(p, false)
			if err != nil {
				return err
			}
			j.Bookmarks = append(j.Bookmarks, one)
		}
		return a.printJSON(j)
	}
	signed := ""
	if got.Signatures > 0 {
		signed = ", " + plural(got.Signatures, "signature")
	}
	if err := a.out.printf("From %s: %s%s.\n", appendQuoted(nil, file), plural(got.Came, "change"), signed); err != nil {
		return err
	}
	for _, p := range pulled {
		if err := a.pulled(p); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) listBundle(res *repo.BundleResult) error {
	signed := ""
	if res.Signed > 0 {
		signed = ", " + plural(res.Signed, "signature")
	}
	if err := a.out.printf("%s%s\n", plural(res.Changes, "change"), signed); err != nil {
		return err
	}
	for _, ref := range res.Refs {
		since := ""
		if ref.Base != ([32]byte{}) {
			since = " since " + hex.EncodeToString(ref.Base[:6])
			if !ref.Here {
				since += ", which is not here"
			}
		}
		if err := a.out.printf("  %s %s  %s%s\n", ref.Kind, appendQuoted(nil, ref.Name), plural(ref.Added, "change"), since); err != nil {
			return err
		}
	}
	return nil
}

type jsonBundle struct {
	Changes int             `json:"changes"`
	Bytes   int64           `json:"bytes"`
	Refs    []jsonBundleRef `json:"refs"`
	Signed  int             `json:"signatures"`
}

type jsonBundleRef struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	State string `json:"state"`
	Since string `json:"since,omitempty"`
	Here  bool   `json:"here"`
	Added int    `json:"added"`
}

type jsonApply struct {
	Came      int        `json:"came"`
	Bookmarks []jsonPull `json:"bookmarks"`
	Signed    int        `json:"signatures"`
}

func newBundle(res *repo.BundleResult) jsonBundle {
	j := jsonBundle{res.Changes, res.Bytes, []jsonBundleRef{}, res.Signed}
	for _, ref := range res.Refs {
		since := ""
		if ref.Base != ([32]byte{}) {
			since = hex.EncodeToString(ref.Base[:])
		}
		j.Refs = append(j.Refs, jsonBundleRef{ref.Kind, ref.Name, hex.EncodeToString(ref.State[:]), since, ref.Here, ref.Added})
	}
	return j
}
