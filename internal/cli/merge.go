package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func mergeCommand(a *app) *cobra.Command {
	var opt repo.MergeOptions
	c := &cobra.Command{
		Use:   "merge BOOKMARK|STATE",
		Short: "Take in all changes of another bookmark or state",
		Long: `Unite the working copy's state with another: afterwards the current bookmark has the changes of both, and the files
show them all. There is no merge commit. Where changes that did not know of each other meet, a conflict stands in the
files and in oxy conflicts until it is decided; a decision that was recorded once holds wherever both sides meet again.
With conflicts the merge is done all the same, and the exit code is 0: oxy conflicts --exit-code asks for them. Where a
change comes together with one that was made anew of it (by amend, reword, squash or split), merge says how the old one goes.

Changes that are not recorded stay where the merge does not touch their files, and are never overwritten. When one side
moved a directory and the other added files beneath its old path, merge says so, and --follow moves them too.`,
		Example: `  oxy merge topic
  oxy merge --dry-run topic
  oxy undo`,
		Args: exactly(1, "one bookmark or state"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			from := a.standing()
			res, err := r.Merge(a.interruptible(), args[0], opt)
			if err != nil {
				return err
			}
			if a.json {
				return a.thenFollow(from, a.mergeJSON(res, opt))
			}
			return a.thenFollow(from, a.merged(res, opt, args[0]))
		},
	}
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would come")
	c.Flags().BoolVar(&opt.Follow, "follow", false, "move what one side added beneath a directory that the other moved")
	return c
}

// merged tells what a merge did.
func (a *app) merged(res *repo.MoveResult, opt repo.MergeOptions, rev string) error {
	other, err := a.repo.ResolveState(rev)
	if err != nil {
		return err
	}
	came := len(res.Came)
	if res.Followed != repo.NoState {
		came--
	}
	name := string(appendQuoted(nil, rev))
	into := "the working copy"
	if res.Bookmark != "" {
		into = string(appendQuoted(nil, res.Bookmark))
	}
	var head string
	did := "came"
	if opt.DryRun {
		did = "would come"
	}
	switch forward := other.ID == res.State.ID; {
	case forward && opt.DryRun:
		head = "Fast forward: " + into + " would be where " + name + " is"
	case forward:
		head = "Fast forward: " + into + " is now where " + name + " is"
	case opt.DryRun:
		head = "Would merge " + name + " into " + into
	default:
		head = "Merged " + name + " into " + into
	}
	if err := a.out.printf("%s. %s %s:\n", head, plural(came, "change"), did); err != nil {
		return err
	}
	if err := a.listSome(res.Came[:came]); err != nil {
		return err
	}
	if err := a.movedFiles(res, opt.DryRun); err != nil {
		return err
	}
	if err := a.strays(res, opt, name); err != nil {
		return err
	}
	if err := a.replaced(res, opt.DryRun); err != nil || !opt.DryRun {
		return err
	}
	return a.out.printf(nothingDone)
}

// strays tells of files that one side added beneath a directory that the other moved.
func (a *app) strays(res *repo.MoveResult, opt repo.MergeOptions, name string) error {
	if len(res.Strays) == 0 {
		return nil
	}
	b := append(a.out.buf, '\n')
	was := "was"
	if len(res.Strays) > 1 {
		was = "were"
	}
	b = append(append(append(append(b, plural(len(res.Strays), "file")...), ' '), was...), " added beneath a directory that the other side moved"...)
	switch {
	case res.Followed == repo.NoState:
		b = append(b, ", and did not move along:\n"...)
	case opt.DryRun:
		b = append(b, ", and would be moved along:\n"...)
	default:
		b = append(append(append(b, ", and "...), was...), " moved along:\n"...)
	}
	for i := range res.Strays {
		if i == listedChanges && len(res.Strays) > i+1 {
			b = append(append(b, "  and "...), plural(len(res.Strays)-i, "more file")...)
			b = append(b, '\n')
			break
		}
		b = a.show().append(append(b, "  R "...), res.Strays[i].Path)
		b = a.show().append(append(b, " -> "...), res.Strays[i].To)
		b = append(b, '\n')
	}
	switch {
	case res.Followed == repo.NoState && opt.DryRun:
		b = append(append(append(b, "To move them along: oxy merge --follow "...), name...), '\n')
	case res.Followed == repo.NoState:
		b = append(append(append(b, "To move them along: oxy undo, then oxy merge --follow "...), name...), '\n')
	case !opt.DryRun:
		b = append(b, "That is recorded as a change of its own:\n"...)
		a.out.buf = b
		return a.listChanges([]uint32{res.Followed})
	}
	a.out.buf = b
	return a.out.spill()
}

// replaced tells of changes that are here now together with what stands in their stead, and how the old ones go.
func (a *app) replaced(res *repo.MoveResult, dryRun bool) error {
	if len(res.Replaced) == 0 {
		return nil
	}
	olds := oldOnes(res.Replaced)
	was, are, ones := "was", "is", "one"
	if len(olds) > 1 {
		was, are, ones = "were", "are", "ones"
	}
	if dryRun {
		are = "would be"
	}
	if err := a.out.printf("\n%s %s made anew, and the old and the new %s both here:\n", plural(len(olds), "change"), was, are); err != nil {
		return err
	}
	for i, c := range res.Replaced {
		if more := len(res.Replaced) - i; i == listedChanges && more > 1 {
			if err := a.out.printf("  and %d more\n", more); err != nil {
				return err
			}
			break
		}
		if err := a.mapping("  ", c); err != nil {
			return err
		}
	}
	next := "To have only the new " + ones + ": oxy unrecord"
	if dryRun {
		next = "To have only the new " + ones + ", after the merge: oxy unrecord"
	}
	if len(res.Needed) > 0 {
		if err := a.out.printf("%s on the old %s still:\n", depend(len(res.Needed)), ones); err != nil {
			return err
		}
		if err := a.listSome(res.Needed); err != nil {
			return err
		}
		next = "To have only the new " + ones + ", without what depends on the old: oxy unrecord --with-dependents"
	}
	b := append(a.out.buf, next...)
	for _, n := range olds {
		b = append(append(b, ' '), a.repo.ShortID(n)...)
	}
	a.out.buf = append(b, '\n')
	return a.out.spill()
}

// oldOnes gives each change that others stand in the stead of once.
func oldOnes(pairs []repo.Rewritten) (olds []uint32) {
	for _, c := range pairs {
		olds = append(olds, c.Old)
	}
	slices.Sort(olds)
	return slices.Compact(olds)
}

type jsonMerge struct {
	jsonMove
	Strays   []jsonStray     `json:"strays"`
	Followed *jsonChange     `json:"followed"`
	Replaced []jsonRewritten `json:"replaced"`
	Needed   []jsonChange    `json:"needed"`
}

type jsonStray struct {
	Path      string `json:"path"`
	PathBytes string `json:"path_bytes,omitempty"`
	To        string `json:"to"`
	ToBytes   string `json:"to_bytes,omitempty"`
}

func (a *app) mergeJSON(res *repo.MoveResult, opt repo.MergeOptions) error {
	if opt.DryRun && res.Followed != repo.NoState {
		leaveOut(res, res.Made.Num)
		res.Followed = repo.NoState
	}
	move, err := a.newMove(res, opt.DryRun)
	if err != nil {
		return err
	}
	j := jsonMerge{jsonMove: move, Strays: make([]jsonStray, len(res.Strays))}
	if j.Replaced, err = a.newRewritten(res.Replaced, false); err != nil {
		return err
	}
	if j.Needed, err = a.newChanges(latestFirst(res.Needed)); err != nil {
		return err
	}
	for i, s := range res.Strays {
		path, to := newText(s.Path), newText(s.To)
		j.Strays[i] = jsonStray{path.Value, path.Bytes, to.Value, to.Bytes}
	}
	if res.Followed != repo.NoState {
		made, err := a.newChanges([]uint32{res.Followed})
		if err != nil {
			return err
		}
		j.Followed = &made[0]
	}
	return a.printJSON(j)
}
