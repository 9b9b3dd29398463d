package worktree

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/blake3"
)

// ReadOptions say how files are read in bulk.
type ReadOptions struct {
	Workers  int   // goroutines, by default one for each processor
	InMemory int64 // larger files come as a Reader; by default 32 MiB
}

// defaultInMemory bounds what each worker's buffer grows to.
const defaultInMemory = 32 << 20

// ReadItem is a file as it is handed to the caller, who must keep nothing of it: the next one uses the same buffers.
type ReadItem struct {
	Path string
	Stat vfs.Stat
	Data []byte      // the content, a link's target, or nil if there is a Reader
	Hash change.Hash // of the content; of a Reader's once it was read to its end
	// Reader gives the content of a file too large for memory. It must be read to its end.
	Reader io.Reader
}

// chunkFiles is how many files of one directory a worker takes at once: enough to pay for opening it, few enough to
// share a directory of 100 000 files among all.
const chunkFiles = 64

// Read reads many files of the manifest's working copy on all cores and calls visit for each, at once from several goroutines that
// are told apart by worker, from 0. What it returns are the entries of the files read, in the manifest's order. Failures
// to read single files are in errs, each a *PathError, with ErrChanging for one that keeps changing; then visit was not
// called for it, or, for one that came as a Reader, must be forgotten. An error of visit or of ctx ends it all.
func Read(ctx context.Context, root vfs.Dir, m *Manifest, paths []string, opts ReadOptions,
	visit func(worker int, f *ReadItem) error) (files []PathEntry, errs []error, err error) {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.InMemory <= 0 {
		opts.InMemory = defaultInMemory
	}
	if !slices.IsSortedFunc(paths, compareEntries) {
		paths = slices.Clone(paths)
		slices.SortFunc(paths, compareEntries)
	}
	r := &bulk{ctx: ctx, root: root, m: m, opts: opts, visit: visit, paths: paths, clock: m.Clock()}
	r.out, r.errs = make([]PathEntry, len(paths)), make([]error, len(paths))
	chunks := chunkByDir(len(paths), func(i int) string { return paths[i] })
	readers := make([]*bulkReader, opts.Workers)
	err = parallel(opts.Workers, len(chunks), func(worker, i int) error {
		if readers[worker] == nil {
			readers[worker] = &bulkReader{bulk: r, worker: worker, hasher: blake3.New()}
		}
		return readers[worker].chunk(chunks[i])
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range r.out {
		if r.errs[i] != nil {
			errs = append(errs, r.errs[i])
		} else {
			files = append(files, r.out[i])
		}
	}
	return files, errs, nil
}

// chunk is files lo to hi, excluding hi, all of one directory.
type chunk struct{ lo, hi int }

func chunkByDir(n int, path func(int) string) []chunk {
	var out []chunk
	for lo := 0; lo < n; {
		dir, _ := split(path(lo))
		hi := lo + 1
		for hi < n && hi-lo < chunkFiles {
			if d, _ := split(path(hi)); d != dir {
				break
			}
			hi++
		}
		out = append(out, chunk{lo, hi})
		lo = hi
	}
	return out
}

type bulk struct {
	ctx   context.Context
	root  vfs.Dir
	m     *Manifest
	clock int64
	opts  ReadOptions
	visit func(int, *ReadItem) error
	paths []string
	out   []PathEntry
	errs  []error
}

type bulkReader struct {
	*bulk
	worker int
	hasher *blake3.Hasher
	memory memoryReader
	item   ReadItem
	failed error // of visit
}

func (w *bulkReader) chunk(c chunk) error {
	dir, _ := split(w.paths[c.lo])
	d, err := openChain(w.root, dir)
	if err != nil {
		for i := c.lo; i < c.hi; i++ {
			w.errs[i] = withPath(err, w.paths[i])
		}
		return nil
	}
	defer closeChain(d, w.root)
	ref := w.m.ref(dir)
	for i := c.lo; i < c.hi; i++ {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		_, name := split(w.paths[i])
		old, _, err := w.m.lookupIn(ref, name)
		if err != nil {
			return err
		}
		if err := w.one(d, diskName(&namedEntry{name, old}), i); err != nil {
			w.errs[i] = withPath(err, w.paths[i])
		}
		if w.failed != nil {
			return w.failed
		}
	}
	return nil
}

func (w *bulkReader) one(d vfs.Dir, name string, i int) error {
	path := w.paths[i]
	w.item = ReadItem{Path: path}
	w.memory.limit = w.opts.InMemory
	err := w.memory.guard.read(d, name, vfs.KindUnknown, &w.memory)
	if errors.Is(err, vfs.ErrTooLarge) {
		return w.stream(d, name, i)
	}
	if err != nil {
		return err
	}
	st := &w.memory.guard.st
	w.item.Stat, w.item.Data = *st, w.memory.buf
	w.hasher.Reset()
	w.hasher.Write(w.memory.buf)
	w.hasher.Sum(w.item.Hash[:0])
	w.failed = w.visit(w.worker, &w.item)
	w.out[i] = w.entry(path, name, st)
	return nil
}

// entry is the new entry of a file, whose name on disk it keeps.
func (w *bulkReader) entry(path, name string, st *vfs.Stat) PathEntry {
	e := NewEntry(st, w.item.Hash, w.clock)
	if _, own := split(path); own != name {
		old, _, _ := w.m.Lookup(path)
		e.Alias = old.Alias
	}
	return PathEntry{path, e}
}

// stream hands over a large file once. It cannot be read again if it changes, since the caller has it already.
func (w *bulkReader) stream(d vfs.Dir, name string, i int) error {
	var g guard
	switch err := g.once(d, name, vfs.KindFile, (*streamReader)(w)); {
	case errors.Is(err, errMoved):
		return ErrChanging
	case err != nil:
		return err
	}
	w.out[i] = w.entry(w.item.Path, name, &g.st)
	return nil
}

// streamReader is a bulkReader as the sink of a content that does not fit in memory.
type streamReader bulkReader

func (w *streamReader) file(f vfs.File, st *vfs.Stat) error {
	w.hasher.Reset()
	in := &hashingReader{(*bulkReader)(w), io.LimitReader(f, st.Size), st.Size}
	w.item.Stat, w.item.Reader = *st, in
	w.failed = w.visit(w.worker, &w.item)
	if in.left > 0 && w.failed == nil {
		return errMoved // the file ended early, which the caller took for its end
	}
	return nil
}

func (w *streamReader) link(string) {}

// hashingReader hashes what the caller reads.
type hashingReader struct {
	w    *bulkReader
	in   io.Reader
	left int64
}

func (r *hashingReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.w.hasher.Write(p[:n])
	r.left -= int64(n)
	if n > 0 && r.left == 0 {
		r.w.hasher.Sum(r.w.item.Hash[:0])
	}
	return n, err
}
