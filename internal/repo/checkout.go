package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// CheckoutResult says what a checkout did.
type CheckoutResult struct {
	State    StateRef
	Bookmark string // now current, or ""
	Written  int
	Removed  int
}

// Checkout makes the working copy that of rev. A bookmark's name makes it current.
func (r *Repo) Checkout(ctx context.Context, rev string) (*CheckoutResult, error) {
	return transact(r, func(t *tx) (*CheckoutResult, error) { return t.checkout(ctx, rev) })
}

func (t *tx) checkout(ctx context.Context, rev string) (*CheckoutResult, error) {
	r := t.r
	n, err := r.resolve(t.view, rev)
	if err == nil {
		n, err = t.real(n)
	}
	if err != nil {
		return nil, err
	}
	bookmark := ""
	if _, ok := t.view.Bookmarks[rev]; ok || rev == t.view.Current {
		bookmark = rev
	}
	to, err := r.stateRef(n)
	if err != nil {
		return nil, err
	}
	res, err := t.switchTo(ctx, to)
	if err != nil {
		return nil, err
	}
	t.view.Current = bookmark
	res.Bookmark = bookmark
	if err := t.commit("checkout"); err != nil {
		return nil, err
	}
	r.saveManifest()
	return res, nil
}

// switchTo writes what differs between the working copy's base and another state, which becomes the base of the view.
// The manifest is saved by the caller, once the operation stands.
func (t *tx) switchTo(ctx context.Context, to StateRef) (*CheckoutResult, error) {
	base, err := t.r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	return t.switchFrom(ctx, base, to)
}

func (t *tx) switchFrom(ctx context.Context, base, to StateRef) (*CheckoutResult, error) {
	r := t.r
	m, err := r.loadManifest(base)
	if err != nil {
		return nil, err
	}
	res := &CheckoutResult{State: to}
	c, err := r.planCheckout(base, to)
	if err != nil {
		return nil, err
	}
	if err := r.applyPlan(ctx, m, c, nil); err != nil {
		return nil, err
	}
	for i := range c.plan {
		if c.plan[i].Op == worktree.Remove {
			res.Removed++
		} else {
			res.Written++
		}
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	m.SetBase(to.Num, cone.BaseID(to.ID))
	t.view.Base = -1
	if to.Num != NoState {
		t.view.Base = int64(to.Num)
	}
	return res, nil
}

// plan is what a checkout will do, and where the contents come from.
type plan struct {
	r       *Repo
	state   uint32 // whose files it writes
	plan    []worktree.Action
	entries map[string]state.Entry
	texts   map[string][]byte // contents at hand, by path; nil for one that an entry has
	bytes   int64
	read    atomic.Int64 // bytes of contents since the log was let go of
}

// readAtOnce is after how many bytes of contents a checkout lets go of what it read of the log: nothing of it is needed again.
const readAtOnce = 128 << 20

// write plans to write a file. Whatever the repository says, no name that could lead outside or into a repository's own
// directory is written.
func (p *plan) write(e *state.Entry) error {
	if err := safepath.Check(e.Path); err != nil {
		return &Error{Text: "cannot write " + safepath.Quote(e.Path) + ": " + err.Error(), Err: err}
	}
	w := unseen(e)
	p.plan = append(p.plan, worktree.Action{Path: e.Path, Op: worktree.Write, Kind: w.Kind, Exec: w.Exec, Size: w.Size, Hash: w.Hash})
	p.entries[e.Path] = *e
	p.bytes += w.Size
	return nil
}

// contents are those that it writes as changes brought them.
func (p *plan) contents() func(yield func(change.Hash) bool) {
	return func(yield func(change.Hash) bool) {
		for i := range p.plan {
			a := &p.plan[i]
			e, ok := p.entries[a.Path]
			if a.Op == worktree.Write && ok && p.texts[a.Path] == nil && e.Size >= inlineBelow && (e.Kind != change.Text || e.Weave == 0) && !yield(e.Hash) {
				return
			}
		}
	}
}

// Content gives a content to write.
func (p *plan) Content(dst []byte, a *worktree.Action) ([]byte, error) {
	if text := p.texts[a.Path]; text != nil {
		return append(dst, text...), nil
	}
	out := dst
	err := p.entry(a.Path, func(e *state.Entry) (err error) {
		out, err = p.r.content(dst, e)
		return err
	})
	return out, err
}

// entry runs fn with the entry of a path, found again when the trees had to be made anew.
func (p *plan) entry(path string, fn func(e *state.Entry) error) error {
	e, ok := p.entries[path]
	if !ok {
		return fmt.Errorf("no content for %s", safepath.Quote(path))
	}
	if p.read.Add(int64(e.Size)) > readAtOnce {
		p.read.Store(0)
		p.r.store.Release()
	}
	again := false
	_, err := mended(p.r, func() (struct{}, error) {
		if again {
			tree, err := p.r.tree(p.state)
			if err != nil {
				return struct{}{}, err
			}
			if e, ok, err = tree.Get(path); err != nil || !ok {
				return struct{}{}, errors.Join(err, fmt.Errorf("no content for %s", safepath.Quote(path)))
			}
		}
		again = true
		return struct{}{}, fn(&e)
	})
	return err
}

// Stream writes a large content.
func (p *plan) Stream(w io.Writer, a *worktree.Action) error {
	if text := p.texts[a.Path]; text != nil {
		_, err := w.Write(text)
		return err
	}
	return p.entry(a.Path, func(e *state.Entry) error { return p.r.writeContent(w, e) })
}

func (r *Repo) planCheckout(from, to StateRef) (*plan, error) {
	done := r.opt.Timings.Phase("plan checkout")
	defer done(0)
	a, err := r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	b, err := r.tree(to.Num)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	p := &plan{r: r, state: to.Num, entries: map[string]state.Entry{}}
	err = state.Diff(a, b, func(old, new *state.Entry) error {
		if old != nil && !inCone(cone, old) {
			old = nil
		}
		if new != nil && !inCone(cone, new) {
			new = nil
		}
		switch {
		case old == nil && new == nil:
		case new == nil:
			p.plan = append(p.plan, worktree.Action{Path: old.Path, Op: worktree.Remove})
		case old != nil && diskKind(old.Kind) == diskKind(new.Kind) && old.Hash == new.Hash && old.Size == new.Size:
			if old.Exec != new.Exec && new.Kind != change.Link {
				p.plan = append(p.plan, worktree.Action{Path: new.Path, Op: worktree.Chmod, Exec: new.Exec})
			}
		default:
			return p.write(new)
		}
		return nil
	})
	return p, err
}

// diskKind is a body's kind as the disk knows it: text and binary are files.
func diskKind(k change.Kind) change.Kind {
	if k == change.Text {
		return change.Binary
	}
	return k
}

// applyPlan writes a plan. Unrecorded contents may go only where they were kept aside with the stat given.
func (r *Repo) applyPlan(ctx context.Context, m *worktree.Manifest, p *plan, kept map[string]vfs.Stat) error {
	if len(p.plan) == 0 {
		return nil
	}
	if err := r.need(p.contents()); err != nil {
		return err // before anything is touched
	}
	done := r.opt.Timings.Phase("write files")
	defer func() { done(p.bytes) }()
	root, err := r.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	opts := worktree.ApplyOptions{Kept: kept}
	if len(p.plan) > massFiles {
		r.opt.Progress.Begin("Writing files", p.bytes, true)
		defer r.opt.Progress.End()
		opts.Progress = func(_ int, bytes int64) { r.opt.Progress.Add(bytes) }
	}
	err = worktree.Apply(ctx, root, m, p.plan, p, opts)
	var lose *worktree.LoseError
	if errors.As(err, &lose) {
		next := "Record it with oxy commit, or drop it with oxy discard, then try again."
		if kept != nil { // it is a discard that stops here
			next = "It stands where a recorded file was, or was saved this moment. Move it away or delete it, then try again."
		}
		return &Error{Text: "this would overwrite what is not recorded: " + quoteSome(lose.Paths), Next: next, Err: err}
	}
	if err != nil && ctx.Err() == nil {
		return fileError("write the working copy", err)
	}
	return err
}

// quoteSome lists paths, not more than a line or two of them.
func quoteSome(paths []string) string {
	s := ""
	for i, p := range paths {
		if i == 8 {
			return fmt.Sprintf("%s and %d more", s, len(paths)-i)
		}
		if i > 0 {
			s += ", "
		}
		s += safepath.Quote(p)
	}
	return s
}

// CheckoutFiles writes files as a state has them, without changing where the working copy stands.
func (r *Repo) CheckoutFiles(ctx context.Context, s StateRef, paths []string) (*CheckoutResult, error) {
	return transact(r, func(t *tx) (*CheckoutResult, error) { return t.checkoutFiles(ctx, s, paths) })
}

func (t *tx) checkoutFiles(ctx context.Context, s StateRef, paths []string) (*CheckoutResult, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	m, err := r.loadManifest(base)
	if err != nil {
		return nil, err
	}
	tree, err := r.tree(s.Num)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	p := &plan{r: r, state: s.Num, entries: map[string]state.Entry{}}
	for _, path := range paths {
		if err := r.refuseOutside(base, path); err != nil {
			return nil, err
		}
		n := len(p.plan)
		err := tree.Walk(path, func(e *state.Entry) error {
			if !inCone(cone, e) {
				return nil
			}
			if e.Kind != change.Subrepo {
				return p.write(e)
			}
			if e.Path == path {
				return &Error{Text: safepath.Quote(path) + " is a subrepo: its pin is no file", Next: "To take it to where it is pinned: oxy subrepo update " + safepath.Quote(path)}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(p.plan) == n {
			return nil, &Error{Text: "there is no file " + safepath.Quote(path) + " in that state", Next: "See which there are with: oxy files"}
		}
	}
	if err := t.writeAside(ctx, m, p, nil); err != nil {
		return nil, err
	}
	return &CheckoutResult{State: base, Bookmark: t.view.Current, Written: len(p.plan)}, nil
}

// writeAside writes files that are not the base's: afterwards the manifest again says what the base has there.
func (t *tx) writeAside(ctx context.Context, m *worktree.Manifest, p *plan, kept map[string]vfs.Stat) error {
	r := t.r
	if err := r.applyPlan(ctx, m, p, kept); err != nil {
		return err
	}
	return t.restoreManifest(m, p.plan)
}

func (t *tx) restoreManifest(m *worktree.Manifest, plan []worktree.Action) error {
	edits, err := mended(t.r, func() ([]worktree.Edit, error) { return t.baseEdits(m, plan) })
	if err != nil {
		return err
	}
	if err := m.Update(edits); err != nil {
		return err
	}
	_ = m.Save() // it is derived: the next scan finds out
	return nil
}

// baseEdits makes the manifest say of the paths of a plan what the base has there.
func (t *tx) baseEdits(m *worktree.Manifest, plan []worktree.Action) (edits []worktree.Edit, err error) {
	tree, err := t.r.tree(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	cone, err := t.r.workingCone()
	if err != nil {
		return nil, err
	}
	for i := range plan {
		e, ok, err := tree.Get(plan[i].Path)
		if err != nil {
			return nil, err
		}
		if !ok || !inCone(cone, &e) {
			edits = append(edits, worktree.Edit{Path: plan[i].Path, Delete: true})
		} else if was, _, err := m.Lookup(e.Path); err != nil || was.Hash != diskHash(e.Hash) || was.Exec != unseen(&e).Exec || was.Kind != unseen(&e).Kind {
			edits = append(edits, worktree.Edit{Path: e.Path, Entry: unseen(&e)})
		}
	}
	return edits, nil
}
