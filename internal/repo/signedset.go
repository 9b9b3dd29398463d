package repo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// A signature that is made when its change is recorded travels with the change. One that comes later, and a signed checkpoint, may have to
// go to who has the change already: two sides tell apart which of those they have (docs/spec/protocol.md).

// signedSet are signatures that came after what they are of.
type signedSet struct {
	list []sync.Signed
	at   map[change.ID]int // by their ids for this
}

// signedMark is another one once something came to the signatures of a view. It is made without reading them.
func signedMark(v *store.View) (m sync.Mark) {
	signed, checkpoints := v.Kept[keptSigned], v.Kept[keptCheckpoints]
	if len(signed)+len(checkpoints) == 0 {
		return m
	}
	h := blake3.New()
	_, _ = h.WriteString("oxy signed mark 1\n") // a hash takes whatever is written
	_, _ = h.Write(checkpoints)
	_, _ = h.Write([]byte{byte(len(checkpoints))})
	if len(checkpoints) > 0 { // of those the ones count that are kept
		_, _ = fmt.Fprintln(h, v.Checkpoints)
	}
	_, _ = h.Write(signed)
	copy(m[:], h.Sum(nil))
	return m
}

// signedIn gives the signatures of a view whose changes are all among some, and of others what is there.
func (r *Repo) signedIn(v *store.View, among func(n uint32) bool) (*signedSet, error) {
	late, err := r.lateOf(v)
	if err != nil {
		return nil, err
	}
	out := &signedSet{at: map[change.ID]int{}}
	for id, part := range late.parts {
		if n, ok := r.store.FindChange(id); !ok || !among(n) {
			continue
		}
		entries, err := sign.DecodePart(part)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			out.add(sync.Signed{Change: id, Entry: e})
		}
	}
	checkpoints, err := r.signedCheckpoints(v)
	if err != nil {
		return nil, err
	}
	for i := range checkpoints {
		c := &checkpoints[i]
		if ok, err := r.allAmong(v, c.State, among); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		entries, err := sign.DecodePart(c.Part)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			out.add(sync.Signed{Checkpoint: &c.Checkpoint, Entry: e})
		}
	}
	return out, nil
}

func (s *signedSet) add(one sync.Signed) {
	id := one.ID()
	if _, ok := s.at[id]; !ok {
		s.at[id] = len(s.list)
		s.list = append(s.list, one)
	}
}

// ids is what is told apart.
func (s *signedSet) ids() *sync.IDSet {
	return sync.NewIDSet(slices.Collect(maps.Keys(s.at)))
}

// some gives those with some ids, as many as go at a time.
func (s *signedSet) some(ids []change.ID) (out []sync.Signed) {
	bytes := 0
	for _, id := range ids {
		i, ok := s.at[id]
		if !ok {
			continue
		}
		if bytes += 256 + len(s.list[i].Entry.Bytes); len(out) == sync.MaxSigned || bytes > sync.MaxSignedBytes {
			break // the next time
		}
		out = append(out, s.list[i])
	}
	return out
}

// everything is the among of who keeps nothing back.
func everything(uint32) bool { return true }

// allAmong tells whether a state's changes are all among some.
func (r *Repo) allAmong(v *store.View, id [32]byte, among func(n uint32) bool) (bool, error) {
	s, ok, err := r.stateBy(v, id)
	if err != nil || !ok {
		return false, err
	}
	set, err := mended(r, func() (state.Set, error) { return r.setOf(s.Num) })
	if err != nil {
		return false, err
	}
	for n := range set.All() {
		if !among(n) {
			return false, nil
		}
	}
	return true, nil
}

// tookSigned is what became of signatures that came.
type tookSigned struct {
	added int
	has   []bool // of each whether it is here now, or need not come again
}

// whole tells whether none has to come again.
func (k *tookSigned) whole() bool { return !slices.Contains(k.has, false) }

// maxCheckpointsTaken bounds the signed checkpoints that others send: the tree of each is kept, and looked at by fsck.
const maxCheckpointsTaken = 256

// takeSigned keeps what of signatures from elsewhere is of something here and in itself well made. Who made them, and whether they count, is
// for the lists of who looks at them to say.
func (t *tx) takeSigned(list []sync.Signed) (*tookSigned, error) {
	took := &tookSigned{has: make([]bool, len(list))}
	late, err := t.r.lateOf(t.view)
	if err != nil {
		return nil, err
	}
	add := map[change.ID][]sign.Entry{}
	now := map[change.ID][]sign.Entry{}
	for i := range list {
		s := &list[i]
		if s.Checkpoint != nil {
			continue
		}
		if _, ok := t.FindChange(s.Change); !ok {
			continue // it may come with the change
		}
		took.has[i] = true
		entries, ok := now[s.Change]
		if !ok {
			if entries, err = sign.DecodePart(late.parts[s.Change]); err != nil {
				return nil, err
			}
		}
		if sign.CheckEntry(s.Change, s.Entry) != nil {
			continue // anybody can make up such
		}
		merged := sign.MergeParts(entries, []sign.Entry{s.Entry})
		if len(merged) > len(entries) {
			add[s.Change] = append(add[s.Change], s.Entry)
			took.added++
		}
		now[s.Change] = merged
	}
	if len(add) > 0 {
		if err := t.addSignatures(add); err != nil {
			return nil, err
		}
	}
	return took, t.takeCheckpoints(list, took)
}

func (t *tx) takeCheckpoints(list []sync.Signed, took *tookSigned) error {
	if !slices.ContainsFunc(list, func(s sync.Signed) bool { return s.Checkpoint != nil }) {
		return nil
	}
	have, err := t.r.signedCheckpoints(t.view)
	if err != nil {
		return err
	}
	added, missed := 0, 0
	found := map[[32]byte]StateRef{}
	for i := range list {
		c, e := list[i].Checkpoint, list[i].Entry
		if c == nil {
			continue
		}
		s, ok := found[c.State]
		if !ok {
			if missed == maxCheckpointsTaken {
				continue
			}
			if s, ok, err = t.passedThrough(c.State, c.Changes); err != nil {
				return err
			}
			if !ok {
				missed++ // each costs a walk over the logs, and anybody can make up states
				continue
			}
			found[c.State] = s
		}
		took.has[i] = true
		if s.Len != c.Changes || sign.CheckCheckpointEntry(c, e) != nil {
			continue
		}
		did, err := addCheckpoint(&have, c, e)
		if err != nil {
			return err
		}
		if did {
			added++
			if !slices.Contains(t.view.Checkpoints, s.Num) {
				t.view.Checkpoints = append(t.view.Checkpoints, s.Num)
				slices.Sort(t.view.Checkpoints)
			}
		}
	}
	if added == 0 {
		return nil
	}
	took.added += added
	return t.putSignedCheckpoints(have)
}

// addCheckpoint adds a signature to a list of checkpoints, as far as there is room.
func addCheckpoint(have *[]SignedCheckpoint, c *sign.Checkpoint, e sign.Entry) (bool, error) {
	i := slices.IndexFunc(*have, func(o SignedCheckpoint) bool { return o.Checkpoint == *c })
	if i < 0 {
		if len(*have) >= maxCheckpointsTaken {
			return false, nil
		}
		part, err := sign.EncodePart([]sign.Entry{e})
		*have = append(*have, SignedCheckpoint{*c, part})
		return true, err
	}
	old, err := sign.DecodePart((*have)[i].Part)
	if err != nil {
		return false, err
	}
	merged := sign.MergeParts(old, []sign.Entry{e})
	if len(merged) == len(old) {
		return false, nil
	}
	(*have)[i].Part, err = sign.EncodePart(merged)
	return true, err
}

// passedThrough finds a state by its id and how many changes it has: one that is here, or one that the log of a name passed through
// in one step with others, which it makes then.
func (t *tx) passedThrough(id [32]byte, length uint64) (StateRef, bool, error) {
	if s, ok, err := t.stateBy(id); err != nil || ok {
		return s, ok, err
	}
	seen := map[uint32]bool{}
	for _, n := range namedStates(t.view) {
		for at := n; at != NoState && !seen[at]; {
			seen[at] = true
			st, parent, err := t.r.step(at)
			if err != nil {
				return StateRef{}, false, err
			}
			before := StateRef{Num: NoState}
			if parent != NoState {
				if before, err = t.r.stateRef(parent); err != nil {
					return before, false, err
				}
			}
			if before.Len+uint64(len(st.Changes)) != st.Pos {
				break // something is left out here
			}
			if at = parent; before.Len >= length {
				continue
			}
			if length >= st.Pos {
				break
			}
			s, ok, err := t.cutStep(before, st.Changes[:length-before.Len], id)
			if err != nil || ok {
				return s, ok, err
			}
			break
		}
	}
	return StateRef{}, false, nil
}

// cutStep makes the state that some changes lead to, if it is the one with that id. Their log was proved with the state that has more of it.
func (t *tx) cutStep(before StateRef, nums []uint32, id [32]byte) (StateRef, bool, error) {
	set, err := state.ParseSetHash(before.ID)
	if err != nil {
		return before, false, err
	}
	for _, n := range nums {
		set.Add(t.idOf(n))
	}
	if set.Bytes() != id {
		return before, false, nil
	}
	if before.Num == NoState {
		if before, err = t.appendStep(before, nums[0]); err != nil {
			return before, false, err
		}
		nums = nums[1:]
	}
	if len(nums) > 0 {
		before, err = t.putKnown(before, id, nums, true)
	}
	return before, err == nil, err
}
