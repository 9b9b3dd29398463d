package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func pickCommand(a *app) *cobra.Command {
	var opt repo.PickOptions
	c := &cobra.Command{
		Use:   "pick CHANGE...",
		Short: "Take single changes in, with what they depend on",
		Long: `Take CHANGEs of any other bookmark into the working copy's state, and with each of them all that it depends on: the
changes that wrote the lines it edits or stands beside. Nothing else comes along. They are the same changes as there,
not copies: when both bookmarks are merged later, nothing is there twice.

oxy deps CHANGE tells why a change comes along, and --dry-run what would come.`,
		Example: `  oxy pick 1a2b3c4d
  oxy pick --dry-run 1a2b3c4d 5e6f7a8b
  oxy pick topic~2`,
		Args: atLeastOne("a change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			res, err := r.Pick(a.interruptible(), args, opt)
			if err != nil {
				return err
			}
			var asked []uint32
			for _, arg := range args {
				n, err := r.ResolveChange(arg)
				if err != nil {
					return err
				}
				asked = append(asked, n)
			}
			if a.json {
				return a.pickJSON(res, opt, asked)
			}
			return a.picked(res, opt, asked)
		},
	}
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would come")
	return c
}

// picked tells what a pick did.
func (a *app) picked(res *repo.MoveResult, opt repo.PickOptions, asked []uint32) error {
	along := slices.DeleteFunc(slices.Clone(res.Came), func(n uint32) bool { return slices.Contains(asked, n) })
	chosen := slices.DeleteFunc(slices.Clone(res.Came), func(n uint32) bool { return !slices.Contains(asked, n) })
	verb, came := "Picked", "came"
	if opt.DryRun {
		verb, came = "Would pick", "would come"
	}
	if len(chosen) > 0 { // else only what they depend on had gone
		if err := a.out.printf("%s %s:\n", verb, plural(len(chosen), "change")); err != nil {
			return err
		}
		if err := a.listSome(chosen); err != nil {
			return err
		}
	}
	if len(along) > 0 {
		if err := a.out.printf("%s %s along, as what it builds on:\n", plural(len(along), "change"), came); err != nil {
			return err
		}
		if err := a.listSome(along); err != nil {
			return err
		}
	}
	if err := a.movedFiles(res, opt.DryRun); err != nil || !opt.DryRun {
		return err
	}
	return a.out.printf(nothingDone)
}

type jsonPick struct {
	jsonMove
	Picked []string `json:"picked"`
}

func (a *app) pickJSON(res *repo.MoveResult, opt repo.PickOptions, asked []uint32) error {
	move, err := a.newMove(res, opt.DryRun)
	if err != nil {
		return err
	}
	j := jsonPick{jsonMove: move, Picked: []string{}}
	for _, n := range latestFirst(res.Came) {
		if slices.Contains(asked, n) {
			info, err := a.repo.Info(n)
			if err != nil {
				return err
			}
			j.Picked = append(j.Picked, info.ID.String())
		}
	}
	return a.printJSON(j)
}
