package repo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// SparseResult says what became of the working copy.
type SparseResult struct {
	Sparse  *Sparse // nil: it has all files
	State   StateRef
	Written int
	Removed int
	Left    []string // directories outside that hold something which is not the state's, as "dir/"
	Empty   []string // directories that the state has nothing in
	// Subrepos came in, and are not cloned by that.
	Subrepos []string
}

// coneOf is the cone of directories that a person named.
func coneOf(dirs []string) (*worktree.Cone, error) {
	cone, err := worktree.NewCone(dirs)
	if err != nil {
		return nil, &Error{Text: "no working copy can be made of that: " + err.Error(), Next: "Name directories as they are in the repository, with slashes: src/parser", Err: err}
	}
	return cone, nil
}

// SetSparse makes the working copy that of some directories, and of what lies directly in those above them.
func (r *Repo) SetSparse(ctx context.Context, dirs []string) (*SparseResult, error) {
	return r.changeCone(ctx, true, func(*worktree.Cone) (*worktree.Cone, error) { return coneOf(dirs) })
}

// AddSparse takes more directories in.
func (r *Repo) AddSparse(ctx context.Context, dirs []string) (*SparseResult, error) {
	return r.changeCone(ctx, false, func(old *worktree.Cone) (*worktree.Cone, error) {
		if old == nil {
			return nil, &Error{Text: "the working copy has all files already", Next: "To have some directories only: oxy sparse set DIRS", No: true}
		}
		return old.With(dirs)
	})
}

// RemoveSparse leaves directories out that were taken in.
func (r *Repo) RemoveSparse(ctx context.Context, dirs []string) (*SparseResult, error) {
	return r.changeCone(ctx, false, func(old *worktree.Cone) (*worktree.Cone, error) {
		if old == nil {
			return nil, &Error{Text: "the working copy has all files: there is no list to remove from", Next: "Say which directories it shall have: oxy sparse set DIRS"}
		}
		next, unknown, err := old.Without(dirs)
		if err == nil && unknown != "" {
			what := &Error{Text: safepath.Quote(unknown) + " is not in the list of directories", Next: "See what is with: oxy sparse show"}
			if over := old.Over(unknown); over != "" {
				what.Text = safepath.Quote(unknown) + " is there as part of " + safepath.Quote(over)
				what.Next = "Name what shall stay in its place: oxy sparse set DIRS"
			}
			return nil, what
		}
		return next, err
	})
}

// EndSparse makes the working copy one of all files.
func (r *Repo) EndSparse(ctx context.Context) (*SparseResult, error) {
	return r.changeCone(ctx, true, func(*worktree.Cone) (*worktree.Cone, error) { return nil, nil })
}

// changeCone changes which files the working copy has. What comes is written before the setting says so, and what goes is taken away
// after: cut off at any moment, files may be there that the setting does not name, and never the other way round, which would
// look as if somebody had removed them. anew: it may stand in the stead of a setting that cannot be read.
func (r *Repo) changeCone(ctx context.Context, anew bool, change func(old *worktree.Cone) (*worktree.Cone, error)) (*SparseResult, error) {
	return transact(r, func(t *tx) (*SparseResult, error) {
		old, err := r.workingCone()
		lost := anew && errors.Is(err, worktree.ErrBadCone)
		if err != nil && !lost {
			return nil, err
		}
		next, err := change(old)
		if err != nil {
			if e := (*Error)(nil); errors.As(err, &e) {
				return nil, err
			}
			return nil, &Error{Text: "no working copy can be made of that: " + err.Error(), Err: err}
		}
		base, err := r.stateRef(baseOf(t.view))
		if err != nil {
			return nil, err
		}
		c := &coneChange{r: r, ctx: ctx, old: old, next: next, lost: lost, base: base, outer: map[string]bool{}, res: &SparseResult{State: base}}
		return c.res, c.run()
	})
}

// coneChange is a change of the working copy's cone.
type coneChange struct {
	r         *Repo
	ctx       context.Context
	old, next *worktree.Cone
	lost      bool // nobody knows what the old one was: what is on disk is taken to be in it
	base      StateRef
	res       *SparseResult

	come, goes *plan
	outer      map[string]bool      // directories just outside, and whether they are on disk
	stays      []worktree.PathEntry // what the manifest has from the start
}

func (c *coneChange) run() error {
	if err := c.refuseFiles(); err != nil {
		return err
	}
	if err := c.refuseEdits(); err != nil {
		return err
	}
	if err := c.plan(); err != nil {
		return err
	}
	m, err := worktree.Build(c.r.fs, c.r.manifestDir(), c.base.Num, c.next.BaseID(c.base.ID), c.entries())
	if err != nil {
		return err
	}
	if err := c.r.applyPlan(c.ctx, m, c.come, nil); err != nil {
		return errors.Join(sparseInTheWay(err), m.Close())
	}
	if err := c.r.putCone(c.next); err != nil {
		return errors.Join(err, m.Close())
	}
	if c.r.manifest != nil {
		_ = c.r.manifest.Close() // nothing of it is used any more
	}
	c.r.manifest = m
	if err := c.takeAway(m); err != nil {
		return err
	}
	c.r.saveManifest()
	return c.tell()
}

// refuseFiles refuses directories that are files.
func (c *coneChange) refuseFiles() error {
	if c.next == nil {
		return nil
	}
	tree, err := c.r.tree(c.base.Num)
	if err != nil {
		return err
	}
	for _, d := range c.next.Dirs() {
		e, file, err := tree.Get(d)
		if err != nil {
			return err
		}
		if file && diskEntryKind(e.Kind) != worktree.Subrepo {
			return &Error{Text: safepath.Quote(d) + " is a file: a sparse working copy is chosen by directories", Next: "Name the directory that it is in. All files directly in it come along."}
		}
		if file {
			continue
		}
		if there, err := tree.Under(d); err != nil {
			return err
		} else if !there {
			c.res.Empty = append(c.res.Empty, d)
		}
	}
	return nil
}

// refuseEdits refuses to leave out what has edits: out of sight, they would be forgotten.
func (c *coneChange) refuseEdits() error {
	if c.next == nil || c.lost || c.next.Equal(c.old) {
		return nil
	}
	res, err := c.r.scan(c.ctx, c.base, worktree.Options{})
	if err != nil {
		return err
	}
	if err := problems("leave out files", res.Errors); err != nil {
		return err
	}
	pend, err := c.r.loadPending()
	if err != nil {
		return err
	}
	diffs, err := c.r.differences(c.base, res, pend)
	if err != nil {
		return err
	}
	var edited []string
	for i := range diffs {
		for _, s := range []*Side{diffs[i].Old, diffs[i].New} {
			if s != nil && !c.next.Holds(s.Path, diskEntryKind(s.Kind)) && !slices.Contains(edited, s.Path) {
				edited = append(edited, s.Path)
			}
		}
	}
	if len(edited) == 0 {
		return nil
	}
	return &Error{Text: "this would leave out what is not recorded: " + quoteSome(edited), Next: "Record it with oxy commit, or drop it with oxy discard, then try again."}
}

// plan tells what comes, what goes, and what stays.
func (c *coneChange) plan() error {
	was, err := c.entriesBefore()
	if err != nil {
		return err
	}
	tree, err := c.r.tree(c.base.Num)
	if err != nil {
		return err
	}
	c.come = &plan{r: c.r, state: c.base.Num, entries: map[string]state.Entry{}}
	c.goes = &plan{r: c.r, state: c.base.Num, entries: map[string]state.Entry{}}
	return tree.Walk("", func(e *state.Entry) error {
		in := inCone(c.next, e)
		had := inCone(c.old, e)
		if c.lost {
			if had, err = c.r.exists(e.Path); err != nil {
				return fileError("look at "+safepath.Quote(e.Path), err)
			}
		}
		if in && !had {
			if e.Kind == change.Subrepo {
				c.res.Subrepos = append(c.res.Subrepos, e.Path)
			}
			return c.come.write(e)
		}
		if !in && !had {
			// What a command that was cut off left is there still, or nothing of the directory is.
			if left, err := c.isLeft(e.Path); err != nil || !left {
				return err
			}
		}
		seen, known := was[e.Path]
		if !known {
			seen = unseen(e)
		}
		c.stays = append(c.stays, worktree.PathEntry{Path: e.Path, Entry: seen})
		if !in {
			c.goes.plan = append(c.goes.plan, worktree.Action{Path: e.Path, Op: worktree.Remove})
		}
		return nil
	})
}

// isLeft tells whether the directory by which a path lies outside is on disk.
func (c *coneChange) isLeft(path string) (bool, error) {
	dir := path
	for i := range path {
		if path[i] == '/' && !c.next.Enters(path[:i]) {
			dir = path[:i]
			break
		}
	}
	there, known := c.outer[dir]
	if !known {
		var err error
		if there, err = c.r.exists(dir); err != nil {
			return false, fileError("look at "+safepath.Quote(dir), err)
		}
		c.outer[dir] = there
	}
	return there, nil
}

// entriesBefore is what was known of the files so far. They are not read again for that they have company now.
func (c *coneChange) entriesBefore() (map[string]worktree.Entry, error) {
	out := map[string]worktree.Entry{}
	if c.lost {
		return out, nil
	}
	m, err := c.r.loadManifest(c.base)
	if err != nil {
		return nil, err
	}
	err = m.All(func(path string, e *worktree.Entry) bool {
		out[path] = *e
		return true
	})
	if errors.Is(err, worktree.ErrDamaged) {
		return map[string]worktree.Entry{}, nil // each is read once
	}
	return out, err
}

func (c *coneChange) entries() iter.Seq2[string, worktree.Entry] {
	return func(yield func(string, worktree.Entry) bool) {
		for i := range c.stays {
			if !yield(c.stays[i].Path, c.stays[i].Entry) {
				return
			}
		}
	}
}

// takeAway removes the files that go. What differs by now from what is recorded stays, and is told of as left.
func (c *coneChange) takeAway(m *worktree.Manifest) error {
	root, err := c.r.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	var removed atomic.Int64
	opts := worktree.ApplyOptions{Progress: func(int, int64) { removed.Add(1) }}
	for {
		err := worktree.Apply(c.ctx, root, m, c.goes.plan, c.goes, opts)
		var lose *worktree.LoseError
		if err == nil {
			break
		}
		if !errors.As(err, &lose) || len(lose.Paths) == 0 {
			return fileError("take files out of the working copy", err)
		}
		n := len(c.goes.plan)
		c.goes.plan = slices.DeleteFunc(c.goes.plan, func(a worktree.Action) bool {
			return slices.ContainsFunc(lose.Paths, func(p string) bool { return p == a.Path })
		})
		if len(c.goes.plan) == n {
			return fileError("take files out of the working copy", err)
		}
	}
	c.res.Removed = int(removed.Load())
	// The manifest is of the cone, whatever stayed.
	var edits []worktree.Edit
	for i := range c.stays {
		if p := &c.stays[i]; !c.next.Holds(p.Path, p.Kind) {
			edits = append(edits, worktree.Edit{Path: p.Path, Delete: true})
		}
	}
	return m.Update(edits)
}

// tell finds what the result says beyond the counts.
func (c *coneChange) tell() error {
	c.res.Written = len(c.come.plan)
	sparse, err := c.r.Sparse()
	if err != nil {
		return err
	}
	c.res.Sparse = sparse
	if sparse == nil {
		return nil
	}
	res, err := c.r.scan(c.ctx, c.base, worktree.Options{Collapse: true})
	if err != nil {
		return err
	}
	c.r.saveManifest()
	c.res.Left = res.Outside
	return nil
}

// sparseInTheWay says of a refused widening what to do.
func sparseInTheWay(err error) error {
	var lose *worktree.LoseError
	if !errors.As(err, &lose) {
		return err
	}
	paths := slices.Clone(lose.Paths)
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], "/")
	}
	return &Error{Text: "something else stands where recorded files would be written: " + quoteSome(paths), Next: "Move it away, then try again.", Err: err}
}
