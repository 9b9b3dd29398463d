package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Imported is a version of a project that was recorded elsewhere.
type Imported struct {
	Parents []uint32 // the states that it came after; none: the empty one
	Author  change.Person
	Time    change.Time
	Message string
	Extra   []change.Field // keys ascending
	Files   []ImportedFile // where it differs from the first parent, and perhaps others, each path once
}

// ImportedFile is what an imported version has at a path.
type ImportedFile struct {
	Path string
	Gone bool // nothing
	Kind change.Kind
	Exec bool
	Data []byte // the content, which is not changed any more
	// Like says, in place of Data, that the state of the parent before this one has that very content at the path: 1 for the
	// first, 0 for none.
	Like int
}

// Importer records versions from elsewhere, each upon others, in transactions of many. It is for one goroutine, and the only
// writer of its repository while it is open.
type Importer struct {
	r      *Repo
	ctx    context.Context
	t      *tx
	d      diff.Differ
	packer *store.Packer
	grown  map[uint32]*grownState // what may be built on
	acts   map[state.Act]change.Writes
	count  int               // of changes in the transaction under way
	bytes  int               // of their contents, which stay in memory until then
	moves  map[string]string // see Moves

	Stats ImportStats
	Batch int // changes in a transaction at most; NewImporter sets it
}

// ImportStats count what an importer did.
type ImportStats struct {
	Changes, Merges int
	Settled         int // conflicts that merges opened and settled
	Files           int // of all changes
	Bytes           int64
}

// grownState is a state that was imported.
type grownState struct {
	ref  StateRef
	hash state.SetHash
	tree state.Tree
	set  *state.Set // nil: not needed so far
}

// A transaction of an import ends after so many changes or bytes: a kill loses no more, and memory holds no more.
const (
	importChanges = 2048
	importBytes   = 48 << 20
)

// NewImporter begins an import. Close must be called.
func (r *Repo) NewImporter(ctx context.Context) (*Importer, error) {
	im := &Importer{Batch: importChanges, r: r, ctx: ctx, grown: map[uint32]*grownState{}, acts: map[state.Act]change.Writes{}}
	r.lateTrees = true
	r.frontier, r.kept, r.touched, r.shared = map[uint32]bool{}, newKeptWeaves(), newTouchedFiles(r.origin), r.keptReach()
	return im, im.begin()
}

func (im *Importer) begin() error {
	t, err := im.r.begin()
	if err != nil {
		return err
	}
	im.t, im.count, im.bytes = t, 0, 0
	im.packer = t.Packer()
	im.r.writing = true
	b, err := im.r.openBlocks()
	if err != nil {
		return err
	}
	im.r.kept.in(b.Generation())
	return nil
}

// Close ends the import. What was put since the last Commit is dropped.
func (im *Importer) Close() error {
	err := im.end()
	im.r.lateTrees = false
	im.r.frontier, im.r.kept, im.r.touched, im.r.older, im.r.shared = nil, nil, nil, nil, nil
	return err
}

func (im *Importer) end() error {
	if im.t == nil {
		return nil
	}
	t := im.t
	im.t = nil
	im.r.writing = false
	err := t.Abort()
	im.r.forgetFresh()
	if !t.acknowledged {
		im.r.dropUnacknowledged()
	}
	return err
}

// Full tells that it is time to commit.
func (im *Importer) Full() bool { return im.count >= im.Batch || im.bytes >= importBytes }

// View is what the next Commit makes true. It may be altered.
func (im *Importer) View() *store.View { return im.t.view }

// Commit makes durable what was put, and goes on with a new transaction.
func (im *Importer) Commit(kind string) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	before := im.r.blocks
	if err := im.t.commit(kind); err != nil {
		return err
	}
	if err := im.end(); err != nil {
		return err
	}
	if err := im.begin(); err != nil {
		return err
	}
	im.r.store.Release()
	im.r.blocks.Release()
	if im.r.blocks == before {
		return nil
	}
	// The trees lie elsewhere now.
	for n, g := range im.grown {
		var err error
		if g.tree, err = im.r.tree(n); err != nil {
			return err
		}
	}
	return nil
}

// Finish is the last Commit.
func (im *Importer) Finish(kind string) error {
	im.r.lateTrees = false
	return im.Commit(kind)
}

// Forget says that nothing more will be put upon a state.
func (im *Importer) Forget(s uint32) {
	delete(im.grown, s)
	delete(im.r.frontier, s)
}

// on gives a state to build on.
func (im *Importer) on(s uint32) (*grownState, error) {
	if g := im.grown[s]; g != nil {
		return g, nil
	}
	r := im.r
	ref, err := r.stateRef(s)
	if err != nil {
		return nil, err
	}
	g := &grownState{ref: ref}
	if s != NoState {
		if g.hash, err = state.ParseSetHash(ref.ID); err != nil {
			return nil, err
		}
	}
	if g.tree, err = r.tree(s); err != nil {
		return nil, err
	}
	im.keep(g)
	return g, nil
}

func (im *Importer) keep(g *grownState) {
	im.grown[g.ref.Num] = g
	if g.ref.Num != NoState {
		im.r.frontier[g.ref.Num] = true
	}
}

// Put records a version and gives its state.
func (im *Importer) Put(c *Imported) (uint32, error) {
	if err := im.ctx.Err(); err != nil {
		return 0, err
	}
	if len(c.Parents) > 1 {
		return im.merge(c)
	}
	parent := uint32(NoState)
	if len(c.Parents) == 1 {
		parent = c.Parents[0]
	}
	g, err := im.on(parent)
	if err != nil {
		return 0, err
	}
	rec := &importing{im: im, c: c, base: g, tree: g.tree}
	return rec.put()
}

// Keep puts a content that the next Commit's view names by a key, in place of what it named before.
func (im *Importer) Keep(key string, data []byte) error {
	h, err := im.Content(data)
	if err != nil {
		return err
	}
	im.t.view.Kept[key] = h[:]
	return nil
}

// KeepNone keeps nothing more under a key.
func (im *Importer) KeepNone(key string) { delete(im.t.view.Kept, key) }

// Content puts a content by itself.
func (im *Importer) Content(data []byte) (change.Hash, error) {
	h := hashOf(data)
	if len(data) == 0 {
		return h, nil
	}
	return h, im.packer.Put(h, data)
}

// Kept gives what an import kept under a key; nil for nothing.
func (r *Repo) Kept(key string) ([]byte, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	b, ok := v.Kept[key]
	if !ok {
		return nil, nil
	}
	var h change.Hash
	if copy(h[:], b) != len(h) || len(b) != len(h) {
		return nil, fmt.Errorf("what is kept of %s is no hash", key)
	}
	return r.Content(h)
}

// Lost tells whether an error of Kept or Content says that what an import kept is gone or damaged: it can be brought again from where it came.
func Lost(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}

// Has tells whether a content is here.
func (r *Repo) Has(h change.Hash) bool {
	size, ok := r.store.BlobSize(h)
	return ok && size >= 0
}

// Content reads a content by its hash.
func (r *Repo) Content(h change.Hash) ([]byte, error) {
	if h == (change.Hash{}) {
		return nil, nil
	}
	b, err := r.store.Blob(nil, h)
	if err != nil {
		return nil, storeError(err)
	}
	return b, nil
}

// EachRecorded calls fn for the states from a number on that one change made, recorded upon the state before: with the state's
// number and the change, without its body. An error from fn ends it.
func (r *Repo) EachRecorded(from uint32, fn func(s uint32, c *change.Change) error) error {
	for s := from; s < r.store.NumStates(); s++ {
		st, _, err := r.step(s)
		if err != nil {
			return err
		}
		if st.Beside || len(st.Changes) != 1 || len(st.Without) > 0 {
			continue
		}
		meta, err := r.store.Meta(st.Changes[0])
		if err != nil {
			return storeError(err)
		}
		c, err := change.DecodeMeta(meta)
		if err != nil {
			return fmt.Errorf("read change %s: %w", r.store.ChangeID(st.Changes[0]).Short(), err)
		}
		if err := fn(s, c); err != nil {
			return err
		}
	}
	return nil
}
