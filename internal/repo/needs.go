package repo

import (
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// needs finds what a change in the making depends on in the tree (docs/spec/tree.md): before is a fuse of the state that it
// is recorded on, which knows all files that it acts on.
type needs struct {
	f     *fuse
	deps  []uint32
	losts map[uint32]*lostBy // what changes took away, of those that were asked about
}

// act adds what an act on a file depends on. writes are the registers that it acts on, of an undoing those of the undone;
// dead says that the file is gone by it; edits that it touches the text. What edits depend on is the weave's to say.
func (n *needs) act(x *fused, writes change.Writes, edits, dead bool) error {
	n.deps = append(n.deps, x.id.Change)
	if !x.was.known {
		return nil
	}
	dead = dead || writes&change.Gone != 0
	if len(x.acts) == 0 { // it was added, and its text edited
		if dead || writes&change.WritesBody != 0 {
			return n.edits(x)
		}
		return nil
	}
	deeds, err := n.f.deeds(x)
	if err != nil {
		return err
	}
	all := dead || slices.ContainsFunc(deeds, saysDead)
	for i := range deeds {
		d := &deeds[i]
		switch body := d.Did.Writes&change.WritesBody != 0; {
		case all,
			writes&d.Did.Writes&(change.WritesPlace|change.WritesMode|change.WritesBody|change.Keep) != 0,
			edits && body,
			writes&change.WritesBody != 0 && len(d.Did.Hunks) > 0:
			n.deps = append(n.deps, d.Change)
		}
	}
	if edits && writes&change.WritesBody == 0 && !all {
		// What an edit leaves open it builds on.
		for _, p := range state.Judge(deeds, n.f.history(x)).Pairs {
			if p.Kinds&state.DisputedBody != 0 {
				n.deps = append(n.deps, p.A, p.B)
			}
		}
	}
	return nil
}

// saysDead tells whether a deed ever said that its file does not exist.
func saysDead(d state.Deed) bool {
	return d.Did.Writes&change.Gone != 0 || d.Adds && d.Taken
}

// edits adds the latest edits of a file's text: all others are in their past.
func (n *needs) edits(x *fused) error {
	if err := n.f.load(x); err != nil {
		return err
	}
	n.deps = append(n.deps, x.weave.w.Latest()...)
	return nil
}

// claim adds, for a file that comes to a path, whoever put another file there, above or beneath, or took it away.
func (n *needs) claim(x *fused, path string) error {
	if err := n.took(path); err != nil {
		return err
	}
	for i := range n.f.disputes {
		d := &n.f.disputes[i]
		if d.File == x.id {
			continue
		}
		if overlaps(d.Place, path) {
			if err := n.placers(d.File, path); err != nil {
				return err
			}
		}
		if d.Kinds&state.DisputedPlace != 0 {
			if err := n.rivals(d.File, path); err != nil {
				return err
			}
		}
	}
	for p := path; p != ""; p = p[:max(0, strings.LastIndexByte(p, '/'))] {
		e, ok, err := n.f.base.Get(p)
		if err != nil {
			return err
		}
		if ok && e.File != x.id {
			if err := n.placers(e.File, path); err != nil {
				return err
			}
		}
	}
	return n.f.base.Walk(path, func(e *state.Entry) error {
		if e.Path == path || e.File == x.id {
			return nil
		}
		return n.placers(e.File, path)
	})
}

// took adds whoever took another file away from a path, from above or from beneath.
func (n *needs) took(path string) error {
	by, err := n.f.base.Vacated(path)
	if err != nil {
		return err
	}
	n.deps = append(n.deps, by...)
	for _, c := range by {
		if err := n.gone(c, path); err != nil {
			return err
		}
	}
	return nil
}

// overlaps: two paths are one, or one is a directory above the other.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b) && a[len(b)] == '/' || strings.HasPrefix(b, a) && b[len(a)] == '/'
}

// placers adds who put a file at a path, above or beneath, or took it away from there.
func (n *needs) placers(id change.FileID, path string) error {
	w, err := wasIn(n.f.base, n.f.disputes, id)
	if err != nil {
		return err
	}
	n.deps = append(n.deps, id.Change)
	acts, err := n.f.actsOf(w.entry.Acts)
	if err != nil {
		return err
	}
	for _, a := range acts {
		d, err := n.f.r.deed(a, id)
		if err != nil {
			return err
		}
		places, err := n.f.r.leaves(d.Did, true)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(places, func(p string) bool { return overlaps(p, path) }) {
			n.deps = append(n.deps, a.Change)
		}
	}
	return nil
}

// rivals adds the sides of a file's open conflict about its place, if one of them would put it at a path, above or beneath.
func (n *needs) rivals(id change.FileID, path string) error {
	w, err := wasIn(n.f.base, n.f.disputes, id)
	if err != nil {
		return err
	}
	v, deeds, err := n.f.r.verdict(id, &w.entry, n.f.h)
	if err != nil {
		return err
	}
	there := func(c uint32) bool {
		return slices.ContainsFunc(deeds, func(d state.Deed) bool {
			return d.Change == c && d.Did.Writes&change.WritesPlace != 0 && overlaps(d.Did.Path, path)
		})
	}
	for _, p := range v.Pairs {
		if p.Kinds&state.DisputedPlace != 0 && (there(p.A) || there(p.B)) {
			n.deps = append(n.deps, p.A, p.B)
		}
	}
	return nil
}
