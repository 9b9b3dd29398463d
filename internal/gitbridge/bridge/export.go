package bridge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// ExportOptions say what is given to Git.
type ExportOptions struct {
	FS        vfs.FS
	Bookmarks []string // none: all, and all tags
	Force     bool     // also move what is no descendant of what Git has
	Progress  repo.Progress
}

// Exported tells what was given.
type Exported struct {
	Commits int // written
	New     int // of these, ones that never came from Git
	Refs    []string
	Left    []Left
	Created bool // the Git repository
}

// node is a state on its way to a commit.
type node struct {
	id      object.ID // known for one that was imported or exported before
	known   bool
	parents []uint32
	meta    remembered // of an imported one
	isGit   bool
	there   bool // Git has it
}

// exporter is an export under way.
type exporter struct {
	r     *repo.Repo
	f     object.Format
	db    *odb.DB
	opt   ExportOptions
	out   *Exported
	pack  *odb.PackWriter
	known *known
	ids   map[uint32]object.ID // of states

	nodes   map[uint32]*node
	uses    map[uint32]int
	trees   map[uint32]tree.Tree
	builder *tree.Builder
	hasher  *object.Hasher
	replay  *repo.Replay // nil where Git has what new commits stand on
	lacked  map[object.ID]bool
	fresh   map[object.ID]uint32 // new commits
}

// Export gives bookmarks and tags of r to the Git repository at a path, which is made, bare, if there is none.
func Export(ctx context.Context, r *repo.Repo, at string, opt ExportOptions) (_ *Exported, err error) {
	x := &exporter{r: r, opt: opt, out: &Exported{}, nodes: map[uint32]*node{}, uses: map[uint32]int{}, trees: map[uint32]tree.Tree{},
		ids: map[uint32]object.ID{}, fresh: map[object.ID]uint32{}}
	if x.f, err = formatOf(r); err != nil {
		return nil, err
	}
	if x.db, err = x.openOrCreate(at); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.db.Close()) }()
	if x.db.Format != x.f {
		return nil, &repo.Error{Text: fmt.Sprintf("the Git repository names objects by %s, and what came from Git here by %s", x.db.Format, x.f)}
	}
	if x.known, err = loadKnown(r, x.f); err != nil {
		return nil, err
	}
	for id, s := range x.known.states {
		x.ids[s] = id
	}
	refs, err := x.choose()
	if err != nil {
		return nil, err
	}
	if err := x.write(ctx, refs); err != nil {
		return nil, err
	}
	return x.out, x.finish(ctx, refs)
}

// openOrCreate opens the Git repository, or makes a bare one.
func (x *exporter) openOrCreate(at string) (*odb.DB, error) {
	db, err := odb.Open(x.opt.FS, at, odb.Options{Detect: detector})
	if err == nil || !errors.Is(err, odb.ErrNotGit) {
		return db, err
	}
	if list, err := x.opt.FS.ReadDir(at); err == nil && len(list) > 0 {
		return nil, &repo.Error{Text: "neither a Git repository nor an empty directory: " + at, Next: "Name another place.", Err: err}
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := x.opt.FS.MkdirAll(filepath.Join(at, filepath.FromSlash(dir)), 0o777); err != nil {
			return nil, err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if x.f == object.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	for name, text := range map[string]string{"config": config, "HEAD": "ref: refs/heads/main\n"} {
		if err := vfs.WriteFileAtomic(x.opt.FS, filepath.Join(at, name), []byte(text), true); err != nil {
			return nil, err
		}
	}
	x.out.Created = true
	return odb.Open(x.opt.FS, at, odb.Options{Detect: detector})
}

// want is a bookmark or tag and the ref that it becomes.
type want struct {
	ref   string
	state uint32
}

// choose lists what is given.
func (x *exporter) choose() ([]want, error) {
	bookmarks, tags, err := x.r.NamedStates()
	if err != nil {
		return nil, err
	}
	var out []want
	for _, b := range x.opt.Bookmarks {
		s, ok := bookmarks[b]
		if !ok {
			return nil, &repo.Error{Text: fmt.Sprintf("no bookmark %q", b), Next: "See them with: oxy bookmark"}
		}
		out = append(out, want{"refs/heads/" + b, s})
	}
	if len(x.opt.Bookmarks) == 0 {
		for b, s := range bookmarks {
			out = append(out, want{"refs/heads/" + b, s})
		}
		for t, s := range tags {
			out = append(out, want{"refs/tags/" + t, s})
		}
	}
	out = slices.DeleteFunc(out, func(w want) bool { return w.state == repo.NoState })
	slices.SortFunc(out, func(a, b want) int { return slices.Compare([]byte(a.ref), []byte(b.ref)) })
	return out, nil
}

// node finds what a state becomes.
func (x *exporter) node(s uint32) (*node, error) {
	if n := x.nodes[s]; n != nil {
		return n, nil
	}
	n := &node{}
	x.nodes[s] = n
	n.id, n.known = x.ids[s]
	n.there = n.known && x.db.Has(n.id)
	if n.there {
		return n, nil
	}
	step, err := x.r.LogStep(s)
	if err != nil {
		return nil, err
	}
	if !step.Beside && len(step.Changes) == 1 {
		c, err := x.r.Meta(step.Changes[0])
		if err != nil {
			return nil, err
		}
		if n.meta, n.isGit, err = remember(x.f, s, c); err != nil {
			return nil, err
		}
	}
	if n.isGit {
		for _, id := range n.meta.parents {
			if p, ok := x.known.states[id]; ok && p < s {
				n.parents = append(n.parents, p)
			}
		}
		return n, nil
	}
	if step.Before != repo.NoState {
		n.parents = []uint32{step.Before}
	}
	return n, nil
}

// write writes the commits that Git lacks.
func (x *exporter) write(ctx context.Context, refs []want) (err error) {
	var todo []uint32
	var queue []uint32
	met := map[uint32]bool{}
	for _, w := range refs {
		queue = append(queue, w.state)
	}
	onOld := false
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if met[s] {
			continue
		}
		met[s] = true
		n, err := x.node(s)
		if err != nil {
			return err
		}
		if n.there {
			onOld = true
			continue
		}
		todo = append(todo, s)
		for _, p := range n.parents {
			x.uses[p]++
		}
		queue = append(queue, n.parents...)
	}
	if len(todo) == 0 {
		return nil
	}
	slices.Sort(todo)
	x.lacked = x.known.lacked
	reader := x.db.NewReader()
	x.builder = tree.NewBuilder(x.f, func(id object.ID) ([]byte, error) {
		kind, raw, err := reader.Read(id, nil)
		if err == nil && kind != object.TreeKind {
			err = tree.ErrNotTree
		}
		return raw, err
	})
	x.hasher = object.NewHasher(x.f, detector)
	if !onOld {
		if x.replay, err = x.r.NewReplay(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.replay.Close()) }()
	}
	if x.pack, err = odb.NewPackWriter(x.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.pack.Abort()) }()
	x.opt.Progress.Begin("Exporting", int64(len(todo)), false)
	defer x.opt.Progress.End()
	for _, s := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.commit(s, x.nodes[s], reader); err != nil {
			return fmt.Errorf("give state %d: %w", s, err)
		}
		x.opt.Progress.Add(1)
	}
	if err := x.tagObjects(refs); err != nil {
		return err
	}
	_, err = x.pack.Finish()
	return err
}

// treeOf is the tree of a commit that was written before, or that Git has.
func (x *exporter) treeOf(s uint32, reader *odb.Reader) (tree.Tree, error) {
	if t, ok := x.trees[s]; ok {
		return t, nil
	}
	kind, raw, err := reader.Read(x.ids[s], nil)
	if err != nil {
		return tree.Tree{}, err
	}
	if kind != object.CommitKind {
		return tree.Tree{}, fmt.Errorf("%s is a %s", x.ids[s], kind)
	}
	c, err := object.ParseCommit(x.f, raw, nil)
	if err != nil {
		return tree.Tree{}, err
	}
	return x.builder.Open(c.Tree)
}

// commit writes one commit with what it adds.
func (x *exporter) commit(s uint32, n *node, reader *odb.Reader) error {
	base := x.builder.Empty()
	first := uint32(repo.NoState)
	if len(n.parents) > 0 {
		first = n.parents[0]
		var err error
		if base, err = x.treeOf(first, reader); err != nil {
			return err
		}
	}
	d := &differing{f: x.f, hasher: x.hasher, builder: x.builder, base: base, give: x.blob}
	var err error
	if d.modes, d.blobs, err = n.meta.odd(x.f); err != nil {
		return err
	}
	switch {
	case x.replay == nil:
		err = x.r.EachDifference(first, s, d.add)
	case n.isGit:
		err = x.replay.Step(s, n.parents, d.add)
	default:
		err = x.replay.StepLog(s, d.add)
	}
	if err != nil {
		return err
	}
	edits, err := d.edits()
	if err != nil {
		return err
	}
	made, err := x.builder.Apply(base, edits, func(id object.ID, raw []byte) error {
		if x.db.Has(id) {
			return nil
		}
		return x.pack.AddAs(id, object.TreeKind, raw)
	})
	if err != nil {
		return err
	}
	if made.ID() == x.builder.Empty().ID() && !x.db.Has(made.ID()) {
		if err := x.pack.AddAs(made.ID(), object.TreeKind, nil); err != nil {
			return err
		}
	}
	x.trees[s] = made
	raw, err := x.raw(s, n, made.ID())
	if err != nil {
		return err
	}
	id, err := x.pack.Add(object.CommitKind, raw)
	if err != nil {
		return err
	}
	if n.known && id != n.id {
		return fmt.Errorf("what is here makes commit %s, not %s: see oxy git verify", id, n.id)
	}
	if !n.known {
		n.id, x.ids[s] = id, id
		x.fresh[id] = s
		x.out.New++
	}
	x.out.Commits++
	for _, p := range n.parents {
		if x.uses[p]--; x.uses[p] == 0 {
			x.forget(p)
		}
	}
	if x.uses[s] == 0 {
		x.forget(s)
	}
	return nil
}

func (x *exporter) forget(s uint32) {
	delete(x.trees, s)
	if x.replay != nil {
		x.replay.Forget(s)
	}
}

// raw is the commit's bytes.
func (x *exporter) raw(s uint32, n *node, id object.ID) ([]byte, error) {
	if n.isGit {
		return object.JoinCommit(x.f, id, n.meta.parents, n.meta.native, n.meta.fields)
	}
	step, err := x.r.LogStep(s)
	if err != nil {
		return nil, err
	}
	if len(step.Changes) == 0 {
		return nil, fmt.Errorf("it has no change of its own")
	}
	c, err := x.r.Meta(step.Changes[len(step.Changes)-1])
	if err != nil {
		return nil, err
	}
	var parents []object.ID
	for _, p := range n.parents {
		parents = append(parents, x.ids[p])
	}
	return object.JoinCommit(x.f, id, parents, nativeOf(c), nil)
}

func nativeOf(c *change.Change) object.Native {
	return object.Native{Message: c.Message, Person: object.Person{Name: c.Author.Name, Email: c.Author.Email, Sec: c.Time.Sec, Zone: c.Time.Zone}}
}

// blob writes a content.
func (x *exporter) blob(side tree.Side, content []byte) error {
	if side.Mode == object.ModeSubmodule || x.db.Has(side.ID) {
		return nil
	}
	return x.pack.AddAs(side.ID, object.BlobKind, content)
}

// tagObjects writes the annotated tags that Git lacks.
func (x *exporter) tagObjects(refs []want) error {
	s, err := loadSeen(x.r, x.f)
	if err != nil {
		return err
	}
	for id, h := range s.tags {
		if x.db.Has(id) {
			continue
		}
		raw, err := x.r.Content(h)
		if err != nil {
			return err
		}
		if err := x.pack.AddAs(id, object.TagKind, raw); err != nil {
			return err
		}
	}
	return nil
}
