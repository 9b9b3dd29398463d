package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Manifest is the base state's files and the last look at each on disk: a mapped file that is never parsed whole, and
// over it the changes since that file was written, few enough for maps.
//
// It always speaks of exactly the state that Base names. Its methods may be called at once from several goroutines while
// none changes it.
type Manifest struct {
	fsys vfs.FS
	dir  string

	base    *base
	mapping vfs.Mapping // nil when base was built in memory

	state uint32
	id    [32]byte
	over  map[string]*overDir // by path

	log   logEnd
	batch []byte // records that are not saved
	count int    // how many
	whole bool   // the next Save writes a new base
	// The base state as last loaded or saved: what Save must find on disk.
	savedState uint32
	savedID    [32]byte
}

// The files of a manifest in its directory.
const (
	baseName  = "manifest"
	logName   = "manifest.log"
	lockName  = "manifest.lock"
	clockName = "manifest.clock"
)

// maxLoads bounds how often Load starts again because another process wrote a new base meanwhile.
const maxLoads = 8

// New is the manifest of an empty working copy: no files, state 0 with the zero id until SetBase.
func New(fsys vfs.FS, dir string) (*Manifest, error) {
	return Build(fsys, dir, 0, [32]byte{}, func(func(string, Entry) bool) {})
}

// Load opens the manifest kept in dir. Errors are ErrNotFound, ErrDamaged and those of the file system. Close it after use.
func Load(fsys vfs.FS, dir string) (*Manifest, error) {
	for range maxLoads {
		m, err := loadOnce(fsys, dir)
		if err != nil || m != nil {
			return m, err
		}
	}
	return nil, fmt.Errorf("load manifest in %s: it is rewritten all the time", dir)
}

// loadOnce returns nil when base and log belong to different generations because a new base appeared in between.
func loadOnce(fsys vfs.FS, dir string) (*Manifest, error) {
	data, mapping, err := mapFile(fsys, filepath.Join(dir, baseName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("load manifest: %w", err)
	}
	m, err := fromBytes(fsys, dir, data)
	if err != nil {
		mapping.Close()
		return nil, err
	}
	m.mapping = mapping
	fits, err := m.readLog()
	if err == nil && !fits {
		// The log is another generation's: a leftover, unless the base was replaced since we mapped it.
		var gen uint64
		if gen, err = readGeneration(fsys, dir); err == nil && gen != m.base.gen {
			m.Close()
			return nil, nil
		}
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	m.savedState, m.savedID = m.state, m.id
	return m, nil
}

func fromBytes(fsys vfs.FS, dir string, data []byte) (*Manifest, error) {
	b, err := parse(data)
	if err != nil {
		return nil, err
	}
	return &Manifest{fsys: fsys, dir: dir, base: b, state: b.state, id: b.id, over: map[string]*overDir{}}, nil
}

func mapFile(fsys vfs.FS, name string) ([]byte, vfs.Mapping, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var st vfs.Stat
	if err := f.Stat(&st); err != nil {
		return nil, nil, err
	}
	if st.Size < headSize {
		return nil, nil, fmt.Errorf("%w: %d bytes", ErrDamaged, st.Size)
	}
	mapping, err := f.Map(st.Size)
	if err != nil {
		return nil, nil, err
	}
	return mapping.Bytes(), mapping, nil
}

// Close ends the mapping. Nothing obtained from the manifest depends on it.
func (m *Manifest) Close() error {
	if m.mapping == nil {
		return nil
	}
	mapping := m.mapping
	m.mapping = nil
	return mapping.Close()
}

// Base is the state whose files the manifest lists.
func (m *Manifest) Base() (state uint32, id [32]byte) { return m.state, m.id }

// SetBase says that the manifest, with the edits made so far, lists the files of another state.
func (m *Manifest) SetBase(state uint32, id [32]byte) {
	if m.state == state && m.id == id {
		return
	}
	m.state, m.id = state, id
	m.record(appendBaseRecord(m.batch, state, &id))
}

// Len is the number of entries.
func (m *Manifest) Len() int {
	n := m.base.total(0)
	if o := m.over[""]; o != nil {
		n += o.delta
	}
	return n
}

// Lookup finds the entry of a path, by binary search in the mapped file.
func (m *Manifest) Lookup(path string) (Entry, bool, error) {
	dir, name := split(path)
	return m.lookupIn(m.ref(dir), name)
}

func (m *Manifest) lookupIn(d dirRef, name string) (e Entry, ok bool, err error) {
	if d.over != nil {
		if o, ok := d.over.names[name]; ok {
			return o.Entry, !o.gone, nil
		}
	}
	if d.base < 0 {
		return e, false, nil
	}
	blk, err := m.base.block(d.base)
	if err != nil {
		return e, false, err
	}
	i, ok := blk.find(name)
	if ok {
		blk.entry(i, &e)
	}
	return e, ok, nil
}

// IsDir tells whether a path has entries beneath it.
func (m *Manifest) IsDir(path string) bool { return m.live(m.ref(path)) > 0 }

// All calls visit with each entry, in the manifest's order (directories before what is beneath them), until it returns
// false.
func (m *Manifest) All(visit func(path string, e *Entry) bool) error {
	_, err := m.all(m.ref(""), "", visit)
	return err
}

func (m *Manifest) all(d dirRef, path string, visit func(string, *Entry) bool) (more bool, err error) {
	files, err := m.appendEntries(nil, d)
	if err != nil {
		return false, err
	}
	for i := range files {
		// The names lie in the mapping, which the visitor's copy may outlive.
		if !visit(strings.Clone(join(path, files[i].name)), &files[i].Entry) {
			return false, nil
		}
	}
	for _, c := range m.children(d) {
		if more, err := m.all(c.dirRef, join(path, c.name), visit); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// Edit is a change to one entry.
type Edit struct {
	Path   string
	Delete bool
	Entry  // when not deleted
}

// Update makes the edits in order. They are on disk after Save.
func (m *Manifest) Update(edits []Edit) error {
	for i := range edits {
		if err := checkPath(edits[i].Path); err != nil {
			return err
		}
		if edits[i].Alias > maxAlias || edits[i].Kind >= numKinds {
			return fmt.Errorf("update manifest: entry of %q is out of range", edits[i].Path)
		}
	}
	for i := range edits {
		e := &edits[i]
		if e.Delete {
			was, err := m.remove(e.Path)
			if err != nil {
				return err
			}
			if was {
				m.record(appendRemoveRecord(m.batch, e.Path))
			}
			continue
		}
		if err := m.put(e.Path, &e.Entry); err != nil {
			return err
		}
		m.record(appendPutRecord(m.batch, e.Path, &e.Entry))
	}
	return nil
}

// setDir remembers a look at a directory.
func (m *Manifest) setDir(path string, info DirInfo) {
	o := m.overDir(path)
	o.info, o.seen = info, true
	m.record(appendDirRecord(m.batch, path, &info))
}

func (m *Manifest) record(batch []byte) {
	m.batch = batch
	m.count++
}

// Clock is the time now as the working copy's file system tells it, in nanoseconds since 1970: what a file written at
// this moment is stamped with. The local clock would not do, since a server stamps files by its own. It is 0, so that
// nothing counts as settled, where nothing can be written.
func (m *Manifest) Clock() int64 {
	name := filepath.Join(m.dir, clockName)
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	f, err := m.fsys.OpenFile(name, flags, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if err = m.fsys.MkdirAll(m.dir, 0o777); err == nil {
			f, err = m.fsys.OpenFile(name, flags, 0o666)
		}
	}
	if err != nil {
		return 0
	}
	defer f.Close()
	var st vfs.Stat
	if _, err := f.Write([]byte{'\n'}); err != nil || f.Stat(&st) != nil {
		return 0
	}
	return st.Mtime
}
