package repo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// RollbackOptions say how a change is taken back.
type RollbackOptions struct {
	Message string // "" for one that names the change
	Author  *change.Person
	Time    *change.Time
	DryRun  bool // say what would happen, and change nothing
}

// Rollback records that a change is undone. Rolling that back in turn brings it again.
func (r *Repo) Rollback(ctx context.Context, rev string, opt RollbackOptions) (*MoveResult, error) {
	author, err := r.author(&CommitOptions{Author: opt.Author})
	if err != nil {
		return nil, err
	}
	return transact(r, func(t *tx) (*MoveResult, error) { return t.rollback(ctx, rev, opt, author) })
}

func (t *tx) rollback(ctx context.Context, rev string, opt RollbackOptions, author change.Person) (*MoveResult, error) {
	r := t.r
	p, err := r.ResolveChange(rev)
	if err != nil {
		return nil, err
	}
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	if set, err := r.setOf(from.Num); err != nil {
		return nil, err
	} else if !set.Has(p) {
		return nil, &Error{Text: "the working copy does not stand on " + r.ShortID(p), Next: "See what it has with: oxy log", No: true}
	}
	if by, ok, err := r.undoneBy(from, p); err != nil {
		return nil, err
	} else if ok {
		return nil, &Error{Text: fmt.Sprintf("%s is undone already, by %s", r.ShortID(p), r.ShortID(by)), Next: "Bring it back with: oxy rollback " + r.ShortID(by), No: true}
	}
	tree, err := r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	f, err := r.newFuse(tree, t.r.newReach())
	if err != nil {
		return nil, err
	}
	c, deps, err := t.undoing(f, p)
	if err != nil {
		return nil, err
	}
	c.Author, c.Message, c.Time = author, opt.Message, timeOr(opt.Time)
	if c.Message == "" {
		info, err := r.Info(p)
		if err != nil {
			return nil, err
		}
		c.Message = fmt.Sprintf("Undo %.*s: %s", markDigits, r.store.ChangeID(p), firstLine(info.Message))
	}
	n, err := t.putDraft(c, deps)
	if err != nil {
		return nil, err
	}
	next, err := t.appendStep(from, n)
	if err != nil {
		return nil, err
	}
	if err := t.growTree(next, tree, []uint32{n}); err != nil {
		return nil, err
	}
	res := &MoveResult{From: from, Came: []uint32{n}, Followed: NoState, Made: t.infoOf(n, c)}
	if opt.DryRun {
		return res, t.preview(ctx, res, next)
	}
	return res, t.moveTo(ctx, res, next, "rollback")
}

// undoneBy finds the live change of a state that undoes change p. Whoever undoes a change acts where that did: on its first
// file, for one.
func (r *Repo) undoneBy(s StateRef, p uint32) (uint32, bool, error) {
	o, err := r.origin(p)
	if err != nil {
		return 0, false, err
	}
	if len(o.files) == 0 {
		return r.undoneInLog(s, p)
	}
	tree, err := r.tree(s.Num)
	if err != nil {
		return 0, false, err
	}
	f, err := r.newFuse(tree, r.newReach())
	if err != nil {
		return 0, false, err
	}
	did := &o.files[0]
	x, err := f.file(did.ID)
	if err != nil {
		return 0, false, err
	}
	var by func(n uint32) (uint32, bool, error)
	by = func(n uint32) (uint32, bool, error) {
		var undoers []uint32
		if did.Writes != 0 {
			for _, a := range x.acts {
				b, err := r.bodyOf(a.Change)
				if err != nil {
					return 0, false, storeError(err)
				}
				if b.undoes == n {
					undoers = append(undoers, a.Change)
				}
			}
		} else {
			if err := f.load(x); err != nil {
				return 0, false, err
			}
			undoers = x.weave.w.UndoneBy(n)
		}
		for _, u := range undoers {
			if _, undone, err := by(u); err != nil || !undone {
				return u, err == nil, err
			}
		}
		return 0, false, nil
	}
	return by(p)
}

// undoneInLog is undoneBy for a change that did nothing to any file: only what depends on it tells who undid it.
func (r *Repo) undoneInLog(s StateRef, p uint32) (by uint32, undone bool, err error) {
	later, err := r.store.Dependents([]uint32{p})
	if err != nil {
		return 0, false, storeError(err)
	}
	set, err := r.setOf(s.Num)
	if err != nil {
		return 0, false, err
	}
	undoneBefore := map[uint32]bool{}
	for _, n := range slices.Backward(later) {
		if !set.Has(n) || undoneBefore[n] {
			continue
		}
		b, err := r.bodyOf(n)
		if err != nil {
			return 0, false, storeError(err)
		}
		if b.undoes != NoState {
			if undoneBefore[b.undoes] = true; b.undoes == p {
				by, undone = n, true
			}
		}
	}
	return by, undone, nil
}

// undoing makes the change that takes change p back, in local numbers, and what it depends on.
func (t *tx) undoing(f *fuse, p uint32) (*change.Change, []uint32, error) {
	r := t.r
	o, err := r.origin(p)
	if err != nil {
		return nil, nil, err
	}
	self := r.store.NumChanges() + uint32(len(t.made))
	c := &change.Change{Undoes: t.idOf(p)}
	n := needs{f: f, deps: []uint32{p}}
	for i := range o.files {
		did := &o.files[i]
		x, err := f.file(did.ID)
		if err != nil {
			return nil, nil, err
		}
		// The undoing of an undoing does what was done first.
		dead := did.ID.Change == o.change && !o.taken || did.Writes&change.Gone != 0 && o.taken
		if err := n.act(x, did.Writes, len(did.Hunks) > 0, dead); err != nil {
			return nil, nil, err
		}
		if !touchesText(o.change, did) {
			continue
		}
		if err := f.load(x); err != nil {
			return nil, nil, err
		}
		patch, deps, err := x.weave.w.Undo(weave.Source{Change: self, Ord: uint32(len(c.Files))}, p, f.history(x))
		if err != nil {
			return nil, nil, fmt.Errorf("undo what %s did to %q: %w", r.ShortID(p), x.was.place, err)
		}
		n.deps = append(n.deps, deps...)
		c.Files = append(c.Files, change.File{ID: did.ID, Hunks: patch.Hunks})
	}
	if err := t.claims(f, &n, c, self); err != nil {
		return nil, nil, err
	}
	return c, minimalOf(n.deps, t.depsOf), nil
}

// claims adds what a change depends on because files come to paths by it.
func (t *tx) claims(before *fuse, n *needs, c *change.Change, self uint32) error {
	b := &body{files: c.Files, undoes: NoState, contents: make([][]byte, len(c.Files))}
	if !c.Undoes.IsZero() {
		b.undoes, _ = t.FindChange(c.Undoes)
	}
	return t.claimsOf(before, n, b, self)
}

func (t *tx) claimsOf(before *fuse, n *needs, b *body, self uint32) error {
	r := t.r
	r.setFresh(self, b)
	h := t.r.newReach()
	h.inTheMaking(self, n.deps)
	after, err := r.newFuse(before.base, h)
	if err != nil {
		return err
	}
	if err := after.add(self); err != nil {
		return err
	}
	if err := after.decide(); err != nil {
		return err
	}
	for _, x := range after.files {
		if !x.exists || x.was.alive && x.was.place == x.entry.Path {
			continue
		}
		if err := n.claim(x, x.entry.Path); err != nil {
			return err
		}
	}
	return nil
}

// putDraft encodes a change whose files are in local numbers and that brings no contents, and puts it.
func (t *tx) putDraft(c *change.Change, deps []uint32) (uint32, error) {
	return t.putWith(c, make([][]byte, len(c.Files)), deps)
}

// putWith is putDraft, of a change that brings contents: nil is one that is in the store already.
func (t *tx) putWith(c *change.Change, contents [][]byte, deps []uint32) (uint32, error) {
	self := t.r.store.NumChanges() + uint32(len(t.made))
	b := &body{files: c.Files, undoes: NoState, contents: contents, message: c.Message}
	if !c.Undoes.IsZero() {
		b.undoes, _ = t.FindChange(c.Undoes)
	}
	out := *c
	out.Files = slices.Clone(c.Files)
	for i := range out.Files {
		out.Files[i].Hunks = cloneHunks(c.Files[i].Hunks)
		out.Files[i].Over = slices.Clone(c.Files[i].Over)
	}
	texts, err := newSink(t).contents(c.Files, contents)
	if err != nil {
		return 0, err
	}
	return t.encode(&out, b, deps, self, texts)
}

// encode puts a change whose files are in local numbers, which become refs, and gives its number: self, but where it is there
// already. Until the transaction is over its body is read from b.
func (t *tx) encode(c *change.Change, b *body, deps []uint32, self uint32, texts []byte) (uint32, error) {
	c.Deps = make([]change.ID, len(deps))
	for i, d := range deps {
		c.Deps[i] = t.idOf(d)
	}
	change.SortIDs(c.Deps)
	c.Unbind(self, t.idOf)
	if err := c.Validate(); err != nil {
		return 0, fmt.Errorf("make the change: %w", err)
	}
	meta, enc := change.Encode(c)
	if len(enc) > change.MaxBody {
		return 0, &Error{Text: "this is more than one change can hold", Next: "Record it in parts: oxy commit PATH..."}
	}
	rec := store.Record{ID: change.Sum(meta, enc), Meta: meta, Body: enc, Texts: texts}
	if n, exists := t.FindChange(rec.ID); exists {
		return n, nil // it was recorded before, in the same second, and taken back
	}
	var err error
	if rec.Unhashed, err = t.signatureOf(rec.ID, &c.Author); err != nil {
		return 0, err
	}
	n, err := t.PutChange(rec, deps, c.Time.Sec)
	if err != nil {
		return 0, err
	}
	t.made = append(t.made, made{rec.ID, deps})
	if b != nil {
		b.id, b.deps = rec.ID, deps
		t.r.setFresh(n, b)
	}
	return n, nil
}

// infoOf describes a change of this transaction, which the store does not show yet.
func (t *tx) infoOf(n uint32, c *change.Change) *ChangeInfo {
	return &ChangeInfo{Num: n, ID: t.idOf(n), Author: c.Author, Time: c.Time, Message: c.Message, Extra: c.Extra, Undoes: c.Undoes}
}

func timeOr(t *change.Time) change.Time {
	if t != nil {
		return *t
	}
	now := time.Now()
	_, zone := now.Zone()
	return change.Time{Sec: now.Unix(), Zone: int16(zone / 60)}
}
