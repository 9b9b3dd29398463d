package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

func pushCommand(a *app) *cobra.Command {
	var opt repo.SyncOptions
	c := &cobra.Command{
		Use:   "push [REMOTE [BOOKMARK]]",
		Short: "Give a remote what your bookmark has",
		Long: `Give REMOTE the changes of BOOKMARK that it lacks, and move its bookmark of that name to where yours is. It only moves if
that loses nothing: if the remote's has changes that are not here, pull first. Without BOOKMARK it is the current one;
without REMOTE it is origin. BOOKMARK may be a tag.

With --change the remote's bookmark gets one change of yours, with what that builds on and nothing else, beside what it has. It need not
be a bookmark here.

--force makes the remote's bookmark yours although it loses changes by that, provided that it is still where it was when
the push began.`,
		Example: `  oxy push
  oxy push --dry-run
  oxy push origin stable
  oxy push --all
  oxy push --change 1a2b3c4d origin stable`,
		Args: atMost(2, "a remote and a bookmark"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				opt.Remote = args[0]
			}
			if len(args) > 1 {
				opt.Bookmark = args[1]
			}
			if opt.All && opt.Bookmark != "" {
				return usage("push", "push --all takes no bookmark")
			}
			if opt.Change != "" && (opt.All || opt.Tags || opt.Force) {
				return usage("push", "push --change goes with no --all, --tags or --force")
			}
			if opt.Dir, err = a.cwd(); err != nil {
				return err
			}
			opt.Messages = a.stdio.Err
			res, err := r.Push(a.interruptible(), opt)
			if err != nil {
				return err
			}
			if a.json {
				err = a.pushJSON(res, opt.DryRun)
			} else {
				err = a.pushed(res, opt.DryRun)
			}
			if err != nil {
				return err
			}
			return a.pushRefused(res)
		},
	}
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say which changes would go, and how many bytes")
	c.Flags().BoolVarP(&opt.Force, "force", "f", false, "move the remote's bookmark although that loses changes")
	c.Flags().BoolVar(&opt.All, "all", false, "push all bookmarks and tags")
	c.Flags().StringVar(&opt.Change, "change", "", "push one `CHANGE` with what it builds on")
	c.Flags().BoolVar(&opt.Tags, "tags", false, "push all tags")
	return c
}

// pushed tells what a push did.
func (a *app) pushed(res *repo.PushResult, dryRun bool) error {
	if dryRun {
		if err := a.would("go to", res.Remote, res.Would, res.Bytes); err != nil {
			return err
		}
	} else if res.Sent > 0 {
		if err := a.out.printf("To %s: %s, %s.\n", appendQuoted(nil, res.Remote), plural(res.Sent, "change"), size(res.Bytes)); err != nil {
			return err
		}
	}
	if res.Signatures > 0 {
		if err := a.out.printf("To %s: %s.\n", appendQuoted(nil, res.Remote), plural(res.Signatures, "signature")); err != nil {
			return err
		}
	}
	for i := range res.Refs {
		p := &res.Refs[i]
		name := appendQuoted(nil, p.Name)
		how := "moved"
		switch {
		case p.Refused != "":
			continue
		case p.Same:
			if err := a.out.printf("  %s is up to date\n", name); err != nil {
				return err
			}
			continue
		case p.Fresh:
			how = "new"
		}
		if dryRun {
			continue
		}
		lost := ""
		if p.Lost > 0 {
			lost = "; it lost " + plural(p.Lost, "change")
		}
		if err := a.out.printf("  %s  %s, %s%s\n", name, how, plural(int(p.State.Len), "change"), lost); err != nil {
			return err
		}
	}
	return nil
}

// pushRefused tells of what was not taken.
func (a *app) pushRefused(res *repo.PushResult) error {
	var said *repo.Error
	for i := range res.Refs {
		p := &res.Refs[i]
		if p.Refused == "" {
			continue
		}
		if said == nil {
			said = &repo.Error{No: true}
		} else {
			said.Text += "; "
		}
		said.Text += safepath.Quote(p.Name) + " was not pushed: " + p.Refused
		if p.Pull {
			said.Next = "Take them in first: oxy pull. Then push again."
		}
	}
	if said == nil {
		return nil
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	return said
}

type jsonPush struct {
	Remote string        `json:"remote"`
	DryRun bool          `json:"dry_run"`
	Sent   int           `json:"sent"`
	Bytes  int64         `json:"bytes"`
	Refs   []jsonPushed  `json:"refs"`
	Would  []jsonPassing `json:"would"`

	Signatures int `json:"signatures"`
}

type jsonPushed struct {
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	State   jsonState `json:"state"`
	Fresh   bool      `json:"new"`
	Same    bool      `json:"up_to_date"`
	Lost    int       `json:"lost"`
	Refused string    `json:"refused,omitempty"`
	Pull    bool      `json:"pull_first"`
}

func (a *app) pushJSON(res *repo.PushResult, dryRun bool) error {
	j := jsonPush{res.Remote, dryRun, res.Sent, res.Bytes, []jsonPushed{}, newPassing(res.Would), res.Signatures}
	for i := range res.Refs {
		p := &res.Refs[i]
		j.Refs = append(j.Refs, jsonPushed{p.Kind, p.Name, newState(p.State), p.Fresh, p.Same, p.Lost, p.Refused, p.Pull})
	}
	return a.printJSON(j)
}
