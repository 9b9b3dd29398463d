package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// keptWeaves keeps the weaves and texts of files that were edited last, for whoever goes on: one version of a file after the other
// then costs what differs. Of what was not asked for in a while every eighth version stays for longer: a branch that goes on from an old
// one adds the few records since. Large weaves, of which a few take all the room, are kept by themselves. A nil one keeps nothing. It is
// for one goroutine.
type keptWeaves struct {
	recent, apart, large aging
	generation           uint64 // of the trees in which the keys' refs are
}

// weaveKey names a version of a file's weave.
type weaveKey struct {
	file change.FileID
	ref  state.Ref
}

// Half of what is kept, in bytes: all of it was half of what an import has in use.
const (
	recentBytes = 48 << 20
	apartBytes  = 24 << 20
	largeBytes  = 32 << 20
)

// keptApart is one of how many versions stay that follow each other in a chain, and of how many large ones.
const (
	keptApart  = 8
	largeApart = 4
)

func newKeptWeaves() *keptWeaves {
	return &keptWeaves{recent: newAging(recentBytes), apart: newAging(apartBytes), large: newAging(largeBytes)}
}

// aging keeps what was asked for last, up to twice a size.
type aging struct {
	young, old map[weaveKey]*loaded
	bytes      int // of young
	most       int
}

func newAging(most int) aging { return aging{young: map[weaveKey]*loaded{}, most: most} }

// find gives what is kept under a key. What goes for it is given to fn, as hold gives it.
func (a *aging) find(key weaveKey, fn func(weaveKey, *loaded)) *loaded {
	l := a.young[key]
	if l == nil {
		if l = a.old[key]; l != nil {
			delete(a.old, key)
			a.hold(key, l, fn)
		}
	}
	return l
}

// hold has a weave among the young. What has to go for it is given to fn, if that is not nil.
func (a *aging) hold(key weaveKey, l *loaded, fn func(weaveKey, *loaded)) {
	if _, there := a.young[key]; !there {
		a.bytes += len(l.shown) + len(l.text) + len(l.otherText) + l.w.Bytes()
		if l.from != nil && l.from != l.w {
			a.bytes += l.from.Bytes()
		}
	}
	if a.bytes > a.most {
		gone := a.old
		a.old, a.young, a.bytes = a.young, map[weaveKey]*loaded{}, 0
		if fn != nil {
			for key, l := range gone {
				fn(key, l)
			}
		}
	}
	a.young[key] = l
}

func (a *aging) drop(key weaveKey) {
	delete(a.young, key)
	delete(a.old, key)
}

// move gives what is kept its keys in another generation of trees. What is not there any more is forgotten.
func (a *aging) move(to map[state.Ref]state.Ref) {
	for _, m := range []*map[weaveKey]*loaded{&a.young, &a.old} {
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

// take gives the weave of an entry if it is kept. It stays for others that go on from the same version, as branches do; to change it
// is to copy it first. One so large that this is not worth it for each version stays if it is one of several.
func (k *keptWeaves) take(e *state.Entry) *loaded {
	l := k.find(e)
	switch {
	case l == nil:
		return nil
	case !k.stays(l):
		k.large.drop(weaveKey{e.File, e.Weave})
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
	if l := k.recent.find(key, k.aside); l != nil {
		return l
	}
	if l := k.large.find(key, nil); l != nil {
		return l
	}
	l := k.apart.find(key, nil)
	if l != nil {
		k.hold(key, l)
	}
	return l
}

// earlier finds what is kept of the versions of an entry's file, to be built on: it must not be changed any more.
func (k *keptWeaves) earlier(e *state.Entry) func(state.Ref) *loaded {
	if k == nil {
		return unknown
	}
	return func(ref state.Ref) *loaded {
		key := weaveKey{e.File, ref}
		l := k.recent.find(key, k.aside)
		if l == nil {
			l = k.large.find(key, nil)
		}
		if l == nil {
			l = k.apart.find(key, nil)
		}
		if l != nil {
			l.lent = true
		}
		return l
	}
}

// stays tells whether a weave stays kept when somebody changes it.
func (k *keptWeaves) stays(l *loaded) bool {
	return len(l.w.Runs) <= copiedRuns || l.length%largeApart == 0
}

// read keeps a version of which it is not known what it shows: one that had to be read, for a branch begins there, or one with open conflicts.
func (k *keptWeaves) read(e *state.Entry, l *loaded) {
	if k == nil || e.Kind != change.Text || !k.stays(l) {
		return
	}
	c := *l
	l.lent = true
	k.hold(weaveKey{e.File, e.Weave}, &c)
}

func (k *keptWeaves) hold(key weaveKey, l *loaded) {
	if len(l.w.Runs) > copiedRuns {
		k.large.hold(key, l, nil)
		return
	}
	k.recent.hold(key, l, k.aside)
}

// aside takes what goes from the recent ones.
func (k *keptWeaves) aside(key weaveKey, l *loaded) {
	if l.length%keptApart == 0 {
		k.apart.hold(key, l, nil)
	}
}

// copiedRuns is up to how many runs a weave is copied before it is changed: a tenth of a millisecond.
const copiedRuns = 8192

// put keeps the weave of a file without open conflicts, and what it shows.
func (k *keptWeaves) put(file change.FileID, l *loaded, text []byte) {
	l.shown, l.lent = text, false
	l.text, l.from, l.otherText, l.other = nil, nil, nil, nil // what comes next is made from what shows now
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
		*k = *newKeptWeaves()
		k.generation = generation
	}
}

// move says that the trees are of another generation, and where their blocks lie there.
func (k *keptWeaves) move(to map[state.Ref]state.Ref, generation uint64) {
	if k == nil {
		return
	}
	k.generation = generation
	for _, a := range []*aging{&k.recent, &k.apart, &k.large} {
		a.move(to)
	}
}
