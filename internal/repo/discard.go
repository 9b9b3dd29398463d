package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Discard takes back unrecorded changes: all, of some paths, or some hunks. What it takes is kept in the store, and Undo
// brings it back. It gives how the files differed.
func (r *Repo) Discard(ctx context.Context, paths, hunks []string) ([]FileChange, error) {
	return transact(r, func(t *tx) ([]FileChange, error) { return t.discard(ctx, paths, hunks) })
}

func (t *tx) discard(ctx context.Context, paths, hunks []string) ([]FileChange, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	pend, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	if err := r.checkNamed(base, paths); err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	if err := problems("discard", res.Errors); err != nil {
		return nil, err
	}
	diffs, err := r.differences(base, res, pend)
	if err != nil {
		return nil, err
	}
	tree, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	p := &plan{r: r, state: base.Num, entries: map[string]state.Entry{}}
	var take []string // working files whose contents go
	var files []FileChange
	edited := map[string][]byte{}
	if len(hunks) > 0 {
		if edited, err = r.withoutHunks(diffs, hunks); err != nil {
			return nil, err
		}
	}
	p.texts = edited
	for i := range diffs {
		d := &diffs[i]
		text, part := edited[d.Path()]
		if len(hunks) > 0 && !part {
			continue
		}
		files = append(files, d.FileChange)
		if d.New != nil {
			take = append(take, d.New.Path)
		}
		if text != nil {
			p.plan = append(p.plan, worktree.Action{Path: d.Path(), Op: worktree.Write, Exec: d.New.Exec, Size: int64(len(text)), Hash: diskHash(hashOf(text))})
			continue
		}
		e, ok, err := tree.Get(d.Old.Path)
		if err != nil {
			return nil, err
		} else if !ok {
			return nil, fmt.Errorf("the manifest has %s and the tree has not", safepath.Quote(d.Old.Path))
		}
		if d.What == Moved {
			p.plan = append(p.plan, worktree.Action{Path: d.New.Path, Op: worktree.Remove})
		}
		if d.What != Removed || !slices.Contains(pend.Untracked, d.Old.Path) {
			if err := p.write(&e); err != nil {
				return nil, err
			}
		}
	}
	// In a chain of moves a path is both one file's new place and another's old one.
	p.plan = slices.DeleteFunc(p.plan, func(a worktree.Action) bool {
		_, written := p.entries[a.Path]
		return a.Op == worktree.Remove && written
	})
	if len(files) == 0 {
		return nil, &Error{Text: "nothing to discard: nothing differs there", No: true}
	}
	kept, err := t.keepAside(take, hashesOf(edited), nil)
	if err != nil {
		return nil, err
	}
	if err := t.commit("discard"); err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for i := range files {
		gone[files[i].Old.Path] = true
	}
	pend.Moves = slices.DeleteFunc(pend.Moves, func(m move) bool { return gone[m.From] })
	pend.Untracked = slices.DeleteFunc(pend.Untracked, func(u string) bool { return gone[u] })
	m := r.manifest
	if err := r.applyPlan(ctx, m, p, kept); err != nil {
		return nil, err
	}
	if err := t.restoreManifest(m, p.plan); err != nil {
		return nil, err
	}
	return files, r.savePending(pend)
}

func (r *Repo) disk(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }

// trackedUnder lists the files of a state at or beneath a path.
func (r *Repo) trackedUnder(s StateRef, path string) (out []string, err error) {
	t, err := r.tree(s.Num)
	if err != nil {
		return nil, err
	}
	err = t.Walk(path, func(e *state.Entry) error {
		out = append(out, e.Path)
		return nil
	})
	return out, err
}
