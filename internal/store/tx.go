package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// ErrDone is returned by a transaction that was committed or aborted, or in which something failed before.
var ErrDone = errors.New("the transaction is over")

// Tx is a transaction: what it puts counts once Commit returned nil, and leaves no trace otherwise. One exists at a time.
// Readers, those of this process too, see nothing of it before. Its methods, and its packers side by side, may be called
// from many goroutines, but Commit and Abort only when no other call is under way.
type Tx struct {
	s    *Store
	lock io.Closer
	t    *tables // when it began
	own  *Packer // for all but contents from many goroutines

	ownMu    sync.Mutex // guards own, and what follows
	ids      map[change.ID]uint32
	changes  uint32 // with those put here
	states   uint32
	waiting  []byte     // encoded states that have no frame yet
	stateOff []stateRef // of them
	contents []byte     // reused

	mu      sync.Mutex // guards what follows
	claimed map[change.Hash]struct{}
	packers []*Packer
	batch   batch
	file    vfs.File   // the segment being written
	older   []vfs.File // segments filled by this transaction
	at      place      // where the next frame goes
	err     error      // the first failure
	over    bool
	early   earlySync
}

// stateRef is a state on its way into a frame.
type stateRef struct {
	State
	off uint32
}

// Begin takes the writers' lock and begins a transaction on what is committed by then. wait is as for vfs.FS.Lock.
func (s *Store) Begin(wait func(tries int) bool) (*Tx, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	lock, err := s.fsys.Lock(filepath.Join(s.dir, "lock"), wait)
	if err != nil {
		return nil, fmt.Errorf("begin to write: %w", err)
	}
	tx, err := s.begin(lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin to write: %w", err), lock.Close())
	}
	return tx, nil
}

func (s *Store) begin(lock io.Closer) (*Tx, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	t := s.now.Load()
	file, err := s.fsys.OpenFile(t.log.name(t.end.segment()), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := s.dropTail(t, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	ls, err := listLog(s.fsys, s.dir)
	if err == nil {
		err = s.sweep(t.log, &ls, t.end.segment())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s.writing = true
	tx := &Tx{s: s, lock: lock, t: t, file: file, at: t.end, changes: t.n[changesCol], states: t.n[statesCol],
		ids: map[change.ID]uint32{}, claimed: map[change.Hash]struct{}{}}
	tx.batch = batch{logID: t.logID, n: t.n, last: t.op}
	tx.own = tx.Packer()
	return tx, nil
}

// dropTail removes what a writer left that did not live to commit it, unless it is damage to what was committed.
func (s *Store) dropTail(t *tables, file vfs.File) error {
	var st vfs.Stat
	if err := file.Stat(&st); err != nil {
		return err
	}
	ls, err := listLog(s.fsys, s.dir)
	if err != nil {
		return err
	}
	if _, beyond := ls.after(t.end.segment()); !beyond && (st.Size == int64(t.end.off()) || s.trusting && st.Size < int64(t.end.off())) {
		return nil
	}
	if err := t.log.damageBefore(t.end, t.n[opsCol]); err != nil {
		return err
	}
	return s.truncate(t, file)
}

// truncate cuts the log after end. Where the system refuses, as Windows does while a reader has the file mapped, what
// is left there is written over, and no frame of it can be taken for one of the next transaction: its checksum or its
// op's number is not the one expected.
func (s *Store) truncate(t *tables, file vfs.File) error {
	end := t.end
	// First, and whatever happens to the rest: a batch may lie there whole, and this alone makes it none.
	_ = file.Truncate(int64(end.off()))
	if err := t.log.forget(end.segment() + 1); err != nil {
		return err
	}
	ls, err := listLog(s.fsys, s.dir)
	if err != nil {
		return err
	}
	// The last first: should one stay, those before it still tell that they belong together.
	for _, n := range slices.Backward(ls.segments) {
		if n <= end.segment() {
			break
		}
		if err := s.fsys.Remove(segmentName(s.dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// failWith makes the transaction one that cannot be committed.
func (tx *Tx) failWith(err error) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.err == nil {
		tx.err = err
	}
	return err
}

// usable returns why nothing more can be put.
func (tx *Tx) usable() error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return ErrDone
	}
	return tx.err
}

// FindChange returns the number of a change of the store or of this transaction.
func (tx *Tx) FindChange(id change.ID) (uint32, bool) {
	tx.ownMu.Lock()
	defer tx.ownMu.Unlock()
	return tx.findChange(id)
}

func (tx *Tx) findChange(id change.ID) (uint32, bool) {
	if n, ok := tx.ids[id]; ok {
		return n, true
	}
	return tx.s.FindChange(id)
}

// PutChange adds a change and returns its number; if it is there already, the number it has. deps are the numbers of
// the changes that it depends on, time is what ChangeTime will return.
func (tx *Tx) PutChange(rec Record, deps []uint32, time int64) (uint32, error) {
	if err := tx.usable(); err != nil {
		return 0, err
	}
	tx.ownMu.Lock()
	defer tx.ownMu.Unlock()
	if n, ok := tx.findChange(rec.ID); ok {
		return n, nil
	}
	n, err := tx.putChange(rec, deps, time)
	if err != nil {
		return 0, tx.failWith(fmt.Errorf("store change %s: %w", rec.ID, err))
	}
	return n, nil
}

var (
	errDeps = errors.New("it depends on what is not in the store")
	errFull = errors.New("the store has no more numbers")
	errMany = errors.New("more than the format allows")

	errOldFormat = errors.New("the repository's format has no states that leave changes out")
)

func (tx *Tx) putChange(rec Record, deps []uint32, time int64) (uint32, error) {
	if len(deps) > maxDeps {
		return 0, errMany
	}
	if tx.changes >= maxRecords {
		return 0, errFull
	}
	for _, d := range deps {
		if d >= tx.changes {
			return 0, errDeps
		}
	}
	var flags uint16
	for i, f := range rec.fields() {
		if len(*f) <= maxInline {
			continue
		}
		h := hashOf(*f)
		if err := tx.own.Put(h, *f); err != nil {
			return 0, err
		}
		*f = h[:]
		flags |= 1 << i
	}
	p := tx.own
	start := len(p.out)
	p.out, tx.contents = appendChange(p.out, tx.contents, &rec, flags, deps, time)
	p.refs = append(p.refs, frameRef{off: start, kind: kindChange})
	n := tx.changes
	tx.changes++
	tx.ids[rec.ID] = n
	return n, p.placeIfFull()
}

// stateFrame is from how many bytes on encoded states get a frame of their own instead of going into the op's.
const stateFrame = 64 << 10

// PutState adds a state and returns its number. It may name changes of this transaction.
func (tx *Tx) PutState(st State) (uint32, error) {
	if err := tx.usable(); err != nil {
		return 0, err
	}
	tx.ownMu.Lock()
	defer tx.ownMu.Unlock()
	n, err := tx.putState(st)
	if err != nil {
		return 0, tx.failWith(fmt.Errorf("store state: %w", err))
	}
	return n, nil
}

func (tx *Tx) putState(st State) (uint32, error) {
	if tx.states >= maxRecords {
		return 0, errFull
	}
	if len(st.Without) > 0 && !tx.s.LeavesOut() {
		return 0, errOldFormat
	}
	start := len(tx.waiting)
	tx.waiting = appendState(tx.waiting, &st)
	if len(tx.waiting)-start > maxRaw-stateFrame {
		return 0, errMany
	}
	// Read it back as every later reader must be able to.
	if _, _, err := decodeState(tx.waiting[start:], counts{changesCol: tx.changes, statesCol: tx.states}); err != nil {
		return 0, err
	}
	tx.stateOff = append(tx.stateOff, stateRef{st, uint32(start)})
	n := tx.states
	tx.states++
	if len(tx.waiting) < stateFrame {
		return n, nil
	}
	p := tx.own
	var off int
	p.out, off = beginFrame(p.out)
	p.out = endFrame(p.out, off, kindStates, 0, len(tx.stateOff), tx.waiting)
	p.refs = append(p.refs, frameRef{off: off, kind: kindStates, states: tx.stateOff})
	tx.waiting, tx.stateOff = tx.waiting[:0], nil
	return n, p.placeIfFull()
}

// Abort ends the transaction without a trace. It does nothing after Commit.
func (tx *Tx) Abort() error {
	tx.mu.Lock()
	over := tx.over
	tx.mu.Unlock()
	if over {
		return nil
	}
	first := append(tx.older, tx.file)[0] // the segment that was being written when it began
	return tx.end(func() error { return tx.s.truncate(tx.t, first) })
}

// end closes what the transaction holds, after last, and releases the lock.
func (tx *Tx) end(last func() error) error {
	tx.early.wait()
	tx.mu.Lock()
	tx.over = true
	tx.mu.Unlock()
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	errs := []error{last(), tx.file.Close()}
	for _, f := range tx.older {
		errs = append(errs, f.Close())
	}
	tx.s.writing = false
	return errors.Join(append(errs, tx.lock.Close())...)
}
