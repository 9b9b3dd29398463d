package worktree

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Options say what a scan looks for.
type Options struct {
	Workers    int  // goroutines, by default one for each processor
	Exact      bool // read every file whose stat changed, so that each Item of a file or link is Hashed
	Collapse   bool // name a wholly untracked directory instead of the files in it
	Ignored    bool // list what is ignored, too; this reads every directory
	IgnoreExec bool // the file system keeps no executable bits
	// Excludes are the texts of the exclude files that hold for the whole tree, the one that decides last first: the
	// user's, then the repository's.
	Excludes [][]byte
	// Paths restrict the scan to these files and directories, from the root with slashes. Empty means all.
	Paths []string
	Hints Hints
	// Cone is what a sparse working copy has, which the manifest is of too; nil for all of the tree.
	Cone *Cone
}

// Hints are what a watcher of the file system reported.
type Hints struct {
	Paths    []string // these, and everything in them, may have changed
	Complete bool     // and nothing else has, since the manifest was saved
}

// fewFiles is how many files one goroutine looks at sooner than a second thread is up.
const fewFiles = 500

// Scan compares the working copy in root with the manifest: one lstat for each tracked file, no content read where its
// stat is the remembered one, and no list of names where a directory's times prove them the same. What it learns on the
// way goes into the manifest; Save keeps it. Failures that concern single paths are in the result. Errors are those of
// the context, and ErrDamaged.
func Scan(ctx context.Context, root vfs.Dir, m *Manifest, opts Options) (*Result, error) {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
		if m.Len() < fewFiles {
			opts.Workers = 1
		}
	}
	s := &scanner{ctx: ctx, m: m, opts: opts}
	s.rules = rules{root: root, excludes: opts.Excludes, fail: s.failShared}
	workers := make([]*worker, opts.Workers)
	for i := range workers {
		workers[i] = &worker{scanner: s}
	}
	var only *selection
	if len(opts.Paths) > 0 {
		only = selectPaths(opts.Paths)
	}
	if opts.Hints.Complete {
		only = selectPaths(opts.Hints.Paths).meet(only)
	}
	first := task{dir: keptOpen{root}, place: &place{print: s.rules.print()}, ref: m.ref(""), tracked: true, only: only}
	drain(opts.Workers, []task{first}, func(i int, t task, q *queue[task]) {
		workers[i].queue = q
		workers[i].walk(t)
	})
	if s.err != nil {
		return nil, s.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.finish(workers)
}

// keptOpen is the caller's directory, which a walk must not close.
type keptOpen struct{ vfs.Dir }

func (keptOpen) Close() error { return nil }

// scanner is what the workers of a scan share.
type scanner struct {
	ctx   context.Context
	m     *Manifest
	opts  Options
	rules rules

	once  sync.Once
	clock int64

	mu     sync.Mutex
	err    error // ends the scan
	shared Result
}

// now is the file system's time at the first call. Everything looked at after it was looked at no earlier.
func (s *scanner) now() int64 {
	s.once.Do(func() { s.clock = s.m.Clock() })
	return s.clock
}

func (s *scanner) abort(err error) {
	s.mu.Lock()
	s.err = errors.Join(s.err, err)
	s.mu.Unlock()
}

func (s *scanner) stopped() bool { return s.ctx.Err() != nil }

func (s *scanner) failShared(path string, err error) {
	s.mu.Lock()
	s.shared.Errors = append(s.shared.Errors, withPath(err, strings.Clone(path)))
	s.mu.Unlock()
}

// finish joins the workers' findings and puts what they learnt into the manifest.
func (s *scanner) finish(workers []*worker) (*Result, error) {
	res := &s.shared
	for _, w := range workers {
		res.add(&w.found)
	}
	res.sort()
	res.Clock = s.clock
	for _, w := range workers {
		if err := s.m.Update(w.fresh); err != nil {
			return nil, err
		}
		for i := range w.dirs {
			s.m.setDir(w.dirs[i].path, w.dirs[i].info)
		}
	}
	return res, nil
}

// task is a directory to look at. Whoever takes it closes dir.
type task struct {
	dir     vfs.Dir
	place   *place
	ref     dirRef // if tracked
	tracked bool
	outside bool // of the cone
	only    *selection
}

// worker is one goroutine of a scan, with its findings and the buffers that it uses again for each directory.
type worker struct {
	*scanner
	queue  *queue[task]
	hasher *fileHasher // made when first needed
	st     vfs.Stat
	files  []namedEntry
	names  []vfs.DirEntry
	clean  [len(ignoreFiles)]change.Hash // contents of the current directory's ignore files, where known

	found Result
	fresh []Edit
	dirs  []dirNote
}

type dirNote struct {
	path string
	info DirInfo
}

// fail copies the path, which may lie in the mapping.
func (w *worker) fail(path string, err error) {
	w.found.Errors = append(w.found.Errors, withPath(err, strings.Clone(path)))
}

func (w *worker) walk(t task) {
	switch {
	case w.stopped():
		t.dir.Close()
	case t.outside:
		w.walkOutside(t)
	case t.only != nil:
		w.walkSome(t)
	case t.tracked:
		w.walkTracked(t)
	default:
		w.walkUntracked(t)
	}
}

// owned is a path that outlives the mapping.
func owned(dir, name string) string {
	if dir == "" {
		return strings.Clone(name)
	}
	return dir + "/" + name
}
