package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
)

// A record of files above these bounds is likely a mistake: a build's output, a disk image, a directory that should be
// ignored. It is said first.
const (
	largeFile = 100 << 20
	manyFiles = 20_000
)

// Commit records.
func (r *Repo) Commit(ctx context.Context, opt CommitOptions) (*CommitResult, error) {
	if opt.Message == "" && opt.Edit != nil {
		if err := r.askMessage(ctx, &opt); err != nil {
			return nil, err
		}
	}
	author, err := r.author(&opt)
	if err != nil {
		return nil, err
	}
	if err := r.readyToSign(opt.Sign); err != nil {
		return nil, err
	}
	return transact(r, func(t *tx) (*CommitResult, error) {
		t.sign = opt.Sign
		return t.record(ctx, &opt, author)
	})
}

// askMessage shows what would be recorded and asks what to say about it, before the lock is taken.
func (r *Repo) askMessage(ctx context.Context, opt *CommitOptions) error {
	initial := ""
	if opt.Amend {
		n, err := r.ResolveChange("@")
		if err != nil {
			return err
		}
		c, err := r.Info(n)
		if err != nil {
			return err
		}
		initial = c.Message
	}
	st, err := r.Status(ctx, StatusOptions{Paths: opt.Paths, All: true})
	if err != nil {
		return err
	}
	files := st.Files
	for _, u := range st.Untracked {
		files = append(files, FileChange{What: Added, New: &Side{Path: u}})
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	if len(files) == 0 && !opt.Amend && len(settledIn(v)) == 0 {
		return nothingToRecord(opt.Paths)
	}
	opt.Message, err = opt.Edit(initial, files)
	return err
}

func nothingToRecord(paths []string) error {
	if len(paths) > 0 {
		return &Error{Text: "nothing to record: nothing differs there", No: true}
	}
	return &Error{Text: "nothing to record: no file differs from the last change", No: true}
}

// record finds what differs, makes the change, and commits it.
func (t *tx) record(ctx context.Context, opt *CommitOptions, author change.Person) (*CommitResult, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	p, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	w := &work{ctx: ctx, t: t, base: base, on: base, opt: opt, pending: p, sink: newSink(t)}
	if opt.Amend {
		if err := w.standBefore(); err != nil {
			return nil, err
		}
	}
	if err := w.find(); err != nil {
		return nil, err
	}
	if len(w.recs) == 0 && !opt.Amend && len(settledIn(t.view)) == 0 {
		return nil, nothingToRecord(opt.Paths)
	}
	n, err := w.make(author)
	if err != nil {
		return nil, err
	}
	if n < r.store.NumChanges() { // it was there, with numbers of its own
		w.general = true
	}
	next, err := t.appendStep(w.on, n)
	if err != nil {
		return nil, err
	}
	fresh := w.startManifest(next)
	err = w.grow(n, next)
	w.fresh = <-fresh
	if err != nil {
		return nil, err
	}
	t.view.Base = int64(next.Num)
	delete(t.view.Kept, keptSettled)
	if t.view.Current != "" {
		t.view.Bookmarks[t.view.Current] = next.Num
	}
	kind := "commit"
	if opt.Amend {
		kind = "amend"
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.commit(kind); err != nil {
		return nil, err
	}
	w.settle(next)
	res := &CommitResult{ID: r.store.ChangeID(n), Replaced: w.replaces, State: next, Bookmark: t.view.Current, Warnings: w.warnings, Skipped: w.skipped}
	for i := range w.recs {
		rec := &w.recs[i]
		res.Added += rec.added
		res.Deleted += rec.deleted
		res.Files = append(res.Files, rec.fileChange())
	}
	return res, nil
}

// make encodes the change and puts it.
func (w *work) make(author change.Person) (uint32, error) {
	r, t := w.t.r, w.t
	done := r.opt.Timings.Phase("make change")
	defer done(0)
	self := r.store.NumChanges()
	draft(self, w.recs)
	c := &change.Change{Author: author, Message: w.opt.Message, Time: timeOr(w.opt.Time), DirMoves: w.dirMoves()}
	if !w.replaces.IsZero() {
		// It stays the work of whoever wrote it, and of when, unless told otherwise.
		c.Extra = replacing(w.amended.Extra, w.replaces)
		if w.opt.Message == "" {
			c.Message = w.amended.Message
		}
		if w.opt.Author == nil {
			c.Author = w.amended.Author
		}
		if w.opt.Time == nil {
			c.Time = w.amended.Time
		}
	}
	deps, err := w.deps(self)
	if err != nil {
		return 0, err
	}
	c.Files = w.allFiles()
	for i := range c.Files {
		c.Files[i].Hunks = cloneHunks(c.Files[i].Hunks)
		c.Files[i].Over = slices.Clone(c.Files[i].Over)
	}
	var b *body
	if w.general {
		b = &body{undoes: NoState, files: w.allFiles(), contents: w.allContents(), message: c.Message}
	}
	texts, err := w.sink.contents(c.Files, w.allContents())
	if err != nil {
		return 0, err
	}
	return t.encode(c, b, minimalOf(deps, t.depsOf), self, texts)
}

// deps finds all that the record depends on. Where files were changed side by side it may add to what the record does.
func (w *work) deps(self uint32) (deps []uint32, err error) {
	w.general = w.keep || w.tree.Disputed()
	acted := slices.ContainsFunc(w.recs, func(rec recorded) bool { return rec.old != nil && rec.old.Acts != 0 })
	if w.general || acted {
		return w.reconcile(self)
	}
	n := needs{}
	for i := range w.recs {
		rec := &w.recs[i]
		n.deps = append(n.deps, rec.deps...)
		if rec.gone || rec.old != nil && rec.old.Path == rec.now.path {
			continue
		}
		by, err := w.tree.Vacated(rec.now.path)
		if err != nil {
			return nil, err
		}
		if len(by) > 0 && n.f == nil {
			if n.f, err = w.t.r.newFuse(w.tree, w.t.r.newReach()); err != nil {
				return nil, err
			}
		}
		if len(by) > 0 {
			if err := n.took(rec.now.path); err != nil {
				return nil, err
			}
		}
	}
	return n.deps, nil
}

// cloneHunks copies what Unbind will renumber: the weave still needs the local numbers.
func cloneHunks(hs []change.Hunk) []change.Hunk {
	out := slices.Clone(hs)
	for i := range out {
		h := &out[i]
		h.Del, h.Res, h.Solves = slices.Clone(h.Del), slices.Clone(h.Res), slices.Clone(h.Solves)
		for k := range h.Res {
			h.Res[k].By = slices.Clone(h.Res[k].By)
		}
	}
	return out
}

// grow makes the tree of the state that the change leads to.
func (w *work) grow(n uint32, next StateRef) error {
	r := w.t.r
	done := r.opt.Timings.Phase("tree")
	defer done(0)
	if w.general {
		if w.settling != nil && w.after != nil && len(w.after.nowDisputed()) == 0 {
			// Nothing of it is named by an id or ordered by one: what was tried out is what is.
			tree, err := w.after.write()
			if err != nil {
				return err
			}
			r.blocks.PutRoot(state.StateRoot{State: next.Num, Root: tree.Root()})
			return nil
		}
		return w.t.growTree(next, w.tree, []uint32{n})
	}
	o := r.newOverlay(w.tree)
	files := make([]change.File, len(w.recs))
	for i := range w.recs {
		rec := &w.recs[i]
		files[i] = rec.file
		if rec.old != nil {
			old := *rec.old
			o.files[old.File] = &touched{was: &old, now: old, weave: rec.weave}
		}
	}
	err := o.apply(n, files, func(ord uint32) (uint64, change.Hash, func() ([]byte, error), bool) {
		now := &w.recs[ord].now
		return now.size, now.hash, func() ([]byte, error) { return now.data, nil }, true
	})
	if err != nil {
		return fmt.Errorf("apply the new change: %w", err)
	}
	tree, err := o.finish()
	if err != nil {
		return err
	}
	r.blocks.PutRoot(state.StateRoot{State: next.Num, Root: tree.Root()})
	return nil
}

// dirMoves names the directories all of whose files moved to one other.
func (w *work) dirMoves() []change.DirMove {
	type pair struct{ from, to string }
	moved := map[pair]int{}
	for i := range w.recs {
		rec := &w.recs[i]
		if rec.gone || rec.old == nil || rec.old.Path == rec.now.path {
			continue
		}
		from, to := rec.old.Path, rec.now.path
		for {
			i, j := strings.LastIndexByte(from, '/'), strings.LastIndexByte(to, '/')
			if i < 0 || j < 0 || from[i:] != to[j:] {
				break
			}
			from, to = from[:i], to[:j]
			moved[pair{from, to}]++
		}
	}
	var out []change.DirMove
	for p, n := range moved {
		count := 0
		err := w.tree.Walk(p.from, func(*state.Entry) error {
			if count++; count > n {
				return errors.New("more")
			}
			return nil
		})
		if err == nil && count == n {
			out = append(out, change.DirMove{From: p.from, To: p.to})
		}
	}
	// Of nested ones the outermost tells all.
	slices.SortFunc(out, func(a, b change.DirMove) int { return strings.Compare(a.From, b.From) })
	return slices.DeleteFunc(out, func(m change.DirMove) bool {
		return slices.ContainsFunc(out, func(o change.DirMove) bool {
			return strings.HasPrefix(m.From, o.From+"/") && m.To == o.To+m.From[len(o.From):]
		})
	})
}

// fileChange tells a person what was recorded.
func (rec *recorded) fileChange() FileChange {
	var f FileChange
	if rec.old != nil {
		f.Old = entrySide(rec.old)
	}
	if !rec.gone {
		f.New = &Side{Path: rec.now.path, Kind: rec.now.kind, Exec: rec.now.exec, Size: int64(rec.now.size), Hash: rec.now.hash}
	}
	f.What = whatOf(f.Old, f.New)
	return f
}

func entrySide(e *state.Entry) *Side {
	return &Side{Path: e.Path, Kind: e.Kind, Exec: e.Exec && e.Kind != change.Link, Size: int64(e.Size), Hash: e.Hash}
}

// whatOf names the difference between two sides.
func whatOf(old, new *Side) What {
	switch {
	case old == nil:
		return Added
	case new == nil:
		return Removed
	case old.Path != new.Path:
		return Moved
	case (old.Kind == change.Link) != (new.Kind == change.Link), (old.Kind == change.Subrepo) != (new.Kind == change.Subrepo):
		return TypeChanged
	case old.Hash != new.Hash || old.Size != new.Size:
		return Modified
	case old.Exec != new.Exec:
		return ModeChanged
	}
	return Same
}

// sayMany says first when a record takes in many files that were never there. A first record of a large tree is what one
// does; and for each file that goes, one may have moved.
func (w *work) sayMany() error {
	files := len(w.added) - len(w.removed)
	if files <= manyFiles || w.base.Num == NoState {
		return nil
	}
	if w.opt.Large != nil {
		return w.opt.Large("", files, 0)
	}
	w.warnings = append(w.warnings, fmt.Sprintf("%d new files were recorded at once; if that was a mistake: oxy undo, and list them in .oxyignore", files))
	return nil
}

// sayLarge says first that a large file is about to be recorded. It may be called from many goroutines.
func (w *work) sayLarge(path string, bytes int64) error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	if w.opt.Large != nil {
		return w.opt.Large(path, 1, bytes)
	}
	w.warnings = append(w.warnings, fmt.Sprintf("%s, %d MiB, was recorded; if that was a mistake: oxy undo, and list it in .oxyignore", safepath.Quote(path), bytes>>20))
	return nil
}

func checkPaths(paths []string) error {
	for _, p := range paths {
		if err := safepath.Check(p); err != nil {
			return &Error{Text: "cannot record " + safepath.Quote(p) + ": " + err.Error(), Next: "Rename it, or list it in .oxyignore.", Err: err}
		}
	}
	return nil
}
