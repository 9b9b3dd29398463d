package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// fileStep is a state under way.
type fileStep struct {
	*fileState
	p       *FileReplay
	changed []changedFile
	where   map[uint32]int // of these, by file
}

// changedFile is a file whose version is another than the first parent's.
type changedFile struct {
	file uint32
	was  *fileVersion
	own  bool // the version is of this step: it may be changed still
	// judge: what it is follows from all that was done to it, and not from what it was and what the change says.
	judge bool
}

// upon begins a state upon the union of others.
func (p *FileReplay) upon(parents []uint32) (*fileStep, error) {
	s := &fileStep{p: p, where: map[uint32]int{}}
	if len(parents) == 0 {
		s.fileState = &fileState{}
		return s, nil
	}
	all := make([]*fileState, len(parents))
	for i, n := range parents {
		if all[i] = p.states[n]; all[i] == nil {
			return nil, fmt.Errorf("state %d is stood upon, and is not made", n)
		}
	}
	if s.fileState = all[0]; p.uses[parents[0]] > 1 {
		s.fileState = all[0].copied()
	} else {
		delete(p.states, parents[0])
	}
	for _, o := range all[1:] {
		if err := s.unite(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// version is what the state has of a file, nil for nothing.
func (s *fileStep) version(k uint32) *fileVersion {
	if int(k) >= len(s.files) {
		return nil
	}
	return s.files[k]
}

// have has the state have a version of a file.
func (s *fileStep) have(k uint32, v *fileVersion) *changedFile {
	if n := int(k) + 1; n > len(s.files) {
		s.files = append(s.files, make([]*fileVersion, n-len(s.files))...)
	}
	was := s.files[k]
	i, there := s.where[k]
	if !there {
		i = len(s.changed)
		s.where[k] = i
		s.changed = append(s.changed, changedFile{file: k, was: was})
	}
	if was != v {
		v.refs++
		if was != nil {
			s.p.left = append(s.p.left, was)
		}
		s.files[k] = v
	}
	return &s.changed[i]
}

// open gives a version of a file to be changed.
func (s *fileStep) open(k uint32) (*changedFile, *fileVersion) {
	if i, there := s.where[k]; there && s.changed[i].own {
		return &s.changed[i], s.files[k]
	}
	v := *s.files[k]
	v.refs = 0
	v.acts = slices.Clip(v.acts)
	s.p.texts.keep(v.text)
	c := s.have(k, &v)
	c.own = true
	return c, &v
}

// apply has what a change does to its file i.
func (s *fileStep) apply(c *Recorded, i int) error {
	f := &c.body.files[i]
	k := s.p.fileNumber(f.ID, c.num)
	if ref := (change.FileID{Change: c.num, Ord: uint32(i)}); f.ID == ref {
		v := &fileVersion{place: s.p.places.number(f.Path), exec: f.Exec, kind: f.Kind, size: f.Size, hash: f.Content, body: ref}
		v.text = s.p.texts.born(ref, f)
		if f.Kind == change.Text {
			if err := s.p.texts.has(v.text, c.body, i, s.p.r); err != nil {
				return err
			}
		}
		s.have(k, v).own = true
		return nil
	}
	if s.version(k) == nil {
		return fmt.Errorf("%w: file %d.%d is not there", weave.ErrMismatch, f.ID.Change, f.ID.Ord)
	}
	x, v := s.open(k)
	x.judge = x.judge || v.gone
	if f.Writes != 0 {
		v.acts = append(v.acts, state.Act{Change: c.num, Ord: uint32(i)})
	}
	if len(f.Hunks) > 0 {
		if err := s.edit(v, x, c, i); err != nil {
			return fmt.Errorf("%s: %w", safepath.Quote(s.p.places.path(v.place)), err)
		}
	}
	if x.judge {
		return nil
	}
	if f.Writes&change.Gone != 0 {
		v.gone = true
		return nil
	}
	if f.Writes&change.WritesPlace != 0 {
		v.place = s.p.places.number(f.Path)
	}
	if f.Writes&change.WritesMode != 0 {
		v.exec = f.Exec
	}
	if f.Writes&change.WritesBody != 0 {
		v.kind, v.size, v.hash, v.body = f.Kind, f.Size, f.Content, change.FileID{Change: c.num, Ord: uint32(i)}
	}
	return nil
}

// edit puts hunks into a version's text. The weave of the version before goes on as this one's, if nobody else has that.
func (s *fileStep) edit(v *fileVersion, x *changedFile, c *Recorded, i int) (err error) {
	was := v.text
	users := 1
	if x.was != nil && x.was.text == was && x.was.refs == 1 { // the first parent's, which goes with this step
		users = 2
	}
	t, err := s.p.texts.edited(s.p.r, was, was.refs == users, c, i)
	if err != nil {
		return err
	}
	s.p.texts.keep(t)
	s.p.texts.drop(was)
	v.text = t
	return nil
}

// decide finds what becomes of the files of which that is open, where they stand, and makes sure that nothing is in conflict.
func (s *fileStep) decide() error {
	for i := range s.changed {
		x := &s.changed[i]
		v := s.files[x.file]
		if x.judge {
			if err := s.judge(x, v); err != nil {
				return err
			}
		}
		if !v.gone && v.kind == change.Text && v.text.disputed() {
			return fmt.Errorf("%w: conflicts are open in %s", errReplayed, safepath.Quote(s.p.places.path(v.place)))
		}
	}
	return s.stand()
}

// judge finds what all that was done to a file makes of it.
func (s *fileStep) judge(x *changedFile, v *fileVersion) error {
	id := s.p.files[x.file].id
	slices.SortFunc(v.acts, func(a, b state.Act) int { return int(int64(a.Change) - int64(b.Change)) })
	w, err := s.p.texts.weave(s.p.r, v.text)
	if err != nil {
		return err
	}
	deeds, err := s.p.r.deeds(id, v.acts, func() (*weave.Weave, error) { return w, nil })
	if err != nil {
		return err
	}
	j := state.Judge(deeds, s.p.r.shared)
	if v.gone = !j.Exists; v.gone {
		return nil
	}
	if j.Kinds() != 0 || j.Several() {
		return fmt.Errorf("%w: conflicts are open in %s", errReplayed, safepath.Quote(j.Place[0].Did.Path))
	}
	v.place, v.exec = s.p.places.number(j.Place[0].Did.Path), j.Mode[0].Did.Exec
	if v.kind = change.Text; !j.BodyText {
		d := j.Body[0]
		v.kind, v.size, v.hash, v.body = d.Did.Kind, d.Did.Size, d.Did.Content, change.FileID{Change: d.Change, Ord: d.Ord}
	}
	return nil
}

// stand has the files that changed stand where their places are, each alone.
func (s *fileStep) stand() error {
	names := &s.p.places
	if n := len(names.above); n > len(s.at) {
		s.at = append(s.at, make([]uint32, n-len(s.at))...)
		s.beneath = append(s.beneath, make([]uint32, n-len(s.beneath))...)
	}
	moves := func(x *changedFile) bool {
		v := s.files[x.file]
		was, now := x.was != nil && !x.was.gone, !v.gone
		return was != now || was && x.was.place != v.place
	}
	for i := range s.changed {
		if x := &s.changed[i]; x.was != nil && !x.was.gone && moves(x) {
			s.at[x.was.place] = 0
			for d := names.above[x.was.place]; d != noPlace; d = names.above[d] {
				s.beneath[d]--
			}
		}
	}
	for i := range s.changed {
		x := &s.changed[i]
		v := s.files[x.file]
		if v.gone || !moves(x) {
			continue
		}
		if s.at[v.place] != 0 {
			return fmt.Errorf("%w: two files meet at %s", errReplayed, safepath.Quote(names.path(v.place)))
		}
		s.at[v.place] = 1 + x.file
		for d := names.above[v.place]; d != noPlace; d = names.above[d] {
			s.beneath[d]++
		}
	}
	for i := range s.changed {
		v := s.files[s.changed[i].file]
		if v.gone {
			continue
		}
		meets := s.beneath[v.place] != 0
		for d := names.above[v.place]; d != noPlace; d = names.above[d] {
			meets = meets || s.at[d] != 0
		}
		if meets {
			return fmt.Errorf("%w: a file and a directory meet at %s", errReplayed, safepath.Quote(names.path(v.place)))
		}
	}
	return nil
}

// differences gives where the state differs from its first parent, each path once.
func (s *fileStep) differences(give func(old, new *ReplayedFile) error) error {
	p := s.p
	var paths []uint32
	was := map[uint32]*fileVersion{}
	for i := range s.changed {
		x := &s.changed[i]
		if x.was != nil && !x.was.gone {
			was[x.was.place] = x.was
			paths = append(paths, x.was.place)
		}
		if v := s.files[x.file]; !v.gone {
			paths = append(paths, v.place)
		}
	}
	slices.Sort(paths)
	for _, place := range slices.Compact(paths) {
		var old, now *ReplayedFile
		if k := s.at[place]; k != 0 {
			now = p.shows(s.files[k-1])
		}
		if v := was[place]; v != nil {
			old = p.shows(v)
		}
		if old == nil && now == nil {
			continue
		}
		if err := give(old, now); err != nil {
			return err
		}
	}
	return nil
}

// placeNames numbers paths, of files and of the directories above them.
type placeNames struct {
	numbers map[string]uint32
	paths   []string
	above   []uint32
}

const noPlace = ^uint32(0)

func newPlaceNames() placeNames { return placeNames{numbers: map[string]uint32{}} }

func (n *placeNames) find(path string) (uint32, bool) {
	k, ok := n.numbers[path]
	return k, ok
}

func (n *placeNames) path(place uint32) string { return n.paths[place] }

func (n *placeNames) number(path string) uint32 {
	if k, ok := n.numbers[path]; ok {
		return k
	}
	above := noPlace
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		above = n.number(path[:i])
	}
	k := uint32(len(n.paths))
	path = strings.Clone(path)
	n.numbers[path] = k
	n.paths, n.above = append(n.paths, path), append(n.above, above)
	return k
}
