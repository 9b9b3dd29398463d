package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// keptWeaves keeps the weaves and texts of files that were edited last, for whoever goes on: one version of a file after the other
// then costs what differs. A nil one keeps nothing. It is for one goroutine.
type keptWeaves struct {
	young, old map[weaveKey]*loaded
	bytes      int    // of young
	generation uint64 // of the trees in which the keys' refs are
}

// weaveKey names a version of a file's weave.
type weaveKey struct {
	file change.FileID
	ref  state.Ref
}

// keptBytes is half of what is kept.
const keptBytes = 96 << 20

func newKeptWeaves() *keptWeaves { return &keptWeaves{young: map[weaveKey]*loaded{}} }

// take gives the weave of an entry if it is kept. It stays for others that go on from the same version, as branches do; to change it
// is to copy it first. One so large that this is not worth it is kept no longer.
func (k *keptWeaves) take(e *state.Entry) *loaded {
	l := k.find(e)
	switch {
	case l == nil:
		return nil
	case len(l.w.Runs) > copiedRuns:
		delete(k.young, weaveKey{e.File, e.Weave})
		return l
	}
	c := *l
	c.lent = true
	return &c
}

// find gives what is kept of an entry, only to be looked at.
func (k *keptWeaves) find(e *state.Entry) *loaded {
	if k == nil || e.Kind != change.Text {
		return nil
	}
	key := weaveKey{e.File, e.Weave}
	l := k.young[key]
	if l == nil {
		if l = k.old[key]; l != nil {
			delete(k.old, key)
			k.hold(key, l)
		}
	}
	return l
}

// hold has a weave among the young.
func (k *keptWeaves) hold(key weaveKey, l *loaded) {
	const run, source = 64, 108 // bytes in memory
	if k.bytes += len(l.shown) + run*len(l.w.Runs) + source*len(l.w.Sources); k.bytes > keptBytes {
		k.old, k.young, k.bytes = k.young, map[weaveKey]*loaded{}, 0
	}
	k.young[key] = l
}

// copiedRuns is up to how many runs a weave is copied before it is changed: a tenth of a millisecond.
const copiedRuns = 8192

// put keeps the weave of a file without open conflicts, and what it shows.
func (k *keptWeaves) put(file change.FileID, l *loaded, text []byte) {
	l.shown, l.text, l.from, l.lent = text, nil, nil, false // what comes next is made from what shows now
	k.hold(weaveKey{file, l.ref}, l)
}

// putAs is put of a text that is asked for.
func (k *keptWeaves) putAs(file change.FileID, l *loaded, text func() ([]byte, error)) error {
	b, err := text()
	if err != nil {
		return err
	}
	if b == nil {
		b = []byte{}
	}
	k.put(file, l, b)
	return nil
}

// putNew keeps a file that nobody edited yet.
func (k *keptWeaves) putNew(file change.FileID, f *change.File, text []byte) {
	k.put(file, &loaded{w: weave.New(weave.Source{Change: file.Change, Ord: file.Ord, Size: uint32(f.Size), Hash: f.Content})}, text)
}

// in says of which generation the trees are. Of one that it was not told to move to all is forgotten.
func (k *keptWeaves) in(generation uint64) {
	if k.generation != generation {
		k.young, k.old, k.bytes, k.generation = map[weaveKey]*loaded{}, nil, 0, generation
	}
}

// move says that the trees are of another generation, and where their blocks lie there. What is not there any more is forgotten.
func (k *keptWeaves) move(to map[state.Ref]state.Ref, generation uint64) {
	if k == nil {
		return
	}
	k.generation = generation
	for _, m := range []*map[weaveKey]*loaded{&k.young, &k.old} {
		now := make(map[weaveKey]*loaded, len(*m))
		for key, l := range *m {
			if key.ref != 0 {
				ref, ok := to[key.ref]
				if !ok {
					continue
				}
				key.ref, l.ref = ref, ref
			}
			now[key] = l
		}
		*m = now
	}
}
