package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func compareCommand(a *app) *cobra.Command {
	var stat, exitCode bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "List the changes that only one of two states has",
		Long: `Compare two states as what they are, sets of changes: list the changes that only A has and those that only B has, latest
first, and count those that both have. With --stat also count the lines that differ in each file, from A to B.

A and B are bookmarks, tags, the beginning of a change's id, or what else oxy diff takes.`,
		Example: `  oxy compare main topic
  oxy compare v1.0 main --stat
  oxy compare main topic --exit-code`,
		Args: exactly(2, "two states"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			var states [2]repo.StateRef
			for i, arg := range args {
				if states[i], err = r.ResolveState(arg); err != nil {
					return err
				}
			}
			c, err := r.Compare(states[0], states[1])
			if err != nil {
				return err
			}
			var set *repo.DiffSet
			if stat {
				if set, err = r.DiffStates(states[0], states[1], nil); err != nil {
					return err
				}
			}
			if a.json {
				err = a.compareJSON(c, set)
			} else {
				err = a.compareText(c, set, args)
			}
			return differs(err, exitCode, len(c.OnlyA)+len(c.OnlyB))
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "count the lines that differ in each file too")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit 1 if they differ")
	return c
}

func (a *app) compareText(c *repo.Comparison, set *repo.DiffSet, names []string) error {
	left, right := appendQuoted(nil, names[0]), appendQuoted(nil, names[1])
	if len(c.OnlyA)+len(c.OnlyB) == 0 {
		return a.out.printf("%s and %s have the same %s.\n", left, right, plural(int(c.Shared), "change"))
	}
	if err := a.page(); err != nil {
		return err
	}
	if err := a.out.printf("%s and %s share %s.\n", left, right, plural(int(c.Shared), "change")); err != nil {
		return err
	}
	if err := a.onlyIn(left, c.OnlyA); err != nil {
		return err
	}
	if err := a.onlyIn(right, c.OnlyB); err != nil || set == nil {
		return err
	}
	if err := a.out.printf("\nFiles, from %s to %s:\n", left, right); err != nil {
		return err
	}
	return a.stat(set, newPatchOptions(0, a.colours()), ui.Width(a.stdio.Out))
}

// onlyIn lists the changes that one side has by itself.
func (a *app) onlyIn(name []byte, nums []uint32) error {
	if len(nums) == 0 {
		return a.out.printf("\nOnly in %s: nothing.\n", name)
	}
	if err := a.out.printf("\nOnly in %s, %s:\n", name, plural(len(nums), "change")); err != nil {
		return err
	}
	return a.listChanges(nums)
}

// listChanges writes a line for each change, two columns in.
func (a *app) listChanges(nums []uint32) error {
	for _, n := range nums {
		info, err := a.repo.Info(n)
		if err != nil {
			return err
		}
		a.out.buf = a.appendOneline(append(a.out.buf, "  "...), info)
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	return nil
}

type jsonCompare struct {
	A      jsonState    `json:"a"`
	B      jsonState    `json:"b"`
	Equal  bool         `json:"equal"`
	Shared uint64       `json:"shared"`
	OnlyA  []jsonChange `json:"only_a"`
	OnlyB  []jsonChange `json:"only_b"`
	Files  *[]jsonFile  `json:"files,omitempty"`
}

func (a *app) compareJSON(c *repo.Comparison, set *repo.DiffSet) error {
	j := jsonCompare{A: newState(c.A), B: newState(c.B), Equal: len(c.OnlyA)+len(c.OnlyB) == 0, Shared: c.Shared}
	var err error
	if j.OnlyA, err = a.newChanges(c.OnlyA); err != nil {
		return err
	}
	if j.OnlyB, err = a.newChanges(c.OnlyB); err != nil {
		return err
	}
	if set != nil {
		files, err := jsonFiles(set, newPatchOptions(0, &ui.Palette{}), false)
		if err != nil {
			return err
		}
		j.Files = &files
	}
	return a.printJSON(j)
}

// newChanges gives changes as JSON has them, an empty list for none.
func (a *app) newChanges(nums []uint32) ([]jsonChange, error) {
	out := make([]jsonChange, len(nums))
	for i, n := range nums {
		info, err := a.repo.Info(n)
		if err != nil {
			return nil, err
		}
		out[i] = a.newChange(info)
	}
	return out, nil
}
