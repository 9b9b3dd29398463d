package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// keptWeaves keeps the weaves and texts of files that were edited last, for whoever goes on: one version of a file after the other
// then costs what differs. Whoever takes one has it alone. A nil one keeps nothing. It is for one goroutine.
type keptWeaves struct {
	young, old map[weaveKey]*loaded
	bytes      int // of young
}

// weaveKey names a version of a file's weave.
type weaveKey struct {
	file change.FileID
	ref  state.Ref
}

// keptBytes is half of what is kept.
const keptBytes = 96 << 20

func newKeptWeaves() *keptWeaves { return &keptWeaves{young: map[weaveKey]*loaded{}} }

// take gives the weave of an entry if it is kept, and keeps it no longer.
func (k *keptWeaves) take(e *state.Entry) *loaded {
	if k == nil || e.Kind != change.Text {
		return nil
	}
	key := weaveKey{e.File, e.Weave}
	for _, m := range []map[weaveKey]*loaded{k.young, k.old} {
		if l := m[key]; l != nil {
			delete(m, key)
			return l
		}
	}
	return nil
}

// put keeps the weave of a file without open conflicts, and what it shows.
func (k *keptWeaves) put(file change.FileID, l *loaded, text []byte) {
	const run = 80                           // bytes of a run in memory
	l.shown, l.text, l.from = text, nil, nil // what comes next is made from what shows now
	if k.bytes += len(text) + run*len(l.w.Runs); k.bytes > keptBytes {
		k.old, k.young, k.bytes = k.young, map[weaveKey]*loaded{}, 0
	}
	k.young[weaveKey{file, l.ref}] = l
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

// clear forgets all: their places are no longer what they were.
func (k *keptWeaves) clear() {
	k.young, k.old, k.bytes = map[weaveKey]*loaded{}, nil, 0
}
