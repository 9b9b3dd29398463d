package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/weave"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// ResolveOptions say how conflicts of one file are decided. The working copy is changed; the next record says so.
type ResolveOptions struct {
	Path  string // where the file is shown
	Block string // the id of one conflict; "" for all of the file
	// Take names sides as Conflict lists them, from 1, in the order in which they shall stand; of other than text exactly one.
	// Base takes what was there before both instead. With neither, what the working copy has decides.
	Take []int
	Base bool
	// Merge, if not nil, is asked for the text in the place of a block.
	Merge func(c *Conflict, base []byte) ([]byte, error)
}

// ResolveResult says what was decided, and what of the file is still open.
type ResolveResult struct {
	Decided []Conflict
	Open    []Conflict
}

// Resolve decides conflicts of a file. What it overwrites in the working copy is kept in the store, and Undo brings it back.
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
	settled []string // conflicts that the next record settles
	plan    *plan
	take    []string               // working files whose contents go
	edited  map[string][]byte      // what they shall hold, of text
	left    map[string]change.Hash // and of others
	moved   [2]string              // from, to
	result  ResolveResult
}

func (t *tx) resolve(ctx context.Context, opt ResolveOptions) (*ResolveResult, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	s := &resolving{t: t, r: r, opt: opt, base: base, edited: map[string][]byte{}, left: map[string]change.Hash{}}
	s.settled = settledIn(t.view)
	if s.tree, err = r.tree(base.Num); err != nil {
		return nil, err
	}
	all, err := r.conflictsAt(base, t.view)
	if err != nil {
		return nil, err
	}
	of := slices.DeleteFunc(all, func(c Conflict) bool { return c.Path != opt.Path })
	if len(of) == 0 {
		return nil, &Error{Text: "there is no conflict in " + safepath.Quote(opt.Path), Next: "See what is left to decide with: oxy conflicts", No: true}
	}
	s.plan = &plan{r: r, state: base.Num, entries: map[string]state.Entry{}, texts: s.edited}
	for i := range of {
		c := &of[i]
		if opt.Block != "" && c.ID != opt.Block {
			s.result.Open = append(s.result.Open, *c)
			continue
		}
		if err := s.decide(c); err != nil {
			return nil, err
		}
	}
	if len(s.result.Decided) == 0 {
		return nil, &Error{Text: fmt.Sprintf("%s has no conflict %s", safepath.Quote(opt.Path), safepath.Quote(opt.Block)), Next: "See its conflicts with: oxy conflicts " + safepath.Quote(opt.Path), No: true}
	}
	return &s.result, s.finish(ctx)
}

// chosen gives the side that was chosen of a conflict that is not of text.
func (s *resolving) chosen(c *Conflict) (*ConflictSide, error) {
	if s.opt.Base || s.opt.Merge != nil || len(s.opt.Take) > 1 {
		return nil, &Error{Text: fmt.Sprintf("%s is not a conflict of lines: one side can be taken of it", c.ID), Next: "See its sides with: oxy conflicts " + safepath.Quote(c.Path)}
	}
	if len(s.opt.Take) == 0 {
		return nil, nil
	}
	return side(c, s.opt.Take[0])
}

func side(c *Conflict, n int) (*ConflictSide, error) {
	if n < 1 || n > len(c.Sides) {
		return nil, &Error{Text: fmt.Sprintf("conflict %s has no side %d: it has %d", c.ID, n, len(c.Sides)), Next: "See them with: oxy conflicts " + safepath.Quote(c.Path)}
	}
	return &c.Sides[n-1], nil
}

func (s *resolving) decide(c *Conflict) error {
	if c.Kind == "text" {
		return s.decideText(c)
	}
	side, err := s.chosen(c)
	if err != nil {
		return err
	}
	if side != nil {
		if err := s.takeSide(c, side); err != nil {
			return err
		}
	}
	s.settled = append(s.settled, c.ID)
	c.Settled = true
	s.result.Decided = append(s.result.Decided, *c)
	return nil
}

// takeSide has the working copy as one side of a conflict has it.
func (s *resolving) takeSide(c *Conflict, side *ConflictSide) error {
	e, ok, err := s.tree.Get(c.Path)
	if err != nil || !ok {
		return errors.Join(err, fmt.Errorf("%s is not there", safepath.Quote(c.Path)))
	}
	if side.undid && c.Kind != "life" {
		return &Error{Text: "that side took something back: it cannot be taken", Next: "Make the file what you want, then: oxy resolve " + safepath.Quote(c.Path)}
	}
	switch c.Kind {
	case "life":
		if side.Dead {
			s.take = append(s.take, c.Path)
			s.plan.plan = append(s.plan.plan, worktree.Action{Path: c.Path, Op: worktree.Remove})
		}
	case "place":
		if side.Path != c.Path {
			s.moved = [2]string{c.Path, side.Path}
		}
	case "mode":
		s.plan.plan = append(s.plan.plan, worktree.Action{Path: c.Path, Op: worktree.Chmod, Exec: side.exec})
	case "body":
		return s.takeBody(&e, side)
	case "name":
		return &Error{Text: "a side cannot be taken of files that meet at one name", Next: "Rename or remove one of them: oxy mv, oxy rm. Or keep both as they are shown: oxy resolve " + safepath.Quote(c.Path)}
	}
	return nil
}

// takeBody writes what a side has a file's body.
func (s *resolving) takeBody(e *state.Entry, side *ConflictSide) error {
	as := *e
	as.Kind = side.kind
	if as.Kind == change.Text {
		l, err := s.r.loadWeave(e)
		if err != nil {
			return err
		}
		text, err := s.r.show(nil, e.File, l, s.r.newReach())
		if err != nil {
			return err
		}
		as.Size, as.Hash = uint64(len(text)), hashOf(text)
		s.edited[e.Path] = append([]byte{}, text...)
	} else {
		as.Size, as.Hash, as.Body = side.size, side.hash, side.body
		s.left[e.Path] = side.hash
	}
	s.take = append(s.take, e.Path)
	return s.plan.write(&as)
}

// decideText writes sides of blocks in their stead.
func (s *resolving) decideText(c *Conflict) error {
	if len(s.opt.Take) == 0 && !s.opt.Base && s.opt.Merge == nil {
		return s.textDecides(c)
	}
	e, ok, err := s.tree.Get(c.Path)
	if err != nil || !ok {
		return errors.Join(err, fmt.Errorf("%s is not there", safepath.Quote(c.Path)))
	}
	l, err := s.r.loadWeave(&e)
	if err != nil {
		return err
	}
	_, page, err := s.r.page(e.File, l, s.r.newReach())
	if err != nil {
		return err
	}
	text, ok := s.edited[c.Path]
	if !ok {
		if text, err = s.r.workingText(c.Path); err != nil {
			return err
		}
	}
	block := slices.IndexFunc(page.Placed(), func(b weave.Placed) bool { return b.Name == c.ID })
	if block < 0 {
		return nil // it is open and differs in nothing that is shown: the next edit there decides it
	}
	placed := page.Placed()[block]
	decide, err := s.decision(c, &placed)
	if err != nil {
		return err
	}
	out, n := page.Resolve(text, func(b *weave.Block) ([][]byte, bool) { return decide, b == placed.Block })
	if n == 0 {
		return &Error{Text: fmt.Sprintf("conflict %s does not stand unchanged in %s: it was edited already", c.ID, safepath.Quote(c.Path)),
			Next: "Finish the edit and record it with oxy commit, or begin again with: oxy discard " + safepath.Quote(c.Path)}
	}
	if !ok {
		s.take = append(s.take, c.Path)
	}
	s.edited[c.Path] = append([]byte{}, out...) // an empty text is one, too
	s.result.Decided = append(s.result.Decided, *c)
	return nil
}

// decision gives the texts that shall stand in the stead of a block, one after the other.
func (s *resolving) decision(c *Conflict, b *weave.Placed) ([][]byte, error) {
	switch {
	case s.opt.Merge != nil:
		text, err := s.opt.Merge(c, b.Base)
		return [][]byte{text}, err
	case s.opt.Base:
		return [][]byte{b.Base}, nil
	}
	var out [][]byte
	for _, n := range s.opt.Take {
		if _, err := side(c, n); err != nil {
			return nil, err
		}
		out = append(out, b.Sides[n-1])
	}
	return out, nil
}

// textDecides looks at whether a block was edited away in the working file: then the next record decides it.
func (s *resolving) textDecides(c *Conflict) error {
	text, err := s.r.workingText(c.Path)
	if err != nil {
		return err
	}
	if weave.HasMark(text, c.ID) {
		return &Error{Text: fmt.Sprintf("conflict %s still stands in %s, line %d", c.ID, safepath.Quote(c.Path), c.Line),
			Next: "Edit the file until none of its marks is left, or take a side: oxy resolve --take 1 " + safepath.Quote(c.Path), No: true}
	}
	s.result.Decided = append(s.result.Decided, *c)
	return nil
}

// workingText reads a working file that holds text.
func (r *Repo) workingText(path string) ([]byte, error) {
	b, err := r.fs.ReadFile(r.disk(path), change.MaxText)
	if err != nil {
		return nil, readError(safepath.Quote(path), err)
	}
	return b, nil
}

// finish keeps aside what goes, and writes.
func (s *resolving) finish(ctx context.Context) error {
	t, r := s.t, s.r
	m, err := r.loadManifest(s.base)
	if err != nil {
		return err
	}
	for path, text := range s.edited {
		if slices.ContainsFunc(s.plan.plan, func(a worktree.Action) bool { return a.Path == path }) {
			continue
		}
		e, _, err := s.tree.Get(path)
		if err != nil {
			return err
		}
		s.plan.plan = append(s.plan.plan, worktree.Action{Path: path, Op: worktree.Write, Exec: e.Exec, Size: int64(len(text)), Hash: diskHash(hashOf(text))})
	}
	var kept map[string]vfs.Stat
	if len(s.take) > 0 {
		maps.Copy(s.left, hashesOf(s.edited))
		if kept, err = t.keepAside(s.take, s.left); err != nil {
			return err
		}
	}
	if err := t.settle(s.settled); err != nil {
		return err
	}
	if err := t.commit("resolve"); err != nil {
		return err
	}
	if len(s.plan.plan) > 0 {
		if err := r.applyPlan(ctx, m, s.plan, kept); err != nil {
			return err
		}
		if err := t.restoreManifest(m, s.plan.plan); err != nil {
			return err
		}
	}
	if s.moved[1] == "" {
		return nil
	}
	return t.move(s.moved[0], s.moved[1])
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
