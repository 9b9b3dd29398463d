package repo

import (
	"fmt"
	"strconv"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// depthKey is the setting that says from how many changes before the end of a bookmark on its contents are wanted of a remote.
func depthKey(remote string) string { return "remote." + remote + ".depth" }

// depthOf is how many those are; 0: all.
func (r *Repo) depthOf(remote string) (uint64, error) {
	if remote == "" {
		return 0, nil
	}
	value, _, err := r.ConfigGet(depthKey(remote))
	if err != nil || value == "" {
		return 0, err
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 {
		return 0, &Error{Text: fmt.Sprintf("%s is %q, and is a number of changes", depthKey(remote), value), Next: "Set it, or have all contents: oxy fetch --contents"}
	}
	return n, nil
}

func (r *Repo) setDepth(remote string, depth uint64) error {
	value := ""
	if depth > 0 {
		value = strconv.FormatUint(depth, 10)
	}
	return r.ConfigSet(depthKey(remote), value, false)
}

// deep says which contents are old: those that neither a change among the last of a log brought, nor the state before these shows, nor the
// last one. All states from there on are made of the others, so that who takes the changes proves them as in a whole clone.
type deep struct {
	r      *Repo
	young  state.Set // changes
	shown  map[change.Hash]struct{}
	weaves map[state.Ref]struct{} // those that were looked at
}

// leaves tells whether a content that a change brought is left out.
func (d *deep) leaves(n uint32, h change.Hash) bool {
	if d == nil || d.young.Has(n) {
		return false
	}
	_, shown := d.shown[h]
	return !shown
}

// noDeeper has old contents of the names that are told left out.
func (s *sending) noDeeper(depth uint64, refs []toldRef) error {
	if depth == 0 || s.dry {
		return nil
	}
	if s.leaving == nil {
		s.leaving = &leaving{r: s.r}
	}
	d := &deep{r: s.r, shown: map[change.Hash]struct{}{}, weaves: map[state.Ref]struct{}{}}
	s.leaving.deep = d
	done := s.r.opt.Timings.Phase("old contents")
	defer done(0)
	sets := make([]state.Set, len(refs))
	for i := range refs {
		var err error
		if sets[i], err = s.r.setOf(refs[i].state.Num); err != nil {
			return err
		}
	}
	for i := range refs {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if refs[i].Kind == sync.Tag && amongBookmarks(refs, sets, i) {
			continue // the receiver proves it by that
		}
		if err := d.from(refs[i].state, sets[i], depth); err != nil {
			return err
		}
	}
	return nil
}

// amongBookmarks tells whether one of the bookmarks has all of a tag's changes.
func amongBookmarks(refs []toldRef, sets []state.Set, tag int) bool {
	for i := range refs {
		if refs[i].Kind == sync.Bookmark && refs[i].state.Len >= refs[tag].state.Len && sets[tag].Minus(sets[i]).Empty() {
			return true
		}
	}
	return false
}

// from notes what is young of a state.
func (d *deep) from(s StateRef, set state.Set, depth uint64) error {
	if s.Num == NoState {
		return nil
	}
	before := state.Set{}
	if s.Len > depth {
		at, err := d.r.atPosition(s.Num, s.Len-depth)
		if err != nil {
			return err
		}
		if before, err = d.r.setOf(at); err != nil {
			return err
		}
		if err := d.shows(at); err != nil {
			return err
		}
	}
	d.young = d.young.Union(set.Minus(before))
	return d.shows(s.Num)
}

// shows notes the contents that a state's files are made of.
func (d *deep) shows(s uint32) error {
	tree, err := d.r.tree(s)
	if err != nil {
		return err
	}
	if err := tree.Walk("", d.file); err != nil {
		return err
	}
	disputes, err := tree.Disputes()
	if err != nil {
		return err
	}
	for i := range disputes {
		if e := disputes[i].Hidden; e != nil {
			if err := d.file(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *deep) file(e *state.Entry) error {
	if e.Kind != change.Text || e.Weave == 0 {
		d.shown[e.Hash] = struct{}{}
		return nil
	}
	if _, known := d.weaves[e.Weave]; known {
		return nil
	}
	d.weaves[e.Weave] = struct{}{}
	l, err := d.r.loadWeave(e)
	if err != nil {
		return err
	}
	if len(l.w.Open()) > 0 { // both sides are shown, and what they part from
		for i := range l.w.Sources {
			d.shown[l.w.Sources[i].Hash] = struct{}{}
		}
		return nil
	}
	for i := range l.w.Runs {
		if run := &l.w.Runs[i]; run.Shown() {
			if src, ok := l.w.Source(run.Change); ok {
				d.shown[src.Hash] = struct{}{}
			}
		}
	}
	return nil
}
