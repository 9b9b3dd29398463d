package bridge

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pjbgf/sha1cd"

	"github.com/oxy-vcs/oxy/internal/gitbridge/history"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/refs"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Options say what is imported, and how.
type Options struct {
	FS       vfs.FS
	Refs     []string // globs of full names of refs; none: all branches and tags
	SkipBad  bool     // leave out what is malformed or missing, in place of ending there
	Progress repo.Progress
	Batch    int // commits that are made durable at once, at most; 0: a good number
}

// Left is something that was not carried, and why.
type Left struct {
	Name string // of a commit or ref
	Err  error
}

// Report tells what an import did.
type Report struct {
	Commits   int
	Merges    int
	Settled   int // conflicts that merges opened and settled
	Files     int // that changes touch, summed up
	Bytes     int64
	Bookmarks int
	Tags      int
	Seconds   float64
	Size      int64    // of oxy's repository afterwards, bytes
	GitSize   int64    // of all objects that Git has there
	Head      string   // the branch that Git's repository is on, if it was taken
	Moved     []string // bookmarks and tags that were made, moved or removed
	Left      []Left
}

func detector() object.Detector { return sha1cd.New().(object.Detector) }

// open opens a Git repository to be read.
func open(fsys vfs.FS, at string) (*odb.DB, error) {
	db, err := odb.Open(fsys, at, odb.Options{Detect: detector})
	if errors.Is(err, odb.ErrNotGit) {
		return nil, &repo.Error{Text: err.Error(), Next: "Name a Git repository: a working copy, or a bare one.", Err: err}
	}
	return db, err
}

// Import brings branches and tags of the Git repository at a path into r.
func Import(ctx context.Context, r *repo.Repo, at string, opt Options) (rep *Report, err error) {
	began := time.Now()
	db, err := open(opt.FS, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	in := &importer{db: db, opt: opt, rep: &Report{}, reader: db.NewReader(), progress: opt.Progress}
	if err := in.choose(); err != nil {
		return nil, err
	}
	if in.known, err = recallKnown(r, db.Format); err != nil {
		return nil, err
	}
	in.order, err = history.Walk(in.reader, db.Format, in.tips, func(id object.ID) bool { _, ok := in.known.states[id]; return ok }, in.bad)
	if err != nil {
		return nil, refused(err)
	}
	in.reader = db.NewReader() // the other keeps commits, which are not asked for again
	if in.im, err = r.NewImporter(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.im.Close()) }()
	before := r.NumStates()
	if opt.Batch > 0 {
		in.im.Batch = opt.Batch
	}
	if err := in.commits(ctx); err != nil {
		return nil, err
	}
	if err := in.names(r); err != nil {
		return nil, err
	}
	if err := in.im.Finish("git import"); err != nil {
		return nil, err
	}
	in.known.keep(r, before)
	s := in.im.Stats
	rep = in.rep
	rep.Commits, rep.Merges, rep.Settled, rep.Files, rep.Bytes = s.Changes, s.Merges, s.Settled, s.Files, s.Bytes
	if rep.Commits > 0 {
		if rep.Size, err = r.Size(); err != nil {
			return nil, err
		}
		rep.GitSize = db.Size()
	}
	rep.Seconds = time.Since(began).Seconds()
	return rep, nil
}

// refused says what to do about what Git's repository holds.
func refused(err error) error {
	for _, e := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return err
		}
	}
	var said *repo.Error
	if errors.As(err, &said) {
		return err
	}
	return &repo.Error{Text: err.Error(), Next: "To leave out what is malformed or missing, and take the rest: oxy git import --skip-bad", Err: err}
}

// importer is an import under way.
type importer struct {
	db       *odb.DB
	reader   *odb.Reader
	im       *repo.Importer
	opt      Options
	progress repo.Progress
	rep      *Report
	refs     []chosen
	tips     []object.ID
	known    *known
	order    *history.Order
	head     string // the ref that HEAD stands for
}

// chosen is a ref that is taken, with what it leads to.
type chosen struct {
	name   string // in full
	id     object.ID
	tags   []object.ID // annotated tags on the way
	commit object.ID
}

var branchesAndTags = []string{"refs/heads/*", "refs/tags/*"}

func (in *importer) globs() []string {
	if len(in.opt.Refs) == 0 {
		return branchesAndTags
	}
	return in.opt.Refs
}

// choose lists the refs that are taken.
func (in *importer) choose() error {
	list, err := refs.Read(in.opt.FS, refs.Place{GitDir: in.db.GitDir, CommonDir: in.db.CommonDir, Format: in.db.Format, Reftable: in.db.Config.Reftable})
	if err != nil {
		return err
	}
	if head, ok := list.Find("HEAD"); ok {
		in.head = head.Target
	}
	globs := in.globs()
	for _, p := range list.Problems {
		if strings.HasPrefix(p.Name, "refs/") {
			in.leave(p.Name, p.Err)
		}
	}
	for _, ref := range list.Refs {
		if !strings.HasPrefix(ref.Name, "refs/") {
			continue
		}
		if !matches(globs, ref.Name) {
			switch {
			case strings.HasPrefix(ref.Name, "refs/notes/"), strings.HasPrefix(ref.Name, "refs/replace/"):
				in.leave(ref.Name, errNotCarried)
			}
			continue
		}
		c := chosen{name: ref.Name, id: ref.ID}
		var kind object.Kind
		if c.tags, c.commit, kind, err = history.Peel(in.reader, in.db.Format, ref.ID); err != nil {
			if !in.opt.SkipBad {
				return refused(fmt.Errorf("%s: %w", ref.Name, err))
			}
			in.leave(ref.Name, err)
			continue
		}
		if kind != object.CommitKind {
			in.leave(ref.Name, fmt.Errorf("it names a %s", kind))
			continue
		}
		if c.name == in.head {
			in.rep.Head = strings.TrimPrefix(c.name, "refs/heads/")
		}
		in.refs, in.tips = append(in.refs, c), append(in.tips, c.commit)
	}
	return nil
}

var errNotCarried = errors.New("only branches and tags are carried")

// matches tells whether a name matches a glob, whose stars take slashes too.
func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		if dir, ok := strings.CutSuffix(g, "/*"); ok && strings.HasPrefix(name, dir+"/") {
			return true
		}
		ok, _ := path.Match(g, name)
		return ok || g == name || strings.HasSuffix(name, "/"+g) && !strings.Contains(g, "/")
	})
}

func (in *importer) leave(name string, err error) {
	in.rep.Left = append(in.rep.Left, Left{name, err})
}

// bad is asked about a commit that cannot be taken.
func (in *importer) bad(id object.ID, err error) error {
	if !in.opt.SkipBad {
		return err
	}
	in.leave(id.String(), err)
	return nil
}

// lacks tells, and is told, whether Git lacks a blob.
func (in *importer) lacks(id object.ID, isNew bool) bool {
	if isNew && !in.known.lacked[id] {
		in.known.lacked[id] = true
		in.leave(id.String(), errLacked)
	}
	return in.known.lacked[id]
}

var errLacked = errors.New("this blob is lacking in Git itself: a file says so in its place, and the commits are carried")

// commits records all commits that are new.
func (in *importer) commits(ctx context.Context) error {
	in.progress.Begin("Importing", int64(in.order.Len()), false)
	defer in.progress.End()
	uses := in.order.Children()
	at := make(map[object.ID]int, in.order.Len())
	for i := range in.order.Len() {
		at[in.order.ID(i)] = i
	}
	for from := 0; from < in.order.Len(); {
		next, err := in.run(ctx, from, uses, at)
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// run records commits from an index on until the end, or until one that is left out.
func (in *importer) run(ctx context.Context, from int, uses []uint32, at map[object.ID]int) (next int, err error) {
	f := in.db.Format
	p := history.Read(ctx, in.db, in.order, from, history.ReadOptions{Workers: max(1, runtime.GOMAXPROCS(0)/2), Missing: in.opt.SkipBad})
	defer p.Close()
	g := gathered{lacks: in.lacks}
	for s := p.Next(); s != nil; s = p.Next() {
		if s.Err != nil {
			if err := in.bad(s.ID, fmt.Errorf("commit %s: %w", s.ID, s.Err)); err != nil {
				return 0, refused(err)
			}
			p.Close()
			in.order.Leave(s.Index)
			return s.Index + 1, nil
		}
		g.add(f, s)
		if s.More {
			continue
		}
		g.done(s)
		states := make([]uint32, len(g.parents))
		for i, id := range g.parents {
			n, ok := in.known.states[id]
			if !ok {
				return 0, fmt.Errorf("commit %s comes before its parent %s", s.ID, id)
			}
			states[i] = n
		}
		n, err := in.im.Put(g.imported(f, states))
		if err != nil {
			return 0, fmt.Errorf("commit %s: %w", s.ID, err)
		}
		in.known.states[s.ID] = n
		for i, id := range g.parents {
			if k, ok := at[id]; ok {
				if uses[k]--; uses[k] == 0 {
					in.im.Forget(states[i])
				}
			}
		}
		if uses[s.Index] == 0 {
			in.im.Forget(n)
		}
		in.progress.Add(1)
		if in.im.Full() {
			if err := in.im.Commit("git import"); err != nil {
				return 0, err
			}
		}
		g = gathered{lacks: in.lacks}
	}
	return in.order.Len(), p.Err()
}
