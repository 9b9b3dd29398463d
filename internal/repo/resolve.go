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
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/weave"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// ResolveOptions say how conflicts of some files are decided. The working copy is changed; the next record says so.
type ResolveOptions struct {
	Paths []string // where the files are shown
	Block string   // the id of one conflict; "" for all of the files
	// Take names sides in the order in which they shall stand; of other than text exactly one. A side is named by its number,
	// as Conflict lists them, from 1, or by a bookmark, a tag or a change that only this side has.
	// Base takes what was there before both instead. With neither, what the working copy has decides.
	Take []string
	Base bool
	// Merge, if not nil, is asked for the text in the place of a block.
	Merge func(c *Conflict, base []byte) ([]byte, error)
}

// Decision is a conflict that was decided.
type Decision struct {
	Conflict
	Took []int // the sides that were taken, from 1
	Done bool  // its marks were edited away before
}

// ResolveResult says what was decided, and what of the files is still open.
type ResolveResult struct {
	Decided []Decision
	Open    []Conflict
}

// Resolve decides conflicts of files, all in one operation. What it overwrites in the working copy is kept in the store, and
// Undo brings it back.
func (r *Repo) Resolve(ctx context.Context, opt ResolveOptions) (*ResolveResult, error) {
	return transact(r, func(t *tx) (*ResolveResult, error) { return t.resolve(ctx, opt) })
}

// resolving is a decision in the making.
type resolving struct {
	t       *tx
	r       *Repo
	opt     ResolveOptions
	base    StateRef
	tree    state.Tree
	holders map[string]holder
	settled []string // conflicts that the next record settles
	files   []outcome
	result  ResolveResult
}

// outcome is what the working copy shall have of a file.
type outcome struct {
	path string
	base state.Entry
	dead bool
	exec *bool
	text []byte       // nil for what is there
	body *state.Entry // nil for what is there
	to   string       // where it moves, or ""
}

func (t *tx) resolve(ctx context.Context, opt ResolveOptions) (*ResolveResult, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	s := &resolving{t: t, r: r, opt: opt, base: base, holders: map[string]holder{}, settled: settledIn(t.view)}
	if s.tree, err = r.tree(base.Num); err != nil {
		return nil, err
	}
	all, err := r.conflictsAt(base, t.view)
	if err != nil {
		return nil, err
	}
	for _, path := range opt.Paths {
		var of []*Conflict
		for i := range all {
			if all[i].Path == path {
				of = append(of, &all[i])
			}
		}
		if len(of) == 0 {
			return nil, &Error{Text: "there is no conflict in " + safepath.Quote(path), Next: "See what is left to decide with: oxy conflicts", No: true}
		}
		if err := r.refuseOutside(base, path); err != nil {
			return nil, err
		}
		if err := s.file(path, of); err != nil {
			return nil, err
		}
	}
	if len(s.result.Decided) == 0 {
		return nil, s.decidedNothing()
	}
	return &s.result, s.finish(ctx)
}

// decidedNothing says why.
func (s *resolving) decidedNothing() error {
	paths := quoteSome(s.opt.Paths)
	if s.opt.Block != "" {
		return &Error{Text: fmt.Sprintf("there is no conflict %s in %s", safepath.Quote(s.opt.Block), paths), Next: "See which there are with: oxy conflicts", No: true}
	}
	return &Error{Text: "a side cannot be taken of files that meet at one name",
		Next: "Rename or remove one of them: oxy mv, oxy rm. Or keep both as they are shown: oxy resolve " + paths}
}

// file decides the conflicts of one file.
func (s *resolving) file(path string, of []*Conflict) error {
	e, ok, err := s.tree.Get(path)
	if err != nil || !ok {
		return errors.Join(err, fmt.Errorf("%s is not there", safepath.Quote(path)))
	}
	o := outcome{path: path, base: e}
	var blocks []*Conflict
	for _, c := range of {
		switch {
		case s.opt.Block != "" && c.ID != s.opt.Block, c.Kind == "name" && s.takes():
			if !c.Settled {
				s.result.Open = append(s.result.Open, *c)
			}
		case c.Kind == "text":
			blocks = append(blocks, c)
		default:
			if err := s.register(&o, c); err != nil {
				return err
			}
		}
	}
	if len(blocks) > 0 {
		if err := s.text(&o, blocks); err != nil {
			return err
		}
	}
	s.files = append(s.files, o)
	return nil
}

// takes tells whether something is to be put in the place of what the working copy has.
func (s *resolving) takes() bool { return len(s.opt.Take) > 0 || s.opt.Base || s.opt.Merge != nil }

// register decides a conflict that is not one of lines.
func (s *resolving) register(o *outcome, c *Conflict) error {
	d := Decision{Conflict: *c}
	if s.opt.Base || s.opt.Merge != nil || len(s.opt.Take) > 1 {
		return &Error{Text: fmt.Sprintf("%s is not a conflict of lines: one side can be taken of it", c.ID), Next: "See its sides with: oxy conflicts " + safepath.Quote(c.Path)}
	}
	if len(s.opt.Take) == 1 {
		n, err := s.side(c, s.opt.Take[0])
		if err != nil {
			return err
		}
		if err := s.takeSide(o, c, &c.Sides[n-1]); err != nil {
			return err
		}
		d.Took = []int{n}
	}
	s.settled = append(s.settled, c.ID)
	d.Settled = true
	s.result.Decided = append(s.result.Decided, d)
	return nil
}

// takeSide has the working copy as one side of a conflict has it.
func (s *resolving) takeSide(o *outcome, c *Conflict, side *ConflictSide) error {
	if side.undid && c.Kind != "life" {
		return &Error{Text: "that side took something back: it cannot be taken", Next: "Make the file what you want, then: oxy resolve " + safepath.Quote(c.Path)}
	}
	switch c.Kind {
	case "life":
		o.dead = side.Dead
	case "place":
		if side.Path != c.Path {
			o.to = side.Path
		}
	case "mode":
		o.exec = &side.exec
	case "body":
		return s.takeBody(o, side)
	}
	return nil
}

// takeBody has what a side has a file's body.
func (s *resolving) takeBody(o *outcome, side *ConflictSide) error {
	as := o.base
	if side.kind == change.Subrepo || as.Kind == change.Subrepo {
		if side.kind == as.Kind && side.hash == as.Hash {
			return nil // it is what stands there
		}
		return &Error{Text: fmt.Sprintf("%s is a subrepo, whose pin is not in the working copy", safepath.Quote(o.path)),
			Next: fmt.Sprintf("Check out in it what you want, then: oxy subrepo update --here %s", safepath.Quote(o.path))}
	}
	as.Kind = side.kind
	if as.Kind != change.Text {
		as.Size, as.Hash, as.Body = side.size, side.hash, side.body
		o.body = &as
		return nil
	}
	l, err := s.r.loadWeave(&o.base)
	if err != nil {
		return err
	}
	if o.text, err = s.r.show([]byte{}, o.base.File, l, s.r.newReach()); err != nil {
		return err
	}
	as.Size, as.Hash = uint64(len(o.text)), hashOf(o.text)
	o.body = &as
	return nil
}

// text decides blocks of a file's lines. Those that were edited away are decided already.
func (s *resolving) text(o *outcome, blocks []*Conflict) error {
	text := o.text
	if text == nil {
		var err error
		if text, err = s.r.workingText(o.path); err != nil {
			return err
		}
	}
	open := map[string]*Conflict{}
	for _, c := range blocks {
		switch {
		case !weave.HasMark(text, c.ID):
			s.result.Decided = append(s.result.Decided, Decision{Conflict: *c, Done: true})
		case !s.takes():
			return &Error{Text: fmt.Sprintf("conflict %s still stands in %s, line %d", c.ID, safepath.Quote(c.Path), c.Line),
				Next: "Edit the file until none of its marks is left, or take a side: oxy resolve --take 1 " + safepath.Quote(c.Path), No: true}
		default:
			open[c.ID] = c
		}
	}
	if len(open) == 0 {
		return nil
	}
	var err error
	o.text, err = s.replace(o, text, open)
	return err
}

// replace writes what was chosen in the stead of blocks.
func (s *resolving) replace(o *outcome, text []byte, open map[string]*Conflict) ([]byte, error) {
	l, err := s.r.loadWeave(&o.base)
	if err != nil {
		return nil, err
	}
	_, page, err := s.r.page(o.base.File, l, s.r.newReach())
	if err != nil {
		return nil, err
	}
	placed := map[*weave.Block]*weave.Placed{}
	for _, b := range page.Placed() {
		placed[b.Block] = &b
	}
	var failed error
	out, _ := page.Resolve(text, func(b *weave.Block) ([][]byte, bool) {
		p := placed[b]
		c := open[p.Name]
		if c == nil || failed != nil {
			return nil, false
		}
		texts, took, err := s.decision(c, p)
		if err != nil {
			failed = err
			return nil, false
		}
		delete(open, p.Name)
		s.result.Decided = append(s.result.Decided, Decision{Conflict: *c, Took: took})
		return texts, true
	})
	if failed != nil {
		return nil, failed
	}
	for _, b := range page.Placed() {
		if c := open[b.Name]; c != nil {
			return nil, &Error{Text: fmt.Sprintf("conflict %s does not stand unchanged in %s: it was edited already", c.ID, safepath.Quote(c.Path)),
				Next: "Finish the edit and record it with oxy commit, or begin again with: oxy discard " + safepath.Quote(c.Path)}
		}
	}
	return append([]byte{}, out...), nil // an empty text is one, too
}

// decision gives the texts that shall stand in the stead of a block, one after the other, and which sides they are.
func (s *resolving) decision(c *Conflict, b *weave.Placed) (texts [][]byte, took []int, err error) {
	switch {
	case s.opt.Merge != nil:
		text, err := s.opt.Merge(c, b.Base)
		return [][]byte{text}, nil, err
	case s.opt.Base:
		return [][]byte{b.Base}, nil, nil
	}
	for _, word := range s.opt.Take {
		n, err := s.side(c, word)
		if err != nil {
			return nil, nil, err
		}
		texts, took = append(texts, b.Sides[n-1]), append(took, n)
	}
	return texts, took, nil
}

// workingText reads a working file that holds text.
func (r *Repo) workingText(path string) ([]byte, error) {
	b, err := r.fs.ReadFile(r.disk(path), change.MaxText)
	if err != nil {
		return nil, readError(safepath.Quote(path), err)
	}
	return b, nil
}

// plan tells what to write, what goes by that, and what is left in its place.
func (s *resolving) plan() (p *plan, take []string, left map[string]change.Hash, execs map[string]bool, err error) {
	p = &plan{r: s.r, state: s.base.Num, entries: map[string]state.Entry{}, texts: map[string][]byte{}}
	left, execs = map[string]change.Hash{}, map[string]bool{}
	for i := range s.files {
		o := &s.files[i]
		exec := o.base.Exec
		if o.exec != nil {
			exec = *o.exec
			execs[o.path] = exec
		}
		switch {
		case o.dead:
			p.plan = append(p.plan, worktree.Action{Path: o.path, Op: worktree.Remove})
			delete(execs, o.path)
		case o.body != nil:
			o.body.Exec = exec
			left[o.path] = o.body.Hash
			if o.text != nil { // what is decided of its lines too
				o.body.Size, o.body.Hash = uint64(len(o.text)), hashOf(o.text)
				p.texts[o.path], left[o.path] = o.text, o.body.Hash
			}
			if err := p.write(o.body); err != nil {
				return nil, nil, nil, nil, err
			}
		case o.text != nil:
			h := hashOf(o.text)
			p.texts[o.path], left[o.path] = o.text, h
			p.plan = append(p.plan, worktree.Action{Path: o.path, Op: worktree.Write, Exec: exec, Size: int64(len(o.text)), Hash: diskHash(h)})
		case o.exec != nil:
			p.plan = append(p.plan, worktree.Action{Path: o.path, Op: worktree.Chmod, Exec: exec})
		default:
			continue
		}
		take = append(take, o.path)
	}
	return p, take, left, execs, nil
}

// finish keeps aside what goes, and writes.
func (s *resolving) finish(ctx context.Context) error {
	t, r := s.t, s.r
	m, err := r.loadManifest(s.base)
	if err != nil {
		return err
	}
	p, take, left, execs, err := s.plan()
	if err != nil {
		return err
	}
	moves, err := s.moves()
	if err != nil {
		return err
	}
	var kept map[string]vfs.Stat
	if len(take) > 0 {
		if kept, err = t.keepAside(take, left, execs); err != nil {
			return err
		}
	}
	if err := t.settle(s.settled); err != nil {
		return err
	}
	if err := t.keepMoves(moves); err != nil {
		return err
	}
	if err := t.commit("resolve"); err != nil {
		return err
	}
	if len(p.plan) > 0 {
		if err := r.applyPlan(ctx, m, p, kept); err != nil {
			return err
		}
		if err := t.restoreManifest(m, p.plan); err != nil {
			return err
		}
	}
	return t.moveAll(moves)
}

// maxSettled bounds what a view keeps of settled conflicts, in bytes.
const maxSettled = 60 << 10

// settle keeps which conflicts the next record settles.
func (t *tx) settle(ids []string) error {
	slices.Sort(ids)
	b := []byte(strings.Join(slices.Compact(ids), "\n"))
	if len(b) > maxSettled {
		return &Error{Text: "too many conflicts are decided and not recorded", Next: "Record them with oxy commit, then go on."}
	}
	if delete(t.view.Kept, keptSettled); len(b) > 0 {
		t.view.Kept[keptSettled] = b
	}
	return nil
}
