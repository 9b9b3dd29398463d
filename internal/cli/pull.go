package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func pullCommand(a *app) *cobra.Command {
	var opt repo.SyncOptions
	c := &cobra.Command{
		Use:   "pull [REMOTE [BOOKMARK]]",
		Short: "Take in what a remote's bookmark has",
		Long: `Take what BOOKMARK of REMOTE has and unite it with the bookmark of that name here: afterwards it has the changes of both.
Without BOOKMARK it is the current one, and the working files follow; without REMOTE it is origin. Changes that disagree
with yours are conflicts: they are listed, and the pull is done all the same. oxy undo takes it back.

With --change a single change comes, with what it builds on and nothing else.`,
		Example: `  oxy pull
  oxy pull --dry-run
  oxy pull origin stable
  oxy pull ../colleague main
  oxy pull --change 1a2b3c4d`,
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
			if opt.Dir, err = a.cwd(); err != nil {
				return err
			}
			opt.Messages = a.stdio.Err
			from := a.standing()
			res, err := r.Pull(a.interruptible(), opt)
			if err != nil {
				return err
			}
			if a.json {
				return a.thenFollow(from, a.pullJSON(res, opt.DryRun))
			}
			if opt.DryRun {
				return a.fetched(&res.FetchResult, true, true)
			}
			return a.thenFollow(from, a.pulled(res))
		},
	}
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say which changes would come, and how many bytes")
	c.Flags().StringVar(&opt.Change, "change", "", "take one `CHANGE` with what it builds on")
	return c
}

// pulled tells what a pull did.
func (a *app) pulled(res *repo.PullResult) error {
	if err := a.fetched(&res.FetchResult, false, false); err != nil {
		return err
	}
	name := appendQuoted(nil, res.Bookmark)
	switch {
	case res.Move != nil:
		if err := a.out.printf("Pulled into %s: %s came:\n", name, plural(len(res.Move.Came), "change")); err != nil {
			return err
		}
		if err := a.listSome(res.Move.Came); err != nil {
			return err
		}
		return a.movedFiles(res.Move, false)
	case res.Made:
		return a.out.printf("Made the bookmark %s, %s; go to it with: oxy checkout %s\n", name, plural(int(res.State.Len), "change"), name)
	case len(res.Refs) > 0 || res.Came > 0:
		return a.out.printf("%s has %s.\n", name, plural(int(res.State.Len), "change"))
	}
	return a.out.printf("%s is up to date.\n", name)
}

type jsonPull struct {
	jsonFetch
	Bookmark string    `json:"bookmark"`
	Made     bool      `json:"made"`
	State    jsonState `json:"state"`
	Move     *jsonMove `json:"move"`
}

func (a *app) newPull(res *repo.PullResult, dryRun bool) (jsonPull, error) {
	j := jsonPull{jsonFetch: newFetch(&res.FetchResult, dryRun), Bookmark: res.Bookmark, Made: res.Made, State: newState(res.State)}
	if res.Move == nil {
		return j, nil
	}
	move, err := a.newMove(res.Move, dryRun)
	j.Move = &move
	return j, err
}

func (a *app) pullJSON(res *repo.PullResult, dryRun bool) error {
	j, err := a.newPull(res, dryRun)
	if err != nil {
		return err
	}
	return a.printJSON(j)
}
