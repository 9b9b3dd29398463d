package repo

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Keys of what a view keeps for oxy itself.
const (
	keptKind        = "kind"        // what the operation was
	keptUndo        = "undo"        // of an undo or a redo: the number of the operation whose view it brought back
	keptRedo        = "redo"        // of an undo or a redo: the number of the operation whose view the next redo brings back
	keptSettled     = "settled"     // conflicts that a person decided: the next record says so
	keptSigned      = "signatures"  // hashes of contents: signatures that came after their changes
	keptCheckpoints = "checkpoints" // hash of a content: the signed checkpoints
	keptMoves       = "moves"       // of a resolve: the working files that it moved
	keptLost        = "lost"        // hashes of contents that were damaged, and that nobody had when the log was mended
	keptDiscarded   = "discarded"   // of a discard: the contents that it took, to bring back; of an undo: those in their place
)

// lockTries is how often the writers' lock is tried, with waits that grow to a tenth of a second: five seconds in all.
const lockTries = 60

// tx is a transaction of the store with what repo derives from it.
type tx struct {
	*store.Tx
	r      *Repo
	view   *store.View // to alter
	old    *store.View // as it was before
	made   []made      // the changes put here, by number
	before uint32      // the state that the working copy stood on
	sign   Signing     // whether its changes are signed
	hint   []byte      // where the trees were when it began; once the operation stands, the store forgets it

	taken map[[32]byte]takenState // the states that were taken of a peer, by their ids

	acknowledged bool
}

// made is a change that a transaction put.
type made struct {
	id   change.ID
	deps []uint32
}

// waitForLock waits before another try at a lock.
func waitForLock(tries int) bool {
	if tries > 0 {
		time.Sleep(min(time.Duration(tries)*2*time.Millisecond, 100*time.Millisecond))
	}
	return tries < lockTries
}

// begin takes the writers' lock and looks at what others recorded meanwhile.
func (r *Repo) begin() (*tx, error) {
	done := r.opt.Timings.Phase("begin")
	defer done(0)
	hint := r.store.Hint()
	wait, waited := r.waits()
	t, err := r.store.Begin(wait)
	waited()
	if err != nil {
		return nil, storeError(err)
	}
	if r.blocks != nil && !bytes.Equal(hint, r.store.Hint()) {
		err = r.blocks.Close()
		r.blocks = nil
	}
	if r.manifest != nil {
		err = errors.Join(err, r.manifest.Close())
		r.manifest = nil
	}
	r.forgetCone() // another process may have set it meanwhile
	v, viewErr := r.store.View()
	if err = errors.Join(err, viewErr); err != nil {
		return nil, errors.Join(storeError(err), t.Abort())
	}
	old, v := v, v.Clone()
	delete(v.Kept, keptUndo)
	delete(v.Kept, keptRedo)
	delete(v.Kept, keptMoves)
	delete(v.Kept, keptDiscarded)
	return &tx{Tx: t, r: r, view: v, old: old, before: baseOf(v), hint: r.store.Hint()}, nil
}

// commit acknowledges the transaction: after it, whatever else fails, the operation is done.
func (t *tx) commit(kind string) error {
	r := t.r
	t.view.Kept[keptKind] = []byte(kind)
	if err := t.realView(t.view); err != nil {
		return err
	}
	done := r.opt.Timings.Phase("commit point")
	_, err := t.Commit(store.Op{Time: time.Now().Unix(), User: r.user(), Command: shownCommand(r.opt.Command), View: t.view}, t.publish)
	done(0)
	if err != nil {
		return fileError("record it", storeError(err))
	}
	t.acknowledged, r.recorded, r.writing = true, true, false
	return nil
}

// shownCommand is a command as the operation log may keep it: without the passwords of addresses.
func shownCommand(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.Contains(w, "://") {
			out[i] = sync.Hidden(w)
		}
	}
	return out
}

// transact runs fn in a transaction, which ends without a trace when fn did not commit it. Where a trace stays the next
// writer finds and drops it: what the command did or failed at is not altered by that.
func transact[T any](r *Repo, fn func(t *tx) (T, error)) (T, error) {
	var late error // of what came after the commit: that is done, and not to be done twice
	res, err := mended(r, func() (T, error) {
		t, err := r.begin()
		if err != nil {
			var none T
			return none, err
		}
		r.writing = true
		res, err := fn(t)
		r.writing = false
		_ = t.Abort()
		r.forgetFresh()
		r.spares.forgetPut()
		if t.acknowledged {
			late, err = err, nil
		} else {
			r.dropUnacknowledged()
		}
		return res, err
	})
	if err == nil {
		err = late
	}
	return res, err
}

// dropUnacknowledged forgets the trees of a transaction that was given up: the next one will use the numbers of its states
// for others.
func (r *Repo) dropUnacknowledged() {
	r.blocksMu.Lock()
	defer r.blocksMu.Unlock()
	ahead := r.ahead
	r.ahead = false
	if r.blocks != nil && (ahead || r.blocks.Pending()) {
		r.retired = append(r.retired, r.blocks) // others may still read from it
		r.blocks = nil
	}
}

// publish writes the trees behind what was acknowledged. They are derived: a failure here costs time later, nothing else.
func (t *tx) publish() ([]byte, error) {
	hint, err := t.flushTrees()
	if err != nil {
		// What was there before still holds, and lacks only the last steps.
		return t.hint, nil
	}
	return hint, nil
}

// flushTrees writes the trees that the operation made. One that needed none, as of a bookmark, leaves them as they are.
func (t *tx) flushTrees() ([]byte, error) {
	r := t.r
	b := r.blocks
	if b == nil {
		return t.hint, nil
	}
	if (b.MustCompact() || b.ShouldCompact() && !r.lateTrees) && !r.stale {
		// The states before it too: undoing is a person's next step, and their trees may have been written long ago.
		if next, err := r.compact(nil, t.view, t.old); err == nil {
			r.blocks = next
			b = next
		}
	}
	// Of the state before: this one's is not known to the store yet.
	if err := t.keepSet(t.before, setEvery); err != nil {
		return nil, err
	}
	h, err := b.Flush()
	if err != nil {
		return nil, err
	}
	r.stale, r.ahead = false, false
	r.dropGenerations(b.Generation())
	return h.Encode(), nil
}

// writeAhead writes what there is of trees, so that it does not pile up in memory until the operation stands. Nobody sees it before; if
// it cannot be written now it may be then.
func (t *tx) writeAhead() {
	if b := t.r.blocks; b != nil && b.Pending() {
		t.r.ahead = true
		_, _ = b.Flush()
	}
}

// compact writes a new generation with the trees that are worth keeping. pack, if not nil, packs the weaves in it.
func (r *Repo) compact(pack state.PackWeaves, views ...*store.View) (*state.Blocks, error) {
	done := r.opt.Timings.Phase("compact trees")
	defer done(0)
	keep, err := r.worthKeeping(views)
	if err != nil {
		return nil, err
	}
	next, err := r.blocks.Compact(keep, r.blocks.Generation()+1, pack)
	if err != nil {
		return nil, err
	}
	r.kept.move(next.TakeMoved(), next.Generation())
	_ = r.blocks.Close() // nothing of it is used any more
	return next, nil
}

// Automatic checkpoints lie this many changes apart: a quarter of the tree's files, so that all of them together weigh
// little beside the changes between, and at least so many that replaying them is not felt.
const (
	checkpointShare = 4
	checkpointMin   = 256
)

// treesApart is how many changes lie between the trees that are kept of a state with so many files.
func treesApart(files uint64) int { return max(checkpointMin, int(files/checkpointShare)) }

// recentTrees is how many of the latest trees stay: going a few changes back and undoing are a person's daily moves, and
// those trees share nearly all with the last.
const recentTrees = 16

// worthKeeping lists the states whose trees stay: the bookmarks', the working copy's, checkpoints, and of the others one
// every so many changes.
func (r *Repo) worthKeeping(views []*store.View) ([]uint32, error) {
	roots, err := r.blocks.Roots()
	if err != nil {
		return nil, err
	}
	named := map[uint32]bool{}
	for _, root := range roots[:min(len(roots), recentTrees)] {
		named[root.State] = true
	}
	for s := range r.frontier {
		named[s] = true
	}
	for _, v := range views {
		named[baseOf(v)] = true
		for _, s := range v.Bookmarks {
			named[s] = true
		}
		for _, s := range v.Checkpoints {
			named[s] = true
		}
	}
	type at struct {
		state uint32
		pos   uint64
	}
	var all []at
	files := uint64(0)
	for _, root := range roots {
		st, err := r.state(root.State)
		if err != nil {
			continue // of a transaction that was given up
		}
		all = append(all, at{root.State, st.Pos})
		files = max(files, root.Root.Count)
	}
	var keep []uint32
	spacing := r.newSpacing(uint64(treesApart(files)))
	if len(all) > 0 {
		spacing.main(slices.MaxFunc(all, func(a, b at) int { return cmp.Compare(a.pos, b.pos) }).state)
	}
	// A state's parent has a lower number.
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.state, b.state) })
	for _, a := range all {
		if auto := spacing.falls(a.state, a.pos); auto || named[a.state] {
			keep = append(keep, a.state)
		}
	}
	return keep, nil
}

// dropGenerations removes the files of trees before the current one. A reader that still looks for one finds the next.
func (r *Repo) dropGenerations(current uint64) {
	dir := filepath.Join(r.dir, "trees")
	gens, err := state.Generations(r.fs, dir)
	if err != nil || len(gens) < 2 {
		return
	}
	for _, g := range gens {
		if g < current {
			_ = state.RemoveGeneration(r.fs, dir, g) // the next writer tries again
		}
	}
}

// update runs a transaction that only changes the view.
func (r *Repo) update(kind string, fn func(v *store.View) error) error {
	_, err := transact(r, func(t *tx) (struct{}, error) {
		if err := fn(t.view); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit(kind)
	})
	return err
}

// user says who runs the command, for the operation log.
func (r *Repo) user() string {
	name := r.opt.Env("USER")
	if name == "" {
		name = r.opt.Env("USERNAME")
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// idOf is the id of a change of the store or of this transaction.
func (t *tx) idOf(n uint32) change.ID {
	if n < t.r.store.NumChanges() {
		return t.r.store.ChangeID(n)
	}
	return t.made[n-t.r.store.NumChanges()].id
}
