package worktree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// A log larger than this is folded into a new base file. Reading 1 000 records cost 2.5 ms at each start, half of a
// blame; writing a base of 79 000 files costs 15 ms once.
const (
	foldRecords  = 500
	foldFraction = 32       // of the base's size
	foldBytes    = 64 << 10 // but below this there is nothing to gain
)

// lockTries with pauses of a millisecond: a Save holds the lock for a few.
const lockTries = 2000

// Save keeps the changes: in the log beside the manifest while they are few, else in a new file. It syncs nothing, since
// a manifest can be rebuilt. Another process may have saved since Load: what it found out about the same base state
// stays, with ours over it; if it went to another base state the result is ErrStale and nothing is written.
func (m *Manifest) Save() error {
	if m.count == 0 && !m.whole {
		return nil
	}
	if err := m.save(); err != nil {
		return fmt.Errorf("save manifest: %w", err)
	}
	return nil
}

func (m *Manifest) save() error {
	if m.whole {
		if err := m.fsys.MkdirAll(m.dir, 0o777); err != nil {
			return err
		}
	}
	lock, err := m.fsys.Lock(filepath.Join(m.dir, lockName), func(tries int) bool {
		time.Sleep(time.Millisecond)
		return tries < lockTries
	})
	if err != nil {
		return err
	}
	defer lock.Close()
	if m.whole {
		return m.fold()
	}
	f, err := m.openLog()
	if err != nil {
		return err
	}
	if f == nil {
		return m.rebase()
	}
	records, size := m.log.records+m.count, m.log.end+frameSize+int64(len(m.batch))
	if records > foldRecords || size > max(foldBytes, int64(len(m.base.data))/foldFraction) {
		return errors.Join(f.Close(), m.fold())
	}
	return errors.Join(m.append(f), f.Close())
}

// openLog opens the log for appending, or returns nil if the manifest on disk is not the one that was loaded.
func (m *Manifest) openLog() (vfs.File, error) {
	gen, err := readGeneration(m.fsys, m.dir)
	if err != nil || gen != m.base.gen {
		return nil, err
	}
	f, err := m.fsys.OpenFile(filepath.Join(m.dir, logName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	var st vfs.Stat
	var head [logHeadSize]byte
	if err := f.Stat(&st); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	size := st.Size
	if n, _ := f.ReadAt(head[:], 0); n < len(head) || string(head[:]) != string(logHead(gen)) {
		size = 0 // a leftover of an older generation
	}
	if size != m.log.size {
		return nil, f.Close()
	}
	return f, nil
}

// append adds the batch to the log. A failure in the middle leaves a batch that does not count.
func (m *Manifest) append(f vfs.File) error {
	out := append(frame(m.batch, m.count, m.base.gen), m.batch...)
	end := m.log.end
	if m.log.size == 0 {
		end = 0
		out = append(logHead(m.base.gen), out...)
	}
	// Leftovers behind the end are cut off first. Behind the new batch they could be taken for another.
	records := m.log.records + m.count
	m.log.size = -1 // unknown: should this fail, the next Save reads the manifest again
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(out, end); err != nil {
		return err
	}
	end += int64(len(out))
	m.log = logEnd{size: end, end: end, records: records}
	m.saved()
	return nil
}

func (m *Manifest) saved() {
	m.batch, m.count, m.whole = nil, 0, false
	m.savedState, m.savedID = m.state, m.id
}

// fold writes a new base file with everything in it. The old log does not fit its generation, so a crash before it is
// overwritten does no harm.
func (m *Manifest) fold() error {
	data, err := m.flatten()
	if err != nil {
		return err
	}
	b, err := parse(data)
	if err != nil {
		return err
	}
	if err := vfs.WriteFileAtomic(m.fsys, filepath.Join(m.dir, baseName), data, false); err != nil {
		return err
	}
	// The old mapping stays until Close: directories that a caller still walks may lie in it.
	m.base, m.over, m.log = b, map[string]*overDir{}, logEnd{}
	m.saved()
	return nil
}

func (m *Manifest) flatten() ([]byte, error) {
	if len(m.over) == 0 && m.state == m.base.state && m.id == m.base.id {
		return m.base.data, nil
	}
	var b builder
	b.reserve(m.base)
	if err := m.flattenDir(&b, m.ref(""), "", nil); err != nil {
		return nil, err
	}
	return b.bytes(rand.Uint64(), m.state, m.id)
}

func (b *builder) reserve(old *base) {
	b.dirTab = make([]byte, 0, len(old.dirTab)+len(old.dirTab)/16)
	b.entryTab = make([]byte, 0, len(old.entryTab)+len(old.entryTab)/16)
	b.names = make([]byte, 0, len(old.names)+len(old.names)/16)
}

func (m *Manifest) flattenDir(b *builder, d dirRef, path string, buf []namedEntry) error {
	b.dir(path, m.info(d))
	files, err := m.appendEntries(buf[:0], d)
	if err != nil {
		return err
	}
	for i := range files {
		b.entry(files[i].name, &files[i].Entry)
	}
	for _, c := range m.children(d) {
		if err := m.flattenDir(b, c.dirRef, join(path, c.name), files); err != nil {
			return err
		}
	}
	return nil
}

// rebase makes our changes over what another process saved meanwhile. The lock is held.
func (m *Manifest) rebase() error {
	now, err := Load(m.fsys, m.dir)
	if err != nil {
		return err
	}
	if now.state != m.savedState || now.id != m.savedID {
		return errors.Join(ErrStale, now.Close())
	}
	if err := now.applyRecords(m.batch, m.count); err != nil {
		return errors.Join(err, now.Close())
	}
	now.batch, now.count = m.batch, m.count
	old := m.mapping
	*m = *now
	if old != nil {
		old.Close()
	}
	f, err := m.openLog()
	if err != nil {
		return err
	}
	if f == nil {
		return ErrStale
	}
	return errors.Join(m.append(f), f.Close())
}

// readGeneration reads the generation of the manifest on disk.
func readGeneration(fsys vfs.FS, dir string) (uint64, error) {
	f, err := fsys.OpenFile(filepath.Join(dir, baseName), os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [headSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return 0, err
	}
	return le.Uint64(head[48:]), nil
}
