// Package store keeps a repository's truth: one append-only log of framed records, the indexes derived from it, and the
// commit point that makes a batch of records count. It knows changes and states by number and by id, and nothing of
// what they say. The format is docs/spec/store.md.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What can be wrong, for errors.Is.
var (
	// ErrNotFound: nothing is kept under this hash, id or number.
	ErrNotFound = errors.New("not in the store")
	// ErrDamaged: the truth cannot be read where it must be. The message names the file and the offset. Damage to what
	// is derived is never an error: it is made again.
	ErrDamaged = errors.New("the store is damaged")
	// ErrNewerFormat: a later oxy made the repository.
	ErrNewerFormat = errors.New("a newer oxy made this repository")
	// ErrNotRepository: there is no repository in this directory.
	ErrNotRepository = errors.New("not a repository")
	// ErrLocked: another process kept the writers' lock until the caller gave up.
	ErrLocked = vfs.ErrLocked
)

func (l *log) damaged(p place, err error) error {
	return fmt.Errorf("%w: %s at offset %d: %w", ErrDamaged, l.display(p.segment()), p.off(), err)
}

func (s *Store) damaged(p place, err error) error { return s.logOf(p).damaged(p, err) }

// unreadable tells damage, a file that is missing or too short, from a disk that fails to answer.
func (l *log) unreadable(p place, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fs.ErrNotExist) {
		return l.damaged(p, err)
	}
	return fmt.Errorf("read %s at offset %d: %w", l.display(p.segment()), p.off(), err)
}

// Store is an open repository store. Its methods may be called from many goroutines. What they return, slices of the
// mapped files among it, is valid until Close. Numbers are given in the order of appending and never change, so what a
// caller saw stays true while others commit.
type Store struct {
	fsys vfs.FS
	dir  string

	segmentMax, sealMin, tailMin uint32 // segmentSize, sealMin and tailMin but in tests

	trusting bool // see OpenDamaged

	now    atomic.Pointer[tables]
	logs   atomic.Pointer[[]*log] // that now is of and those before it, ascending
	frames frameCache
	view   atomic.Pointer[cachedView]
	failed atomic.Pointer[error] // see Err
	format atomic.Int32

	mu       sync.Mutex // guards what follows, and replacing now
	mappings []vfs.Mapping
	writing  bool // a Tx of this process is open: nobody else commits
	mend     bool // a derived file was found damaged: the next writer makes them anew
}

// Open opens the store for reading. It takes no lock and writes nothing.
func Open(fsys vfs.FS, dir string) (*Store, error) { return openAs(fsys, dir, false) }

// OpenDamaged is Open for who looks for damage or mends it. Where the last operation itself is damaged, it believes the head and the
// indexes, if they are whole, as to what was committed; that operation then cannot be read, and Open refuses such a store.
func OpenDamaged(fsys vfs.FS, dir string) (*Store, error) { return openAs(fsys, dir, true) }

func openAs(fsys vfs.FS, dir string, trusting bool) (*Store, error) {
	format, err := readFormat(fsys, dir)
	if err != nil {
		return nil, err
	}
	s := newStore(fsys, dir)
	s.trusting = trusting
	s.format.Store(int32(format))
	if err := s.load(false); err != nil {
		return nil, errors.Join(fmt.Errorf("open repository %s: %w", dir, err), s.Close())
	}
	return s, nil
}

// Release lets go of what of the log is in the process's memory, for work that reads all of it once. What is needed again is read again.
func (s *Store) Release() {
	logs := s.logs.Load()
	if logs == nil {
		return
	}
	for _, l := range *logs {
		l.release()
	}
}

func newStore(fsys vfs.FS, dir string) *Store {
	return &Store{fsys: fsys, dir: dir, segmentMax: segmentSize, sealMin: sealMin, tailMin: tailMin}
}

// Close ends the use of the store and of everything that was got from it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if logs := s.logs.Load(); logs != nil {
		for _, l := range *logs {
			errs = append(errs, l.close())
		}
	}
	for _, m := range s.mappings {
		errs = append(errs, m.Close())
	}
	s.mappings = nil
	return errors.Join(errs...)
}

// refreshMax bounds what Refresh reads from the log; beyond it the indexes are opened anew.
const refreshMax = 16 << 20

// Refresh takes notice of what others committed since Open, the last Refresh or Begin.
func (s *Store) Refresh() error {
	s.mu.Lock()
	if s.writing { // and then nobody else writes
		s.mu.Unlock()
		return nil
	}
	defer s.mu.Unlock()
	return s.refresh()
}

func (s *Store) refresh() error {
	t := s.now.Load()
	if moved, err := s.moved(t.log); err != nil {
		return err
	} else if moved {
		return s.loadLocked(false)
	}
	h := readHead(s.fsys, s.dir, t.logID)
	if h != nil && h.n[opsCol] >= t.n[opsCol] && uint64(h.end-t.end) > refreshMax {
		return s.loadLocked(false)
	}
	next := t.clone()
	end, _, err := t.log.scan(t.end, t.n, t.op, next.add)
	if err != nil {
		return fmt.Errorf("read what others committed: %w", err)
	}
	if h != nil && h.n[opsCol] > next.n[opsCol] {
		return t.log.lost(end, h.n[opsCol])
	}
	if err := t.log.forget(end.segment() + 1); err != nil {
		return err
	}
	next.setHint(h)
	s.show(next)
	return nil
}

// show makes t what readers see. The caller holds mu.
func (s *Store) show(t *tables) {
	t.log.end.Store(uint64(t.end))
	s.now.Store(t)
}

// Hint returns the bytes that a writer left for its like, or nil when they are gone: the last writer's, or an earlier
// one's when the machine stopped before head was written. They may be of no use, but speak of no later operation than the
// last: who derives from the log can go on from there instead of beginning anew.
func (s *Store) Hint() []byte { return s.now.Load().hint }

// Err returns why something could not be read by a method that returns no error, such as ChangeID, which then returned
// zeros. Such a store begins no transaction.
func (s *Store) Err() error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

func (s *Store) fail(err error) { s.failed.CompareAndSwap(nil, &err) }
