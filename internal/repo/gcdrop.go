package repo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// keepOpsFor is how long operations are kept, and with them all that they can bring back: a person seldom wants to undo what is
// a season old.
const keepOpsFor = 90 * 24 * time.Hour

// GCOptions say what GC may drop. Whatever they say, it drops nothing that a bookmark, a tag, a checkpoint, the working copy or
// a kept operation has.
type GCOptions struct {
	KeepOps int       // at least so many of the last operations stay; 0: those of the last 90 days
	Prune   bool      // keep no operation but the last
	KeepAll bool      // drop nothing
	Anew    bool      // pack again what is packed already, however little is new
	DryRun  bool      // only say what would go
	Now     time.Time // zero: now
}

// Dropped counts what went, or would go.
type Dropped struct {
	Ops, Changes, States, Contents uint32
	Bytes                          int64 // of the contents, unpacked
}

// Any tells whether anything went.
func (d *Dropped) Any() bool { return d.Ops+d.Changes+d.States+d.Contents > 0 }

// firstKeptOp is the first operation that stays.
func (r *Repo) firstKeptOp(o *GCOptions) (uint32, error) {
	n := r.store.NumOps()
	if n == 0 {
		return 0, nil
	}
	own, err := r.firstOp()
	if err != nil {
		return 0, err
	}
	switch {
	case o.KeepAll:
		return 0, nil
	case o.Prune:
		return n - 1, nil
	case o.KeepOps > 0:
		return max(own, n-min(n, uint32(min(o.KeepOps, 1<<31)))), nil
	}
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	first, err := r.store.NumOpsAt(now.Add(-keepOpsFor).Unix())
	if err != nil {
		return 0, storeError(err)
	}
	return max(own, min(first, n-1)), nil
}

// unreachable marks what the operations from first on need. It gives nil where all there is stays: operations alone are not
// worth numbering everything anew.
func (r *Repo) unreachable(ctx context.Context, first uint32) (*store.Keep, Dropped, error) {
	s := r.store
	k := &store.Keep{FirstOp: first, States: make([]bool, s.NumStates()), Changes: make([]bool, s.NumChanges()), Blobs: make([]bool, s.NumBlobs())}
	var d Dropped
	last, err := s.View()
	if err != nil {
		return nil, d, storeError(err)
	}
	_, byNumber := last.Kept[keptGitExported]
	for n := first; n < s.NumOps(); n++ {
		v, err := s.OpView(n)
		if err == nil {
			err = r.keepView(k, v, !byNumber)
		}
		if errors.Is(err, errUnknownKept) {
			return nil, d, err
		}
		if err != nil {
			return nil, d, storeError(err)
		}
	}
	if err := r.keepLogs(k); err != nil {
		return nil, d, err
	}
	for n := range k.Changes {
		if !k.Changes[n] {
			continue
		}
		if ctx.Err() != nil {
			return nil, d, context.Cause(ctx)
		}
		if err := r.keepContents(k, uint32(n)); err != nil {
			return nil, d, err
		}
	}
	for n, kept := range k.Blobs {
		if !kept {
			d.Contents++
			d.Bytes += s.BlobSizeAt(uint32(n))
		}
	}
	d.Changes, d.States, d.Ops = countFalse(k.Changes), countFalse(k.States), first
	if d.Changes+d.States+d.Contents == 0 {
		return nil, Dropped{}, nil
	}
	k.View = func(_ uint32, v *store.View, state func(uint32) (uint32, error)) error {
		return renumberKept(v, first, state)
	}
	return k, d, nil
}

// keepLogs marks what the logs of the marked states have, and of the states beneath them those whose own logs stay with that.
// A state that leaves changes out of a log of which no more is kept is told by one further beneath.
func (r *Repo) keepLogs(k *store.Keep) error {
	w := r.newSweep()
	for n, kept := range k.States {
		if kept {
			w.mark(uint32(n), 0)
		}
	}
	if err := w.run(func(_ int, n uint32) { k.Changes[n] = true }); err != nil {
		return err
	}
	stays := func(n uint32) bool { return k.Changes[n] }
	k.Told = map[uint32]store.State{}
	for n, kept := range slices.Backward(k.States) { // parents have lower numbers
		if !kept {
			continue
		}
		st, _, err := r.step(uint32(n))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(st.Without, func(n uint32) bool { return !stays(n) }) {
			if st, err = r.toldBy(st, stays); err != nil {
				return err
			}
			k.Told[uint32(n)] = st
		}
		if st.Parent >= 0 {
			k.States[st.Parent] = true
		}
	}
	return nil
}

func countFalse(list []bool) (n uint32) {
	for _, b := range list {
		if !b {
			n++
		}
	}
	return n
}

// keepView marks the states that a view names, and the contents of what it keeps for oxy itself.
func (r *Repo) keepView(k *store.Keep, v *store.View, past bool) error {
	if v.Base >= 0 {
		k.States[v.Base] = true
	}
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for name, n := range names {
			if n == NoState {
				continue
			}
			if n >= uint32(len(k.States)) {
				return fmt.Errorf("%q is at state %d: %w", name, n, store.ErrDamaged)
			}
			k.States[n] = true
		}
	}
	for _, n := range v.Checkpoints {
		k.States[n] = true
	}
	keep := func(h change.Hash) {
		if n, ok := r.store.BlobNumber(h); ok {
			k.Blobs[n] = true
		}
	}
	if err := r.keepKept(k, v, past, keep); err != nil {
		return err
	}
	signed, err := signedHashes(v.Kept[keptSigned])
	if err != nil {
		return errors.Join(store.ErrDamaged, err)
	}
	for _, h := range signed {
		keep(h)
	}
	if b := v.Kept[keptDiscarded]; len(b) == len(change.Hash{}) {
		keep(change.Hash(b))
	}
	list, err := r.asideOf(v.Kept[keptDiscarded])
	if err != nil {
		return err
	}
	for i := range list {
		keep(list[i].Hash)
		if len(list[i].Left) == len(change.Hash{}) {
			keep(change.Hash(list[i].Left))
		}
	}
	return nil
}

// errUnknownKept says that a view keeps what may speak of states or contents by ways that GC does not know.
var errUnknownKept = errors.New("a view keeps what gc does not know")

// keptGitRefs is what the Git bridge keeps of refs: a content that names no number.
const keptGitRefs = "git refs"

// What the Git bridge keeps of what it gave: a content that names states by their ids, and that of earlier builds, by their numbers.
const (
	keptGitGiven    = "git given"
	keptGitExported = "git exported"
)

// keepKept marks what the values that a view keeps speak of. A key that is not known here ends all dropping.
func (r *Repo) keepKept(k *store.Keep, v *store.View, past bool, keep func(change.Hash)) error {
	for key, b := range v.Kept {
		switch {
		case key == keptKind, key == keptUndo, key == keptRedo, key == keptSettled, key == keptSigned, key == keptMoves, key == keptDiscarded, key == keptForeign, key == keptLost:
		case (key == keptGitRefs || key == keptGitGiven || key == keptCheckpoints || key == keptPromised) && len(b) == len(change.Hash{}):
			keep(change.Hash(b))
		case key == keptGitExported && past: // what was kept so later is kept otherwise, and no view of before brings it back
		case key == keptGitExported:
			return fmt.Errorf("%w: what an earlier oxy exported to Git, by states' numbers; export once more", errUnknownKept)
		case strings.HasPrefix(key, trackPrefix) && len(b) == 4 && binary.BigEndian.Uint32(b) < uint32(len(k.States)):
			k.States[binary.BigEndian.Uint32(b)] = true
		default:
			return fmt.Errorf("%w: %q", errUnknownKept, key)
		}
	}
	return nil
}

// keepContents marks the contents that a change brought.
func (r *Repo) keepContents(k *store.Keep, n uint32) error {
	rec, err := r.store.Change(n)
	if err != nil {
		return storeError(err)
	}
	c, err := change.Decode(rec.Meta, rec.Body)
	if err != nil {
		return storeError(errors.Join(store.ErrDamaged, err))
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Size > 0 {
			if b, ok := r.store.BlobNumber(f.Content); ok {
				k.Blobs[b] = true
			}
		}
	}
	return nil
}

// renumberKept makes what a view says of operations and states right once those before first are gone. An undo or a redo that
// reached back beyond them is an operation like any other then.
func renumberKept(v *store.View, first uint32, state func(uint32) (uint32, error)) error {
	if ops, _ := foreign(v); first >= ops { // with them went their states: nothing else led there
		delete(v.Kept, keptForeign)
	}
	delete(v.Kept, keptLost) // it was told for as long as it could matter
	for _, key := range []string{keptUndo, keptRedo} {
		b, ok := v.Kept[key]
		if !ok {
			continue
		}
		n, size := binary.Uvarint(b)
		if size <= 0 || n < uint64(first) {
			delete(v.Kept, key)
			continue
		}
		v.Kept[key] = binary.AppendUvarint(nil, n-uint64(first))
	}
	delete(v.Kept, keptGitExported)
	for key, b := range v.Kept {
		if !strings.HasPrefix(key, trackPrefix) {
			continue
		}
		n, err := state(binary.BigEndian.Uint32(b))
		if err != nil {
			return err
		}
		v.Kept[key] = binary.BigEndian.AppendUint32(nil, n)
	}
	return nil
}

// afterDropping forgets all that this process and the derived files know by the old numbers, and makes the trees of all
// that has a name.
func (r *Repo) afterDropping(ctx context.Context) error {
	r.forgetNumbers()
	wait, waited := r.waits()
	defer waited()
	err := r.store.Rederive(wait, func() ([]byte, error) {
		_, _, hint, err := r.renewAllTrees(ctx)
		if err != nil {
			return nil, nil // each is made when it is asked for
		}
		return hint, nil
	})
	if err != nil {
		return nil // the same: the new log counts already
	}
	return r.renumberManifest()
}

// forgetNumbers forgets what this process knows by numbers that mean other things now.
func (r *Repo) forgetNumbers() {
	r.mu.Lock()
	r.bodies, r.fresh, r.signed = nil, nil, nil
	r.mu.Unlock()
	r.spares.forget()
	if r.manifest != nil {
		_ = r.manifest.Close()
		r.manifest = nil
	}
}

// renumberManifest has the manifest name its state by the new number. It knows files by their paths and hashes alone.
func (r *Repo) renumberManifest() error {
	v, err := r.view()
	if err != nil {
		return err
	}
	base, err := r.stateRef(baseOf(v))
	if err != nil {
		return err
	}
	m, err := worktree.Load(r.fs, r.manifestDir())
	if err != nil {
		return nil // it is made again when it is asked for
	}
	cone, err := r.workingCone()
	if err != nil {
		return err
	}
	if _, id := m.Base(); id == cone.BaseID(base.ID) {
		m.SetBase(base.Num, id)
		r.manifest = m
		r.saveManifest()
		return nil
	}
	return m.Close()
}
