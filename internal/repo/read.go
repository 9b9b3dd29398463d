package repo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Above these, new files go into the store while they are read, instead of waiting in memory for what is decided
// about all of them.
const (
	massFiles = 256
	massBytes = 64 << 20
)

// reader reads working files for one goroutine. It keeps the directory of the last one open: files come sorted.
type reader struct {
	root vfs.Dir
	dir  vfs.Dir
	at   string
	buf  []byte
	d    diff.Differ
	pack *store.Packer
	// large, if any, is told of a large file before it is taken into the store.
	large func(path string, bytes int64) error
}

func (rd *reader) close() {
	if rd.dir != nil && rd.dir != rd.root {
		_ = rd.dir.Close() // opened to read
	}
	rd.dir = nil
}

// open gives the directory of a file, entered element by element.
func (rd *reader) open(p string) (vfs.Dir, string, error) {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if rd.dir != nil && rd.at == dir {
		return rd.dir, name, nil
	}
	rd.close()
	d := rd.root
	for rest := dir; rest != ""; {
		var elem string
		elem, rest, _ = strings.Cut(rest, "/")
		next, err := d.OpenDir(elem)
		if d != rd.root {
			_ = d.Close()
		}
		if err != nil {
			return nil, "", err
		}
		d = next
	}
	rd.dir, rd.at = d, dir
	return d, name, nil
}

// read reads a file. A content too large to be a text goes into the store at once, piece by piece. The data is valid until the
// next read.
func (rd *reader) read(p string) (fileNow, vfs.Stat, error) {
	d, name, err := rd.open(p)
	if err != nil {
		return fileNow{}, vfs.Stat{}, readError(safepath.Quote(p), err)
	}
	data, st, err := worktree.ReadFile(d, name, rd.buf[:0], change.MaxText)
	if errors.Is(err, vfs.ErrTooLarge) {
		if st.Size > largeFile && rd.large != nil {
			if err := rd.large(p, st.Size); err != nil {
				return fileNow{}, st, err
			}
		}
		return rd.stream(d, p, name)
	}
	if err != nil {
		return fileNow{}, st, readError(safepath.Quote(p), err)
	}
	rd.buf = data
	now := fileNow{path: p, exec: st.Exec, size: uint64(len(data)), hash: hashOf(data), data: data}
	switch {
	case st.Kind == vfs.KindLink:
		now.kind, now.exec = change.Link, false
	case worktree.IsBinary(data):
		now.kind = change.Binary
	}
	return now, st, nil
}

// stream stores a large file, and makes sure that it was one and the same all the while.
func (rd *reader) stream(d vfs.Dir, p, name string) (now fileNow, st vfs.Stat, err error) {
	f, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return now, st, readError(safepath.Quote(p), err)
	}
	defer f.Close()
	var after vfs.Stat
	if err := f.Stat(&st); err != nil {
		return now, st, readError(safepath.Quote(p), err)
	}
	// Not beyond what it was: what grows as fast as it is read has no end.
	h, n, err := rd.pack.PutStream(io.LimitReader(f, min(st.Size, change.MaxContent)+1))
	if err != nil {
		return now, st, err
	}
	if err := f.Stat(&after); err != nil {
		return now, st, readError(safepath.Quote(p), err)
	}
	if after != st || n != st.Size {
		return now, st, &Error{Text: safepath.Quote(p) + " keeps changing while it is read", Next: stopWriting, Err: worktree.ErrChanging}
	}
	return fileNow{path: p, kind: change.Binary, exec: st.Exec, size: uint64(n), hash: h}, st, nil
}

// batch is how many files a goroutine takes at a time: whole directories mostly, and yet no long wait for the last.
const batch = 32

// parallel calls fn for every index below n on all cores, each goroutine with a reader, until one fails.
func (w *work) parallel(n int, fn func(rd *reader, i int) error) error {
	root, err := w.t.r.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), (n+batch-1)/batch)
	for range workers {
		rd := &reader{root: root, pack: w.sink.packer(), large: w.sayLarge}
		wg.Go(func() {
			defer rd.close()
			for {
				from := int(next.Add(batch)) - batch
				for i := from; i < min(from+batch, n); i++ {
					if ctx.Err() != nil {
						return
					}
					if err := fn(rd, i); err != nil {
						cancel(err)
						return
					}
				}
				if from >= n {
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// read reads every file that is added or may be edited, pairs removed files with added ones that are alike, and records.
func (w *work) read() error {
	r := w.t.r
	mass := len(w.added) > massFiles && !w.keep
	if !mass && !w.keep {
		total, err := w.measure()
		if err != nil {
			return err
		}
		mass = total > massBytes
	}
	if err := w.sayMany(); err != nil {
		return err
	}
	added := make([]recorded, len(w.added))
	if mass {
		r.opt.Progress.Begin("Recording", int64(len(added)), false)
		defer r.opt.Progress.End()
	}
	err := w.parallel(len(w.added), func(rd *reader, i int) error {
		now, st, err := rd.read(w.added[i])
		if err != nil {
			return err
		}
		if mass && now.data != nil && now.size > 0 {
			if err := rd.pack.Put(now.hash, now.data); err != nil {
				return err
			}
			now.data = nil
		}
		now.data = bytes.Clone(now.data)
		added[i] = recordAdded(now)
		added[i].onDisk, added[i].stat = true, st
		if mass {
			r.opt.Progress.Add(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if added, err = w.pair(added); err != nil {
		return err
	}
	edits := make([]recorded, len(w.edited))
	differs := make([]bool, len(w.edited))
	err = w.parallel(len(w.edited), func(rd *reader, i int) (err error) {
		edits[i], differs[i], err = w.readEdited(rd, &w.edited[i])
		return err
	})
	if err != nil {
		return err
	}
	if err := w.sink.flush(); err != nil {
		return err
	}
	w.recs = added
	for i := range edits {
		if differs[i] {
			w.recs = append(w.recs, edits[i])
		}
	}
	for i := range w.removed {
		rec, err := r.recordRemoved(&w.removed[i])
		if err != nil {
			return err
		}
		w.recs = append(w.recs, rec)
	}
	return nil
}

// readEdited reads one file and compares it with what the tree has.
func (w *work) readEdited(rd *reader, e *edited) (recorded, bool, error) {
	var now fileNow
	var st vfs.Stat
	chosen, part := w.chosen[e.path]
	if part {
		now = fileNow{path: e.path, kind: change.Text, exec: e.old.Exec, size: uint64(len(chosen)), hash: hashOf(chosen), data: chosen}
	} else {
		var err error
		if now, st, err = rd.read(e.path); err != nil {
			return recorded{}, false, err
		}
	}
	rec, differs, err := w.t.r.recordEdited(&rd.d, &e.old, now)
	if err != nil {
		return rec, false, err
	}
	rec.onDisk, rec.stat = !part, st
	if len(rec.content) >= inlineBelow && !w.keep && !w.tree.Disputed() { // else it is read again before it is stored
		if err := rd.pack.Put(rec.file.Content, rec.content); err != nil {
			return rec, false, err
		}
		rec.content = nil
	} else if len(rec.content) > 0 && len(rec.file.Hunks) == 0 {
		rec.content = bytes.Clone(rec.content)
	}
	// The whole text is wanted again only for a snapshot of the weave.
	if rec.weave != nil && rec.weave.length >= chainMin {
		rec.now.data = bytes.Clone(now.data)
	} else {
		rec.now.data = nil
	}
	return rec, differs, nil
}

// measure finds how much the added files are.
func (w *work) measure() (total int64, err error) {
	sizes := make([]int64, len(w.added))
	err = w.parallel(len(w.added), func(rd *reader, i int) error {
		d, name, err := rd.open(w.added[i])
		if err != nil {
			return readError(safepath.Quote(w.added[i]), err)
		}
		var st vfs.Stat
		if err := d.Lstat(name, &st); err != nil {
			return readError(safepath.Quote(w.added[i]), err)
		}
		sizes[i] = st.Size
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, s := range sizes {
		total += s
	}
	return total, nil
}
