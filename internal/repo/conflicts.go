package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// Conflict is one thing that concurrent changes left to decide, in one file.
type Conflict struct {
	Kind  string // text, place, mode, body, life, name
	Path  string // where the file is shown
	Place string // where it would be shown if it met no other
	File  change.FileID
	ID    string // the same wherever it is open, and while it is
	Sides []ConflictSide
	Line  int // of a text conflict: where its first mark stands in the file, from 1
	Lines int // and how many lines it takes there
	// Settled says that a person decided it as the working copy has it: the next record says so.
	Settled bool
	parts   []string // what it is made of: the same while that is open
}

// ConflictSide is what one party of a conflict has it.
type ConflictSide struct {
	Changes []uint32 // who, the latest; none: all together
	What    string   // in words, such as "moved to a/b"; of text the lines
	Path    string   // of a place or a name
	Text    []byte   // of a text conflict
	Dead    bool     // of a life conflict: the file is gone on this side

	undid bool // it took back what it speaks of
	exec  bool // of a mode
	kind  change.Kind
	size  uint64 // of a body that is not text
	hash  change.Hash
	body  change.FileID
}

// Conflicts lists what is left to decide in a state, by path.
func (r *Repo) Conflicts(s StateRef) ([]Conflict, error) {
	return mended(r, func() ([]Conflict, error) {
		tree, err := r.tree(s.Num)
		if err != nil {
			return nil, err
		}
		return r.conflictsIn(tree, r.newReach(), nil)
	})
}

// ConflictsHere lists what is left to decide where the working copy stands, and what of it was settled since.
func (r *Repo) ConflictsHere() ([]Conflict, error) {
	return mended(r, func() ([]Conflict, error) {
		base, err := r.Base()
		if err != nil {
			return nil, err
		}
		v, err := r.view()
		if err != nil {
			return nil, err
		}
		return r.conflictsAt(base, v)
	})
}

// conflictsAt lists the conflicts of the working copy's base, with what was settled since.
func (r *Repo) conflictsAt(base StateRef, v *store.View) ([]Conflict, error) {
	tree, err := r.tree(base.Num)
	if err != nil || !tree.Disputed() {
		return nil, err
	}
	out, err := r.conflictsIn(tree, r.newReach(), nil)
	settled := settledIn(v)
	for i := range out {
		c := &out[i]
		if c.Settled = slices.Contains(settled, c.ID); c.Line > 0 {
			text, err := r.workingText(c.Path)
			c.Settled = err == nil && !weave.HasMark(text, c.ID) // of a file that is gone the next record tells
		}
	}
	return out, err
}

// settledIn lists the conflicts that were settled as the working copy has them: the next record says so.
func settledIn(v *store.View) []string {
	if len(v.Kept[keptSettled]) == 0 {
		return nil
	}
	return strings.Split(string(v.Kept[keptSettled]), "\n")
}

// conflictsIn lists the conflicts of the files for which of is true; nil is all.
func (r *Repo) conflictsIn(tree state.Tree, h *reach, of func(d *state.Dispute) bool) ([]Conflict, error) {
	ds, err := tree.Disputes()
	if err != nil {
		return nil, err
	}
	var out []Conflict
	for i := range ds {
		d := &ds[i]
		if d.Kinds&^state.Several == 0 || of != nil && !of(d) {
			continue
		}
		more, err := r.conflictsOf(tree, ds, d, h)
		if err != nil {
			return nil, fmt.Errorf("look at the conflicts of %q: %w", d.Shown, err)
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(a, b Conflict) int { return state.ComparePaths(a.Path, b.Path) })
	return out, nil
}

// conflictsOf lists the conflicts of one file.
func (r *Repo) conflictsOf(tree state.Tree, ds []state.Dispute, d *state.Dispute, h *reach) ([]Conflict, error) {
	w, err := wasIn(tree, ds, d.File)
	if err != nil {
		return nil, err
	}
	base := Conflict{Path: d.Shown, Place: d.Place, File: d.File}
	var out []Conflict
	if d.Kinds&(state.DisputedPlace|state.DisputedMode|state.DisputedBody|state.DisputedLife) != 0 {
		more, err := r.registerConflicts(base, w, h)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if d.Kinds&state.DisputedName != 0 {
		out = append(out, r.nameConflict(base, d, tree, h))
	}
	if d.Kinds&state.DisputedText != 0 {
		more, err := r.textConflicts(base, &w.entry, h)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// registerConflicts lists what is disputed of a file's place, mode, body and existence: once for each of these.
func (r *Repo) registerConflicts(base Conflict, w was, h *reach) ([]Conflict, error) {
	v, deeds, err := r.verdict(base.File, &w.entry, h)
	if err != nil {
		return nil, err
	}
	var out []Conflict
	for _, k := range [...]struct {
		kind state.Disputed
		name string
	}{{state.DisputedLife, "life"}, {state.DisputedPlace, "place"}, {state.DisputedMode, "mode"}, {state.DisputedBody, "body"}} {
		c := base
		c.Kind = k.name
		var parties []uint32
		for _, p := range slices.Concat(v.Pairs, v.Divided) {
			if p.Kinds&k.kind != 0 {
				parties = append(parties, p.A, p.B)
				c.parts = append(c.parts, fmt.Sprintf("%d-%d", p.A, p.B))
			}
		}
		if len(parties) == 0 {
			continue
		}
		slices.SortFunc(parties, func(a, b uint32) int {
			switch {
			case a == b:
				return 0
			case h.Less(a, b):
				return -1
			}
			return 1
		})
		parties = slices.Compact(parties)
		for _, n := range parties {
			i := slices.IndexFunc(deeds, func(d state.Deed) bool { return d.Change == n })
			side := ConflictSide{Changes: []uint32{n}}
			side.describe(&deeds[i], k.kind)
			if k.kind == state.DisputedBody {
				if err := r.describeLink(&side); err != nil {
					return nil, err
				}
			}
			j := slices.IndexFunc(c.Sides, func(o ConflictSide) bool {
				return o.What == side.What && o.Path == side.Path && o.Dead == side.Dead && (k.kind != state.DisputedBody || o.hash == side.hash)
			})
			if j >= 0 {
				c.Sides[j].Changes = append(c.Sides[j].Changes, n)
				continue
			}
			c.Sides = append(c.Sides, side)
		}
		c.ID = fmt.Sprintf("%.*s.%d.%s", markDigits, h.id(c.File.Change), c.File.Ord, k.name)
		out = append(out, c)
	}
	return out, nil
}

// describeLink says where a side has a link lead.
func (r *Repo) describeLink(s *ConflictSide) error {
	if s.kind != change.Link {
		return nil
	}
	to, err := r.content(nil, &state.Entry{Kind: s.kind, Size: s.size, Hash: s.hash, Body: s.body})
	s.What += " to " + safepath.Quote(string(to))
	return err
}

// describe says what a deed has of what is disputed.
func (s *ConflictSide) describe(d *state.Deed, kind state.Disputed) {
	did := d.Did
	undid := ""
	if s.undid = d.Undoes; d.Undoes {
		undid = "undid what "
	}
	s.exec = did.Exec
	if s.kind = change.Text; did.Writes&change.WritesBody != 0 {
		s.kind, s.size, s.hash, s.body = did.Kind, did.Size, did.Content, change.FileID{Change: d.Origin, Ord: d.Ord}
	}
	switch {
	case kind == state.DisputedLife:
		s.Dead = did.Writes&change.Gone != 0 && !d.Taken || d.Adds && d.Taken
		switch {
		case d.Undoes && s.Dead:
			s.What = "undid the adding of it"
		case d.Undoes && did.Writes&change.Gone != 0:
			s.What = "undid the removal"
		case s.Dead:
			s.What = "removed it"
		default:
			s.What = undid + "changed it"
		}
	case kind == state.DisputedPlace && did.Writes&change.WritesPlace != 0:
		s.Path = did.Path
		s.What = undid + "moved it to"
	case kind == state.DisputedMode && did.Writes&change.WritesMode != 0:
		s.What = undid + "made it not executable"
		if did.Exec {
			s.What = undid + "made it executable"
		}
	case did.Writes&change.WritesBody == 0 || did.Kind == change.Text:
		s.What = undid + "edited it as text"
	case did.Kind == change.Link:
		s.What = undid + "made it a link"
	case did.Kind == change.Subrepo:
		s.What = undid + fmt.Sprintf("made it a subrepo at %.8s", did.Content)
	default:
		s.What = undid + fmt.Sprintf("wrote it as binary, %d bytes, %.8s", did.Size, did.Content)
	}
}

// verdict judges a file as a tree has it.
func (r *Repo) verdict(id change.FileID, e *state.Entry, h *reach) (*state.Verdict, []state.Deed, error) {
	f := &fuse{r: r, h: h}
	x := &fused{id: id, exists: true, entry: *e}
	var err error
	if x.acts, err = f.actsOf(e.Acts); err != nil {
		return nil, nil, err
	}
	deeds, err := f.deeds(x)
	if err != nil {
		return nil, nil, err
	}
	return state.Judge(deeds, f.history(x)), deeds, nil
}

// nameConflict tells which files meet at a place.
func (r *Repo) nameConflict(c Conflict, d *state.Dispute, tree state.Tree, h *reach) Conflict {
	c.Kind = "name"
	c.ID = fmt.Sprintf("%.*s.%d.name", markDigits, h.id(d.File.Change), d.File.Ord)
	if d.Dir {
		c.Sides = append(c.Sides, ConflictSide{What: "a directory keeps the name", Path: d.Place + "/"})
		c.parts = append(c.parts, "dir")
	}
	for _, id := range d.Meets {
		path := d.Place
		if at, ok, err := tree.ByFile(id); err == nil && ok {
			path = at.Path
		}
		what := "another file is shown as"
		if path == d.Place {
			what = "another file keeps the name"
		}
		c.Sides = append(c.Sides, ConflictSide{Changes: []uint32{id.Change}, What: what, Path: path})
		c.parts = append(c.parts, fmt.Sprintf("%d.%d", id.Change, id.Ord))
	}
	c.Sides = append(c.Sides, ConflictSide{Changes: []uint32{d.File.Change}, What: "this one is shown as", Path: d.Shown})
	return c
}

// textConflicts lists the blocks of a file.
func (r *Repo) textConflicts(base Conflict, e *state.Entry, h *reach) ([]Conflict, error) {
	l, err := r.loadWeave(e)
	if err != nil {
		return nil, err
	}
	_, p, err := r.page(e.File, l, h)
	if err != nil {
		return nil, err
	}
	var out []Conflict
	for _, b := range p.Placed() {
		c := base
		c.Kind, c.ID = "text", b.Name
		c.Line, c.Lines = b.Line, b.Lines
		for i, s := range b.Block.Sides {
			c.Sides = append(c.Sides, ConflictSide{Changes: s.By, Text: b.Sides[i]})
		}
		for _, pair := range b.Block.Pairs {
			c.parts = append(c.parts, fmt.Sprint(pair))
		}
		out = append(out, c)
	}
	return out, nil
}

// openIn tells whether some part of a conflict is open in a list, or every one.
func (c *Conflict) openIn(list []Conflict, every bool) bool {
	for _, part := range c.parts {
		open := slices.ContainsFunc(list, func(o Conflict) bool {
			return o.File == c.File && o.Kind == c.Kind && slices.Contains(o.parts, part)
		})
		if open != every {
			return open
		}
	}
	return every
}

type conflictStep struct {
	came []Conflict
	went int
}

// newConflicts tells which conflicts a state has that another has not.
func (r *Repo) newConflicts(from, to StateRef) (step conflictStep, err error) {
	a, err := r.tree(from.Num)
	if err != nil {
		return step, err
	}
	b, err := r.tree(to.Num)
	if err != nil || !a.Disputed() && !b.Disputed() {
		return step, err
	}
	h := r.newReach()
	was, err := r.conflictsIn(a, h, nil)
	if err != nil {
		return step, err
	}
	is, err := r.conflictsIn(b, h, nil)
	if err != nil {
		return step, err
	}
	for i := range is {
		if !is[i].openIn(was, true) {
			step.came = append(step.came, is[i])
		}
	}
	for i := range was {
		if !was[i].openIn(is, false) {
			step.went++
		}
	}
	return step, nil
}
