package worktree

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Op is what a checkout does to a path.
type Op uint8

// The ops.
const (
	Write  Op = iota // make it a file or link with the given content and mode; of a subrepo, a directory
	Remove           // and the directories that this empties; a subrepo that is there stays
	Chmod            // change the executable bit only
)

// Action is one step of a checkout.
type Action struct {
	Path string
	Op   Op
	Kind Kind
	Exec bool        // Write and Chmod
	Size int64       // Write: of the content
	Hash change.Hash // Write: of the content
}

// Source gives the contents that a checkout writes. It is called from several goroutines at once.
type Source interface {
	// Content appends the content to dst.
	Content(dst []byte, a *Action) ([]byte, error)
	// Stream writes a content of more than ApplyOptions.InMemory bytes.
	Stream(w io.Writer, a *Action) error
}

// ApplyOptions say how a checkout is made.
type ApplyOptions struct {
	Workers    int   // goroutines, by default one for each processor
	InMemory   int64 // larger contents are streamed; by default 32 MiB
	IgnoreExec bool  // the file system keeps no executable bits
	// Kept are files with unrecorded contents that the caller has kept aside, with the stat that they had then: those may
	// go. One that has another stat by now holds something newer, and is refused like any other.
	Kept map[string]vfs.Stat
	// Progress, if any, is told of each step done, with the bytes written. It is called from several goroutines at once.
	Progress func(files int, bytes int64)
}

// Apply makes the steps of a plan in the working copy. First every path is looked at: what is there must be what the
// manifest says, or what the plan makes of it (a beginning of that too, which is what a crash leaves), or nothing; else
// the error is a *LoseError and nothing is touched. No symbolic link is ever followed.
//
// When all is done the manifest has the new entries; SetBase and Save are the caller's. An Apply that fails or is
// interrupted stops between two files and leaves the manifest as it is: it still speaks of the old state, of which what
// was written already differs, and a second run of the same plan completes it.
func Apply(ctx context.Context, root vfs.Dir, m *Manifest, plan []Action, src Source, opts ApplyOptions) error {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.InMemory <= 0 {
		opts.InMemory = defaultInMemory
	}
	c := &checkout{ctx: ctx, root: root, m: m, src: src, opts: opts}
	if err := c.prepare(plan); err != nil {
		return err
	}
	if len(c.jobs) == 0 {
		return nil
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := c.remove(); err != nil {
		return err
	}
	if err := c.write(); err != nil {
		return err
	}
	return c.record()
}

// checkout is one Apply.
type checkout struct {
	ctx   context.Context
	root  vfs.Dir
	m     *Manifest
	src   Source
	opts  ApplyOptions
	clock int64

	jobs    []job   // in the manifest's order
	chunks  []chunk // of jobs
	workers []applier
}

// job is an action and what is known of its path.
type job struct {
	Action
	old   Entry    // the manifest's, if tracked
	seen  vfs.Stat // what is on disk; its kind is KindUnknown if nothing is
	alias uint8

	tracked  bool
	inherits bool  // the name on disk is another file's, which the plan removes first
	done     bool  // the disk is already as wanted
	entry    Entry // the manifest's after it all
}

// name is the name on disk.
func (j *job) name() string {
	_, name := split(j.Path)
	if j.alias != 0 {
		return aliased(name, j.alias)
	}
	return name
}

// applier is what a worker of a checkout uses again for each file.
type applier struct {
	*checkout
	hasher *fileHasher
	buf    []byte
	st     vfs.Stat
	lose   []string // paths that forbid the checkout
}

func (c *checkout) prepare(plan []Action) error {
	c.jobs = make([]job, len(plan))
	for i := range plan {
		a := &plan[i]
		check := safepath.Check
		if a.Op == Remove {
			check = checkPath // whatever was let in once may go
		}
		if err := check(a.Path); err != nil {
			return fmt.Errorf("check out: %w", err)
		}
		if a.Op > Chmod || a.Op == Write && a.Kind >= numKinds {
			return fmt.Errorf("check out %q: nothing that a working copy holds", a.Path)
		}
		c.jobs[i].Action = *a
	}
	less := func(a, b job) int { return compareEntries(a.Path, b.Path) }
	if !slices.IsSortedFunc(c.jobs, less) {
		slices.SortFunc(c.jobs, less)
	}
	for i := range c.jobs {
		j := &c.jobs[i]
		if i > 0 && j.Path == c.jobs[i-1].Path {
			return fmt.Errorf("check out %q: it comes twice in the plan", j.Path)
		}
		var err error
		if j.old, j.tracked, err = c.m.Lookup(j.Path); err != nil {
			return err
		}
		j.alias = j.old.Alias
	}
	if err := c.findAliases(); err != nil {
		return err
	}
	c.chunks = chunkByDir(len(c.jobs), func(i int) string { return c.jobs[i].Path })
	c.workers = make([]applier, c.opts.Workers)
	for i := range c.workers {
		c.workers[i].checkout = c
	}
	c.clock = c.m.Clock()
	return nil
}

// removes tells whether the plan takes away what is at a path. It reads of the jobs what no worker writes.
func (c *checkout) removes(path string) bool {
	i, ok := sort.Find(len(c.jobs), func(i int) int { return compareEntries(path, c.jobs[i].Path) })
	return ok && c.jobs[i].Op == Remove
}

// record puts the new entries into the manifest.
func (c *checkout) record() error {
	edits := make([]Edit, 0, len(c.jobs))
	for i := range c.jobs {
		// Removals first: a file may give way to a directory and the reverse.
		if j := &c.jobs[i]; j.Op == Remove {
			edits = append(edits, Edit{Path: j.Path, Delete: true})
		}
	}
	for i := range c.jobs {
		if j := &c.jobs[i]; j.Op != Remove {
			edits = append(edits, Edit{Path: j.Path, Entry: j.entry})
		}
	}
	return c.m.Update(edits)
}

// eachChunk runs work on the chunks that have a job which is wanted, on all cores.
func (c *checkout) eachChunk(wanted func(*job) bool, work func(*applier, []job) error) error {
	var chunks []chunk
	for _, k := range c.chunks {
		if slices.ContainsFunc(c.jobs[k.lo:k.hi], func(j job) bool { return wanted(&j) }) {
			chunks = append(chunks, k)
		}
	}
	return parallel(c.opts.Workers, len(chunks), func(worker, i int) error {
		return work(&c.workers[worker], c.jobs[chunks[i].lo:chunks[i].hi])
	})
}

func (c *checkout) progress(bytes int64) {
	if c.opts.Progress != nil {
		c.opts.Progress(1, bytes)
	}
}
