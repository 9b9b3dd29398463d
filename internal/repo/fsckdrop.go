package repo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// salvage is the repository without what is damaged and what nobody has. A damaged change goes, and with it all changes that depend on
// it. Each state is told again without them; one that had nothing else leads to the state before. A damaged state has what the one before
// it has, and the changes that no other state appends. Of a damaged operation the view before it is told, and states that only it
// could have named get a bookmark.
type salvage struct {
	r         *Repo
	ctx       context.Context
	lost      *store.Bad
	made      map[uint32]store.State // damaged states that were made again
	first     []uint32               // of each change that goes the damaged one that it depends on, itself for that one; NoState for what stays
	k         *store.Keep
	to        []uint32      // where each state leads: to itself, to one before, or nowhere
	pos       []uint64      // how many changes each has now
	views     []*store.View // of each operation, in the old numbers, what is to be told; shared
	given     []string      // bookmarks for states that nothing else names
	forgotten []string      // keys of what was kept
}

func (m *mending) salvage(lost *store.Bad) (*salvage, error) {
	s := &salvage{r: m.r, ctx: m.ctx, lost: lost, made: m.states.made}
	st := m.r.store
	s.k = &store.Keep{States: make([]bool, st.NumStates()), Changes: make([]bool, st.NumChanges()), Blobs: make([]bool, st.NumBlobs()),
		Told: map[uint32]store.State{}, OpView: func(op uint32) (*store.View, error) { return s.views[op], nil }}
	for n := range s.k.Blobs {
		s.k.Blobs[n] = true
	}
	s.dropChanges()
	if err := s.tellStates(); err != nil {
		return nil, err
	}
	if err := s.tellViews(); err != nil {
		return nil, err
	}
	s.k.View = s.renumber
	return s, st.Err()
}

// dropChanges finds the changes that go.
func (s *salvage) dropChanges() {
	s.first = make([]uint32, len(s.k.Changes))
	bad := leftOut{}.with(s.lost.Changes)
	for n := range s.first {
		s.first[n] = NoState
		if bad.has(uint32(n)) {
			s.first[n] = uint32(n)
		}
		for _, d := range s.r.store.Deps(uint32(n)) { // of lower numbers
			if s.first[n] == NoState && int(d) < n {
				s.first[n] = s.first[d]
			}
		}
		s.k.Changes[n] = s.first[n] == NoState
	}
}

// orphans lists the changes that no state which can be read appends.
func (s *salvage) orphans() []uint32 {
	has := make([]bool, len(s.k.Changes))
	for n := range s.k.States {
		if st, ok := s.state(uint32(n)); ok {
			for _, c := range st.Changes {
				has[c] = true
			}
		}
	}
	var out []uint32
	for c := range has {
		if !has[c] {
			out = append(out, uint32(c))
		}
	}
	return out
}

func (s *salvage) state(n uint32) (store.State, bool) {
	if st, ok := s.made[n]; ok {
		return st, true
	}
	st, err := s.r.store.State(n)
	return st, err == nil
}

// tellStates walks the tree of states, with the set of the one at hand.
func (s *salvage) tellStates() error {
	total := uint32(len(s.k.States))
	tree := newStateTree(total)
	for n := range total {
		o, ok := s.r.store.StateOutline(n)
		if tree.parent[n] = o.Parent; !ok {
			return store.ErrDamaged
		}
	}
	tree.link()
	s.to, s.pos = make([]uint32, total), make([]uint64, total)
	w := &retelling{salvage: s, has: make([]bool, len(s.k.Changes)), needed: make([]uint32, len(s.k.Changes))}
	if len(s.lost.States) > 0 {
		w.spare = s.orphans()
	}
	return tree.walk(s.ctx, w.enter, w.leave)
}

// retelling tells states anew, along the tree.
type retelling struct {
	*salvage
	has    []bool
	needed []uint32 // of each change, how many of the set depend on it
	sum    state.SetHash
	count  uint64
	spare  []uint32
	undo   []retold // of the states above
}

type retold struct{ put, taken []uint32 }

func (w *retelling) set(n uint32, has bool) {
	w.has[n] = has
	for _, d := range w.r.store.Deps(n) {
		if has {
			w.needed[d]++
		} else {
			w.needed[d]--
		}
	}
	if id := w.r.store.ChangeID(n); has {
		w.sum.Add(id)
		w.count++
	} else {
		w.sum.Remove(id)
		w.count--
	}
}

func (w *retelling) enter(n uint32) error {
	st, whole := w.state(n)
	o, _ := w.r.store.StateOutline(n)
	if !whole {
		st = store.State{Parent: o.Parent, Changes: w.spare, Beside: true}
	}
	var now retold
	for _, c := range slices.Backward(st.Without) { // what depends on it has a higher number
		if w.has[c] && w.needed[c] == 0 {
			w.set(c, false)
			now.taken = append(now.taken, c)
		}
	}
	for _, c := range st.Changes {
		for _, c := range w.lacking(c) {
			w.set(c, true)
			now.put = append(now.put, c)
		}
	}
	slices.Reverse(now.taken)
	w.undo = append(w.undo, now)
	before := int64(-1)
	if st.Parent >= 0 && w.to[st.Parent] != NoState {
		before = int64(w.to[st.Parent])
	}
	w.pos[n] = w.count
	switch {
	case len(now.put)+len(now.taken) > 0:
		w.to[n], w.k.States[n] = n, true
	case before >= 0:
		w.to[n] = uint32(before)
		return nil
	default:
		w.to[n] = NoState
		return nil
	}
	again := store.State{Parent: before, Without: now.taken, Changes: now.put, Pos: w.count, ID: w.sum.Bytes(), Beside: st.Beside}
	if _, made := w.made[n]; made || !whole || again.ID != st.ID || again.Parent != st.Parent || !slices.Equal(again.Changes, st.Changes) || !slices.Equal(again.Without, st.Without) {
		w.k.Told[n] = again
	}
	return nil
}

// lacking lists a change and all that it depends on, as far as they are not there: nothing for a change that goes.
func (w *retelling) lacking(c uint32) []uint32 {
	if w.has[c] || !w.k.Changes[c] {
		return nil
	}
	out, seen := []uint32{c}, leftOut{}.with([]uint32{c})
	for i := 0; i < len(out); i++ {
		for _, d := range w.r.store.Deps(out[i]) {
			if !w.has[d] && !seen.has(d) {
				out, seen = append(out, d), seen.with([]uint32{d})
			}
		}
	}
	slices.Sort(out)
	return out
}

func (w *retelling) leave(uint32) {
	now := w.undo[len(w.undo)-1]
	w.undo = w.undo[:len(w.undo)-1]
	for _, c := range slices.Backward(now.put) {
		w.set(c, false)
	}
	for _, c := range now.taken {
		w.set(c, true)
	}
}

// tellViews finds the view of each operation.
func (s *salvage) tellViews() error {
	st := s.r.store
	s.views = make([]*store.View, st.NumOps())
	var last *store.View
	var early []uint32     // damaged ones before any that is whole
	var ranges [][2]uint32 // of states that damaged operations made
	from, damaged := uint32(0), false
	for n := range s.views {
		v, err := st.OpView(uint32(n))
		switch {
		case errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound):
			if damaged = true; last == nil {
				early = append(early, uint32(n))
			}
			s.views[n] = last
			continue
		case err != nil:
			return err
		}
		if to, err := st.OpStates(uint32(n)); err == nil {
			if damaged {
				ranges = append(ranges, [2]uint32{from, to})
			}
			from, damaged = to, false
		}
		last = s.view(v)
		s.views[n] = last
	}
	if damaged {
		ranges = append(ranges, [2]uint32{from, st.NumStates()})
	}
	for _, n := range early {
		s.views[n] = store.NewView()
	}
	if n := len(s.views); n > 0 && len(ranges) > 0 {
		if last == nil {
			last = store.NewView()
			last.Current = FirstBookmark
		}
		s.views[n-1] = s.nameAgain(last.Clone(), ranges)
	}
	return nil
}

// view has a view name states that stay.
func (s *salvage) view(old *store.View) *store.View {
	v := old.Clone()
	leads := func(n uint32) (uint32, bool) {
		if n >= uint32(len(s.to)) {
			return n, n == NoState
		}
		return s.to[n], s.to[n] != NoState
	}
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for name, n := range names {
			if to, ok := leads(n); ok {
				names[name] = to
			} else {
				delete(names, name)
			}
		}
	}
	var kept []uint32
	for _, n := range v.Checkpoints {
		if to, ok := leads(n); ok {
			kept = append(kept, to)
		}
	}
	slices.Sort(kept)
	v.Checkpoints = slices.Compact(kept)
	if v.Base >= 0 {
		if to, ok := leads(uint32(v.Base)); ok {
			v.Base = int64(to)
		} else {
			v.Base = -1
		}
	}
	for key, b := range v.Kept {
		switch {
		case strings.HasPrefix(key, trackPrefix) && len(b) == 4:
			if to, ok := leads(binary.BigEndian.Uint32(b)); ok {
				v.Kept[key] = binary.BigEndian.AppendUint32(nil, to)
			} else {
				delete(v.Kept, key)
			}
		case !survives(key):
			delete(v.Kept, key)
			if !slices.Contains(s.forgotten, key) {
				s.forgotten = append(s.forgotten, key)
			}
		}
	}
	return v
}

// survives tells of what a view keeps whether it means the same once states are numbered anew.
func survives(key string) bool {
	switch key {
	case keptKind, keptUndo, keptRedo, keptSettled, keptSigned, keptMoves, keptDiscarded, keptForeign, keptLost, keptGitRefs, keptGitGiven, keptCheckpoints, keptPromised:
		return true
	}
	return false
}

// nameAgain gives bookmarks to the states of damaged operations to which nothing leads any more.
func (s *salvage) nameAgain(last *store.View, ranges [][2]uint32) *store.View {
	led := make([]bool, len(s.to))
	for _, v := range s.views {
		if v == nil {
			continue
		}
		for _, n := range namedStates(v) {
			if n < uint32(len(led)) {
				led[n] = true
			}
		}
	}
	for n := range slices.Backward(led) {
		if st, ok := s.state(uint32(n)); led[n] && ok && st.Parent >= 0 {
			led[st.Parent] = true
		}
	}
	_, others := foreign(last)
	for _, span := range slices.Backward(ranges) {
		for n := int64(span[1]) - 1; n >= int64(max(span[0], others)); n-- {
			if led[n] || !s.k.States[n] {
				continue
			}
			for at := n; at >= 0 && !led[at]; {
				led[at] = true
				o, _ := s.r.store.StateOutline(uint32(at))
				at = o.Parent
			}
			name := "recovered"
			for i := 2; ; i++ {
				if _, taken := last.Bookmarks[name]; !taken {
					break
				}
				name = fmt.Sprintf("recovered-%d", i)
			}
			last.Bookmarks[name] = uint32(n)
			s.given = append(s.given, name)
		}
	}
	return last
}

// renumber makes what a view keeps right in the new numbers.
func (s *salvage) renumber(_ uint32, v *store.View, number func(uint32) (uint32, error)) error {
	if ops, states := foreign(v); states > 0 {
		count := uint32(0)
		for _, kept := range s.k.States[:min(int(states), len(s.k.States))] {
			if kept {
				count++
			}
		}
		v.Kept[keptForeign] = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, ops), count)
	}
	for key, b := range v.Kept {
		if !strings.HasPrefix(key, trackPrefix) || len(b) != 4 {
			continue
		}
		n, err := number(binary.BigEndian.Uint32(b))
		if err != nil {
			return err
		}
		v.Kept[key] = binary.BigEndian.AppendUint32(nil, n)
	}
	return nil
}

// maxNamed bounds what is said of each kind.
const maxNamed = 100

// says lists by name what goes, and what that alters.
func (s *salvage) says() []string {
	var out []string
	said := 0
	for n, first := range s.first {
		if first == NoState {
			continue
		}
		if said++; said > maxNamed {
			continue
		}
		id := s.r.store.ChangeID(uint32(n))
		line := "change " + id.Short()
		if first == uint32(n) {
			line += ", which is damaged"
		} else {
			line += s.title(uint32(n)) + fmt.Sprintf(", which depends on %s", s.r.store.ChangeID(first).Short())
		}
		out = append(out, line)
	}
	if said > maxNamed {
		out = append(out, fmt.Sprintf("and %d changes more", said-maxNamed))
	}
	for _, n := range s.lost.States {
		out = append(out, fmt.Sprintf("what state %d had beyond the one before it, as far as nothing else tells", n))
	}
	for _, n := range s.lost.Ops[:min(len(s.lost.Ops), maxNamed)] {
		out = append(out, fmt.Sprintf("operation %d, which cannot be undone or gone back to any more", n))
	}
	if more := len(s.lost.Ops) - maxNamed; more > 0 {
		out = append(out, fmt.Sprintf("and %d operations more", more))
	}
	if n := len(s.lost.Contents); n > 0 {
		out = append(out, fmt.Sprintf("%s, of which fsck names the files", countOf(n, "content")))
	}
	out = append(out, s.saysOfNames()...)
	for _, key := range s.forgotten {
		out = append(out, fmt.Sprintf("what is kept as %q: the next export or import makes it again", key))
	}
	return out
}

// title is the first line of a change's message, if it can be read.
func (s *salvage) title(n uint32) string {
	rec, err := s.r.store.Change(n)
	if err != nil {
		return ""
	}
	c, err := change.DecodeTrusted(rec.Meta, rec.Body)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(c.Message, "\n")
	return " " + safepath.Quote(line)
}

// saysOfNames tells which bookmarks and tags have less, and which there are more.
func (s *salvage) saysOfNames() []string {
	var out []string
	v := s.views[len(s.views)-1]
	old, err := s.r.store.View()
	if err == nil {
		for _, kind := range []struct {
			what     string
			old, new map[string]uint32
		}{{"bookmark", old.Bookmarks, v.Bookmarks}, {"tag", old.Tags, v.Tags}} {
			for _, name := range slices.Sorted(maps.Keys(kind.old)) {
				n := kind.old[name]
				o, ok := s.r.store.StateOutline(n)
				if to, stays := kind.new[name]; ok && !stays {
					out = append(out, fmt.Sprintf("%s %s, of which nothing is left", kind.what, safepath.Quote(name)))
				} else if ok && to < uint32(len(s.pos)) && s.pos[to] != o.Pos {
					out = append(out, fmt.Sprintf("of %s %s %d of %d changes", kind.what, safepath.Quote(name), o.Pos-min(o.Pos, s.pos[to]), o.Pos))
				}
				if len(out) >= maxNamed {
					return append(out, "and of other names")
				}
			}
		}
	} else if len(s.views) > 0 {
		out = append(out, "where the bookmarks were moved since the last operation that can be read")
	}
	return out
}
