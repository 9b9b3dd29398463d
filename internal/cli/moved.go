package cli

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/repo"
)

// listedChanges is how many changes a command lists that brought or took many: a screen's worth. JSON has all.
const listedChanges = 20

// listSome lists changes that are in the order of the log, latest first as the log shows them.
func (a *app) listSome(nums []uint32) error {
	shown := slices.Clone(nums[max(0, len(nums)-listedChanges):])
	slices.Reverse(shown)
	if err := a.listChanges(shown); err != nil {
		return err
	}
	if more := len(nums) - len(shown); more > 0 {
		return a.out.printf("  and %d more before them\n", more)
	}
	return nil
}

// movedFiles tells what became of the files, and of conflicts.
func (a *app) movedFiles(res *repo.MoveResult, dryRun bool) error {
	b := a.out.buf
	if !dryRun {
		b = append(append(b, ' '), written(res.Written, res.Removed)...)
	} else {
		b = fmt.Appendf(b, " %s would differ", plural(res.Files, "file"))
	}
	if res.Counted && res.Added+res.Deleted > 0 {
		b = fmt.Appendf(b, ": %s added, %d deleted", plural(res.Added, "line"), res.Deleted)
	}
	b = append(b, '\n')
	if res.Solved > 0 {
		is := "are"
		if res.Solved == 1 {
			is = "is"
		}
		b = fmt.Appendf(b, " %s that stood open before %s none now\n", plural(res.Solved, "conflict"), is)
	}
	if len(res.Conflicts) > 0 {
		b = fmt.Appendf(b, "\n%s to decide:\n", plural(len(res.Conflicts), "conflict"))
		b = a.appendConflictRows(b, res.Conflicts, nil)
		if !dryRun {
			b = append(append(b, "\noxy conflicts shows the sides. "...), nextForConflicts(res.Conflicts)...)
		}
	}
	a.out.buf = b
	return a.out.spill()
}

func written(written, removed int) string {
	if written+removed == 0 {
		return "no file differs"
	}
	return fmt.Sprintf("%s written, %s removed", plural(written, "file"), plural(removed, "file"))
}

// nothingDone ends the report of a dry run.
const nothingDone = "\nNothing was changed: leave --dry-run out to do it.\n"

type jsonMove struct {
	From      jsonState      `json:"from"`
	State     jsonState      `json:"state"`
	Bookmark  *string        `json:"bookmark"`
	DryRun    bool           `json:"dry_run"`
	Came      []jsonChange   `json:"came"`
	Went      []jsonChange   `json:"went"`
	Files     *int           `json:"files,omitempty"`
	Added     *int           `json:"added,omitempty"`
	Deleted   *int           `json:"deleted,omitempty"`
	Written   int            `json:"written"`
	Removed   int            `json:"removed"`
	Conflicts []jsonConflict `json:"conflicts"`
	Solved    int            `json:"solved"`
}

func (a *app) newMove(res *repo.MoveResult, dryRun bool) (jsonMove, error) {
	j := jsonMove{From: newState(res.From), State: newState(res.State), DryRun: dryRun, Written: res.Written, Removed: res.Removed, Solved: res.Solved}
	if res.Bookmark != "" {
		j.Bookmark = &res.Bookmark
	}
	if res.Counted {
		j.Files, j.Added, j.Deleted = &res.Files, &res.Added, &res.Deleted
	}
	var err error
	if j.Came, err = a.newChanges(latestFirst(res.Came)); err != nil {
		return j, err
	}
	if j.Went, err = a.newChanges(latestFirst(res.Went)); err != nil {
		return j, err
	}
	j.Conflicts, err = a.newConflicts(res.Conflicts)
	return j, err
}

// leaveOut takes a change that a dry run only made up out of a result: nobody can look at it.
func leaveOut(res *repo.MoveResult, made uint32) {
	is := func(n uint32) bool { return n == made }
	res.Came = slices.DeleteFunc(res.Came, is)
	for i := range res.Conflicts {
		for k := range res.Conflicts[i].Sides {
			side := &res.Conflicts[i].Sides[k]
			side.Changes = slices.DeleteFunc(side.Changes, is)
		}
	}
}

func latestFirst(nums []uint32) []uint32 {
	out := slices.Clone(nums)
	slices.Reverse(out)
	return out
}
