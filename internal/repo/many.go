package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// Where a tree is made of many changes, or one after the other of many more, as a clone does it, more stays in memory: the last changes,
// since the texts that show are read once more, file by file; how high each change stands above others; and the weaves of the files
// that were edited last, so that what comes next need not read what was just stored.

// fromMany is from how many changes on a tree is made so.
const fromMany = maxBodies

// maxManyBytes is maxBodyBytes then.
const maxManyBytes = 16 << 20

// carriedBytes is half of what weaves and their texts may take.
const carriedBytes = 48 << 20

// carriedWeaves are weaves of the last trees, each for one who goes on from it.
type carriedWeaves struct {
	aging
	generation uint64 // of the trees in which the keys' refs are
}

// manyChanges has more stay in memory until the function that it gives is called.
func (r *Repo) manyChanges() (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.many || r.kept != nil {
		return func() {}
	}
	r.many = true
	if r.levelsNow(); r.carried == nil {
		r.carried = &carriedWeaves{aging: newAging(carriedBytes)}
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.many, r.bodies, r.older, r.bodyBytes = false, nil, nil, 0
		if !r.straight {
			r.carried = nil
		}
	}
}

// carry keeps a weave that was stored for a tree that comes next; text, if not nil, is what shows. Nobody else has it.
func (r *Repo) carry(e *state.Entry, l *loaded, text []byte) {
	if !r.many || e.Kind != change.Text || e.Weave == 0 {
		return
	}
	l.other, l.otherText = nil, nil
	if text != nil && len(l.w.Open()) == 0 {
		l.text, l.from = text, l.w
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.blocks.Generation(); r.carried.generation != now {
		r.carried = &carriedWeaves{aging: newAging(carriedBytes), generation: now}
	}
	r.carried.hold(weaveKey{e.File, e.Weave}, l, nil)
}

// takeCarried gives the weave of an entry if it was kept, to whoever changes it.
func (r *Repo) takeCarried(e *state.Entry) *loaded {
	if !r.many || e.Kind != change.Text || e.Weave == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.carried.generation != r.blocks.Generation() {
		return nil
	}
	key := weaveKey{e.File, e.Weave}
	l := r.carried.find(key, nil)
	if l != nil {
		r.carried.drop(key)
	}
	return l
}
