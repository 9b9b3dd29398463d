package repo

import (
	"context"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Remove deletes files from the working copy; those with unrecorded changes only by force, and then Undo brings them back.
// It gives the paths.
func (r *Repo) Remove(ctx context.Context, paths []string, force bool) ([]string, error) {
	return transact(r, func(t *tx) ([]string, error) { return t.remove(ctx, paths, force) })
}

func (t *tx) remove(ctx context.Context, paths []string, force bool) ([]string, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	if err := problems("remove", res.Errors); err != nil { // what could not be read may be an edit
		return nil, err
	}
	differs := map[string]bool{}
	missing := map[string]bool{}
	for i := range res.Changed {
		if it := &res.Changed[i]; it.Status == worktree.Missing {
			missing[it.Path] = true
		} else {
			differs[it.Path] = true
		}
	}
	p := &plan{r: r, entries: map[string]state.Entry{}}
	var gone, edited []string
	for _, path := range paths {
		if err := r.refuseSubrepos(base, path, "removed"); err != nil {
			return nil, err
		}
		if err := r.refusePartly(base, path, "rm"); err != nil {
			return nil, err
		}
		tracked, err := r.trackedUnder(base, path)
		if err != nil {
			return nil, err
		}
		if len(tracked) == 0 {
			return nil, &Error{Text: safepath.Quote(path) + " was never recorded", Next: "Delete it with rm: oxy does not keep it."}
		}
		for _, f := range tracked {
			if missing[f] {
				continue
			}
			if differs[f] {
				edited = append(edited, f)
			}
			gone = append(gone, f)
			p.plan = append(p.plan, worktree.Action{Path: f, Op: worktree.Remove})
		}
	}
	if len(edited) > 0 && !force {
		return nil, &Error{Text: "this would delete what is not recorded: " + quoteSome(edited), Next: "Record it first, or use --force (oxy undo then brings it back)."}
	}
	var kept map[string]vfs.Stat
	if len(edited) > 0 {
		if kept, err = t.keepAside(edited, nil, nil); err != nil {
			return nil, err
		}
		if err := t.commit("rm"); err != nil {
			return nil, err
		}
	}
	return gone, t.writeAside(ctx, r.manifest, p, kept)
}
