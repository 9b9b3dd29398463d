package repo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// FileReplay makes the files of imported states again, one state after the other, from nothing but their changes, as Replay does. It
// makes no trees: a state without conflicts is its files, each where its place is, and of a file the versions are followed, each made
// of the one before. So a state costs what its change touches, a union the files that both sides touched. It is for one goroutine.
type FileReplay struct {
	r      *Repo // another view of the repository, with bodies of its own in memory
	ctx    context.Context
	states map[uint32]*fileState
	uses   map[uint32]int // how many states that come stand upon one
	known  map[change.FileID]uint32
	files  []replayFile
	places placeNames
	done   []uint32       // states that are not stood upon any more, to be let go with the next step
	left   []*fileVersion // that a state had, likewise
	texts  textRoom
	passed atomic.Int64
}

// replayFile is a file with the changes that touch it, ascending.
type replayFile struct {
	id change.FileID
	by []uint32
}

// fileState is a state as its files. The slices may be shorter than what is known.
type fileState struct {
	set     state.Set
	hash    state.SetHash
	files   []*fileVersion // by number of the file; nil for one that the set does not have
	at      []uint32       // by place: 1 + the file that stands there
	beneath []uint32       // by place: how many files stand beneath it
}

// fileVersion is what a set has of a file. It is not changed once it stands in a state.
type fileVersion struct {
	refs  int // of states
	place uint32
	gone  bool
	exec  bool
	kind  change.Kind
	text  *fileText // kept though the file is no text now
	// Of what is no text: its value.
	size uint64
	hash change.Hash
	body change.FileID
	acts []state.Act
}

// Recorded is a change as one reads it to make a state again.
type Recorded struct {
	State  uint32
	Change *change.Change // bound to local numbers
	num    uint32
	id     [32]byte // of the state
	body   *body
}

// EachWhole is EachRecorded with all that the changes say. What fn is given stays as it is, for another goroutine.
func (r *Repo) EachWhole(ctx context.Context, fn func(*Recorded) error) error {
	for s, n := uint32(0), r.store.NumStates(); s < n; s++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s%importChanges == importChanges-1 {
			r.store.Release()
		}
		st, _, err := r.step(s)
		if err != nil {
			return err
		}
		if st.Beside || len(st.Changes) != 1 || len(st.Without) > 0 {
			continue
		}
		n := st.Changes[0]
		c, b, _, err := r.readBody(n)
		if err != nil {
			return storeError(err)
		}
		if err := fn(&Recorded{s, c, n, st.ID, b}); err != nil {
			return err
		}
	}
	return nil
}

// NewFileReplay begins with nothing. It keeps up to so many bytes of texts; what it needs beyond them it makes again.
func (r *Repo) NewFileReplay(ctx context.Context, texts int) *FileReplay {
	of := &Repo{root: r.root, dir: r.dir, fs: vfs.NewMem(), opt: r.opt, store: r.store}
	of.shared = of.keptReach()
	return &FileReplay{r: of, ctx: ctx, states: map[uint32]*fileState{}, uses: map[uint32]int{}, known: map[change.FileID]uint32{}, places: newPlaceNames(), texts: textRoom{most: texts}}
}

// Expect says that a state which comes will stand upon another. All is said before the first step.
func (p *FileReplay) Expect(parent uint32) { p.uses[parent]++ }

// Passed says, from any goroutine, that contents of so many first steps are not looked at any more: the room they lie in is used again.
func (p *FileReplay) Passed(steps int) { p.passed.Store(int64(steps)) }

// Step makes the state that a change made upon the union of others, which were made before, and calls give for each path at which it
// differs from the first of them. What it gives is good until the next step.
func (p *FileReplay) Step(c *Recorded, parents []uint32, give func(old, new *ReplayedFile) error) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.texts.spare.turn(int(p.passed.Load()))
	p.let()
	if c.body.undoes != NoState {
		return fmt.Errorf("%w: what was imported takes nothing back", errReplayed)
	}
	st, err := p.upon(parents)
	if err != nil {
		return err
	}
	st.hash.Add(p.r.store.ChangeID(c.num))
	if id := st.hash.Bytes(); id != c.id {
		return fmt.Errorf("%w: its id is another", errReplayed)
	}
	st.set = st.set.Union(state.NewSet(c.num))
	for i := range c.body.files {
		if err := st.apply(c, i); err != nil {
			return fmt.Errorf("apply change %s: %w", p.r.store.ChangeID(c.num).Short(), err)
		}
	}
	if err := st.decide(); err != nil {
		return err
	}
	p.states[c.State] = st.fileState
	for _, n := range append(parents, c.State) {
		if n != c.State {
			p.uses[n]--
		}
		if p.uses[n] <= 0 {
			p.done = append(p.done, n)
		}
	}
	return st.differences(give)
}

// let lets go of what no state has any more.
func (p *FileReplay) let() {
	for _, n := range p.done {
		s := p.states[n]
		if s == nil { // another goes on in its place
			continue
		}
		for _, v := range s.files {
			p.drop(v)
		}
		delete(p.states, n)
		delete(p.uses, n)
	}
	for _, v := range p.left {
		p.drop(v)
	}
	p.done, p.left = p.done[:0], p.left[:0]
	p.texts.shrink()
}

func (p *FileReplay) drop(v *fileVersion) {
	if v == nil {
		return
	}
	if v.refs--; v.refs == 0 {
		p.texts.drop(v.text)
	}
}

// fileNumber gives the number of a file that a change touches.
func (p *FileReplay) fileNumber(id change.FileID, by uint32) uint32 {
	k, ok := p.known[id]
	if !ok {
		k = uint32(len(p.files))
		p.known[id] = k
		p.files = append(p.files, replayFile{id: id})
	}
	f := &p.files[k]
	f.by = insertAscending(f.by, by)
	return k
}

// ReplayedFile is a file in a state that was made again.
type ReplayedFile struct {
	Path string
	Kind change.Kind
	Exec bool
	p    *FileReplay
	v    *fileVersion
}

// shows gives a version as it is seen.
func (p *FileReplay) shows(v *fileVersion) *ReplayedFile {
	return &ReplayedFile{Path: p.places.path(v.place), Kind: v.kind, Exec: v.exec, p: p, v: v}
}

// Content gives what the file holds, which must not be changed. It stays as it is until the step that gave the file is passed.
func (f *ReplayedFile) Content() ([]byte, error) {
	if f.Kind == change.Text {
		return f.p.texts.show(f.p.r, f.v.text)
	}
	if f.v.size == 0 {
		return nil, nil
	}
	b, err := f.p.r.text(nil, f.v.body.Change, f.v.body.Ord, f.v.hash)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", safepath.Quote(f.Path), err)
	}
	return b, nil
}

// Holds tells whether another file holds the same.
func (f *ReplayedFile) Holds(o *ReplayedFile) (bool, error) {
	switch {
	case f.v == o.v, f.Kind == change.Text && o.Kind == change.Text && f.v.text == o.v.text:
		return true, nil
	case f.Kind != change.Text && o.Kind != change.Text:
		return f.v.hash == o.v.hash, nil
	}
	a, err := f.Content()
	if err != nil {
		return false, err
	}
	b, err := o.Content()
	return bytes.Equal(a, b), err
}

// File gives what a state that was made has at a path, nil for nothing. States that the last step was the last to stand upon are gone.
func (p *FileReplay) File(s uint32, path string) (*ReplayedFile, error) {
	st := p.states[s]
	if st == nil {
		return nil, fmt.Errorf("state %d is not made, or forgotten", s)
	}
	return p.fileAt(st, path), nil
}

func (p *FileReplay) fileAt(st *fileState, path string) *ReplayedFile {
	place, ok := p.places.find(path)
	if !ok || int(place) >= len(st.at) || st.at[place] == 0 {
		return nil
	}
	return p.shows(st.files[st.at[place]-1])
}

// copied gives a state that may be changed.
func (s *fileState) copied() *fileState {
	c := &fileState{set: s.set, hash: s.hash, files: slices.Clone(s.files), at: slices.Clone(s.at), beneath: slices.Clone(s.beneath)}
	for _, v := range c.files {
		if v != nil {
			v.refs++
		}
	}
	return c
}
