package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// FsckOptions choose how much Fsck looks at.
type FsckOptions struct {
	Quick bool // only the checksums of the log and of its indexes
}

// FsckResult is what Fsck looked at and what it found.
type FsckResult struct {
	Bytes    int64 // of the log
	Frames   uint64
	Contents uint64
	Ops      uint64
	States   uint64
	Changes  uint64
	Trees    uint64 // of bookmarks, tags and the working copy, made again from changes
	Old      uint64 // states of names that were not made again: they need such contents
	Promised uint64 // contents that a partial clone has not, and was promised
	Files    uint64 // texts put together from their lines
	Problems []Problem
	More     uint64 // problems beyond those listed
}

// Problem is one thing that is damaged.
type Problem struct {
	Text    string
	File    string // beneath .oxy, or ""
	Offset  int64  // in File, in bytes
	Derived bool   // it can be made again from the rest
	Change  change.ID
	Paths   []string // files that it affects, some of them where they are very many
	Names   *Names   // bookmarks and tags that it affects; nil where that is not known
	Mend    string
}

// What mends what.
const (
	mendTruth = "Another copy may have it: oxy fsck --repair --from REMOTE|PATH. Otherwise restore " + DirName + " from a copy; other copies are not affected. To go on without what nobody has: oxy fsck --repair --drop-lost"
	mendIndex = "It is made again by itself, at once by: oxy fsck --repair"
	// mendManifest: who reads a damaged one makes it anew.
	mendManifest = "It is made again by itself, at once by: oxy status"
	mendTrees    = "It is made again by itself, at once by: oxy fsck --repair"
)

// Bounds of the report: a disk that fails makes as many problems as there are frames, and a person reads the first few.
const (
	maxProblems     = 1000
	maxProblemPaths = 100
)

// Fsck looks for damage in all that the repository holds. It writes nothing and takes no lock. An error says that it could
// not look; what it found wrong is in the result.
func (r *Repo) Fsck(ctx context.Context, o FsckOptions) (*FsckResult, error) {
	for again := false; ; again = true {
		c := &checker{r: r, ctx: ctx, bad: map[change.Hash]bool{}}
		if err := c.run(o); err != nil {
			return nil, err
		}
		if len(c.found) == 0 || again {
			return c.result(), nil
		}
		// What is missing may only have moved: another process packed the repository meanwhile.
		moved, err := r.store.Repacked()
		if err == nil && moved {
			err = r.store.Refresh()
		}
		if errors.Is(err, store.ErrRenumbered) {
			return nil, storeError(err)
		}
		if err != nil || !moved {
			return c.result(), nil
		}
	}
}

func (c *checker) run(o FsckOptions) error {
	if o.Quick {
		return c.log(o)
	}
	v, err := c.r.view()
	if err == nil {
		c.promised, err = c.r.promisesOf(v)
	}
	if err != nil {
		c.find(finding{Problem{Text: err.Error()}, -1, -1})
	}
	// Making a tree again is for one core, and needs nothing of the rest.
	trees := make(chan error, 1)
	go func() { trees <- c.trees() }()
	err = c.log(o)
	for _, step := range []func() error{c.changes, c.covered, c.states, c.ops, c.signatures} {
		if err == nil {
			err = step()
		}
	}
	c.lost()
	c.manifest()
	c.r.opt.Progress.Begin("Checking trees", 0, false)
	defer c.r.opt.Progress.End()
	return cmp.Or(err, <-trees)
}

// checker collects what Fsck finds.
type checker struct {
	r      *Repo
	ctx    context.Context
	bad    map[change.Hash]bool // contents that cannot be had; only read once the log was gone through
	beside []uint64             // what changes name beside their dependencies: number named and number, of 32 bits each; guarded by mu

	promised promises

	mu    sync.Mutex               // guards res, found and lacks
	lacks map[change.Hash]struct{} // promised contents that are not here: two files may have the same
	res   FsckResult
	found []finding
}

// finding is a problem and what it is a problem of, by which the bookmarks that it affects are found.
type finding struct {
	Problem
	change, state int64 // numbers, or -1
}

func (c *checker) find(f finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.found) >= maxProblems {
		c.res.More++
		return
	}
	if !f.Derived {
		f.Mend = mendTruth
	}
	c.found = append(c.found, f)
}

// addPath adds a path to those a problem affects.
func (p *Problem) addPath(path string) {
	if len(p.Paths) < maxProblemPaths {
		p.Paths = append(p.Paths, path)
	}
}

// log checks the store's own frames, contents and indexes.
func (c *checker) log(o FsckOptions) error {
	total := c.r.store.LogSize()
	if !o.Quick {
		total *= 2 // once for the frames, once for what they hold
	}
	c.r.opt.Progress.Begin("Checking the log", total, true)
	defer c.r.opt.Progress.End()
	done, err := c.r.store.Audit(c.ctx, store.AuditOptions{
		Quick:    o.Quick,
		Progress: c.r.opt.Progress.Add,
		BadBlob:  func(h change.Hash) { c.bad[h] = true },
		Fault: func(f store.Fault) {
			p := Problem{Text: f.Err.Error(), File: f.File, Offset: f.Off, Derived: f.Derived}
			if f.Derived {
				p.Mend = mendIndex
			}
			c.find(finding{p, -1, -1})
		},
	})
	c.res.Bytes, c.res.Frames, c.res.Contents = done.Bytes, done.Frames, done.Blobs
	return err
}

// each is parallel with a bar.
func (c *checker) each(what string, n uint32, fn func(i uint32)) error {
	c.r.opt.Progress.Begin(what, int64(n), false)
	defer c.r.opt.Progress.End()
	return c.parallel(n, c.r.opt.Progress.Add, fn)
}

// parallel calls fn for every number below n, on all cores, and done with how many it was called for.
func (c *checker) parallel(n uint32, done func(int64), fn func(i uint32)) error {
	const take = 64 // at a time: neighbours often lie in one frame
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c.ctx.Err() == nil {
				from := next.Add(take) - take
				if from >= int64(n) {
					return
				}
				to := min(from+take, int64(n))
				for i := from; i < to; i++ {
					fn(uint32(i))
				}
				done(to - from)
			}
		})
	}
	wg.Wait()
	return context.Cause(c.ctx)
}

// ops checks that each operation can be read and that its view names states that were there.
func (c *checker) ops() error {
	n := c.r.store.NumOps()
	c.res.Ops = uint64(n)
	return c.each("Checking operations", n, func(n uint32) {
		if err := c.op(n); err != nil {
			c.find(finding{Problem{Text: err.Error()}, -1, -1})
		}
	})
}

func (c *checker) op(n uint32) error {
	if _, err := c.r.store.Op(n); err != nil {
		return err
	}
	states, err := c.r.store.OpStates(n)
	if err != nil {
		return err
	}
	v, err := c.r.store.OpView(n)
	if err != nil {
		return err
	}
	if v.Base >= int64(states) {
		return fmt.Errorf("operation %d: the working copy is at state %d of %d", n, v.Base, states)
	}
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for name, s := range names {
			if s >= states {
				return fmt.Errorf("operation %d: %q is at state %d of %d", n, name, s, states)
			}
		}
	}
	for _, s := range v.Checkpoints {
		if s >= states {
			return fmt.Errorf("operation %d: a checkpoint of state %d of %d", n, s, states)
		}
	}
	return nil
}

// result sorts what was found and tells which bookmarks and tags it affects.
func (c *checker) result() *FsckResult {
	c.affected()
	slices.SortStableFunc(c.found, func(a, b finding) int {
		if a.Derived != b.Derived {
			if b.Derived {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.change, b.change),
			cmp.Compare(a.state, b.state), cmp.Compare(a.Text, b.Text))
	})
	for i := range c.found {
		c.res.Problems = append(c.res.Problems, c.found[i].Problem)
	}
	return &c.res
}

// affected finds the names of the problems that are about changes and states: those of which a log has them. It goes
// through all states once for 64 problems.
func (c *checker) affected() {
	v, err := c.r.store.View()
	if err != nil {
		return
	}
	var some []*finding
	for i := range c.found {
		if f := &c.found[i]; f.change >= 0 || f.state >= 0 {
			some = append(some, f)
		}
	}
	for group := range slices.Chunk(some, 64) {
		ofChange, ofState := map[uint32]uint64{}, map[int64]uint64{}
		for i, f := range group {
			if f.change >= 0 {
				ofChange[uint32(f.change)] |= 1 << i
			} else {
				ofState[f.state] |= 1 << i
			}
		}
		has := make([]uint64, c.r.store.NumStates())
		for s := range has {
			has[s] = ofState[int64(s)]
			st, err := c.r.store.State(uint32(s))
			if err != nil {
				continue
			}
			if st.Parent >= 0 && st.Parent < int64(s) {
				has[s] |= has[st.Parent]
			}
			for _, n := range st.Without {
				has[s] &^= ofChange[n]
			}
			for _, n := range st.Changes {
				has[s] |= ofChange[n]
			}
		}
		for i, f := range group {
			f.Names = namesWhere(v, func(s uint32) bool { return s < uint32(len(has)) && has[s]&(1<<i) != 0 })
		}
	}
}

// namesWhere lists what stands at states of which has is true.
func namesWhere(v *store.View, has func(s uint32) bool) *Names {
	out := &Names{Here: v.Base >= 0 && has(uint32(v.Base))}
	for _, name := range slices.Sorted(maps.Keys(v.Bookmarks)) {
		if has(v.Bookmarks[name]) {
			out.Bookmarks = append(out.Bookmarks, name)
			out.Current = out.Current || name == v.Current
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Tags)) {
		if has(v.Tags[name]) {
			out.Tags = append(out.Tags, name)
		}
	}
	out.sort(v.Current)
	return out
}
