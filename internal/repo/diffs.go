package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// DiffWorking lists how the working copy differs from its base: what a commit would record, new files among it.
func (r *Repo) DiffWorking(ctx context.Context, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffWorking(ctx, paths) })
}

func (r *Repo) diffWorking(ctx context.Context, paths []string) (*DiffSet, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	diffs, untracked, err := r.workingDiffs(ctx, base, paths)
	if err != nil {
		return nil, err
	}
	d := &DiffSet{}
	for i := range diffs {
		d.Files = append(d.Files, diffs[i].FileChange)
	}
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, base.Num, s)
		}
		return r.diskContent(dst, s)
	}
	if len(untracked) > 0 {
		d.Files = append(d.Files, untracked...)
		sortFiles(d.Files)
		r.pairMoves(d)
	}
	return d, nil
}

// workingDiffs scans the working copy. It gives the tracked files that differ, and the untracked ones as added.
func (r *Repo) workingDiffs(ctx context.Context, base StateRef, paths []string) ([]difference, []FileChange, error) {
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, nil, err
	}
	if err := problems("look at the working copy", res.Errors); err != nil {
		return nil, nil, err
	}
	r.saveManifest()
	p, err := r.loadPending()
	if err != nil {
		return nil, nil, err
	}
	diffs, err := r.differences(base, res, p)
	if err != nil {
		return nil, nil, err
	}
	var fresh []FileChange
	for _, u := range r.withoutMoved(res.Untracked, diffs) {
		var st vfs.Stat
		err := r.fs.Lstat(r.disk(u), &st)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			continue // gone since
		} else if err != nil {
			return nil, nil, fileError("look at "+safepath.Quote(u), err)
		}
		fresh = append(fresh, FileChange{What: Added, New: diskSide(u, &st)})
	}
	return diffs, fresh, nil
}

// sideContent appends the content of a side that a state has.
func (r *Repo) sideContent(dst []byte, state uint32, s *Side) ([]byte, error) {
	return mended(r, func() ([]byte, error) {
		t, err := r.tree(state)
		if err != nil {
			return dst, err
		}
		e, ok, err := t.Get(s.Path)
		if err != nil {
			return dst, err
		}
		if !ok {
			return dst, fmt.Errorf("%q is not in the tree", s.Path)
		}
		return r.content(dst, &e)
	})
}

func (r *Repo) diskContent(dst []byte, s *Side) ([]byte, error) {
	root, err := r.openRoot()
	if err != nil {
		return dst, err
	}
	defer root.Close()
	b, _, err := r.readDisk(root, dst, s.Path)
	return b, err
}

// DiffFrom lists how the working copy differs from any state.
func (r *Repo) DiffFrom(ctx context.Context, a StateRef, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffFrom(ctx, a, paths) })
}

func (r *Repo) diffFrom(ctx context.Context, a StateRef, paths []string) (*DiffSet, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	if a.Num == base.Num {
		return r.diffWorking(ctx, paths)
	}
	diffs, untracked, err := r.workingDiffs(ctx, base, paths)
	if err != nil {
		return nil, err
	}
	from, err := r.tree(a.Num)
	if err != nil {
		return nil, err
	}
	tip, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	// What the disk has at each path that may differ: nothing, or a side.
	disk := map[string]*Side{}
	err = state.Diff(from, tip, func(old, new *state.Entry) error {
		p := pathOf(old, new)
		if old != nil && !inCone(cone, old) || new != nil && !inCone(cone, new) {
			return nil // the working copy says nothing of it
		}
		if !within(p, paths) && len(paths) > 0 {
			return nil
		}
		disk[p] = nil
		if new != nil {
			disk[p] = entrySide(new)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range diffs {
		f := &diffs[i]
		disk[f.Old.Path] = nil
		if f.New != nil {
			disk[f.New.Path] = f.New
		}
	}
	for i := range untracked {
		disk[untracked[i].New.Path] = untracked[i].New
	}
	d := &DiffSet{}
	for p, now := range disk {
		e, ok, err := from.Get(p)
		if err != nil {
			return nil, err
		}
		f := FileChange{New: now}
		if ok {
			f.Old = entrySide(&e)
			if now != nil && now.Hash == (change.Hash{}) && now.Size == f.Old.Size && now.Size > 0 {
				// The scan compared it with the base only.
				b, err := r.diskContent(nil, now)
				if err != nil {
					return nil, err
				}
				now.Hash = hashOf(b)
			}
		}
		if f.Old == nil && f.New == nil {
			continue
		}
		if f.What = whatOf(f.Old, f.New); f.What != Same {
			d.Files = append(d.Files, f)
		}
	}
	sortFiles(d.Files)
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, a.Num, s)
		}
		return r.diskContent(dst, s)
	}
	r.pairMoves(d)
	return d, nil
}

func sortFiles(files []FileChange) {
	slices.SortFunc(files, func(a, b FileChange) int { return strings.Compare(a.Path(), b.Path()) })
}

// DiffStates lists how state b differs from state a.
func (r *Repo) DiffStates(a, b StateRef, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffStates(a, b, paths) })
}

func (r *Repo) diffStates(a, b StateRef, paths []string) (*DiffSet, error) {
	from, err := r.tree(a.Num)
	if err != nil {
		return nil, err
	}
	to, err := r.tree(b.Num)
	if err != nil {
		return nil, err
	}
	d := &DiffSet{}
	gone := map[change.FileID]*state.Entry{}
	come := map[change.FileID]*state.Entry{}
	err = state.Diff(from, to, func(old, new *state.Entry) error {
		if len(paths) > 0 && !within(pathOf(old, new), paths) {
			return nil
		}
		var f FileChange
		if old != nil {
			f.Old = entrySide(old)
		}
		if new != nil {
			f.New = entrySide(new)
		}
		if old != nil && new != nil && old.File == new.File {
			if f.What = whatOf(f.Old, f.New); f.What != Same {
				d.Files = append(d.Files, f)
			}
			return nil
		}
		if old != nil {
			e := *old
			gone[e.File] = &e
		}
		if new != nil {
			e := *new
			come[e.File] = &e
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A file that left one path and came to another moved: identities tell, nothing is guessed. Two different files at
	// one path are that path's change to a person, unless one of them moved.
	var olds, news = map[string]*Side{}, map[string]*Side{}
	for id, old := range gone {
		if new, ok := come[id]; ok {
			d.Files = append(d.Files, FileChange{What: Moved, Old: entrySide(old), New: entrySide(new), Similar: similarity(old, new)})
			delete(come, id)
			continue
		}
		olds[old.Path] = entrySide(old)
	}
	for _, new := range come {
		news[new.Path] = entrySide(new)
	}
	for p, old := range olds {
		f := FileChange{Old: old, New: news[p]}
		delete(news, p)
		if f.What = whatOf(f.Old, f.New); f.What != Same {
			d.Files = append(d.Files, f)
		}
	}
	for _, new := range news {
		d.Files = append(d.Files, FileChange{What: Added, New: new})
	}
	sortFiles(d.Files)
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, a.Num, s)
		}
		return r.sideContent(dst, b.Num, s)
	}
	for i := range d.Files {
		if f := &d.Files[i]; f.What == Moved && f.Similar == 0 {
			f.Similar = r.measureSimilar(d, i)
		}
	}
	return d, nil
}

// DiffChange lists what a change did: the state with it against the one before, in the log where it stands. Where it met others
// there and conflicts came of that, these are not what it did: then in the log where it stood first, if it met none there.
func (r *Repo) DiffChange(n uint32, paths []string) (*DiffSet, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	s, err := r.stateOf(v, n)
	if err != nil {
		return nil, err
	}
	before, err := r.stateBefore(s)
	if err != nil {
		return nil, err
	}
	// The later of the two is likelier to be stored, and making it stores the earlier on the way.
	set, err := r.DiffStates(before, StateRef{Num: s}, paths)
	if err != nil {
		return nil, err
	}
	if met, err := r.showsDispute(s, set); err != nil || !met {
		return set, err
	}
	first, err := r.firstWith(n)
	if err != nil || first == s {
		return set, err
	}
	if before, err = r.stateBefore(first); err != nil {
		return nil, err
	}
	alone, err := r.DiffStates(before, StateRef{Num: first}, paths)
	if err != nil {
		return nil, err
	}
	if met, err := r.showsDispute(first, alone); err != nil || met || len(alone.Files) == 0 {
		return set, err // the paths may be names that it has only among others
	}
	return alone, nil
}

// stateBefore is the state of all but the last change of a log.
func (r *Repo) stateBefore(s uint32) (StateRef, error) {
	_, pos, _, err := r.lastChange(s)
	if err != nil {
		return StateRef{}, err
	}
	before, err := r.atPosition(s, pos)
	return StateRef{Num: before}, err
}

// showsDispute tells whether a file of a set is in conflict in a state.
func (r *Repo) showsDispute(s uint32, set *DiffSet) (bool, error) {
	return mended(r, func() (bool, error) {
		tree, err := r.tree(s)
		if err != nil || !tree.Disputed() {
			return false, err
		}
		ds, err := tree.Disputes()
		if err != nil {
			return false, err
		}
		shown := map[string]bool{}
		for i := range ds {
			if ds[i].Kinds&^state.Several != 0 {
				shown[ds[i].Shown] = true
			}
		}
		return slices.ContainsFunc(set.Files, func(f FileChange) bool { return f.New != nil && shown[f.New.Path] }), nil
	})
}

// firstWith finds the state right after change n in the first log that has it. One that was recorded here was recorded there.
func (r *Repo) firstWith(n uint32) (uint32, error) {
	for s := range r.store.NumStates() {
		st, err := r.store.State(s)
		if err != nil {
			return 0, storeError(err)
		}
		if slices.Contains(st.Changes, n) {
			return r.after(s, n)
		}
	}
	return 0, storeError(fmt.Errorf("no state has change %d: %w", n, store.ErrDamaged))
}

// fingerprinter reads one side of file i of a set when its likeness is asked for. What cannot be read is like nothing.
func fingerprinter(read func(dst []byte, i int) ([]byte, error), i int, s *Side) func() diff.Fingerprint {
	return func() diff.Fingerprint {
		if s.Kind == change.Link || s.Kind == change.Subrepo || s.Size > change.MaxText {
			return diff.Fingerprint{}
		}
		b, err := read(nil, i)
		if err != nil || worktree.IsBinary(b) {
			return diff.Fingerprint{}
		}
		return diff.NewFingerprint(b)
	}
}

func (r *Repo) listHunks(ctx context.Context, paths []string) ([]Hunk, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	p, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	diffs, err := r.differences(base, res, p)
	if err != nil {
		return nil, err
	}
	ws, err := r.hunks(base, diffs, r.withoutMoved(res.Untracked, diffs))
	if err != nil {
		return nil, err
	}
	out := make([]Hunk, len(ws))
	for i := range ws {
		out[i] = ws[i].Hunk
	}
	return out, nil
}
